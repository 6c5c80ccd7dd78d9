# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports pooling."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from .layout import pad
from .windows import conv_sides

# Pairs with the numbers of padding elements before and behind each spatial dim.
_Sides = list[tuple[int, int]]


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "AveragePool": _handle_average_pool,
        "GlobalAveragePool": functools.partial(_handle_global, "mean.dim"),
        "GlobalLpPool": _handle_global_lp_pool,
        "GlobalMaxPool": functools.partial(_handle_global, "amax"),
        "LpPool": _handle_lp_pool,
        "LRN": _handle_lrn,
        "MaxPool": _handle_max_pool,
        "MaxUnpool": _handle_max_unpool,
    }


class _Windows(NamedTuple):
    """The windows of a pooling, by spatial dim. ceil_mode: true if the last window may reach behind the padding."""

    kernel: list[int]
    stride: list[int]
    dilation: list[int]
    sides: _Sides
    ceil_mode: bool

    def is_plain(self) -> bool:
        """Returns true if PyTorch's pooling supports the padding."""
        return all(
            low == high and 0 <= 2 * low <= width for width, (low, high) in zip(self.kernel, self.sides, strict=True)
        )

    def extents(self) -> list[int]:
        """Returns the number of elements from the first to the last of a window."""
        return [spread * (width - 1) + 1 for width, spread in zip(self.kernel, self.dilation, strict=True)]

    def counts(self, sizes: Sequence[int]) -> list[int]:
        """Returns the number of windows along each dim. A window must not start behind the input."""
        counts = []
        for size, extent, step, (low, high) in zip(sizes, self.extents(), self.stride, self.sides, strict=True):
            room = size + low + high - extent
            count = (-(-room // step) if self.ceil_mode else room // step) + 1
            counts.append(count - 1 if self.ceil_mode and (count - 1) * step >= size + low else count)
        return counts

    def needed_sides(self, sizes: Sequence[int]) -> _Sides:
        """Returns the padding that all windows need. A negative number of elements isn't used."""
        lasts = zip(self.counts(sizes), self.stride, self.extents(), strict=True)
        ends = [(count - 1) * step + extent for count, step, extent in lasts]
        return [(low, end - size - low) for end, size, (low, _) in zip(ends, sizes, self.sides, strict=True)]

    def shares(self, sizes: Sequence[int], with_pads: bool) -> torch.Tensor:
        """Returns the fraction of each window's elements that count: those of the input, or also those of `sides`."""
        result = torch.ones(())
        for dim, count in enumerate(self.counts(sizes)):
            low, high = self.sides[dim] if with_pads else (0, 0)
            starts = torch.arange(count) * self.stride[dim] - self.sides[dim][0]
            places = starts[:, None] + torch.arange(self.kernel[dim]) * self.dilation[dim]
            inside = (places >= -low) & (places < sizes[dim] + high)
            result = result[..., None] * inside.double().mean(1)
        return result


def _windows(call: NodeCall) -> _Windows:
    """Returns the windows of a pooling."""
    kernel = call.attribute("kernel_shape")
    if kernel is None:
        raise ArgumentValueError(f"{call.place}: the attribute 'kernel_shape' is missing")
    count = len(kernel)
    stride, dilation = call.attribute("strides", [1] * count), call.attribute("dilations", [1] * count)
    sides = conv_sides(call, shape_of(call[0])[2:], kernel, stride, dilation)
    # Only explicit padding leaves a rest to round up.
    is_explicit = call.attribute("auto_pad", "NOTSET") in ("NOTSET", "VALID")
    return _Windows(kernel, stride, dilation, sides, bool(call.attribute("ceil_mode", 0)) and is_explicit)


# -- Maximum ----------------------------------------------------------------------------------------------------------


def _handle_max_pool(call: NodeCall) -> NodeResult:
    x, windows = call[0], _windows(call)
    sizes, dtype, count = shape_of(x)[2:], dtype_of(x), len(windows.kernel)
    is_column_major = bool(call.attribute("storage_order", 0))
    sides, ceil_mode = windows.sides, windows.ceil_mode
    padded = x if dtype.is_floating_point else call.cast(x, torch.float32)  # exact for integers of 8 bits
    if dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.uint8):
        raise call.unsupported(f"elements of {dtype} are not supported")
    if not windows.is_plain():
        sides, ceil_mode = windows.needed_sides(sizes), False
        padded = pad(call, padded, [(0, 0), (0, 0), *sides], -math.inf)
    padding = [low for low, _ in sides] if padded is x or windows.is_plain() else [0] * count
    arguments = (windows.kernel, windows.stride, padding, windows.dilation, ceil_mode)
    if not call.is_wanted(1):
        return call.cast(call.aten(f"max_pool{count}d", padded, *arguments), dtype)
    if count == 1:  # ATen has no indices of 1-D pooling that can be traced
        padded = call.aten("unsqueeze", padded, 2)
        arguments = ([1, *windows.kernel], [1, *windows.stride], [0, *padding], [1, *windows.dilation], ceil_mode)
    values, places = call.aten_results(f"max_pool{max(count, 2)}d_with_indices", padded, *arguments)
    if count == 1:
        values, places = call.aten("squeeze.dim", values, 2), call.aten("squeeze.dim", places, 2)
    inner = shape_of(padded)[-count:]
    starts = [0] * count if windows.is_plain() else [low for low, _ in sides]
    return [call.cast(values, dtype), _global_places(call, places, inner, starts, is_column_major)]


def _global_places(
    call: NodeCall, places: torch.fx.Node, inner: Sequence[int], starts: Sequence[int], is_column_major: bool
) -> torch.fx.Node:
    """Returns places in the whole input, from places in the spatial dims of each channel of the padded input.

    inner: the spatial sizes of the padded input. starts: the padding before each dim.
    """
    shape = shape_of(call[0])
    sizes = shape[2:]
    if any(starts) or tuple(inner) != tuple(sizes) or is_column_major:
        total: torch.fx.Node | None = None
        for dim in range(len(sizes)):
            behind = math.prod(inner[dim + 1 :])
            at = call.aten("div.Tensor_mode", places, behind, rounding_mode="floor")
            at = call.aten("sub.Scalar", call.aten("remainder.Scalar", at, inner[dim]), starts[dim])
            step = math.prod(sizes[:dim] if is_column_major else sizes[dim + 1 :])
            part = call.aten("mul.Scalar", at, step)
            total = part if total is None else call.aten("add.Tensor", total, part)
        assert total is not None
        places = total
    channels = torch.arange(math.prod(shape[:2])) * math.prod(sizes)
    return call.aten("add.Tensor", places, call.constant(channels.reshape(*shape[:2], *[1] * len(sizes))))


def _handle_max_unpool(call: NodeCall) -> NodeResult:
    x, windows = call[0], _windows(call)
    shape = shape_of(x)
    spatial = zip(shape[2:], windows.stride, windows.kernel, windows.sides, strict=True)
    inferred = [(size - 1) * step + width - low - high for size, step, width, (low, high) in spatial]
    flat = call.aten("full", [math.prod([*shape[:2], *inferred])], 0, dtype=dtype_of(x))
    flat = call.aten("scatter.src", flat, 0, call.reshape(call[1], [-1]), call.reshape(x, [-1]))
    result = call.reshape(flat, [*shape[:2], *inferred])
    wanted = call.ints(2, "the shape of the result")
    if wanted is None:
        return result
    # The indices are places in a result of the inferred size.
    return pad(call, result, [(0, want - size) for want, size in zip(wanted, shape_of(result), strict=True)], 0)


# -- Sums -------------------------------------------------------------------------------------------------------------


def _handle_average_pool(call: NodeCall) -> NodeResult:
    return average_pool(call, call[0])


def average_pool(call: NodeCall, x: torch.fx.Node) -> torch.fx.Node:
    """Adds an average pooling with the attributes of an AveragePool node."""
    windows = _windows(call)
    with_pads = bool(call.attribute("count_include_pad", 0))
    if windows.is_plain() and set(windows.dilation) == {1}:
        padding = [low for low, _ in windows.sides]
        name = f"avg_pool{len(windows.kernel)}d"
        return call.aten(name, x, windows.kernel, windows.stride, padding, windows.ceil_mode, with_pads)
    mean, shares = _padded_mean(call, x, windows), windows.shares(shape_of(x)[2:], with_pads)
    return mean if bool((shares == 1).all()) else call.aten("div.Tensor", mean, call.constant(shares.to(dtype_of(x))))


def _padded_mean(call: NodeCall, x: torch.fx.Node, windows: _Windows) -> torch.fx.Node:
    """Returns the mean of each window with zeros around the input."""
    count, shape = len(windows.kernel), shape_of(x)
    padded, zeros = pad(call, x, [(0, 0), (0, 0), *windows.needed_sides(shape[2:])], 0.0), [0] * count
    if set(windows.dilation) == {1}:
        return call.aten(f"avg_pool{count}d", padded, windows.kernel, windows.stride, zeros, False, True)
    # ATen has no average pooling with dilation.
    apart = call.reshape(padded, [math.prod(shape[:2]), 1, *shape_of(padded)[2:]])
    weight = torch.full([1, 1, *windows.kernel], 1 / math.prod(windows.kernel), dtype=dtype_of(x))
    arguments = (windows.stride, zeros, windows.dilation, False, zeros, 1)
    mean = call.aten("convolution", apart, call.constant(weight), None, *arguments)
    return call.reshape(mean, [*shape[:2], *shape_of(mean)[2:]])


def _handle_lp_pool(call: NodeCall) -> NodeResult:
    x, windows, order = call[0], _windows(call), call.attribute("p", 2)
    powers = call.aten("pow.Tensor_Scalar", call.aten("abs", x), order)
    total = call.aten("mul.Scalar", _padded_mean(call, powers, windows), math.prod(windows.kernel))
    return call.aten("pow.Tensor_Scalar", total, 1 / order)


def _handle_lrn(call: NodeCall) -> NodeResult:
    x, size = call[0], call.attribute("size")
    alpha, beta, bias = (call.attribute(*pair) for pair in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    shape = shape_of(x)
    squares = call.reshape(call.aten("mul.Tensor", x, x), [shape[0], 1, shape[1], math.prod(shape[2:])])
    before = (size - 1) // 2
    squares = pad(call, squares, [(0, 0), (0, 0), (before, size - 1 - before), (0, 0)], 0.0)
    mean = call.reshape(call.aten("avg_pool2d", squares, [size, 1], [1, 1]), shape)
    scale = call.aten("add.Scalar", call.aten("mul.Scalar", mean, alpha), bias)
    return call.aten("div.Tensor", x, call.aten("pow.Tensor_Scalar", scale, beta))


# -- All elements -----------------------------------------------------------------------------------------------------


def _handle_global(name: str, call: NodeCall) -> NodeResult:
    return call.aten(name, call[0], list(range(2, len(shape_of(call[0])))), True)


def _handle_global_lp_pool(call: NodeCall) -> NodeResult:
    dims = list(range(2, len(shape_of(call[0]))))
    return call.aten("linalg_vector_norm", call[0], call.attribute("p", 2), dims, True)
