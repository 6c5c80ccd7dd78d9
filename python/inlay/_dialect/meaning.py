# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What graph ops mean: each computed by PyTorch as its definition says."""

import functools

import torch

from . import ops
from .text import ELEMENT_TYPES

_SHORT = (torch.float16, torch.bfloat16)
DTYPES = {text: dtype for dtype, text in ELEMENT_TYPES.items()}


def compute(name, operands, attributes, sizes=()):
    """The result of op `name`: operands in the order of its definition (None for an absent one, a list for a variadic
    one), attributes by name; those left out are off. sizes: the numbers that `sizes` of the op gives, which go where
    attributes are OPEN.

    What PyTorch has no kernel for in a short float is computed in f32.
    """
    op = ops.table()[name]
    try:
        return _compute(op, operands, attributes, sizes)
    except NotImplementedError:
        short = next((one.dtype for one in _tensors(operands) if one.dtype in _SHORT), None)
        if short is None:
            raise
        result = _compute(op, [_widen(operand) for operand in operands], attributes, sizes)
        return result.to(short) if result.is_floating_point() else result


def _compute(op, operands, attributes, sizes):
    scope, rest = {"torch": torch}, iter(sizes)
    scope.update({argument.name: value for argument, value in zip(op.operands, operands, strict=True)})
    for argument in op.attributes:
        value = attributes.get(argument.name, False if argument.kind is ops.Kind.UNIT else None)
        if argument.kind is ops.Kind.TYPE:
            value = DTYPES.get(value, value)
        if argument.kind is ops.Kind.I64S:
            value = [next(rest) if number == ops.OPEN else number for number in value]
        elif argument.kind is ops.Kind.I64 and value == ops.OPEN:
            value = next(rest)
        scope[argument.name] = list(sizes) if argument.name == "sizes" else value
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
