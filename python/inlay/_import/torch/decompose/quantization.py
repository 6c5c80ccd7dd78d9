# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of simulated quantization."""

from __future__ import annotations

from typing import Any

import torch

from .common import Decompositions, widen

aten = torch.ops.aten


def _quantize(
    x: torch.Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the values that `x` has after quantization, and true where it is inside the range of the quantized
    type."""
    wide = widen(x)
    inverse = 1.0 / scale
    level = torch.round(wide * inverse) + zero_point
    inside = torch.logical_and(level >= quant_min, level <= quant_max)
    # PyTorch converts the level to an integer, and a NaN becomes the smallest.
    level = torch.where(torch.isnan(level), float(quant_min), torch.clamp(level, quant_min, quant_max))
    return ((level - zero_point) * scale).to(x.dtype), inside


def _per_tensor(x: torch.Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Any:
    if x.dtype != torch.float32:
        return NotImplemented
    return _quantize(x, scale, zero_point, quant_min, quant_max)


def _per_channel(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int, quant_min: int, quant_max: int
) -> Any:
    if x.dtype != torch.float32:
        return NotImplemented
    shape = [-1 if dim == axis % x.dim() else 1 for dim in range(x.dim())]
    return _quantize(x, scale.reshape(shape), zero_point.to(x.dtype).reshape(shape), quant_min, quant_max)


DECOMPOSITIONS: Decompositions = {
    aten.fake_quantize_per_tensor_affine_cachemask.default: _per_tensor,
    aten.fake_quantize_per_channel_affine_cachemask.default: _per_channel,
}
