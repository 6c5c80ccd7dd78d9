# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of resampling into reads of elements: at indices that are known at import, or that a grid gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table

from ..sampling import sample_bicubic
from .common import Decompositions, is_static

aten = torch.ops.aten


def _corners(
    size: int, want: int, scale: float | None, align_corners: bool, dtype: torch.dtype
) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
    """Returns (indices, weights) of the element before each position of the result along a dim, and of the one
    behind it."""
    number = torch.arange(want).to(dtype)
    if size == want:
        position = number
    elif align_corners:
        position = number * ((size - 1) / (want - 1) if want > 1 else 0.0)
    else:
        step = 1.0 / scale if scale is not None and scale > 0 else size / want
        position = torch.clamp((number + 0.5) * step - 0.5, min=0)
    first = torch.clamp(position.to(torch.int64), max=size - 1)
    share = torch.clamp(position - first.to(dtype), 0, 1)
    second = first if size == want else torch.clamp(first + 1, max=size - 1)
    return (first, 1 - share), (second, share)


def _interpolate(
    x: torch.Tensor, wanted: Sequence[int], scales: Sequence[float | None], align_corners: bool
) -> torch.Tensor:
    """Returns the sums of the elements around each position. PyTorch multiplies each element by its weight, which
    decides the result beside infinities."""
    count = len(wanted)
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    corners = [
        _corners(size, want, scale, align_corners, dtype)
        for size, want, scale in zip(x.shape[2:], wanted, scales, strict=True)
    ]

    def total(chosen: tuple[torch.Tensor, ...]) -> torch.Tensor:
        dim = len(chosen)
        if dim == count:
            index = [place.reshape(-1, *[1] * (count - 1 - axis)) for axis, place in enumerate(chosen)]
            elements: torch.Tensor = aten._unsafe_index.Tensor(x, [None, None, *index])
            return elements.to(dtype)
        parts = [
            total((*chosen, place)) * weight.reshape(-1, *[1] * (count - 1 - dim)) for place, weight in corners[dim]
        ]
        return parts[0] + parts[1]

    return total(()).to(x.dtype)


def _linear(op: Any, count: int) -> Callable[..., Any]:
    def decompose(
        x: torch.Tensor, output_size: Sequence[int], align_corners: bool, *scales: float | None, **named: float | None
    ) -> Any:
        given = [*scales, *named.values()] or [None] * count
        if not _is_exact(x, output_size) or len(given) != count:
            return decomposition_table[op](x, output_size, align_corners, *scales, **named)
        return _interpolate(x, output_size, given, align_corners)

    return decompose


def _linear_by_factors(op: Any, count: int) -> Callable[..., Any]:
    def decompose(
        x: torch.Tensor, output_size: Sequence[int] | None, align_corners: bool, scale_factors: Sequence[float] | None
    ) -> Any:
        if not is_static(x):
            return decomposition_table[op](x, output_size, align_corners, scale_factors)
        if output_size is None:
            assert scale_factors is not None
            output_size = [int(size * scale) for size, scale in zip(x.shape[2:], scale_factors, strict=True)]
        if not _is_exact(x, output_size):
            return decomposition_table[op](x, output_size, align_corners, scale_factors)
        return _interpolate(x, output_size, scale_factors or [None] * count, align_corners)

    return decompose


def _is_exact(x: torch.Tensor, output_size: Sequence[int]) -> bool:
    """Returns true if the positions are known at import and the elements are floats."""
    return is_static(x) and all(isinstance(size, int) for size in output_size) and x.is_floating_point()


def _grid_sampler_2d(
    x: torch.Tensor, grid: torch.Tensor, interpolation_mode: int = 0, padding_mode: int = 0, align_corners: bool = False
) -> Any:
    """Samples with PyTorch's decomposition, but treats NaN and infinite coordinates as PyTorch's CPU kernels do.

    Without padding, they make a bilinear result NaN. Padding puts NaN, and reflection puts infinities too, on the first
    element.
    """
    sample = decomposition_table[aten.grid_sampler_2d.default]
    nearest, bicubic, zeros, reflection = 1, 2, 0, 2
    if interpolation_mode == bicubic:
        return sample_bicubic(x, grid, padding_mode, align_corners)
    if (interpolation_mode, padding_mode) == (nearest, zeros):
        return sample(x, grid, interpolation_mode, padding_mode, align_corners)
    known = torch.isfinite(grid)
    if padding_mode == zeros:
        result = sample(x, grid, interpolation_mode, padding_mode, align_corners)
        return torch.where(known.all(-1).unsqueeze(1), result, math.nan)
    if padding_mode != reflection:
        known = grid == grid
    placed = torch.where(known, grid, -1.0)  # at the first element or before it, which padding treats alike
    return sample(x, placed, interpolation_mode, padding_mode, align_corners)


_KINDS = {1: "upsample_linear1d", 2: "upsample_bilinear2d", 3: "upsample_trilinear3d"}

DECOMPOSITIONS: Decompositions = {
    aten.grid_sampler_2d.default: _grid_sampler_2d,
    **{getattr(aten, name).default: _linear(getattr(aten, name).default, count) for count, name in _KINDS.items()},
    **{getattr(aten, name).vec: _linear_by_factors(getattr(aten, name).vec, count) for count, name in _KINDS.items()},
}
