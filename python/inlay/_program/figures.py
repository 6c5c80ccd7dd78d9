# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of the steps of a call, and the memory that a call needs.

`report.py` has the report and the functions that format bytes and times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .report import Report


class Profile(list[tuple[str, str, float]]):
    """The steps of a call in order, each as (segment, kind of step, seconds).

    `str(profile)` is a table of segments, kernels and ops. `report` is the report of the model with measured times in
    nanoseconds: the summary, each segment and each of its `kernels` have `measured_ns`, and `measured_ops` lists the
    slowest ops first. If there is a cost model, `modelled_ns` (the modeled time) is beside `measured_ns`.
    """

    def __init__(self, steps: Sequence[tuple[str, str, float]], report: Report, table: str) -> None:
        super().__init__(steps)
        self.report, self._table = report, table

    def __str__(self) -> str:
        return self._table


class Memory(dict[str, Any]):
    """The memory that a call needs in bytes, as a dict. `str(memory)` is a table.

    `memory["total"]["peak"]` is the memory of a call. `memory["total"]["unshared"]` is the memory that it would need if
    values never shared memory. `host_temporaries`, `host_scratch`, `device_temporaries` and `device_scratch` also have
    `peak` and `unshared`. `host_constants` and `device_constants` are numbers, and so are `host_states` and
    `device_states`, the memory of one session.
    """

    def __init__(self, figures: Mapping[str, Any], table: str) -> None:
        super().__init__(figures)
        self._table = table

    def __str__(self) -> str:
        return self._table
