# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes graph ops with PyTorch, by the reference expressions in their definitions.

`calls.py` runs calls of the framework, and `_debug/reference.py` computes a whole graph.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType
from typing import Any, TypeAlias

import torch

from . import (
    ops,
    quantized,  # noqa: F401  # registers the operator of `dequantize`
)
from .text import ELEMENT_TYPES

Operand: TypeAlias = torch.Tensor | list[torch.Tensor] | None

_SHORT = (torch.float16, torch.bfloat16)
DTYPES = {text: dtype for dtype, text in ELEMENT_TYPES.items()}


def compute(
    name: str, operands: Sequence[Operand], attributes: Mapping[str, Any], sizes: Sequence[int] = ()
) -> torch.Tensor:
    """Returns the result of op `name`.

    operands: in the order of the definition: None for an absent operand, a list for a variadic operand.
    attributes: by name. Absent flags are false.
    sizes: the values of the `sizes` attribute of the op. They replace the OPEN numbers of other attributes in order.

    If PyTorch has no kernel for f16 or bf16, the op is computed in f32.
    """
    op = ops.table()[name]
    result: torch.Tensor
    try:
        result = _compute(op, operands, attributes, sizes)
        return result
    except NotImplementedError:
        short = next((tensor.dtype for tensor in _tensors(operands) if tensor.dtype in _SHORT), None)
        if short is None:
            raise
        result = _compute(op, [_widen(operand) for operand in operands], attributes, sizes)
        return result.to(short) if result.is_floating_point() else result


def _compute(op: ops.Op, operands: Sequence[Operand], attributes: Mapping[str, Any], sizes: Sequence[int]) -> Any:
    scope: dict[str, Any] = {"torch": torch}
    rest = iter(sizes)
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
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<meaning>", "eval")


def _tensors(operands: Sequence[Operand]) -> Iterator[torch.Tensor]:
    for operand in operands:
        yield from operand if isinstance(operand, list) else [operand] if operand is not None else []


def _widen(operand: Operand) -> Operand:
    if isinstance(operand, list):
        return [_widen_tensor(tensor) for tensor in operand]
    return None if operand is None else _widen_tensor(operand)


def _widen_tensor(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.dtype in _SHORT else tensor
