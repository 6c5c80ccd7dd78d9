# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of reductions whose decompositions in PyTorch's table do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .common import Decompositions, is_static, widen

aten = torch.ops.aten


def _log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    wide = widen(x)
    if x.dim() == 0 or x.numel() == 0:
        result = wide - wide
    else:
        shifted = wide - torch.amax(wide, [dim], keepdim=True)
        result = shifted - torch.log(torch.sum(torch.exp(shifted), [dim], keepdim=True))
    return result if half_to_float else result.to(x.dtype)


def _logsumexp(x: torch.Tensor, dim: list[int], keepdim: bool = False) -> torch.Tensor:
    if x.numel() == 0:
        return torch.log(torch.sum(torch.exp(x), dim, keepdim))
    wide = widen(x if x.is_floating_point() else x.to(torch.get_default_dtype()))
    largest = torch.amax(wide, dim, keepdim=True)
    largest = torch.where(torch.isinf(largest), 0, largest)
    result = torch.log(torch.sum(torch.exp(wide - largest), dim, keepdim=True)) + largest
    if not keepdim:
        result = result.squeeze(dim if len(dim) else list(range(x.dim())))
    return result.to(x.dtype) if x.is_floating_point() else result


def _can_count(correction: float | None) -> bool:
    """Returns true if a correction can be subtracted from a count that is known only at a call: 0, or 1 (the
    default)."""
    return correction is None or correction in (0, 1)


def _variance_and_mean(
    x: torch.Tensor, dim: Sequence[int] | None, correction: float | None, keepdim: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the variance and the mean over `dim` (None or [] for all dims), for 16-bit floats in float32.

    The rounding error of the mean is much larger than the spread of elements that are far from 0. It is therefore
    computed as the mean of the differences, and subtracted too (Chan, Golub and LeVeque, "Algorithms for Computing the
    Sample Variance", 1983).
    """
    dims = list(range(x.dim())) if not dim else list(dim)
    count = 1
    for axis in dims:
        count *= x.shape[axis]
    correction = 1 if correction is None else correction
    freedom = count - (correction if isinstance(count, int) else int(correction))
    wide = widen(x)
    mean = torch.mean(wide, dims, keepdim=True)
    error = torch.mean(wide - mean, dims, keepdim=True)
    # The opposite of `wide - mean - error`. With the same difference, both sums would share it, and it would be stored.
    centered = (mean - wide) + error
    total = torch.sum(centered * centered, dims, keepdim=keepdim)
    mean = mean + error
    if isinstance(freedom, torch.SymInt):
        variance = total / freedom
    else:
        variance = total * (1.0 / freedom) if freedom > 0 else total / 0.0
    return variance, mean if keepdim else mean.reshape(variance.shape)


def _variance(
    x: torch.Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> Any:
    if not x.is_floating_point() or not (is_static(x) or _can_count(correction)):
        return NotImplemented
    return _variance_and_mean(x, dim, correction, keepdim)[0].to(x.dtype)


def _var_mean(
    x: torch.Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> Any:
    if not x.is_floating_point() or not (is_static(x) or _can_count(correction)):
        return NotImplemented
    variance, mean = _variance_and_mean(x, dim, correction, keepdim)
    return variance.to(x.dtype), mean.to(x.dtype)


def _vector_norm(
    x: torch.Tensor,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Any:
    result = dtype or x.dtype
    if not result.is_floating_point:
        return NotImplemented
    size = torch.abs(widen(x.to(result)))
    dims = list(range(x.dim())) if dim is None or (isinstance(dim, (list, tuple)) and not dim) else dim
    dims = [dims] if isinstance(dims, int) else list(dims)
    if ord == float("inf"):
        norm = torch.amax(size, dims, keepdim)
    elif ord == float("-inf"):
        norm = torch.amin(size, dims, keepdim)
    elif ord == 0:
        norm = torch.sum((size != 0).to(size.dtype), dims, keepdim)
    elif ord == 1:
        norm = torch.sum(size, dims, keepdim)
    elif ord == 2:
        norm = torch.sqrt(torch.sum(size * size, dims, keepdim))
    else:
        norm = torch.pow(torch.sum(torch.pow(size, ord), dims, keepdim), 1.0 / ord)
    return norm.to(result)


def _ldexp(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return x * torch.pow(2.0, other)


DECOMPOSITIONS: Decompositions = {
    aten.ldexp.Tensor: _ldexp,
    aten._log_softmax.default: _log_softmax,
    aten.linalg_vector_norm.default: _vector_norm,
    aten.logsumexp.default: _logsumexp,
    aten.var.correction: _variance,
    aten.var_mean.correction: _var_mean,
}
