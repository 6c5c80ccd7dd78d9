# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect's graph ops. `inlay.ops.relu(x)` makes an op; `table` and `find` give the definitions.

Ops are made inside of `with net_guard(module)` and of patterns (see `inlay.rewrite`).
"""

from __future__ import annotations

from ._dialect.ops import CALLS, OPEN, Argument, Kind, Op, find, table
from ._graph.builder import OpFunction, op

__all__ = ["CALLS", "OPEN", "Argument", "Kind", "Op", "find", "table"]


def __getattr__(name: str) -> OpFunction:
    return getattr(op, name)
