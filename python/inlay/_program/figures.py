# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compiled model's calls take: time, by steps, and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .report import Report


class Profile(list[tuple[str, str, float]]):
    """A list of (segment, kind of step, seconds), in order; `str(profile)` is a table of segments, kernels and ops.

    `report` is the model's with `measured_ns` in the segments and the summary, beside `modelled_ns` if a cost model is
    in effect, in each of the `kernels` of a segment, and in `measured_ops`, the ops that took longest first.
    """

    def __init__(self, steps: Sequence[tuple[str, str, float]], report: Report, table: str) -> None:
        super().__init__(steps)
        self.report, self._table = report, table

    def __str__(self) -> str:
        return self._table


class Memory(dict[str, Any]):
    """Bytes as a dict (`memory["total"]["peak"]`); `str(memory)` is a table.

    `host_temporaries`, `host_scratch`, `device_temporaries`, `device_scratch` and `total` have `peak`, what a call
    needs, and `unshared`, what it would need if no two values shared memory; `host_constants` and `device_constants`
    are numbers.
    """

    def __init__(self, figures: Mapping[str, Any], table: str) -> None:
        super().__init__(figures)
        self._table = table

    def __str__(self) -> str:
        return self._table
