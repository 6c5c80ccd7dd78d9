# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that read or write where tensors of indices say."""

import math

import torch

from ...._dialect import ops

# What PyTorch's calls name their reductions -> what the dialect does.
_REDUCTIONS = {
    "add": "sum",
    "sum": "sum",
    "multiply": "prod",
    "prod": "prod",
    "amax": "amax",
    "amin": "amin",
}


def handlers():
    """ATen name -> handler."""
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


def _with_dims(walker, value, suffix):
    """`value`, or a vector of it if it has no dims."""
    return value if value.shape else walker.reshape(value, (1,), suffix)


# -- Reads ------------------------------------------------------------------------------------------------------------


def _handle_embedding(walker, call):
    operands = [walker.tensor(call["weight"]), walker.tensor(call["indices"])]
    return walker.op("embedding", operands, shape=call.shape, dtype=call.dtype)


def select(walker, value, dim, index, suffix=None):
    """The slices of `value` along `dim` that the vector `index` numbers."""
    shape = tuple(index.shape[0] if i == dim else size for i, size in enumerate(value.shape))
    return walker.op("index_select", [value, index], {"dim": dim}, shape=shape, dtype=value.dtype, suffix=suffix)


def _handle_index_select(walker, call):
    x = _with_dims(walker, walker.tensor(call["self"]), "self")
    index = _with_dims(walker, walker.tensor(call["index"]), "index")
    return walker.reshape(select(walker, x, call["dim"] % len(x.shape), index), call.shape, "reshape")


def gather(walker, value, dim, index, suffix=None):
    """The elements of `value` along `dim` that `index` numbers at each place."""
    return walker.op("gather", [value, index], {"dim": dim}, shape=index.shape, dtype=value.dtype, suffix=suffix)


def _handle_gather(walker, call):
    x = _with_dims(walker, walker.tensor(call["self"]), "self")
    index = _with_dims(walker, walker.tensor(call["index"]), "index")
    return walker.reshape(gather(walker, x, call["dim"] % len(x.shape), index), call.shape, "reshape")


def _indices(walker, call):
    """(tensors of indices, their dims), or None if one is a mask, which says how many elements there are."""
    dims = [dim for dim, index in enumerate(call["indices"]) if index is not None]
    values = [walker.tensor(call["indices"][dim]) for dim in dims]
    return None if any(value.dtype == torch.bool for value in values) else (values, dims)


def _handle_index(walker, call):
    found = _indices(walker, call)
    if found is None:
        return None
    values, dims = found
    x = walker.tensor(call["self"])
    return walker.op("index", [x, values], {"dims": dims}, shape=call.shape, dtype=call.dtype)


# -- Writes -----------------------------------------------------------------------------------------------------------


def _handle_index_put(walker, call):
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
    if len(values.shape) > rank:  # by dims of size 1
        values = walker.reshape(values, values.shape[len(values.shape) - rank :], "values")
    attributes = {"dims": dims, "accumulate": accumulate}
    return walker.op("index_put", [x, values, indices], attributes, shape=x.shape, dtype=x.dtype)


def _put_by_mask(walker, call, x, values):
    """One value wherever a mask over the leading dims is true; None if there are other indices or several values."""
    mask, *others = [index for index in call["indices"] if index is not None]
    mask = walker.tensor(mask)
    several = any(size != 1 for size in values.shape)
    if others or call["accumulate"] or several or call["indices"][0] is None or "where" not in ops.table():
        return None
    mask = walker.reshape(mask, (*mask.shape, *[1] * (len(x.shape) - len(mask.shape))), "mask")
    value = walker.reshape(values, (), "value")
    return walker.op("where", [mask, value, x], shape=x.shape, dtype=x.dtype)


def _neutral(reduction, dtype):
    """What a reduction starts from."""
    limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    largest = float("inf") if dtype.is_floating_point else limits.max
    smallest = -largest if dtype.is_floating_point else limits.min
    return {"sum": 0, "prod": 1, "amax": smallest, "amin": largest}[reduction]


def _scatter(walker, call, x, index, source, dim, reduction, include_self):
    """`source` written into `x` at `index`, combined with what is there if `reduction`."""

    def write(base, what, reduce, suffix):
        attributes = {"dim": dim, "reduce": reduce}
        return walker.op("scatter", [base, index, what], attributes, shape=x.shape, dtype=x.dtype, suffix=suffix)

    if reduction and not include_self:
        x = write(x, walker.splat(_neutral(reduction, x.dtype), index.shape, x.dtype), None, "start")
    return walker.reshape(write(x, source, reduction, None), call.shape, "reshape")


def _handle_scatter(walker, call):
    name = "sum" if call.base == "scatter_add" else call.get("reduce")
    x = _with_dims(walker, walker.tensor(call["self"]), "self")
    if name is not None and (name not in _REDUCTIONS or x.dtype == torch.bool):
        return None
    index = _with_dims(walker, walker.tensor(call["index"]), "index")
    if "value" in call.args:
        source = walker.splat(call["value"], index.shape, x.dtype)
    else:
        source = _with_dims(walker, walker.tensor(call["src"]), "src")
    include_self = call.get("include_self", True)
    return _scatter(walker, call, x, index, source, call["dim"] % len(x.shape), _REDUCTIONS.get(name), include_self)


def _handle_index_reduce(walker, call):
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


def _handle_histc(walker, call):
    bins, low, high = call["bins"], call["min"], call["max"]
    if low == high:  # then the elements say
        return None
    x = walker.tensor(call["self"])
    x = walker.reshape(x, (math.prod(x.shape),), "flat")

    def step(name, lhs, rhs, suffix):
        operands = (
            [lhs] if rhs is None else [lhs, walker.scalar(rhs, lhs.dtype) if isinstance(rhs, (int, float)) else rhs]
        )
        return walker.op(name, operands, shape=lhs.shape, dtype=lhs.dtype, suffix=suffix)

    inside = step("minimum", step("maximum", x, low, "low"), high, "high")
    share = step("div", step("mul", step("sub", inside, low, "shifted"), bins, "times"), high - low, "share")
    place = walker.cast(step("floor", share, None, "floor"), torch.int64, "place")
    place = step("minimum", step("maximum", place, 0, "first"), bins - 1, "index")  # NaN has no place of its own
    # What isn't inside, NaN among it, counts nothing.
    beyond = walker.cast(step("sub", x, inside, "beyond"), torch.bool, "is_beyond")
    counted = step("sub", walker.splat(1, x.shape, x.dtype), walker.cast(beyond, x.dtype, "left_out"), "counted")
    operands = [walker.splat(0, (bins,), x.dtype), place, counted]
    return walker.op("scatter", operands, {"dim": 0, "reduce": "sum"}, shape=(bins,), dtype=x.dtype)
