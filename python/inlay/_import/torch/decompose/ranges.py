# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of numbers with equal distances."""

from __future__ import annotations

from typing import Any

import torch
from torch._decomp import decomposition_table

from .common import Decompositions

aten = torch.ops.aten


def _linspace(op: Any) -> Any:
    """Returns PyTorch's decomposition of an overload, with whole ends and steps in float64 if the result has whole
    numbers. Calls of numbers alone stay whole, because PyTorch computes them as constants."""
    space = decomposition_table[op]

    def decompose(start: Any, end: Any, steps: Any, *, dtype: torch.dtype | None = None, **kwargs: Any) -> Any:
        if all(isinstance(number, (int, float)) for number in (start, end, steps)):
            return NotImplemented
        if dtype is None or dtype.is_floating_point or dtype.is_complex:
            return space(start, end, steps, dtype=dtype, **kwargs)
        start, end = (_as_whole(number, dtype) for number in (start, end))
        return space(start, end, steps, dtype=torch.float64, **kwargs).to(dtype)

    return decompose


def _as_whole(number: Any, dtype: torch.dtype) -> Any:
    """Returns a number as PyTorch converts it to an integer dtype."""
    if isinstance(number, torch.Tensor):
        return number.to(dtype)
    return int(number) % 256 if dtype == torch.uint8 else int(number)


DECOMPOSITIONS: Decompositions = {
    op: _linspace(op)
    for op in (
        aten.linspace.default,
        aten.linspace.Scalar_Tensor,
        aten.linspace.Tensor_Scalar,
        aten.linspace.Tensor_Tensor,
    )
}
