# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports max and average pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from .layout import pad
from .windows import conv_sides


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "AveragePool": _handle_average_pool,
        "GlobalAveragePool": _handle_global_average_pool,
        "GlobalMaxPool": _handle_global_max_pool,
        "MaxPool": _handle_max_pool,
    }


class _Windows(NamedTuple):
    """The windows of a pooling, by spatial dim. sides: the number of padding elements before and behind each dim."""

    kernel: list[int]
    stride: list[int]
    dilation: list[int]
    sides: list[tuple[int, int]]


def _windows(call: NodeCall) -> _Windows:
    """Returns the windows of a pooling."""
    kernel = call.attribute("kernel_shape")
    count = len(kernel)
    stride, dilation = call.attribute("strides", [1] * count), call.attribute("dilations", [1] * count)
    sides = conv_sides(call, shape_of(call[0])[2:], kernel, stride, dilation)
    return _Windows(kernel, stride, dilation, sides)


def _is_plain(kernel: Sequence[int], sides: Sequence[tuple[int, int]]) -> bool:
    """Returns true if PyTorch's pooling supports the padding."""
    return all(low == high and 2 * low <= width for width, (low, high) in zip(kernel, sides, strict=True))


def _handle_max_pool(call: NodeCall) -> NodeResult:
    x = call[0]
    kernel, stride, dilation, sides = _windows(call)
    padding = [low for low, _ in sides]
    if not _is_plain(kernel, sides):
        lowest = -math.inf if dtype_of(x).is_floating_point else torch.iinfo(dtype_of(x)).min
        x, padding = pad(call, x, [(0, 0), (0, 0), *sides], lowest), [0] * len(kernel)
    ceil_mode = bool(call.attribute("ceil_mode", 0))
    return call.aten(f"max_pool{len(kernel)}d", x, kernel, stride, padding, dilation, ceil_mode)


def _handle_average_pool(call: NodeCall) -> NodeResult:
    x = call[0]
    kernel, stride, dilation, sides = _windows(call)
    if set(dilation) != {1}:
        raise call.unsupported("dilations are not supported")
    ceil_mode, with_pads = bool(call.attribute("ceil_mode", 0)), bool(call.attribute("count_include_pad", 0))
    name = f"avg_pool{len(kernel)}d"
    if _is_plain(kernel, sides):
        return call.aten(name, x, kernel, stride, [low for low, _ in sides], ceil_mode, with_pads)
    padding, all_sides = [0] * len(kernel), [(0, 0), (0, 0), *sides]
    mean = call.aten(name, pad(call, x, all_sides, 0.0), kernel, stride, padding, ceil_mode, True)
    if with_pads:
        return mean
    # The fraction of each window that is not padding.
    inside = call.constant(torch.ones(1, 1, *shape_of(x)[2:], dtype=dtype_of(x)))
    share = call.aten(name, pad(call, inside, all_sides, 0.0), kernel, stride, padding, ceil_mode, True)
    return call.aten("div.Tensor", mean, share)


def _handle_global_average_pool(call: NodeCall) -> NodeResult:
    return call.aten("mean.dim", call[0], list(range(2, len(shape_of(call[0])))), True)


def _handle_global_max_pool(call: NodeCall) -> NodeResult:
    return call.aten("amax", call[0], list(range(2, len(shape_of(call[0])))), True)
