# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting and what is chosen by it: the indices that sort, and the elements that they number."""

from .indexing import gather
from .layout import slice_dim

# The work of `inlay.argsort` grows with the square of the dim; PyTorch sorts longer ones.
_LONGEST = 4096


def handlers():
    """ATen name -> handler."""
    return {
        "sort": _handle_sort,
        "sort.stable": _handle_sort,
        "argsort": _handle_argsort,
        "argsort.stable": _handle_argsort,
        "topk": _handle_topk,
        "kthvalue": _handle_kthvalue,
    }


def _sort(walker, call, descending):
    """(the input, the indices that sort it along the call's dim, that dim), or None if the dim is too long."""
    x = walker.tensor(call["self"])
    x = x if x.shape else walker.reshape(x, (1,), "self")
    dim = call["dim"] % len(x.shape)
    if x.shape[dim] > _LONGEST:
        return None
    attributes = {"dim": dim, "descending": descending}
    return x, walker.op("argsort", [x], attributes, shape=x.shape, dtype=_index_dtype(call), suffix="order"), dim


def _index_dtype(call):
    return call.val.dtype if call.base == "argsort" else call.val[1].dtype


def _pick(walker, call, found, start=0, end=None):
    """The call's results: elements and indices from `start` up to `end` of the order."""
    x, order, dim = found
    order = slice_dim(walker, order, dim, start, order.shape[dim] if end is None else end, suffix="slice")
    values = gather(walker, x, dim, order, "values")
    return [walker.reshape(value, call.shape, suffix) for value, suffix in ((values, "0"), (order, "1"))]


def _handle_sort(walker, call):
    found = _sort(walker, call, call["descending"])
    return found and _pick(walker, call, found)


def _handle_argsort(walker, call):
    found = _sort(walker, call, call["descending"])
    return found and walker.reshape(found[1], call.shape, "reshape")


def _handle_topk(walker, call):
    found = _sort(walker, call, call["largest"])
    return found and _pick(walker, call, found, 0, call["k"])


def _handle_kthvalue(walker, call):
    found = _sort(walker, call, False)
    return found and _pick(walker, call, found, call["k"] - 1, call["k"])
