# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls whose results depend on how their operands lie in memory.

The program's tensors are contiguous, whatever the strides that the model gives them. Two kinds of calls tell the
difference: those that draw random numbers do it in the order of memory, and `as_strided` reads the memory itself.
"""

import math

import torch

from ..errors import UnsupportedError
from .effects import draws_random_numbers

_AS_STRIDED = {"aten::as_strided", "aten::as_strided_copy", "aten::as_strided_scatter"}


def reads_memory_order(node):
    """Whether the results of an FX node depend on its operands' strides."""
    return is_as_strided(node) or draws_random_numbers(node)


def is_as_strided(node):
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.name in _AS_STRIDED


def memory_order(fake):
    """The dims of a tensor from the outermost in memory to the innermost."""
    strides = torch.empty_like(fake).stride()
    return sorted(range(fake.dim()), key=lambda dim: -strides[dim])


def strided_call(call):
    """(args, kwargs) of an as_strided whose operand has memory of its own; raises as `strided_offset`."""
    kwargs = {name: value for name, value in call.node.kwargs.items() if name != "storage_offset"}
    place = [argument.name for argument in call.schema.arguments].index("storage_offset")
    return call.node.args[:place], {**kwargs, "storage_offset": strided_offset(call)}


def strided_offset(call):
    """Where in the operand's own elements, in the order of memory, an as_strided starts.

    call: a Call. Raises UnsupportedError if it reads memory that is not the operand's.
    """
    fake = call["self"].meta["val"]
    given = call.get("storage_offset")
    offset = 0 if given is None else given - fake.storage_offset()
    reach = [(size - 1) * stride for size, stride in zip(call["size"], call["stride"], strict=True)]
    last = offset + sum(reach)
    is_inside = 0 in call["size"] or (offset >= 0 and last < fake.numel())
    if not is_inside or not _is_dense(fake):
        raise UnsupportedError(
            f"node {call.node.name!r} ({call.space}::{call.name}) reads memory that is not all its operand's: "
            f"sizes {list(call['size'])}, strides {list(call['stride'])}, offset {offset} of {fake.numel()} elements "
            f"of strides {list(fake.stride())}"
        )
    return offset


def _is_dense(fake):
    """Whether a tensor's elements are all that its memory holds."""
    used = sum((size - 1) * stride for size, stride in zip(fake.shape, fake.stride(), strict=True))
    return fake.numel() == 0 or used + 1 == math.prod(fake.shape)
