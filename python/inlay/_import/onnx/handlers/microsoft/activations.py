# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports activations of the domain com.microsoft, and those that fused ops name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, dtype_of, shape_of


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "BiasAdd": _handle_bias_add,
        "BiasGelu": functools.partial(_handle_gelu, "none"),
        "BiasSplitGelu": _handle_bias_split_gelu,
        "FastGelu": functools.partial(_handle_gelu, "tanh"),
        "Gelu": functools.partial(_handle_gelu, "none"),
        "QuickGelu": _handle_quick_gelu,
    }


def _handle_gelu(approximate: str, call: NodeCall) -> NodeResult:
    bias = call.get(1)
    x = call[0] if bias is None else call.aten("add.Tensor", call[0], bias)
    return call.aten("gelu", x, approximate=approximate)


def _handle_quick_gelu(call: NodeCall) -> NodeResult:
    x, alpha = call[0], call.attribute("alpha", 1.702)
    return call.aten("mul.Tensor", x, call.aten("sigmoid", call.aten("mul.Scalar", x, alpha)))


def _handle_bias_add(call: NodeCall) -> NodeResult:
    return call.aten("add.Tensor", call.aten("add.Tensor", call[0], call[1]), call[2])


def _handle_bias_split_gelu(call: NodeCall) -> NodeResult:
    x = call.aten("add.Tensor", call[0], call[1])
    half = shape_of(x)[-1] // 2
    left, right = call.aten("slice.Tensor", x, -1, 0, half), call.aten("slice.Tensor", x, -1, half)
    return call.aten("mul.Tensor", left, call.aten("gelu", right))


# -- Activations of fused ops -----------------------------------------------------------------------------------------

_Activation = Callable[[NodeCall, torch.fx.Node, Sequence[float]], torch.fx.Node]


def _plain(name: str) -> _Activation:
    """Returns the activation that is one ATen call, with the parameters as further operands."""
    return lambda call, x, parameters: call.aten(name, x, *parameters)


def _hard_sigmoid(call: NodeCall, x: torch.fx.Node, parameters: Sequence[float]) -> torch.fx.Node:
    scaled = call.aten("add.Scalar", call.aten("mul.Scalar", x, parameters[0]), parameters[1])
    return call.aten("clamp", scaled, 0.0, 1.0)


def _softsign(call: NodeCall, x: torch.fx.Node, parameters: Sequence[float]) -> torch.fx.Node:
    return call.aten("div.Tensor", x, call.aten("add.Scalar", call.aten("abs", x), 1))


def _thresholded_relu(call: NodeCall, x: torch.fx.Node, parameters: Sequence[float]) -> torch.fx.Node:
    zero = call.constant(torch.zeros((), dtype=dtype_of(x)))
    return call.aten("where.self", call.aten("gt.Scalar", x, parameters[0]), x, zero)


# Name -> (number of parameters, activation).
_ACTIVATIONS: dict[str, tuple[int, _Activation]] = {
    "Celu": (1, _plain("celu")),
    "Clip": (2, _plain("clamp")),
    "Elu": (1, _plain("elu")),
    "HardSigmoid": (2, _hard_sigmoid),
    "LeakyRelu": (1, _plain("leaky_relu")),
    "Relu": (0, _plain("relu")),
    "Selu": (2, _plain("elu")),
    "Sigmoid": (0, _plain("sigmoid")),
    "Softplus": (0, _plain("softplus")),
    "Softsign": (0, _softsign),
    "Tanh": (0, _plain("tanh")),
    "ThresholdedRelu": (1, _thresholded_relu),
}


def activate(call: NodeCall, x: torch.fx.Node, parameters: Sequence[float]) -> torch.fx.Node:
    """Returns `x` after the activation that the node's attribute names. parameters: those of the activation."""
    name = call.attribute("activation", "")
    if not name:
        return x
    if name not in _ACTIVATIONS:
        raise call.unsupported(f"the activation {name!r} is not supported")
    count, activation = _ACTIVATIONS[name]
    if len(parameters) != count:
        raise ArgumentValueError(
            f"{call.place}: expected {count} parameters of the activation {name}, but got {len(parameters)}"
        )
    return activation(call, x, parameters)
