# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handles calls whose results depend on the strides of their operands.

The program's tensors are contiguous, whatever strides they have in the model. Two kinds of calls can tell the
difference: calls that draw random numbers fill memory in order, and `as_strided` reads memory itself.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch

from ..._program.sizes import Size, Symbols, UndecidedError
from ...errors import UnsupportedError
from .call import Call
from .effects import draws_random_numbers

_AS_STRIDED = {"aten::as_strided", "aten::as_strided_copy", "aten::as_strided_scatter"}


def reads_memory_order(node: torch.fx.Node) -> bool:
    """Returns true if the results of an FX node depend on the strides of its operands."""
    return is_as_strided(node) or draws_random_numbers(node)


def is_as_strided(node: torch.fx.Node) -> bool:
    """Returns true if an FX node calls a variant of as_strided."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.name in _AS_STRIDED


def memory_order(fake: torch.Tensor, symbols: Symbols) -> list[int]:
    """Returns the dims of a tensor from the outermost in memory to the innermost.

    Raises UndecidedError if the order depends on sizes that are known only at a call.
    """
    if all(isinstance(number, int) for number in (*fake.shape, *fake.stride())):
        strides = torch.empty_like(fake).stride()
        return sorted(range(fake.dim()), key=lambda dim: -strides[dim])
    order = dense_order(fake, symbols)
    if order is None:
        sizes = [symbols.size(stride) for stride in fake.stride()]
        if 0 in sizes:  # PyTorch orders such dims by their neighbors
            raise UndecidedError("the order of dims that take no memory")

        def compare(a: int, b: int) -> int:
            return _compare(sizes[b], sizes[a])

        order = sorted(range(fake.dim()), key=functools.cmp_to_key(compare))
    return order


def dense_order(fake: torch.Tensor, symbols: Symbols) -> list[int] | None:
    """Returns `memory_order` of a tensor without gaps for all values of its sizes; None for other tensors."""
    shape, strides = symbols.dims(fake), [symbols.size(stride) for stride in fake.stride()]
    order: list[int] = []
    rest = list(range(fake.dim()))
    step: int | Size = 1
    while any(shape[dim] != 1 for dim in rest):
        inner = [dim for dim in rest if strides[dim] == step]
        inner.sort(key=lambda dim: (shape[dim] != 1, -dim))  # a dim of size 1 does not change the step
        if not inner:
            return None
        rest.remove(inner[0])
        order.insert(0, inner[0])
        step = step * shape[inner[0]]
    return rest + order


class StridedArguments(NamedTuple):
    """The arguments of a call of as_strided."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def strided_call(call: Call, symbols: Symbols) -> StridedArguments:
    """Returns the arguments of an as_strided whose operand has separate memory. Raises UnsupportedError as
    `strided_offset`.

    If sizes decide whether all elements are inside that memory, PyTorch checks it at the call.
    """
    try:
        offset = strided_offset(call, symbols)
    except UndecidedError:
        offset = _relative_offset(call, symbols)
    kwargs = {name: value for name, value in call.node.kwargs.items() if name != "storage_offset"}
    place = [argument.name for argument in call.schema.arguments].index("storage_offset")
    return StridedArguments(call.node.args[:place], {**kwargs, "storage_offset": offset})


def strided_offset(call: Call, symbols: Symbols) -> int | Size:
    """Returns the position in the operand's elements, in memory order, at which an as_strided starts.

    Raises UnsupportedError if the call reads memory outside of the operand, UndecidedError if that depends on sizes
    that are known only at a call.
    """
    fake = call["self"].meta["val"]
    shape, strides = symbols.dims(fake), [symbols.size(stride) for stride in fake.stride()]
    offset, count = _relative_offset(call, symbols), math.prod(shape)
    last = offset + _reach(call["size"], call["stride"])
    is_dense = count == 0 or _reach(shape, strides) + 1 == count
    is_empty = any(size == 0 for size in call["size"])
    if not is_dense or not (is_empty or (offset >= 0 and last < count)):
        raise UnsupportedError(
            f"node {call.node.name!r} ({call.space}::{call.name}) reads memory outside of its operand: "
            f"sizes {list(call['size'])}, strides {list(call['stride'])}, offset {offset} of {count} elements "
            f"of strides {strides}"
        )
    return offset


def _relative_offset(call: Call, symbols: Symbols) -> int | Size:
    """Returns the start of an as_strided, relative to the start of its operand."""
    given = call.get("storage_offset")
    return 0 if given is None else given - symbols.size(call["self"].meta["val"].storage_offset())


def _reach(shape: Iterable[Any], strides: Iterable[Any]) -> Any:
    """Returns the distance in memory from the first element to the last one."""
    return sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def _compare(a: int | Size, b: int | Size) -> int:
    """Returns -1, 0 or 1 as `a` is less than, equal to or greater than `b`. Raises UndecidedError if sizes decide
    that."""
    if a == b:
        return 0
    try:
        return -1 if a <= b else 1
    except UndecidedError:
        return 1 if b <= a else -1
