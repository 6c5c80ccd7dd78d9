# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the two limits of a kernel on this machine: memory bandwidth and arithmetic throughput."""

import time
from collections.abc import Callable

import torch

COPIED_MB = 256  # much more than caches can hold


def _fastest_s(function: Callable[[], object], times: int = 8) -> float:
    """Returns the seconds of the fastest call, since a limit is the best that the machine reaches."""
    function()
    elapsed = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        elapsed.append(time.perf_counter() - start)
    return min(elapsed)


def measure_limits() -> dict[str, float]:
    """Returns the GB/s of a large copy, counting each byte as read and written, and the GFLOP/s of large matrix
    products.

    The products use oneDNN, which PyTorch calls for tensors in oneDNN's layout. The BLAS that PyTorch calls for other
    tensors is slower on some machines.
    """
    source = torch.ones(COPIED_MB << 18)
    target = torch.empty_like(source)
    copied = 2 * source.nbytes / _fastest_s(lambda: target.copy_(source))
    multiplied = 0.0
    for size in (1024, 1536, 2048):
        a, b = torch.randn(size, size).to_mkldnn(), torch.randn(size, size).to_mkldnn()
        seconds = _fastest_s(lambda a=a, b=b: torch.nn.functional.linear(a, b))
        multiplied = max(multiplied, 2 * size**3 / seconds)
    return {"copy_gb_per_s": copied / 1e9, "gemm_gflops": multiplied / 1e9}
