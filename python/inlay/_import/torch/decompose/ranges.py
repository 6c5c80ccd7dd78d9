# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of numbers with equal distances."""

from __future__ import annotations

from typing import Any

import torch
from torch._decomp import decomposition_table

from .common import Decompositions

aten = torch.ops.aten


def _linspace(op: Any) -> Any:
    """Returns PyTorch's decomposition of an overload, with whole ends if the result has whole numbers."""
    space = decomposition_table[op]

    def decompose(start: Any, end: Any, steps: int, *, dtype: torch.dtype | None = None, **kwargs: Any) -> Any:
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            start, end = (x.to(dtype) if isinstance(x, torch.Tensor) else int(x) for x in (start, end))
        return space(start, end, steps, dtype=dtype, **kwargs)

    return decompose


DECOMPOSITIONS: Decompositions = {
    op: _linspace(op) for op in (aten.linspace.Scalar_Tensor, aten.linspace.Tensor_Scalar, aten.linspace.Tensor_Tensor)
}
