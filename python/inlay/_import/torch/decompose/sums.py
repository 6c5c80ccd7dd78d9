# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of products that are added to a tensor."""

from __future__ import annotations

import torch

from .common import Decompositions, widen

aten = torch.ops.aten


def _add(x: torch.Tensor, product: torch.Tensor, beta: float, alpha: float) -> torch.Tensor:
    """Returns beta x + alpha product in the dtype of `x`. A beta of 0 also drops NaN and infinities of `x`. Factors of
    integers are truncated."""
    if not x.dtype.is_floating_point:
        beta, alpha = int(beta), int(alpha)
    scaled = product if alpha == 1 else alpha * product
    if beta != 0:
        scaled = scaled + (widen(x) if beta == 1 else beta * widen(x))
    return scaled.to(x.dtype)


def _addmv(
    x: torch.Tensor, matrix: torch.Tensor, vector: torch.Tensor, *, beta: float = 1, alpha: float = 1
) -> torch.Tensor:
    return _add(x, torch.mv(widen(matrix), widen(vector)), beta, alpha)


def _addbmm(
    x: torch.Tensor, lhs: torch.Tensor, rhs: torch.Tensor, *, beta: float = 1, alpha: float = 1
) -> torch.Tensor:
    """Returns the sum of the products of all pairs of matrices, which is one product of longer rows."""
    (count, rows, inner), columns = lhs.shape, rhs.shape[2]
    left = widen(lhs).permute(1, 0, 2).reshape(rows, count * inner)
    return _add(x, torch.mm(left, widen(rhs).reshape(count * inner, columns)), beta, alpha)


DECOMPOSITIONS: Decompositions = {aten.addbmm.default: _addbmm, aten.addmv.default: _addmv}
