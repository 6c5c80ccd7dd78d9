# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of pooling that returns places or divides by a number of its own, and of its inverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..call import spread
from .common import Decompositions, is_static, widen

aten = torch.ops.aten

_MAX_ELEMENTS = 1 << 26  # of all windows; PyTorch pools larger ones


def _windows_at(x: torch.Tensor, places: Sequence[list[list[int]]], count: int) -> Any:
    """Returns the largest element of each window and its place in the flat spatial dims.

    places: for each spatial dim and each position of the window along it, the positions of its elements, all of one
    length; -1 for none. As in PyTorch, the first of equal elements is chosen, and the last NaN if there is one.
    """
    sizes, wanted = x.shape[-count:], [len(table) for table in places]
    tables = [torch.tensor(table) for table in places]
    index, flat, inside = [], torch.zeros((), dtype=torch.int64), torch.ones((), dtype=torch.bool)
    for dim, (table, size) in enumerate(zip(tables, sizes, strict=True)):
        shape = [1] * (2 * count)
        shape[dim], shape[count + dim] = table.shape
        index.append(torch.clamp(table, min=0).reshape(shape))
        flat = flat * size + index[-1]
        inside = torch.logical_and(inside, table.reshape(shape) >= 0)
    leading = list(x.shape[:-count])
    length = math.prod(table.shape[1] for table in tables)
    if math.prod(leading) * math.prod(wanted) * length > _MAX_ELEMENTS:
        return NotImplemented
    window = x[(slice(None),) * len(leading) + tuple(index)].reshape([*leading, *wanted, length])
    inside = inside.expand(flat.shape).reshape([*wanted, length])
    flat = flat.reshape([*wanted, length])
    lowest = float("-inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
    window = torch.where(inside, window, torch.full_like(window, lowest))
    number = torch.arange(length)
    value = torch.amax(window, [-1], keepdim=True)
    chosen = torch.logical_and(window == value, inside)
    best = torch.amin(torch.where(chosen, number, length), [-1], keepdim=True)
    if x.is_floating_point():
        broken = torch.amax(torch.where(torch.isnan(window), number, -1), [-1], keepdim=True)
        best = torch.where(broken >= 0, broken, best)
    place = torch.gather(flat.expand(window.shape), -1, best)
    return value.squeeze(-1), place.squeeze(-1)


def _max_pool_with_places(count: int) -> Callable[..., Any]:
    def decompose(
        x: torch.Tensor,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        if not is_static(x) or x.numel() == 0 or x.dtype == torch.bool:
            return NotImplemented
        kernel = spread(kernel_size, count, ())
        steps, pads = spread(stride, count, kernel), spread(padding, count, [0] * count)
        gaps = spread(dilation, count, [1] * count)
        places = []
        for size, length, step, pad, gap in zip(x.shape[-count:], kernel, steps, pads, gaps, strict=True):
            reach = size + 2 * pad - gap * (length - 1) - 1
            wanted = (-(-reach // step) if ceil_mode else reach // step) + 1
            if ceil_mode and (wanted - 1) * step >= size + pad:  # the last window must start inside
                wanted -= 1
            starts = [number * step - pad for number in range(wanted)]
            rows = [[start + gap * element for element in range(length)] for start in starts]
            places.append([[place if 0 <= place < size else -1 for place in row] for row in rows])
        return _windows_at(x, places, count)

    return decompose


def _adaptive_max_pool(count: int) -> Callable[..., Any]:
    def decompose(x: torch.Tensor, output_size: Any) -> Any:
        if not is_static(x) or x.numel() == 0 or 0 in output_size or x.dtype == torch.bool:
            return NotImplemented
        places = []
        for size, wanted in zip(x.shape[-count:], spread(output_size, count, ()), strict=True):
            rows = [list(range(n * size // wanted, -(-(n + 1) * size // wanted))) for n in range(wanted)]
            widest = max(map(len, rows))
            places.append([row + [-1] * (widest - len(row)) for row in rows])
        return _windows_at(x, places, count)

    return decompose


def _avg_pool(count: int) -> Callable[..., Any]:
    pool = {2: aten.avg_pool2d.default, 3: aten.avg_pool3d.default}[count]

    def decompose(
        x: torch.Tensor,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        if divisor_override is None or not is_static(x) or not x.is_floating_point() or x.numel() == 0:
            return NotImplemented
        kernel = spread(kernel_size, count, ())
        steps, pads = spread(stride, count, kernel), spread(padding, count, [0] * count)
        low_high: list[int] = []
        for size, length, step, pad in zip(x.shape[-count:], kernel, steps, pads, strict=True):
            reach = size + 2 * pad - length
            wanted = (-(-reach // step) if ceil_mode else reach // step) + 1
            if ceil_mode and (wanted - 1) * step >= size + pad:
                wanted -= 1
            low_high[:0] = [pad, (wanted - 1) * step + length - size - pad]
        # Windows of equal sizes: all divide by the size of the kernel.
        padded = torch.constant_pad_nd(widen(x), low_high)
        mean = pool(padded, kernel, steps, [0] * count, False, True)
        return (mean * (math.prod(kernel) / divisor_override)).to(x.dtype)

    return decompose


def _max_pool_backward(grad: torch.Tensor, x: torch.Tensor, *arguments: Any) -> Any:
    """Adds each gradient to the element whose place the forward pass returned. The places are the last argument."""
    if not is_static(x):
        return NotImplemented
    flat = [tensor.flatten(-2) for tensor in (x, arguments[-1], grad)]
    start = torch.zeros_like(widen(flat[0]))
    return torch.scatter_add(start, -1, flat[1], widen(flat[2])).reshape(x.shape).to(x.dtype)


DECOMPOSITIONS: Decompositions = {
    aten.adaptive_max_pool2d_backward.default: _max_pool_backward,
    aten.max_pool2d_with_indices_backward.default: _max_pool_backward,
    aten.adaptive_max_pool2d.default: _adaptive_max_pool(2),
    aten.adaptive_max_pool3d.default: _adaptive_max_pool(3),
    aten.avg_pool2d.default: _avg_pool(2),
    aten.avg_pool3d.default: _avg_pool(3),
    aten.max_pool2d_with_indices.default: _max_pool_with_places(2),
    aten.max_pool3d_with_indices.default: _max_pool_with_places(3),
}
