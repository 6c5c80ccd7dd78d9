# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports assertions about elements of tensors as results of the program, which a call reads before it returns."""

from __future__ import annotations

import torch

from ..call import Call
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {"_assert_async": _handle_assertion, "_assert_async.msg": _handle_assertion}


def _handle_assertion(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    if not walker.can_check or any(size != 1 for size in value.shape):
        return None
    holds = walker.cast(walker.reshape(value, (), "element"), torch.bool, "holds")
    message = call.get("assert_msg", "expected a true value")
    walker.checks.append((holds, f"aten.{call.base} of node {call.node.name!r} failed: {message}"))
    return []
