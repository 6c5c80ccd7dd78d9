# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes layers by calls of their ops: `op.relu(x)`, `inlay.ops.relu(x)`, `op("my.op", x, results=[x], alpha=2)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    """The full name of an op of the inlay dialect, which is also a function that makes the op."""

    __slots__ = ()

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        """Makes the op and returns its result.

        The arguments are the operands and attributes of the definition, by position or by name. A number in place of
        a tensor becomes a constant.
        Raises ArgumentTypeError for an argument that is missing, unknown or of the wrong type.
        """
        name = self.removeprefix("inlay.")
        if name in ops.CALLS:
            return op(str(self), *operands, **attributes)
        definition = ops.table()[name]
        values, given = definition.bind(operands, attributes)
        kinds = {argument.name: argument.kind for argument in definition.attributes}
        plain = {key: _attribute(definition.name, key, value, kinds[key]) for key, value in given.items()}
        return _create(str(self), _with_constants(_tensors(definition.name, values)), plain, None)


class Builder:
    """Makes layers. It is called `op` in patterns: `op.relu(x)` or `op("my.op", x)`."""

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
        """Makes an op of any dialect and returns its result, or a tuple if it has several results or none.

        kind: the full name of the op, such as "my.op".
        operands: tensors, or lists of tensors.
        results: the type of the result or a list of types. A type is text, a tensor of the same type, or (dtype,
            shape). May be left out if the definition of the op infers the types.
        attributes: Python values by name.
        Raises ArgumentTypeError or ArgumentValueError for a wrong argument, and RewriteError for an invalid op.
        """
        check_text("the name of an op", kind)
        if "" in attributes:
            raise ArgumentValueError(f"expected names of attributes for '{kind}', but got an empty one")
        types: list[str] | None = None
        if results is not None:
            types = [type_text(result) for result in (results if isinstance(results, (list, tuple)) else [results])]
        tensors: list[Tensor] = []
        for value in _tensors(kind, operands):
            if not isinstance(value, Tensor):
                raise ArgumentTypeError(f"expected tensors as operands of '{kind}', but got {value!r}")
            tensors.append(value)
        return _create(kind, tensors, attributes, types)


op = Builder()


def constant(value: float, like: Tensor) -> Tensor:
    """Makes a constant of rank 0 with the element type of the tensor `like`. It broadcasts."""
    return Tensor._of(constant_value(value, like._value))


def _create(
    kind: str, operands: Iterable[Tensor], attributes: Mapping[str, Any], results: Sequence[str] | None
) -> Tensor | tuple[Tensor, ...]:
    """Makes an op and returns its result, or a tuple if it has several results or none."""
    made = create(kind, [operand._value for operand in operands], attributes, results)
    tensors = [Tensor._of(value) for value in made.results]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _tensors(name: str, operands: Iterable[Any]) -> list[Tensor | float]:
    """Returns the tensors and numbers among the operands and in lists of operands."""
    flat: list[Tensor | float] = []
    for operand in operands:
        if isinstance(operand, (list, tuple)):
            flat.extend(_tensors(name, operand))
        elif isinstance(operand, Tensor) or (isinstance(operand, (int, float)) and not isinstance(operand, bool)):
            flat.append(operand)
        else:
            raise ArgumentTypeError(f"expected tensors as operands of '{name}', but got {operand!r}")
    return flat


def _with_constants(operands: Sequence[Tensor | float]) -> list[Tensor]:
    """Replaces the numbers by constants of the element type of the first tensor."""
    like = next((operand for operand in operands if isinstance(operand, Tensor)), None)
    if like is None:
        if operands:
            raise ArgumentTypeError(f"expected a tensor among the operands, but got {operands[0]!r} alone")
        return []
    return [operand if isinstance(operand, Tensor) else constant(operand, like) for operand in operands]


def _attribute(name: str, key: str, value: Any, kind: Kind) -> Any:
    """Returns the value in a form that the extension converts to an attribute of `kind`."""
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
            return [int(number) for number in value] or Attribute("array<i64>")
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
