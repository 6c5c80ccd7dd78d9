# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of norms that also return their statistics, as the forward pass of training needs them."""

from __future__ import annotations

from typing import Any

import torch
from torch._decomp import decomposition_table

from .common import Decompositions

aten = torch.ops.aten


def _with_statistics(op: Any) -> Any:
    """Returns PyTorch's decomposition of a norm, for tensors of one dtype.

    For others, PyTorch's traces have statistics of other dtypes than its kernels return.
    """
    norm = decomposition_table[op]

    def decompose(*args: Any) -> Any:
        dtypes = {arg.dtype for arg in args if isinstance(arg, torch.Tensor)}
        return norm(*args) if len(dtypes) == 1 else NotImplemented

    return decompose


DECOMPOSITIONS: Decompositions = {
    op: _with_statistics(op)
    for op in (
        aten._native_batch_norm_legit.no_stats,
        aten._native_batch_norm_legit_functional.default,
        aten.native_batch_norm.default,
        aten.native_group_norm.default,
        aten.native_layer_norm.default,
    )
}
