# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports calls that read or write elements at the places in tensors of indices."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from ...._dialect import ops
from ..call import Call
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker

# PyTorch's name of a reduction -> the dialect's name.
_REDUCTIONS = {
    "add": "sum",
    "sum": "sum",
    "multiply": "prod",
    "prod": "prod",
    "amax": "amax",
    "amin": "amin",
}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {
        "embedding": _handle_embedding,
        "index_select": _handle_index_select,
        "gather": _handle_gather,
        "index.Tensor": _handle_index,
        "_unsafe_index.Tensor": _handle_index,
        "index_put": _handle_index_put,
        "_unsafe_index_put": _handle_index_put,
        "scatter.src": _handle_scatter,
        "scatter.value": _handle_scatter,
        "scatter.reduce": _handle_scatter,
        "scatter.value_reduce": _handle_scatter,
        "scatter_add": _handle_scatter,
        "scatter_reduce.two": _handle_scatter,
        "index_reduce": _handle_index_reduce,
        "histc": _handle_histc,
    }


def _with_dims(walker: Walker, value: Value, suffix: str) -> Value:
    """Returns `value`, or a vector of one element if `value` has no dims."""
    return value if value.shape else walker.reshape(value, (1,), suffix)


# -- Reads ------------------------------------------------------------------------------------------------------------


def _handle_embedding(walker: Walker, call: Call) -> HandlerResult:
    operands = [walker.tensor(call["weight"]), walker.tensor(call["indices"])]
    return walker.op("embedding", operands, shape=call.shape, dtype=call.dtype)


def select(walker: Walker, value: Value, dim: int, index: Value, suffix: str | None = None) -> Value:
    """Returns the slices of `value` along `dim` whose numbers are in the vector `index`."""
    shape = tuple(index.shape[0] if i == dim else size for i, size in enumerate(value.shape))
    return walker.op("index_select", [value, index], {"dim": dim}, shape=shape, dtype=value.dtype, suffix=suffix)


def _handle_index_select(walker: Walker, call: Call) -> HandlerResult:
    x = _with_dims(walker, walker.tensor(call["self"]), "self")
    index = _with_dims(walker, walker.tensor(call["index"]), "index")
    return walker.reshape(select(walker, x, call["dim"] % len(x.shape), index), call.shape, "reshape")


def gather(walker: Walker, value: Value, dim: int, index: Value, suffix: str | None = None) -> Value:
    """Returns the elements of `value` whose positions along `dim` are in `index`. The result has the shape of
    `index`."""
    return walker.op("gather", [value, index], {"dim": dim}, shape=index.shape, dtype=value.dtype, suffix=suffix)


def _handle_gather(walker: Walker, call: Call) -> HandlerResult:
    x = _with_dims(walker, walker.tensor(call["self"]), "self")
    index = _with_dims(walker, walker.tensor(call["index"]), "index")
    if 0 in index.shape:  # PyTorch accepts any number of dims then
        return walker.splat(0, call.shape, x.dtype)
    return walker.reshape(gather(walker, x, call["dim"] % len(x.shape), index), call.shape, "reshape")


class _Indices(NamedTuple):
    """Index tensors, and the dims that they index."""

    values: list[Value]
    dims: list[int]


def _indices(walker: Walker, call: Call) -> _Indices | None:
    """Returns the index tensors of a call; None if one is a mask, because its elements determine the size of the
    result."""
    dims = [dim for dim, index in enumerate(call["indices"]) if index is not None]
    values = [walker.tensor(call["indices"][dim]) for dim in dims]
    return None if any(value.dtype == torch.bool for value in values) else _Indices(values, dims)


def _handle_index(walker: Walker, call: Call) -> HandlerResult:
    found = _indices(walker, call)
    if found is None:
        return None
    values, dims = found
    x = walker.tensor(call["self"])
    return walker.op("index", [x, values], {"dims": dims}, shape=call.shape, dtype=call.dtype)


# -- Writes -----------------------------------------------------------------------------------------------------------


def _handle_index_put(walker: Walker, call: Call) -> HandlerResult:
    x = walker.tensor(call["self"])
    values = walker.cast(walker.tensor(call["values"]), x.dtype, "values_cast")
    found = _indices(walker, call)
    if found is None:
        return _put_by_mask(walker, call, x, values)
    indices, dims = found
    accumulate = call["accumulate"]
    if accumulate and x.dtype == torch.bool:
        return None
    places = walker.broadcast(*(index.shape for index in indices))
    rank = len(x.shape) - len(dims) + len(places)
    if len(values.shape) > rank:  # leading dims of size 1
        values = walker.reshape(values, values.shape[len(values.shape) - rank :], "values")
    attributes = {"dims": dims, "accumulate": accumulate}
    return walker.op("index_put", [x, values, indices], attributes, shape=x.shape, dtype=x.dtype)


