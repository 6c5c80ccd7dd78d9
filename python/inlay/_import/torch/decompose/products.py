# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of products that PyTorch adds, without rounding them or without keeping them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table

from .common import Decompositions, widen

aten = torch.ops.aten


def _addcmul(x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    """Returns x + value * a * b, also where the product overflows and the result does not, as PyTorch's fused
    multiply-add does. Devices may round the product."""
    if x.dtype not in (torch.float32, torch.float64) or not x.dtype == a.dtype == b.dtype:
        return decomposition_table[aten.addcmul.default](x, a, b, value=value)
    a = a if isinstance(value, (int, float)) and value == 1 else a * value
    product, scale = a * b, 2.0 ** (-65 if x.dtype == torch.float32 else -513)
    overflows = (product.abs() == torch.inf) & (torch.maximum(a.abs(), b.abs()) < torch.inf)
    exact = (x * scale * scale + (a * scale) * (b * scale)) / scale / scale
    return torch.where(overflows, exact, x + product)


def _trilinear(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    expand_a: Sequence[int],
    expand_b: Sequence[int],
    expand_c: Sequence[int],
    sum_dims: Sequence[int],
    unroll_dim: int = 1,
) -> Any:
    """Returns the sum of a * b * c over dims, after each factor got a dim of size 1 at its `expand` dims.

    unroll_dim: the dim over which PyTorch loops. The result does not depend on it.
    """
    if not a.dtype == b.dtype == c.dtype:
        return NotImplemented
    for dim in range(a.dim() + len(expand_a)):
        a = a.unsqueeze(dim) if dim in expand_a else a
        b = b.unsqueeze(dim) if dim in expand_b else b
        c = c.unsqueeze(dim) if dim in expand_c else c
    product = widen(a) * widen(b) * widen(c)
    return (product.sum(list(sum_dims)) if sum_dims else product).to(a.dtype)


DECOMPOSITIONS: Decompositions = {aten.addcmul.default: _addcmul, aten._trilinear.default: _trilinear}
