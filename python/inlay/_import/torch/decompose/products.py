# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of products that PyTorch adds without rounding them."""

from __future__ import annotations

from typing import Any

import torch
from torch._decomp import decomposition_table

from .common import Decompositions

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


DECOMPOSITIONS: Decompositions = {aten.addcmul.default: _addcmul}
