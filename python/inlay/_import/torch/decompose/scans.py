# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of running maxima, minima and sums of exponentials.

A scan of n elements takes log2(n) steps. Each step combines every element with the one 1, 2, 4, ... places before it
(Hillis and Steele, "Data parallel algorithms", 1986).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .common import Decompositions, is_static, widen

aten = torch.ops.aten


def running(
    values: tuple[torch.Tensor, ...], dim: int, combine: Callable[..., tuple[torch.Tensor, ...]]
) -> tuple[torch.Tensor, ...]:
    """Returns the scan of `values` along `dim` by an associative function of (earlier..., later...)."""
    size, step = values[0].shape[dim], 1
    while step < size:
        earlier = [value.narrow(dim, 0, size - step) for value in values]
        later = [value.narrow(dim, step, size - step) for value in values]
        made = combine(*earlier, *later)
        values = tuple(
            torch.cat([value.narrow(dim, 0, step), new], dim) for value, new in zip(values, made, strict=True)
        )
        step *= 2
    return values


def _extreme(is_later: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """Returns the decomposition of cummax or cummin. is_later: true where the later of two elements is chosen.

    As in PyTorch, the last of equal elements is chosen, and the last NaN if there is one.
    """

    def combine(
        old: torch.Tensor, old_place: torch.Tensor, new: torch.Tensor, new_place: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        later = is_later(new, old)
        if new.is_floating_point():
            later = torch.logical_or(torch.isnan(new), torch.logical_and(later, torch.logical_not(torch.isnan(old))))
        return torch.where(later, new, old), torch.where(later, new_place, old_place)

    def decompose(x: torch.Tensor, dim: int) -> Any:
        if not is_static(x) or x.dtype == torch.bool:
            return NotImplemented
        if x.dim() == 0:
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        dim = dim % x.dim()
        place = torch.arange(x.shape[dim]).reshape([-1 if axis == dim else 1 for axis in range(x.dim())])
        return running((x, place.expand(x.shape)), dim, combine)

    return decompose


def _logcumsumexp(x: torch.Tensor, dim: int) -> Any:
    if not is_static(x) or not x.is_floating_point():
        return NotImplemented
    if x.dim() == 0:
        return x.clone()

    def combine(old: torch.Tensor, new: torch.Tensor) -> tuple[torch.Tensor, ...]:
        largest, smallest = torch.maximum(old, new), torch.minimum(old, new)
        total = largest + torch.log1p(torch.exp(smallest - largest))
        return (torch.where(torch.logical_and(old == new, torch.isinf(old)), old, total),)

    return running((widen(x),), dim % x.dim(), combine)[0].to(x.dtype)


DECOMPOSITIONS: Decompositions = {
    aten.cummax.default: _extreme(torch.ge),
    aten.cummin.default: _extreme(torch.le),
    aten.logcumsumexp.default: _logcumsumexp,
}
