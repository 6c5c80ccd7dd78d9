# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, indices of minima and maxima, and cumulative sums."""

from .entry import Sampled

_PLAIN = """
    all amax amin aminmax any argmax argmin count_nonzero cumprod cumsum linalg.vector_norm log_softmax
    log_softmax/with_dtype logsumexp max/reduction_no_dim max/reduction_with_dim mean min/reduction_no_dim
    min/reduction_with_dim nansum nanmean norm norm/inf prod softmax std std/unbiased std_mean sum var var/unbiased
    var_mean
"""

OPS = [Sampled(name, variant) for name, _, variant in (word.partition("/") for word in _PLAIN.split())]
