# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the memory of this process. Only Linux counts it."""

import gc


def _read_mb(field: str) -> float | None:
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))
    except OSError:
        return None


class Peak:
    """The peak of the memory of this process since the creation of this object, in megabytes (2^20 bytes)."""

    def __init__(self) -> None:
        gc.collect()
        try:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        except OSError:
            pass
        self._before = _read_mb("VmRSS")

    def total(self) -> float | None:
        return _read_mb("VmHWM")

    def growth(self) -> float | None:
        peak = self.total()
        return None if peak is None or self._before is None else peak - self._before
