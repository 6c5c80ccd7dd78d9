# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports sorting and selection as an argsort and reads of the elements that it numbers."""

from __future__ import annotations

from typing import NamedTuple

import torch

from ..call import Call
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker
from .indexing import gather
from .layout import slice_dim

# The work of `inlay.argsort` grows with the square of the dim's size. PyTorch sorts longer dims.
_MAX_SORTED = 4096


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {
        "sort": _handle_sort,
        "sort.stable": _handle_sort,
        "argsort": _handle_argsort,
        "argsort.stable": _handle_argsort,
        "topk": _handle_topk,
        "kthvalue": _handle_kthvalue,
    }


class _Sorted(NamedTuple):
    """A tensor, and the indices that sort it along a dim."""

    x: Value
    order: Value
    dim: int


def _sort(walker: Walker, call: Call, descending: bool) -> _Sorted | None:
    """Writes the op that sorts the call's operand along its dim. Returns None if the dim is too long."""
    x = walker.tensor(call["self"])
    x = x if x.shape else walker.reshape(x, (1,), "self")
    dim = call["dim"] % len(x.shape)
    if x.shape[dim] > _MAX_SORTED:
        return None
    attributes = {"dim": dim, "descending": descending}
    order = walker.op("argsort", [x], attributes, shape=x.shape, dtype=_index_dtype(call), suffix="order")
    return _Sorted(x, order, dim)


def _index_dtype(call: Call) -> torch.dtype:
    """Returns the dtype of the call's indices."""
    indices: torch.Tensor = call.val if call.base == "argsort" else call.val[1]
    return indices.dtype


def _pick(walker: Walker, call: Call, found: _Sorted, start: int = 0, end: int | None = None) -> HandlerResult:
    """Returns the call's results: the elements and indices from `start` up to `end` of the sorted order."""
    x, order, dim = found
    order = slice_dim(walker, order, dim, start, order.shape[dim] if end is None else end, suffix="slice")
    values = gather(walker, x, dim, order, "values")
    return [walker.reshape(value, call.shape, suffix) for value, suffix in ((values, "0"), (order, "1"))]


def _handle_sort(walker: Walker, call: Call) -> HandlerResult:
    found = _sort(walker, call, call["descending"])
    return found and _pick(walker, call, found)


def _handle_argsort(walker: Walker, call: Call) -> HandlerResult:
    found = _sort(walker, call, call["descending"])
    return found and walker.reshape(found[1], call.shape, "reshape")


def _handle_topk(walker: Walker, call: Call) -> HandlerResult:
    found = _sort(walker, call, call["largest"])
    return found and _pick(walker, call, found, 0, call["k"])


def _handle_kthvalue(walker: Walker, call: Call) -> HandlerResult:
    found = _sort(walker, call, False)
    return found and _pick(walker, call, found, call["k"] - 1, call["k"])
