# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that move elements and compute nothing."""

from .. import ops
from .call import dim_list

# Calls whose result has the elements of their operand in the same place.
_IDENTITIES = (
    "alias",
    "clone",
    "contiguous",
    "detach",
    "dropout",
    "lift",
    "lift_fresh",
    "lift_fresh_copy",
    "native_dropout",
    "positive",
)


def handlers():
    """ATen name -> handler."""
    return {
        **dict.fromkeys(ops.table()["reshape"].aten, _handle_reshape),
        **dict.fromkeys(_IDENTITIES, _handle_identity),
        "permute": _handle_permute,
        "transpose.int": _handle_transpose,
        "t": _handle_transpose,
        "expand": _handle_expand,
        "repeat": _handle_repeat,
        "slice.Tensor": _handle_slice,
        "select.int": _handle_select,
        "narrow": _handle_narrow,
        "split_with_sizes": _handle_split,
        "split.Tensor": _handle_split,
        "unbind.int": _handle_unbind,
        "cat": _handle_cat,
    }


def _handle_identity(walker, call):
    if call.base == "dropout" and call["train"] and call["p"] != 0:
        return None
    if call.base == "native_dropout":
        return None if call.get("train", True) and call["p"] != 0 else [walker.tensor(call["input"]), None]
    return walker.tensor(next(iter(call.args.values())))


def _handle_reshape(walker, call):
    return walker.reshape(walker.tensor(call["self"]), call.shape)


def _permute(walker, value, dims, suffix=None):
    if list(dims) == list(range(len(dims))):
        return value
    shape = tuple(value.shape[dim] for dim in dims)
    return walker.op("permute", [value], {"dims": dims}, shape=shape, dtype=value.dtype, suffix=suffix)


def _handle_permute(walker, call):
    value = walker.tensor(call["self"])
    return _permute(walker, value, dim_list(call["dims"], len(value.shape)) if value.shape else ())


def _handle_transpose(walker, call):
    value = walker.tensor(call["self"])
    dims = list(range(len(value.shape)))
    if len(dims) > 1:
        first, second = call.get("dim0", 0), call.get("dim1", 1)
        dims[first], dims[second] = dims[second], dims[first]
    return _permute(walker, value, dims)


def _expand(walker, value, shape, suffix=None):
    if value.shape == tuple(shape):
        return value
    return walker.op("expand", [value], {"shape": shape}, shape=shape, dtype=value.dtype, suffix=suffix)


def _handle_expand(walker, call):
    return _expand(walker, walker.tensor(call["self"]), call.shape)


def _handle_repeat(walker, call):
    # Each dim d repeated r times: reshape to 1 x d, expand to r x d, join.
    value, repeats = walker.tensor(call["self"]), call["repeats"]
    dims = (1,) * (len(repeats) - len(value.shape)) + value.shape
    apart = [size for dim in dims for size in (1, dim)]
    repeated = [size for dim, times in zip(dims, repeats, strict=True) for size in (times, dim)]
    value = _expand(walker, walker.reshape(value, apart, "apart"), repeated, "expand")
    return walker.reshape(value, call.shape)


def _slice(walker, value, dim, start, end, step=1, suffix=None):
    size = value.shape[dim]
    start, end = (min(max(bound + size if bound < 0 else bound, 0), size) for bound in (start, end))
    if (start, end, step) == (0, size, 1):
        return value
    shape = list(value.shape)
    shape[dim] = max(0, -((start - end) // step))
    attributes = {"dim": dim, "start": start, "end": end, "step": step}
    return walker.op("slice", [value], attributes, shape=tuple(shape), dtype=value.dtype, suffix=suffix)


def _handle_slice(walker, call):
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    return _slice(walker, value, dim, call.get("start", 0), call.get("end", value.shape[dim]), call["step"])


def _handle_select(walker, call):
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    index = call["index"] % value.shape[dim]
    return walker.reshape(_slice(walker, value, dim, index, index + 1), call.shape, "reshape")


def _handle_narrow(walker, call):
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    start = call["start"] % value.shape[dim]
    return _slice(walker, value, dim, start, start + call["length"])


def _handle_split(walker, call):
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    parts, start = [], 0
    for number, part in enumerate(call.val):
        parts.append(_slice(walker, value, dim, start, start + part.shape[dim], suffix=f"{number}"))
        start += part.shape[dim]
    return parts


def _handle_unbind(walker, call):
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    slices = [_slice(walker, value, dim, i, i + 1, suffix=f"{i}") for i in range(value.shape[dim])]
    return [walker.reshape(part, call.shape, f"{i}.reshape") for i, part in enumerate(slices)]


def _handle_cat(walker, call):
    # PyTorch skips vectors without elements.
    nodes = [node for node in call["tensors"] if tuple(node.meta["val"].shape) != (0,)]
    values = [walker.cast(walker.tensor(node), call.dtype, f"cast{i}") for i, node in enumerate(nodes)]
    if len(values) == 1:
        return values[0]
    attributes = {"dim": call["dim"] % len(call.shape)}
    return walker.op("cat", [values], attributes, shape=call.shape, dtype=call.dtype)
