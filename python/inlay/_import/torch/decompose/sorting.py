# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of medians and modes into a sort, and of searches in sorted sequences into steps of bisection."""

from __future__ import annotations

from typing import Any

import torch

from .common import Decompositions, is_static
from .scans import running

aten = torch.ops.aten

_MAX_SORTED = 4096  # PyTorch sorts longer dims, so their whole call stays in PyTorch


def _is_sortable(x: torch.Tensor, dim: int) -> bool:
    """Returns true if the dialect sorts `x` along `dim`."""
    if not is_static(x) or x.dtype == torch.bool or x.numel() == 0:
        return False
    return x.dim() == 0 or x.shape[dim] <= _MAX_SORTED


def _nans(x: torch.Tensor) -> torch.Tensor:
    return torch.isnan(x) if x.is_floating_point() else torch.zeros_like(x, dtype=torch.bool)


def _median_at(x: torch.Tensor, dim: int, keepdim: bool, skips_nan: bool) -> Any:
    """Returns the lower median and its place. skips_nan: False if the median is NaN wherever there is one."""
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    places = torch.sort(x, dim=dim, stable=True)[1]  # NaNs come last
    count = x.shape[dim]
    if not x.is_floating_point():
        place = places.narrow(dim, (count - 1) // 2, 1)
    elif skips_nan:
        known = torch.sum(torch.logical_not(_nans(x)), [dim], keepdim=True)
        place = torch.gather(places, dim, torch.clamp((known - 1) // 2, min=0))
    else:
        # The first NaN is the first of those at the end.
        known = torch.sum(torch.logical_not(_nans(x)), [dim], keepdim=True)
        middle = torch.full_like(known, (count - 1) // 2)
        place = torch.gather(places, dim, torch.where(known < count, known, middle))
    value = torch.gather(x, dim, place)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _median_dim(skips_nan: bool) -> Any:
    def decompose(x: torch.Tensor, dim: int, keepdim: bool = False) -> Any:
        return _median_at(x, dim, keepdim, skips_nan) if _is_sortable(x, dim) else NotImplemented

    return decompose


def _median(skips_nan: bool) -> Any:
    def decompose(x: torch.Tensor) -> Any:
        flat = x.reshape(-1)
        return _median_at(flat, 0, False, skips_nan)[0] if _is_sortable(flat, 0) else NotImplemented

    return decompose


def _mode(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """Returns the smallest of the most frequent elements, and the place of the last one that equals it."""
    if not _is_sortable(x, dim):
        return NotImplemented
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    dim = dim % x.dim()
    order, places = torch.sort(x, dim=dim, stable=True)
    count = x.shape[dim]
    number = torch.arange(count).reshape([-1 if axis == dim else 1 for axis in range(x.dim())]).expand(x.shape)
    differs = order.narrow(dim, 1, count - 1) != order.narrow(dim, 0, count - 1)
    starts = torch.where(differs, number.narrow(dim, 1, count - 1), 0)
    starts = torch.cat([torch.zeros_like(number.narrow(dim, 0, 1)), starts], dim)
    start = running((starts,), dim, lambda old, new: (torch.maximum(old, new),))[0]
    last = torch.argmax(number - start, dim, keepdim=True)  # of the longest run
    value, place = torch.gather(order, dim, last), torch.gather(places, dim, last)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _searchsorted(
    sequence: torch.Tensor,
    values: torch.Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> Any:
    if not is_static(sequence) or values.dtype != sequence.dtype or sequence.dtype == torch.bool:
        return NotImplemented
    count = sequence.shape[-1] if sequence.dim() else 0
    if count == 0 or (sequence.dim() > 1 and not is_static(values)):
        return NotImplemented
    right = side == "right" if side is not None else right
    shape = values.shape
    if sequence.dim() > 1:
        values = values if values.dim() else values.expand((*sequence.shape[:-1], 1))

        def read(table: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
            return torch.gather(table, -1, place)
    else:

        def read(table: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
            return table[place]

    low = torch.zeros_like(values, dtype=torch.int64)
    high = torch.full_like(low, count)
    for _ in range(count.bit_length()):
        middle = (low + high) >> 1
        place = torch.clamp(middle, max=count - 1)
        if sorter is not None:
            place = read(sorter, place)
        found = read(sequence, place)
        # A NaN is greater than all numbers.
        later = torch.logical_not(found > values if right else found >= values)
        later = torch.logical_and(later, low < high)
        low, high = torch.where(later, middle + 1, low), torch.where(torch.logical_or(later, low >= high), high, middle)
    return low.reshape(shape).to(torch.int32 if out_int32 else torch.int64)


def _bucketize(values: torch.Tensor, boundaries: torch.Tensor, *, out_int32: bool = False, right: bool = False) -> Any:
    return _searchsorted(boundaries, values, out_int32=out_int32, right=right)


DECOMPOSITIONS: Decompositions = {
    aten.median.default: _median(False),
    aten.median.dim: _median_dim(False),
    aten.nanmedian.default: _median(True),
    aten.nanmedian.dim: _median_dim(True),
    aten.mode.default: _mode,
    aten.searchsorted.Tensor: _searchsorted,
    aten.bucketize.Tensor: _bucketize,
}
