# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports convolution."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..call import Handler, NodeCall, NodeResult, shape_of
from .layout import pad
from .windows import conv_sides, transposed_sides


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Conv": _handle_conv,
        "ConvTranspose": _handle_conv_transpose,
    }


def _handle_conv(call: NodeCall) -> NodeResult:
    return conv(call, call[0], call[1], call.get(2))


def conv(call: NodeCall, x: torch.fx.Node, weight: torch.fx.Node, bias: torch.fx.Node | None) -> torch.fx.Node:
    """Adds a convolution with the attributes of a Conv node."""
    kernel = shape_of(weight)[2:]
    count = len(kernel)
    stride, dilation = call.attribute("strides", [1] * count), call.attribute("dilations", [1] * count)
    sides = conv_sides(call, shape_of(x)[2:], kernel, stride, dilation)
    padding = [low for low, _ in sides]
    if any(low != high or low < 0 for low, high in sides):
        x, padding = pad(call, x, [(0, 0), (0, 0), *sides], 0.0), [0] * count
    groups = call.attribute("group", 1)
    return call.aten("convolution", x, weight, bias, stride, padding, dilation, False, [0] * count, groups)


def _handle_conv_transpose(call: NodeCall) -> NodeResult:
    return conv_transpose(call, call[0], call[1], call.get(2))


def conv_transpose(
    call: NodeCall,
    x: torch.fx.Node,
    weight: torch.fx.Node,
    bias: torch.fx.Node | None,
    pads: Sequence[int] | None = None,
) -> torch.fx.Node:
    """Adds a transposed convolution with the attributes of a ConvTranspose node. pads: in place of its attribute."""
    kernel = shape_of(weight)[2:]
    count = len(kernel)
    stride, dilation = call.attribute("strides", [1] * count), call.attribute("dilations", [1] * count)
    more = call.attribute("output_padding", [0] * count)
    sides = transposed_sides(call, shape_of(x)[2:], kernel, stride, dilation, more, pads)
    groups = call.attribute("group", 1)
    if any(extra >= max(pair) for extra, *pair in zip(more, stride, dilation, strict=True)):
        # PyTorch refuses these output paddings. They are elements behind the result without products.
        sides = [(low, high - extra) for (low, high), extra in zip(sides, more, strict=True)]
        more = [0] * count
    padding = [max(0, min(pair)) for pair in sides]
    # The convolution removes the same number of elements on both sides. The rest is removed or added here.
    rest = [(both - low, both - high) for both, (low, high) in zip(padding, sides, strict=True)]
    grows = any(number > 0 for pair in rest for number in pair)
    inner_bias = None if grows else bias
    result = call.aten("convolution", x, weight, inner_bias, stride, padding, dilation, True, more, groups)
    result = pad(call, result, [(0, 0), (0, 0), *rest], 0.0)
    if grows and bias is not None:
        result = call.aten("add.Tensor", result, call.reshape(bias, [-1, *[1] * count]))
    return result
