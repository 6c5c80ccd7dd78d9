# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of reductions whose decompositions in PyTorch's table do not fit."""

from __future__ import annotations

DECOMPOSITIONS: Decompositions = {
    aten.ldexp.Tensor: _ldexp,
    aten._log_softmax.default: _log_softmax,
    aten.linalg_vector_norm.default: _vector_norm,
    aten.logsumexp.default: _logsumexp,
    aten.var.correction: _variance,
    aten.var_mean.correction: _var_mean,
}
