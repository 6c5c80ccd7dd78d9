# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports softmax, and the safe softmax of attention, which gives zeros instead of NaNs for a fully masked row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ...._program.imported import Dims
from ..call import Call
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker

# Calls whose results have no fully masked row if their operand has none.
_CARRIERS = {
    "view",
    "_unsafe_view",
    "reshape",
    "permute",
    "transpose",
    "expand",
    "clone",
    "alias",
    "_to_copy",
    "unsqueeze",
    "squeeze",
    "contiguous",
    "mul",
    "div",
}
_PRODUCTS = {"mm", "bmm", "matmul", "baddbmm"}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {"_softmax": _handle_softmax, "softmax.int": _handle_softmax, "_safe_softmax": _handle_safe_softmax}


def _handle_softmax(walker: Walker, call: Call) -> HandlerResult:
    x = walker.cast(walker.tensor(call["self"]), call.dtype)
    if not x.shape:
        return walker.splat(1, (), x.dtype)
    return walker.op("softmax", [x], {"dim": call["dim"] % len(x.shape)}, shape=x.shape, dtype=x.dtype)


def _handle_safe_softmax(walker: Walker, call: Call) -> HandlerResult:
    x = walker.cast(walker.tensor(call["self"]), call.dtype)
    dim = call["dim"] % len(x.shape)
    if dim == len(x.shape) - 1 and not _may_mask_a_row(walker, call["self"]):
        return walker.op("softmax", [x], {"dim": dim}, shape=x.shape, dtype=x.dtype)

    limits = torch.finfo(x.dtype)
    row = tuple(1 if i == dim else size for i, size in enumerate(x.shape))

    def step(
        name: str, operands: Sequence[Value], shape: Dims, suffix: str | None, attributes: dict[str, Any] | None = None
    ) -> Value:
        return walker.op(name, operands, attributes, shape=shape, dtype=x.dtype, suffix=suffix)

    # In a row of minus infinities every exponential is 0, and a lower bound keeps their sum from being 0. In any other
    # row the largest exponential is 1, so the bounds change nothing.
    reduction = {"dims": [dim], "keepdim": True}
    largest = step(
        "maximum", [step("amax", [x], row, "amax", reduction), walker.scalar(limits.min, x.dtype)], row, "max"
    )
    powers = step("exp", [step("sub", [x, largest], x.shape, "sub")], x.shape, "exp")
    total = step(
        "maximum", [step("sum", [powers], row, "sum", reduction), walker.scalar(limits.tiny, x.dtype)], row, "total"
    )
    return step("div", [powers, total], x.shape, None)


def _may_mask_a_row(walker: Walker, node: torch.fx.Node) -> bool:
    """Returns false if no row of the scores can be fully masked.

    That is so for a product, scaled or reshaped, and for the sum of one and a constant mask that has no such row.
    """
    while node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
        sources = [source for source in node.all_input_nodes if not walker.is_size(source)]
        base = node.target._schema.name.partition("::")[2]
        if base in _PRODUCTS:
            return False
        if base == "add" and len(sources) == 2:
            arguments: tuple[Any, ...] = node.args
            scores, mask = arguments[:2]
            if walker.is_constant(scores):
                scores, mask = mask, scores
            if not walker.is_constant(mask) or torch.isneginf(walker.constants.inspect(mask)).all(-1).any():
                return True
            node = scores
        elif base in _CARRIERS and len(sources) == 1:
            node = sources[0]
        else:
            return True
    return True
