# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports recurrent layers as PyTorch's, whose gates are in another order."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of

# The numbers of ONNX's gates in the order of PyTorch's.
_GATES = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}
_ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {name: functools.partial(_handle_recurrent, name) for name in _GATES}


def _handle_recurrent(name: str, call: NodeCall) -> NodeResult:
    # Emits one ATen call per node. PyTorch's decomposition, which _import/torch/decompose.py chooses, unrolls it.
    activations = _check(name, call)
    x, hidden = call[0], shape_of(call[2])[-1]
    length, batch, _ = shape_of(x)
    direction = call.attribute("direction", "forward")
    parameters = [part for number in range(shape_of(call[1])[0]) for part in _parameters(name, call, number, hidden)]
    state = (shape_of(call[1])[0], batch, hidden)
    states = [_state(call, 5, state)] + ([_state(call, 6, state)] if name == "LSTM" else [])
    if direction == "reverse":
        x = call.aten("flip", x, [0])
    overload = {"LSTM": "lstm.input", "GRU": "gru.input", "RNN": f"rnn_{activations[0].lower()}.input"}[name]
    both = direction == "bidirectional"
    given = states if name == "LSTM" else states[0]
    result, *last = call.aten_results(overload, x, given, parameters, True, 1, 0.0, False, both, False)
    if direction == "reverse":
        result = call.aten("flip", result, [0])
    apart = call.reshape(result, (length, batch, state[0], hidden))
    return [call.aten("permute", apart, [0, 2, 1, 3]), *last]


def _check(name: str, call: NodeCall) -> list[str]:
    """Returns the activations of a layer. Raises UnsupportedError for features that PyTorch's layers do not have."""
    count = 2 if call.attribute("direction", "forward") == "bidirectional" else 1
    if shape_of(call[1])[0] != count:
        raise ArgumentValueError(
            f"{call.place}: expected weights for {count} directions, but got {shape_of(call[1])[0]}"
        )
    if call.get(4) is not None and call.ints(4, "sequence_lens") != [shape_of(call[0])[0]] * shape_of(call[0])[1]:
        raise call.unsupported("sequences of several lengths are not supported")
    if call.known(7, "P") is not None and bool(call.inspect(call[7]).any()):
        raise call.unsupported("peepholes are not supported")
    for attribute in ("clip", "input_forget", "layout"):
        if call.attribute(attribute, 0):
            raise call.unsupported(f"the attribute {attribute!r} is not supported")
    if name == "GRU" and not call.attribute("linear_before_reset", 0):
        raise call.unsupported("a GRU is only supported with linear_before_reset")
    activations: list[str] = call.attribute("activations", _ACTIVATIONS[name] * count)
    allowed = [_ACTIVATIONS[name] * count] + ([["Relu"] * count] if name == "RNN" else [])
    if activations not in allowed:
        raise call.unsupported(f"the activations {activations} are not supported")
    return activations


def _parameters(name: str, call: NodeCall, number: int, hidden: int) -> list[torch.fx.Node]:
    """Returns the parameters of a direction: the weights of inputs and of states, and the biases of both."""
    weights = [_reorder(name, call, call.aten("select.int", call[place], 0, number)) for place in (1, 2)]
    rows = len(_GATES[name]) * hidden
    if call.get(3) is None:
        zeros = call.constant(torch.zeros(rows, dtype=dtype_of(call[0])))
        return [*weights, zeros, zeros]
    biases = call.aten_results("split.Tensor", call.aten("select.int", call[3], 0, number), rows, 0)
    return [*weights, *(_reorder(name, call, bias) for bias in biases)]


def _reorder(name: str, call: NodeCall, rows: torch.fx.Node) -> torch.fx.Node:
    """Returns the rows of a weight in PyTorch's order of gates."""
    if name == "RNN":
        return rows
    gates = call.aten_results("split.Tensor", rows, shape_of(rows)[0] // len(_GATES[name]), 0)
    return call.aten("cat", [gates[gate] for gate in _GATES[name]], 0)


def _state(call: NodeCall, number: int, shape: Sequence[int]) -> torch.fx.Node:
    """Returns the initial state of a layer: an input, or zeros if it is left out."""
    given = call.get(number)
    return call.aten("full", list(shape), 0, dtype=dtype_of(call[0])) if given is None else given
