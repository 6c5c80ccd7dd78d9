# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports DynamicQuantizeLSTM of the domain com.microsoft."""

from __future__ import annotations

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, shape_of
from ..recurrent import recurrent

_LSTM_INPUTS = 8  # the scales and zero points are behind the inputs of LSTM


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"DynamicQuantizeLSTM": _handle_lstm}


def _handle_lstm(call: NodeCall) -> NodeResult:
    # ONNX Runtime rounds the inputs of all steps with one scale, and the states of each step with one.
    for place, scale in ((1, 8), (2, 10)):
        call.set_input(place, _weights(call, call[place], call[scale], call.get(scale + 1)))
    call.inputs = call.inputs[:_LSTM_INPUTS]
    return recurrent("LSTM", call, is_quantized=True)


def _weights(call: NodeCall, x: torch.fx.Node, scale: torch.fx.Node, zero: torch.fx.Node | None) -> torch.fx.Node:
    """Returns weights as LSTM takes them: directions, gates and features. x: the last two dims are exchanged."""
    if len(shape_of(x)) != 3:
        raise ArgumentValueError(f"{call.place}: expected weights of 3 dims, but got {len(shape_of(x))}")
    numbers = call.cast(x, torch.float32)
    if zero is not None:
        numbers = call.aten("sub.Tensor", numbers, _spread(call, call.cast(zero, torch.float32)))
    scaled = call.aten("mul.Tensor", numbers, _spread(call, scale))
    return call.aten("permute", scaled, [0, 2, 1])


def _spread(call: NodeCall, x: torch.fx.Node) -> torch.fx.Node:
    """Returns a number for each direction, or for each of its gates, with the rank of weights."""
    return call.reshape(x, (shape_of(x)[0], 1, shape_of(x)[1] if len(shape_of(x)) > 1 else 1))
