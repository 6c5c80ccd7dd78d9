# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports recurrent layers: as PyTorch's, whose gates are in another order, or in other forms as one custom op."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..library.recurrent import ACTIVATIONS, missing_parameter

# The numbers of ONNX's gates in the order of PyTorch's.
_GATES = {"LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2], "RNN": [0]}
_ACTIVATIONS = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}
_VARIANTS = {"LSTM": "input_forget", "GRU": "linear_before_reset"}
_DIRECTIONS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {name: functools.partial(recurrent, name) for name in _GATES}


def recurrent(name: str, call: NodeCall, is_quantized: bool = False) -> NodeResult:
    """Adds a recurrent layer. is_quantized: True if it rounds the operands of its products to 8 bits."""
    by_batch = bool(call.attribute("layout", 0))  # the dims of sequences come first
    x = call.aten("permute", call[0], [1, 0, 2]) if by_batch else call[0]
    directions = _directions(call)
    activations = _activations(name, call, len(directions))
    batch = shape_of(x)[1]
    state = (len(directions), batch, shape_of(call[2])[-1])
    states = [_state(call, number, state, by_batch) for number in (5, 6)[: 2 if name == "LSTM" else 1]]
    lists = [call.attribute(f"activation_{parameter}", []) for parameter in ("alpha", "beta")]
    if (missing := missing_parameter(activations, *lists)) is not None:
        raise call.unsupported(f"the activation {missing!r} needs values in activation_alpha and activation_beta")
    variant = bool(call.attribute(_VARIANTS.get(name, ""), 0))
    if not any(lists) and not is_quantized and _is_plain(name, call, activations, variant):
        result, *last = _plain(name, call, x, states, directions, activations[0])
    else:
        result, *last = call.library(
            "recurrent",
            *(name, x, call[1], call[2], call.get(3), call.get(4), states[0], states[-1], call.get(7)),
            *(directions, " ".join(activations), *lists, float(call.attribute("clip", 0.0)), variant),
            is_quantized,
        )
    if by_batch:
        result = call.aten("permute", result, [2, 0, 1, 3])
        last = [call.aten("permute", value, [1, 0, 2]) for value in last]
    return [result, *last[: len(states)]]


def _directions(call: NodeCall) -> list[bool]:
    """Returns, for each direction, true if it goes from the end to the start."""
    name = call.attribute("direction", "forward")
    if name not in _DIRECTIONS:
        raise ArgumentValueError(f"{call.place}: expected a direction of {list(_DIRECTIONS)}, but got {name!r}")
    count, got = len(_DIRECTIONS[name]), shape_of(call[1])[0]
    if got != count:
        raise ArgumentValueError(f"{call.place}: expected weights for {count} directions, but got {got}")
    return _DIRECTIONS[name]


def _activations(name: str, call: NodeCall, count: int) -> list[str]:
    """Returns the activations of a layer with `count` directions, in lower case."""
    activations: list[str] = [text.lower() for text in call.attribute("activations", _ACTIVATIONS[name] * count)]
    wanted = count * len(_ACTIVATIONS[name])
    if len(activations) != wanted:
        raise ArgumentValueError(f"{call.place}: expected {wanted} activations, but got {len(activations)}")
    if unknown := set(activations) - ACTIVATIONS:
        raise call.unsupported(f"the activations {sorted(unknown)} are not supported")
    return activations


def _is_plain(name: str, call: NodeCall, activations: list[str], variant: bool) -> bool:
    """Returns true if PyTorch has the layer."""
    count = len(activations) // len(_ACTIVATIONS[name])
    allowed = [_ACTIVATIONS[name] * count] + ([["relu"] * count] if name == "RNN" else [])
    length, ends = shape_of(call[0])[call.attribute("layout", 0)], call.get(4)
    if not isinstance(length, int):
        return False
    has_ends = ends is not None and not (call.is_constant(ends) and bool((call.inspect(ends) == length).all()))
    return (
        activations in allowed
        and variant == (name == "GRU")
        and not call.attribute("clip", 0.0)
        and not has_ends
        and call.get(7) is None
    )


def _plain(
    name: str,
    call: NodeCall,
    x: torch.fx.Node,
    states: Sequence[torch.fx.Node],
    directions: Sequence[bool],
    activation: str,
) -> list[torch.fx.Node]:
    """Adds one ATen call for a layer that PyTorch has. PyTorch's decomposition, which _import/torch/decompose
    chooses, unrolls it. Returns the outputs of all steps and the last states."""
    length, batch, _ = shape_of(x)
    hidden, count = shape_of(call[2])[-1], len(directions)
    parameters = [part for number in range(count) for part in _parameters(name, call, number, hidden)]
    if directions == [True]:
        x = call.aten("flip", x, [0])
    overload = {"LSTM": "lstm.input", "GRU": "gru.input", "RNN": f"rnn_{activation}.input"}[name]
    given = list(states) if name == "LSTM" else states[0]
    result, *last = call.aten_results(overload, x, given, parameters, True, 1, 0.0, False, count == 2, False)
    if directions == [True]:
        result = call.aten("flip", result, [0])
    apart = call.reshape(result, (length, batch, count, hidden))
    return [call.aten("permute", apart, [0, 2, 1, 3]), *last]


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


def _state(call: NodeCall, number: int, shape: Sequence[int], by_batch: bool) -> torch.fx.Node:
    """Returns the initial state of a layer: an input, or zeros if it is left out."""
    given = call.get(number)
    if given is None:
        return call.aten("full", list(shape), 0, dtype=dtype_of(call[0]))
    return call.aten("permute", given, [1, 0, 2]) if by_batch else given
