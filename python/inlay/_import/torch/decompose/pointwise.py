# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of functions of single elements."""

from __future__ import annotations

import math

import torch

from .common import Decompositions, widen

aten = torch.ops.aten


def _angle(x: torch.Tensor) -> torch.Tensor:
    """Returns pi for negative numbers and 0 for others."""
    wide = x if x.dtype.is_floating_point else x.to(torch.get_default_dtype())
    angle = torch.where(wide < 0, torch.full_like(wide, math.pi), torch.zeros_like(wide))
    return torch.where(torch.isnan(wide), wide, angle)


def _hypot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Returns sqrt(x^2 + y^2), also where a square overflows or is a subnormal number."""
    a, b = torch.abs(widen(x)), torch.abs(widen(y))
    large, small = torch.maximum(a, b), torch.minimum(a, b)
    quotient = torch.where(large == 0, 0.0, small / large)
    result = large * torch.sqrt(1 + quotient * quotient)
    return torch.where(torch.logical_or(torch.isinf(a), torch.isinf(b)), math.inf, result).to(x.dtype)


def _convert(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns the elements as `dtype`. PyTorch's own decompositions make this call."""
    return x.to(dtype, copy=True)


DECOMPOSITIONS: Decompositions = {
    aten.angle.default: _angle,
    aten.hypot.default: _hypot,
    torch.ops.prims.convert_element_type.default: _convert,
}
