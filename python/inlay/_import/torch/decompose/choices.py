# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of the calls that choose scales and zero points for activations. They round as PyTorch does."""

from __future__ import annotations

from typing import Any

import torch

from .common import SHORT_FLOATS


def choose(x: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype) -> Any:
    """Returns a scale and a zero point for the range of a tensor."""
    if not _can_choose(x, quant_min, quant_max, dtype):
        return NotImplemented
    low, high = _range(x.amin(), x.amax())
    scale = torch.maximum((high - low) / float(quant_max - quant_min), _at_least(eps))
    zero_point = quant_min - torch.round(low / scale).to(torch.int32)
    return scale.double(), torch.clamp(zero_point, quant_min, quant_max).to(torch.int64)


def choose_symmetric(x: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype) -> Any:
    """Returns a scale for the largest absolute value of a tensor, and the zero point in the middle of the codes."""
    if not _can_choose(x, quant_min, quant_max, dtype):
        return NotImplemented
    low, high = _range(x.amin(), x.amax())
    scale = torch.maximum(torch.maximum(-low, high) / (float(quant_max - quant_min) / 2), _at_least(eps))
    return scale.double(), torch.full((1,), 128 if dtype == torch.uint8 else 0)


def _can_choose(x: torch.Tensor, quant_min: int, quant_max: int, dtype: torch.dtype) -> bool:
    """Returns true for arguments for which PyTorch computes a scale."""
    is_known = dtype in (torch.int8, torch.uint8, torch.int16) and x.dtype in SHORT_FLOATS
    return is_known and quant_min <= 0 <= quant_max and quant_min < quant_max and 0 not in x.shape


def _range(low: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the ends of a range, extended to 0."""
    return torch.minimum(low, torch.zeros_like(low)), torch.maximum(high, torch.zeros_like(high))


def _at_least(eps: float) -> torch.Tensor:
    """Returns the lowest scale. PyTorch keeps it as a float32 tensor with one dim, to which the scale then widens."""
    return torch.full((1,), eps, dtype=torch.float32)


def choose_per_token(x: torch.Tensor, dtype: torch.dtype) -> Any:
    """Returns a scale for each vector along the last dim, and zero points of 0."""
    if dtype != torch.int8 or x.dtype not in SHORT_FLOATS or x.dim() == 0 or x.shape[-1] == 0:
        return NotImplemented
    scales = x.abs().amax(-1, keepdim=True)
    scales = (scales.float() if scales.dtype == torch.float16 else scales).clamp(min=1e-5) / 127
    return scales, torch.zeros_like(scales)


def choose_per_token_asymmetric(x: torch.Tensor, dtype: torch.dtype) -> Any:
    """Returns a scale and a zero point for each vector along the last dim."""
    if x.dtype not in SHORT_FLOATS or x.dim() == 0 or x.shape[-1] == 0:
        return NotImplemented
    return torch.ops.quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default(x, dtype)
