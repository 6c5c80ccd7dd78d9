# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What graph ops mean: each computed by PyTorch as its definition says."""

import functools

import torch

from . import ops
from .text import ELEMENT_TYPES

_SHORT = (torch.float16, torch.bfloat16)
DTYPES = {text: dtype for dtype, text in ELEMENT_TYPES.items()}


def compute(name, operands, attributes):
    """The result of op `name`: operands in the order of its definition (None for an absent one, a list for a variadic
    one), attributes by name; those left out are off.

    What PyTorch has no kernel for in a short float is computed in f32.
    """
    op = ops.table()[name]
    try:
        return _compute(op, operands, attributes)
    except NotImplementedError:
        short = next((one.dtype for one in _tensors(operands) if one.dtype in _SHORT), None)
        if short is None:
            raise
        result = _compute(op, [_widen(operand) for operand in operands], attributes)
        return result.to(short) if result.is_floating_point() else result


def _compute(op, operands, attributes):
    scope = {"torch": torch}
    scope.update({argument.name: value for argument, value in zip(op.operands, operands, strict=True)})
    for argument in op.attributes:
        value = attributes.get(argument.name, False if argument.kind == "unit" else None)
        if argument.kind == "type":
            value = DTYPES.get(value, value)
        scope[argument.name] = list(value) if argument.kind == "i64s" else value
    return eval(_compiled(op.reference), scope)


@functools.cache
def _compiled(expression):
    return compile(expression, "<meaning>", "eval")


def _tensors(operands):
    for operand in operands:
        yield from operand if isinstance(operand, list) else [operand] if operand is not None else []


def _widen(operand):
    if isinstance(operand, list):
        return [_widen(one) for one in operand]
    return operand.float() if operand is not None and operand.dtype in _SHORT else operand
