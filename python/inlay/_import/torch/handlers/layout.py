# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports calls that move elements and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from ...._dialect import ops
from ...._program.sizes import UNBOUNDED, Size, UndecidedError
from ..call import Call, dim_list
from ..graph import Value
from ..strides import memory_order, strided_offset
from ..walker import Handler, HandlerResult, Walker

_MAX_STRIDED_ELEMENTS = 1 << 16  # of a strided view that becomes an index_select with a constant index

# Calls whose result has the same elements as their operand, in the same order.
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


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {
        **dict.fromkeys(ops.table()["reshape"].aten, _handle_reshape),
        **dict.fromkeys(_IDENTITIES, _handle_identity),
        "unflatten.int": _handle_reshape,
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
        "copy": _handle_copy,
        "constant_pad_nd": _handle_pad,
        "flip": _handle_flip,
        "slice_scatter": _handle_slice_scatter,
        "select_scatter": _handle_select_scatter,
        "diagonal": _handle_diagonal,
        "diagonal_scatter": _handle_diagonal_scatter,
        "unfold": _handle_unfold,
        "as_strided": _handle_as_strided,
    }


def _handle_identity(walker: Walker, call: Call) -> HandlerResult:
    if call.base == "dropout" and call["train"] and call["p"] != 0:
        return None
    if call.base == "native_dropout":
        return None if call.get("train", True) and call["p"] != 0 else [walker.tensor(call["input"]), None]
    return walker.tensor(next(iter(call.args.values())))


def _handle_reshape(walker: Walker, call: Call) -> HandlerResult:
    asked = call.get("size", call.get("shape", ()))
    inferred = list(asked).index(-1) if isinstance(asked, (list, tuple)) and -1 in asked else None
    return walker.reshape(walker.tensor(call["self"]), call.shape, inferred=inferred)


def _permute(walker: Walker, value: Value, dims: Sequence[int], suffix: str | None = None) -> Value:
    """Returns `value` with permuted dims, or `value` itself for the identity."""
    if list(dims) == list(range(len(dims))):
        return value
    shape = tuple(value.shape[dim] for dim in dims)
    return walker.op("permute", [value], {"dims": dims}, shape=shape, dtype=value.dtype, suffix=suffix)


