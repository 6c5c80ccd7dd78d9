# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes bicubic grid_sample as few calls: one gather of all neighbors, and one sum.

PyTorch's decomposition writes the calls for each of the 16 neighbors.
"""

from __future__ import annotations

import torch
from torch import Tensor

_A = -0.75  # of Keys' cubic convolution (1981)
_BORDER, _REFLECTION = 1, 2  # numbers of padding modes


def sample_bicubic(x: Tensor, grid: Tensor, padding_mode: int, align_corners: bool) -> Tensor:
    """Returns `x`, batch x channels x height x width, at the positions of `grid` as grid_sampler_2d does."""
    batch, channels, height, width = x.shape
    rows, columns = grid.shape[1], grid.shape[2]
    dtype = torch.promote_types(x.dtype, torch.float32)
    across, across_weights = _neighbors(grid[..., 0].to(dtype), width, padding_mode, align_corners)
    down, down_weights = _neighbors(grid[..., 1].to(dtype), height, padding_mode, align_corners)
    places = (down.unsqueeze(-1) * width + across.unsqueeze(-2)).reshape(batch, 1, -1).expand(-1, channels, -1)
    values = x.reshape(batch, channels, -1).gather(2, places).reshape(batch, channels, rows, columns, 4, 4)
    weights = down_weights.unsqueeze(-1) * across_weights.unsqueeze(-2)
    return (values * weights.unsqueeze(1)).sum((-2, -1)).to(x.dtype)


def _neighbors(grid: Tensor, size: int, padding_mode: int, align_corners: bool) -> tuple[Tensor, Tensor]:
    """Returns the places of the four neighbors of each position in a dim, and their weights, in a new last dim."""
    at = (grid + 1) / 2 * (size - 1) if align_corners else ((grid + 1) * size - 1) / 2
    low = at.floor()
    near = at - low
    distances = torch.stack([near + 1, near, 1 - near, 2 - near], -1)
    inner = ((_A + 2) * distances - (_A + 3)) * distances * distances + 1
    outer = ((_A * distances - 5 * _A) * distances + 8 * _A) * distances - 4 * _A
    is_inner = torch.arange(4) % 3 != 0
    weights = torch.where(is_inner, inner, outer)
    # A position that is not finite has weights of NaN, so that its place doesn't matter.
    finite = torch.where(torch.isfinite(low), low, 0.0)
    places = finite.unsqueeze(-1) + torch.arange(-1, 3)
    if padding_mode == _REFLECTION:
        places = _reflect(places, size, align_corners)
    elif padding_mode != _BORDER:
        weights = weights * ((places >= 0) & (places < size))
    return places.clamp(0, size - 1).to(torch.int64), weights


def _reflect(places: Tensor, size: int, align_corners: bool) -> Tensor:
    """Returns places reflected at the centers of the outer elements if corners are aligned, else at their edges."""
    start, span = (0.0, size - 1) if align_corners else (-0.5, size)
    if span == 0:
        return torch.zeros_like(places)
    away = (places - start).abs()
    rest = torch.fmod(away, span)
    is_turned = torch.fmod((away / span).floor(), 2) == 1
    return torch.where(is_turned, span - rest, rest) + start
