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


def _with_wide_statistics(op: Any) -> Any:
    """Returns a decomposition of a norm of a 16-bit tensor with parameters in float32, as autocast makes them in
    training. The statistics are float32, as those of PyTorch's kernels."""

    def decompose(x: torch.Tensor, *args: Any) -> Any:
        dtypes = {arg.dtype for arg in args if isinstance(arg, torch.Tensor)}
        if x.dtype not in (torch.float16, torch.bfloat16) or dtypes != {torch.float32}:
            return NotImplemented
        result, *statistics = op(x.float(), *args)
        return result.to(x.dtype), *statistics

    return decompose


_NORMS = (
    aten._native_batch_norm_legit.no_stats,
    aten._native_batch_norm_legit_functional.default,
    aten.native_batch_norm.default,
    aten.native_group_norm.default,
    aten.native_layer_norm.default,
)
DECOMPOSITIONS: Decompositions = {op: _with_statistics(op) for op in _NORMS}
DECOMPOSITIONS_FOR_TRACING: Decompositions = {op: _with_wide_statistics(op) for op in _NORMS}
