# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of distances between vectors."""

from __future__ import annotations

from typing import Any

import torch

from .common import Decompositions, is_static

aten = torch.ops.aten

_LONG = 25  # PyTorch computes Euclidean distances of more vectors by a matrix product, unless the mode says otherwise
_MAX_DIFFERENCES = 1 << 24  # elements of the differences of all pairs; PyTorch computes more


def _norm(difference: torch.Tensor, p: float) -> torch.Tensor:
    """Returns the p-norm of vectors along the last dim."""
    size = torch.abs(difference)
    if p == 0:
        return torch.sum((size != 0).to(size.dtype), [-1])
    if p == 1:
        return torch.sum(size, [-1])
    if p == 2:
        return torch.sqrt(torch.sum(size * size, [-1]))
    if p == float("inf"):
        return torch.amax(size, [-1])
    return torch.pow(torch.sum(torch.pow(size, p), [-1]), 1.0 / p)


def _cdist(x: torch.Tensor, y: torch.Tensor, p: float, compute_mode: int | None) -> Any:
    if not is_static(x) or not is_static(y) or x.dtype not in (torch.float32, torch.float64):
        return NotImplemented
    rows, columns, length = x.shape[-2], y.shape[-2], x.shape[-1]
    if length == 0 or x.numel() == 0 or y.numel() == 0:
        return NotImplemented
    by_product = compute_mode == 1 or (compute_mode in (None, 0) and (rows > _LONG or columns > _LONG))
    if p == 2 and by_product:
        squares = torch.sum(x * x, [-1], keepdim=True) + torch.sum(y * y, [-1], keepdim=True).mT
        return torch.sqrt(torch.clamp(squares - 2 * torch.matmul(x, y.mT), min=0))
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    return _norm(difference, p) if difference.numel() <= _MAX_DIFFERENCES else NotImplemented


def _pdist(x: torch.Tensor, p: float = 2) -> Any:
    if not is_static(x) or x.dtype not in (torch.float32, torch.float64) or x.shape[0] < 2 or x.shape[1] == 0:
        return NotImplemented
    count = x.shape[0]
    if count * (count - 1) // 2 * x.shape[1] > _MAX_DIFFERENCES:
        return NotImplemented
    first, second = torch.triu_indices(count, count, 1).unbind()
    return _norm(x[first] - x[second], p)


DECOMPOSITIONS: Decompositions = {aten._cdist_forward.default: _cdist, aten._pdist_forward.default: _pdist}