def _put_by_mask(walker: Walker, call: Call, x: Value, values: Value) -> Value | None:
    """Writes one value wherever a mask over the leading dims is true.

    Returns None if the call has other indices or several values.
    """
    node, *others = [index for index in call["indices"] if index is not None]
    mask = walker.tensor(node)
    several = any(size != 1 for size in values.shape)
    if others or call["accumulate"] or several or call["indices"][0] is None or "where" not in ops.table():
        return None
    mask = walker.reshape(mask, (*mask.shape, *[1] * (len(x.shape) - len(mask.shape))), "mask")
    value = walker.reshape(values, (), "value")
    return walker.op("where", [mask, value, x], shape=x.shape, dtype=x.dtype)


def _neutral(reduction: str, dtype: torch.dtype) -> float:
    """Returns the neutral element of a reduction."""
    limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    largest = float("inf") if dtype.is_floating_point else limits.max
    smallest = -largest if dtype.is_floating_point else limits.min
    return {"sum": 0, "prod": 1, "amax": smallest, "amin": largest}[reduction]


def _scatter(
    walker: Walker,
    call: Call,
    x: Value,
    index: Value,
    source: Value,
    dim: int,
    reduction: str | None,
    include_self: bool,
) -> Value:
    """Returns `x` with `source` written at the positions `index` along `dim`.

    reduction: combines the written elements; None to overwrite. include_self: True to combine them with `x` too.
    """

    def write(base: Value, written: Value, reduce: str | None, suffix: str | None) -> Value:
        attributes = {"dim": dim, "reduce": reduce}
        return walker.op("scatter", [base, index, written], attributes, shape=x.shape, dtype=x.dtype, suffix=suffix)

    if reduction and not include_self:
        x = write(x, walker.splat(_neutral(reduction, x.dtype), index.shape, x.dtype), None, "start")
    return walker.reshape(write(x, source, reduction, None), call.shape, "reshape")


def _handle_scatter(walker: Walker, call: Call) -> HandlerResult:
    name = "sum" if call.base == "scatter_add" else call.get("reduce")
    x = _with_dims(walker, walker.tensor(call["self"]), "self")
    if name is not None and (name not in _REDUCTIONS or x.dtype == torch.bool):
        return None
    index = _with_dims(walker, walker.tensor(call["index"]), "index")
    if 0 in index.shape:  # PyTorch accepts any number of dims then
        return walker.reshape(x, call.shape, "reshape")
    if "value" in call.args:
        source = walker.splat(call["value"], index.shape, x.dtype)
    else:
        source = _with_dims(walker, walker.tensor(call["src"]), "src")
    include_self = call.get("include_self", True)
    return _scatter(
        walker, call, x, index, source, call["dim"] % len(x.shape), _REDUCTIONS.get(name or ""), include_self
    )


def _handle_index_reduce(walker: Walker, call: Call) -> HandlerResult:
    x = _with_dims(walker, walker.tensor(call["self"]), "self")
    if call["reduce"] not in _REDUCTIONS or x.dtype == torch.bool:
        return None
    source, dim = _with_dims(walker, walker.tensor(call["source"]), "source"), call["dim"] % len(x.shape)
    index = _with_dims(walker, walker.tensor(call["index"]), "index")
    along = [index.shape[0] if i == dim else 1 for i in range(len(x.shape))]
    index = walker.reshape(index, along, "along")
    if index.shape != source.shape:
        index = walker.expand(index, source.shape, "expand")
    return _scatter(walker, call, x, index, source, dim, _REDUCTIONS[call["reduce"]], call["include_self"])


# -- Counts -----------------------------------------------------------------------------------------------------------


def _handle_histc(walker: Walker, call: Call) -> HandlerResult:
    bins, low, high = call["bins"], call["min"], call["max"]
    if low == high:  # the range is that of the elements
        return None
    x = walker.tensor(call["self"])
    x = walker.reshape(x, (math.prod(x.shape),), "flat")

    def step(name: str, lhs: Value, rhs: Value | float | None, suffix: str) -> Value:
        operands = (
            [lhs] if rhs is None else [lhs, walker.scalar(rhs, lhs.dtype) if isinstance(rhs, (int, float)) else rhs]
        )
        return walker.op(name, operands, shape=lhs.shape, dtype=lhs.dtype, suffix=suffix)

    inside = step("minimum", step("maximum", x, low, "low"), high, "high")
    share = step("div", step("mul", step("sub", inside, low, "shifted"), bins, "times"), high - low, "share")
    place = walker.cast(step("floor", share, None, "floor"), torch.int64, "place")
    place = step("minimum", step("maximum", place, 0, "first"), bins - 1, "index")  # a NaN is in no bin
    # Elements outside the range, and NaNs, count as 0.
    beyond = walker.cast(step("sub", x, inside, "beyond"), torch.bool, "is_beyond")
    counted = step("sub", walker.splat(1, x.shape, x.dtype), walker.cast(beyond, x.dtype, "left_out"), "counted")
    operands = [walker.splat(0, (bins,), x.dtype), place, counted]
    return walker.op("scatter", operands, {"dim": 0, "reduce": "sum"}, shape=(bins,), dtype=x.dtype)
