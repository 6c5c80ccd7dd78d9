# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls whose results depend on how their operands lie in memory.

The program's tensors are contiguous, whatever the strides that the model gives them. Two kinds of calls tell the
difference: those that draw random numbers do it in the order of memory, and `as_strided` reads the memory itself.
"""

import functools
import math

import torch

from ..._program.sizes import UndecidedError
from ...errors import UnsupportedError
from .effects import draws_random_numbers

_AS_STRIDED = {"aten::as_strided", "aten::as_strided_copy", "aten::as_strided_scatter"}


def reads_memory_order(node):
    """Whether the results of an FX node depend on its operands' strides."""
    return is_as_strided(node) or draws_random_numbers(node)


def is_as_strided(node):
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.name in _AS_STRIDED


def memory_order(fake, symbols):
    """The dims of a tensor from the outermost in memory to the innermost.

    symbols: those of its dims. Raises UndecidedError where that depends on sizes that are known at a call alone.
    """
    if all(isinstance(number, int) for number in (*fake.shape, *fake.stride())):
        strides = torch.empty_like(fake).stride()
        return sorted(range(fake.dim()), key=lambda dim: -strides[dim])
    order = dense_order(fake, symbols)
    if order is None:
        strides = [symbols.size(stride) for stride in fake.stride()]
        if 0 in strides:  # which PyTorch orders by what is around it
            raise UndecidedError("the order of dims that take no memory")
        order = sorted(range(fake.dim()), key=functools.cmp_to_key(lambda a, b: _compare(strides[b], strides[a])))
    return order


def dense_order(fake, symbols):
    """`memory_order` of a tensor whose elements lie side by side whatever the sizes are; None for others."""
    shape, strides = symbols.dims(fake), [symbols.size(stride) for stride in fake.stride()]
    order, rest, step = [], list(range(fake.dim())), 1
    while any(shape[dim] != 1 for dim in rest):
        inner = [dim for dim in rest if strides[dim] == step]
        inner.sort(key=lambda dim: (shape[dim] != 1, -dim))  # those of size 1 don't move the others
        if not inner:
            return None
        rest.remove(inner[0])
        order.insert(0, inner[0])
        step = step * shape[inner[0]]
    return rest + order


def strided_call(call, symbols):
    """(args, kwargs) of an as_strided whose operand has memory of its own; raises UnsupportedError as `strided_offset`.

    Whether all is inside of that memory PyTorch checks, where sizes decide it.
    """
    try:
        offset = strided_offset(call, symbols)
    except UndecidedError:
        offset = _own_offset(call, symbols)
    kwargs = {name: value for name, value in call.node.kwargs.items() if name != "storage_offset"}
    place = [argument.name for argument in call.schema.arguments].index("storage_offset")
    return call.node.args[:place], {**kwargs, "storage_offset": offset}


def strided_offset(call, symbols):
    """Where in the operand's own elements, in the order of memory, an as_strided starts: an int or Size.

    call: a Call. Raises UnsupportedError if it reads memory that is not the operand's, UndecidedError if that depends
    on sizes that are known at a call alone.
    """
    fake = call["self"].meta["val"]
    shape, strides = symbols.dims(fake), [symbols.size(stride) for stride in fake.stride()]
    offset, count = _own_offset(call, symbols), math.prod(shape)
    last = offset + _reach(call["size"], call["stride"])
    is_dense = count == 0 or _reach(shape, strides) + 1 == count
    is_empty = any(size == 0 for size in call["size"])
    if not is_dense or not (is_empty or (offset >= 0 and last < count)):
        raise UnsupportedError(
            f"node {call.node.name!r} ({call.space}::{call.name}) reads memory that is not all its operand's: "
            f"sizes {list(call['size'])}, strides {list(call['stride'])}, offset {offset} of {count} elements "
            f"of strides {strides}"
        )
    return offset


def _own_offset(call, symbols):
    given = call.get("storage_offset")
    return 0 if given is None else given - symbols.size(call["self"].meta["val"].storage_offset())


def _reach(shape, strides):
    """The distance in memory of the last element from the first."""
    return sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def _compare(a, b):
    if a == b:
        return 0
    try:
        return -1 if a <= b else 1
    except UndecidedError:
        return 1 if b <= a else -1
