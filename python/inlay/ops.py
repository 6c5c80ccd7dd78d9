# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph ops of the dialect.

`inlay.ops.relu(x)` makes an op. This works inside `with net_guard(module)` and inside patterns (see `inlay.rewrite`).
`inlay.ops.table()` returns the definitions of all ops by name. `inlay.ops.find("add.Tensor")` returns the definition
of the op for an operator of ATen.
"""

from __future__ import annotations

from ._dialect.ops import CALLS, OPEN, Argument, Kind, Op, find, table
from ._graph.builder import OpFunction, op

__all__ = ["CALLS", "OPEN", "Argument", "Kind", "Op", "find", "table"]


def __getattr__(name: str) -> OpFunction:
    function: OpFunction = getattr(op, name)
    return function