def _handle_permute(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    return _permute(walker, value, dim_list(call["dims"], len(value.shape)) if value.shape else ())


def _handle_transpose(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dims = list(range(len(value.shape)))
    if len(dims) > 1:
        first, second = call.get("dim0", 0), call.get("dim1", 1)
        dims[first], dims[second] = dims[second], dims[first]
    return _permute(walker, value, dims)


def _handle_expand(walker: Walker, call: Call) -> HandlerResult:
    return walker.expand(walker.tensor(call["self"]), call.shape)


def _handle_repeat(walker: Walker, call: Call) -> HandlerResult:
    # To repeat a dim of size d r times, reshape it to 1 x d, expand that to r x d, and merge the two dims.
    value, repeats = walker.tensor(call["self"]), call["repeats"]
    dims = (1,) * (len(repeats) - len(value.shape)) + value.shape
    apart = [size for dim in dims for size in (1, dim)]
    repeated = [size for dim, times in zip(dims, repeats, strict=True) for size in (times, dim)]
    value = walker.expand(walker.reshape(value, apart, "apart"), repeated, "expand")
    return walker.reshape(value, call.shape)


def _wrap(index: int | Size, size: int | Size) -> int | Size:
    """Returns an index counted from the front; a negative `index` counts from the back."""
    return index + size if index < 0 else index


def _clamp(bound: int | Size, size: int | Size) -> int | Size:
    """Returns a bound of a slice as a position in [0, size]; `bound` itself if sizes decide that, because the op
    clamps too."""
    try:
        return size if bound == UNBOUNDED else min(max(_wrap(bound, size), 0), size)
    except UndecidedError:
        return bound


def slice_dim(
    walker: Walker,
    value: Value,
    dim: int,
    start: int | Size,
    end: int | Size,
    step: int | Size = 1,
    suffix: str | None = None,
    count: int | Size | None = None,
) -> Value:
    """Returns every step-th slice of `value` along `dim` from `start` up to `end`, with Python's meaning of bounds.

    count: the number of slices, if the caller knows it.
    """
    size = value.shape[dim]
    start, end = _clamp(start, size), _clamp(end, size)
    if (start, end, step) == (0, size, 1):
        return value
    shape = list(value.shape)
    shape[dim] = max(0, -((start - end) // step)) if count is None else count
    attributes = {"dim": dim, "start": start, "end": end, "step": step}
    return walker.op("slice", [value], attributes, shape=tuple(shape), dtype=value.dtype, suffix=suffix)


def _handle_slice(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    start, end = call.get("start", 0), call.get("end", value.shape[dim])
    return slice_dim(walker, value, dim, start, end, call["step"], count=call.shape[dim])


def _handle_select(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    index = _wrap(call["index"], value.shape[dim])
    return walker.reshape(slice_dim(walker, value, dim, index, index + 1, count=1), call.shape, "reshape")


def _handle_narrow(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    start = _wrap(call["start"], value.shape[dim])
    return slice_dim(walker, value, dim, start, start + call["length"], count=call["length"])


def _handle_split(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    parts, start = [], 0
    for number, shape in enumerate(call.shapes):
        end = start + shape[dim]
        parts.append(slice_dim(walker, value, dim, start, end, suffix=f"{number}", count=shape[dim]))
        start = end
    return parts


def _handle_unbind(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    slices = [slice_dim(walker, value, dim, i, i + 1, suffix=f"{i}") for i in range(value.shape[dim])]
    return [walker.reshape(part, call.shape, f"{i}.reshape") for i, part in enumerate(slices)]


def _handle_cat(walker: Walker, call: Call) -> HandlerResult:
    # PyTorch ignores vectors without elements, whatever the rank of the others.
    nodes = [node for node in call["tensors"] if walker.symbols.dims(node.meta["val"]) != (0,)]
    if not nodes:
        return walker.splat(0, call.shape, call.dtype, suffix=None)
    values = [walker.cast(walker.tensor(node), call.dtype, f"cast{i}") for i, node in enumerate(nodes)]
    if not values:
        return walker.splat(0, call.shape, call.dtype, "empty")
    if len(values) == 1:
        return values[0]
    attributes = {"dim": call["dim"] % len(call.shape)}
    return walker.op("cat", [values], attributes, shape=call.shape, dtype=call.dtype)


def _handle_copy(walker: Walker, call: Call) -> HandlerResult:
    return walker.expand(walker.cast(walker.tensor(call["src"]), call.dtype), call.shape, "expand")


# -- Calls that add or replace elements -------------------------------------------------------------------------------


def _handle_pad(walker: Walker, call: Call) -> HandlerResult:
    value, amounts = walker.tensor(call["self"]), call["pad"]
    low, high = [0] * len(value.shape), [0] * len(value.shape)
    for back, (before, after) in enumerate(zip(amounts[::2], amounts[1::2], strict=True)):
        dim = len(value.shape) - 1 - back
        # A negative amount removes elements.
        start, end = max(-before, 0), value.shape[dim] - max(-after, 0)
        value = slice_dim(walker, value, dim, start, end, suffix=f"cut{dim}")
        low[dim], high[dim] = max(before, 0), max(after, 0)
    if all(amount == 0 for amount in (*low, *high)):
        return value
    attributes = {"low": low, "high": high}
    fill = walker.scalar(call["value"], value.dtype)
    return walker.op("pad", [value, fill], attributes, shape=call.shape, dtype=call.dtype)


def _handle_flip(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dims = [dim % len(value.shape) for dim in call["dims"]] if value.shape else []
    if not dims:
        return value
    return walker.op("flip", [value], {"dims": dims}, shape=value.shape, dtype=value.dtype)


def _slice_scatter(
    walker: Walker,
    value: Value,
    source: Value,
    dim: int,
    start: int | Size,
    end: int | Size,
    step: int | Size = 1,
    suffix: str | None = None,
) -> Value:
    """Returns `value` with `source` written into a slice."""
    if 0 in source.shape:
        return value
    attributes = {"dim": dim, "start": start, "end": end, "step": step}
    return walker.op("slice_scatter", [value, source], attributes, shape=value.shape, dtype=value.dtype, suffix=suffix)


def _handle_slice_scatter(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    size = value.shape[dim]
    start, end, step = call.get("start", 0), call.get("end", size), call["step"]
    start, end = _clamp(start, size), _clamp(end, size)
    count = max(0, -((start - end) // step))
    shape = tuple(count if i == dim else length for i, length in enumerate(value.shape))
    source = walker.expand(walker.cast(walker.tensor(call["src"]), value.dtype), shape, "expand")
    return _slice_scatter(walker, value, source, dim, start, end, step)


def _handle_select_scatter(walker: Walker, call: Call) -> HandlerResult:
    value = walker.tensor(call["self"])
    dim = call["dim"] % len(value.shape)
    index = _wrap(call["index"], value.shape[dim])
    shape = tuple(1 if i == dim else size for i, size in enumerate(value.shape))
    source = walker.reshape(walker.cast(walker.tensor(call["src"]), value.dtype), shape, "source")
    return _slice_scatter(walker, value, source, dim, index, index + 1)


# -- Views with overlaps or gaps --------------------------------------------------------------------------------------


class _Diagonal(NamedTuple):
    """A diagonal: every step-th element from `start` up to `end` along the last dim of the tensor `flat`.

    order: the dims of the operand in the order in which they were flattened.
    """

    flat: Value
    order: list[int]
    start: int | Size
    end: int | Size
    step: int | Size


def _flat_diagonal(walker: Walker, call: Call) -> _Diagonal:
    """Returns the diagonal of the call's operand as a slice of a flattened tensor."""
    value, offset = walker.tensor(call["self"]), call["offset"]
    rank = len(value.shape)
    first, second = call["dim1"] % rank, call["dim2"] % rank
    order = [*(dim for dim in range(rank) if dim not in (first, second)), first, second]
    rows, columns = value.shape[first], value.shape[second]
    value = _permute(walker, value, order, "permute")
    flat = walker.reshape(value, (*value.shape[:-2], rows * columns), "flat")
    count = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    start = offset if offset >= 0 else -offset * columns
    return _Diagonal(flat, order, start, start + (count - 1) * (columns + 1) + 1, columns + 1)


def _handle_diagonal(walker: Walker, call: Call) -> HandlerResult:
    if 0 in call.shape:
        return None
    flat, _, start, end, step = _flat_diagonal(walker, call)
    return slice_dim(walker, flat, len(flat.shape) - 1, start, end, step)


def _handle_diagonal_scatter(walker: Walker, call: Call) -> HandlerResult:
    source = walker.cast(walker.tensor(call["src"]), call.dtype, "source_cast")
    if 0 in source.shape:
        return walker.tensor(call["self"])
    flat, order, start, end, step = _flat_diagonal(walker, call)
    flat = _slice_scatter(walker, flat, source, len(flat.shape) - 1, start, end, step, "scatter")
    value = walker.reshape(flat, [call.shape[dim] for dim in order], "reshape")
    return _permute(walker, value, [order.index(dim) for dim in range(len(order))])


def _handle_unfold(walker: Walker, call: Call) -> HandlerResult:
    value, size, step = walker.tensor(call["self"]), call["size"], call["step"]
    if not value.shape:
        return walker.reshape(value, call.shape)
    dim = call["dimension"] % len(value.shape)
    count = call.shape[dim]
    if step == size:
        windows = slice_dim(walker, value, dim, 0, count * size, suffix="whole")
    elif isinstance(count, Size):
        return None
    else:
        numbers = torch.arange(count).unsqueeze(1) * step + torch.arange(size)
        shape = (*value.shape[:dim], count * size, *value.shape[dim + 1 :])
        operands = [value, walker.constant(numbers.reshape(-1), "index")]
        windows = walker.op("index_select", operands, {"dim": dim}, shape=shape, dtype=value.dtype, suffix="windows")
    apart = walker.reshape(windows, (*value.shape[:dim], count, size, *value.shape[dim + 1 :]), "apart")
    order = [*range(dim + 1), *range(dim + 2, len(apart.shape)), dim + 1]
    return _permute(walker, apart, order)


def _handle_as_strided(walker: Walker, call: Call) -> HandlerResult:
    if any(isinstance(number, Size) for number in (*call.shape, *call["stride"])):
        return None
    offset, fake = strided_offset(call, walker.symbols), call["self"].meta["val"]
    if isinstance(offset, Size) or not call.shape or max(call.shape) > _MAX_STRIDED_ELEMENTS:
        return None
    numbers = torch.tensor(offset)
    for dim, (size, stride) in enumerate(zip(call["size"], call["stride"], strict=True)):
        after = [1] * (len(call["size"]) - 1 - dim)
        numbers = numbers + (torch.arange(size) * stride).reshape(-1, *after)
    value = walker.tensor(call["self"])
    if numbers.numel() > _MAX_STRIDED_ELEMENTS:
        return None
    count = (math.prod(value.shape),)
    flat = walker.reshape(_permute(walker, value, memory_order(fake, walker.symbols), "memory"), count, "flat")
    operands = [flat, walker.constant(numbers.reshape(-1), "index")]
    picked = walker.op(
        "index_select", operands, {"dim": 0}, shape=(numbers.numel(),), dtype=value.dtype, suffix="picked"
    )
    return walker.reshape(picked, call.shape)
