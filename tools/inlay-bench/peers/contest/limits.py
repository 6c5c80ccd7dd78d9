# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine reaches in the two things that bound a kernel: moving memory and multiplying."""

import time
from collections.abc import Callable

import torch

COPIED_MB = 256  # far more than caches hold


def _least_s(function: Callable[[], object], times: int = 8) -> float:
    """A limit is what is reached at best."""
    function()
    elapsed = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        elapsed.append(time.perf_counter() - start)
    return min(elapsed)


def measure_limits() -> dict[str, float]:
    """GB/s of a large copy, each byte being read once and written once, and GFLOP/s of large products of matrices by
    oneDNN, which PyTorch takes for tensors in its layout; the BLAS that it takes otherwise is slower on some machines.
    """
    source = torch.ones(COPIED_MB << 18)
    target = torch.empty_like(source)
    copied = 2 * source.nbytes / _least_s(lambda: target.copy_(source))
    multiplied = 0.0
    for size in (1024, 1536, 2048):
        a, b = torch.randn(size, size).to_mkldnn(), torch.randn(size, size).to_mkldnn()
        seconds = _least_s(lambda a=a, b=b: torch.nn.functional.linear(a, b))
        multiplied = max(multiplied, 2 * size**3 / seconds)
    return {"copy_gb_per_s": copied / 1e9, "gemm_gflops": multiplied / 1e9}
