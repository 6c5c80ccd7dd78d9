# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers made by calling their ops: `op.relu(x)`, `inlay.ops.relu(x)`, `op("my.op", x, results=[x], alpha=2)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

from .._dialect import ops
from .._dialect.ops import Kind
from ..errors import ArgumentTypeError, ArgumentValueError, UnknownNameError, did_you_mean
from .module import Tensor
from .making import constant_value, create
from .values import check_text, element_text, type_text


ResultType: TypeAlias = str | Tensor | tuple[torch.dtype | str, Sequence[int]]


class OpFunction(str):
    """An op of the inlay dialect: its full name, and a function that makes it."""

    __slots__ = ()

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        """Arguments are those of the op's definition, by place or by name; numbers become constants."""
        name = self.removeprefix("inlay.")
        if name in ops.CALLS:
            return op(str(self), *operands, **attributes)
        definition = ops.table()[name]
        values, given = definition.bind(operands, attributes)
        kinds = {argument.name: argument.kind for argument in definition.attributes}
        plain = {key: _attribute(definition.name, key, value, kinds[key]) for key, value in given.items()}
        values = _tensors(definition.name, values)
        return _create(str(self), _with_constants(values), plain, None)


class Builder:
    """Makes layers; patterns and builders call it `op`."""

    def __getattr__(self, name: str) -> OpFunction:
        if name.startswith("_") or (name not in ops.table() and name not in ops.CALLS):
            raise UnknownNameError(f"unknown op '{name}'{did_you_mean(name, [*ops.table(), *ops.CALLS])}")
        return OpFunction(f"inlay.{name}")

    def __dir__(self) -> list[str]:
        return [*ops.table(), *ops.CALLS]

    def __call__(
        self,
        kind: str,
        /,
        *operands: Tensor | Sequence[Tensor],
        results: ResultType | Sequence[ResultType] | None = None,
        **attributes: Any,
    ) -> Any:
        """An op of any dialect by its full name.

        results: the types of its results, each as text, as a tensor of the same type or as (dtype, shape); left out if
        the op's definition infers them. Returns its only result, else a tuple of them.
        """
        check_text("the name of an op", kind)
        if "" in attributes:
            raise ArgumentValueError(f"expected names of attributes for '{kind}', but got an empty one")
        if results is not None:
            results = [type_text(one) for one in (results if isinstance(results, (list, tuple)) else [results])]
        values = _tensors(kind, operands)
        for value in values:
            if not isinstance(value, Tensor):
                raise ArgumentTypeError(f"expected tensors as operands of '{kind}', but got {value!r}")
        return _create(kind, values, attributes, results)


op = Builder()


def constant(value: float, like: Tensor) -> Tensor:
    """A constant of one element, of the element type of the tensor `like`; it broadcasts."""
    return Tensor._of(constant_value(value, like._value))


def _create(kind, operands, attributes, results):
    """Makes an op; returns its only result, else a tuple of them."""
    made = create(kind, [one._value for one in operands], attributes, results)
    tensors = [Tensor._of(value) for value in made.results]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _tensors(name, operands):
    """Tensors, and numbers still, in one list."""
    flat = []
    for operand in operands:
        if isinstance(operand, (list, tuple)):
            flat.extend(_tensors(name, operand))
        elif isinstance(operand, Tensor) or (isinstance(operand, (int, float)) and not isinstance(operand, bool)):
            flat.append(operand)
        else:
            raise ArgumentTypeError(f"expected tensors as operands of '{name}', but got {operand!r}")
    return flat


def _with_constants(operands):
    like = next((one for one in operands if isinstance(one, Tensor)), None)
    if like is None and operands:
        raise ArgumentTypeError(f"expected a tensor among the operands, but got {operands[0]!r} alone")
    return [one if isinstance(one, Tensor) else constant(one, like) for one in operands]


def _attribute(name, key, value, kind):
    """The value as one that becomes an attribute of that kind."""
    from .._inlay import Attribute

    try:
        if isinstance(value, Attribute):
            return value
        if kind is Kind.UNIT:
            return None
        if kind is Kind.F64:
            return float(value)
        if kind is Kind.TYPE:
            return Attribute(element_text(value))
        if kind is Kind.I64S:
            return [int(one) for one in value] or Attribute("array<i64>")
        if kind is Kind.STRING and not isinstance(value, str):
            raise TypeError
        if kind is Kind.I64 and (isinstance(value, bool) or int(value) != value):
            raise TypeError
    except (TypeError, ValueError) as error:
        if isinstance(error, ArgumentTypeError):
            raise
        wanted = {
            Kind.F64: "a number",
            Kind.I64: "an integer",
            Kind.I64S: "integers",
            Kind.TYPE: "a dtype",
            Kind.STRING: "a string",
        }[kind]
        raise ArgumentTypeError(f"expected argument '{key}' of op.{name} to be {wanted}, but got {value!r}") from None
    return value


__all__ = ["Builder", "OpFunction", "constant", "op"]
