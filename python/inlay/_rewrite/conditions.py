# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the conditions that the `where` function of a pattern states as constraints of PDL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol, TypeVar

import torch

from .._dialect.text import quote
from .._graph.values import (
    check_flag,
    check_integer,
    check_number,
    check_text,
    element_text,
    float_text,
    print_attribute,
)
from ..errors import ArgumentTypeError, ArgumentValueError, UnknownNameError, did_you_mean
from .writing import Writer

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Add(Protocol):
    """Adds a constraint. operands: (name, type) of values in PDL. parameters: texts of attributes."""

    def __call__(
        self, constraint: str, operands: Sequence[tuple[str, str]], parameters: Sequence[str], negated: bool
    ) -> None: ...


def check_function(label: str, function: _Function) -> _Function:
    """Returns `function` if it can be called. Raises ArgumentTypeError otherwise."""
    if not callable(function):
        raise ArgumentTypeError(f"expected a function for pattern '{label}', but got {function!r:.80}")
    return function


class Condition:
    """The predicates of a captured value: `m.x` in `where`. Each call adds a condition to the pattern.

    All predicates raise ArgumentTypeError or ArgumentValueError for a wrong argument.
    """

    def __init__(self, add: _Add, name: str, pattern: str) -> None:
        self._add, self._name, self._pattern = add, name, pattern

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [member for member in vars(Condition) if not member.startswith("_")]
        raise UnknownNameError(
            f"unknown predicate '{name}' of '{self._name}' in pattern '{self._pattern}'{did_you_mean(name, known)}"
        )

    def _ask(self, constraint: str, *parameters: object, negated: bool = False, others: Sequence[str] = ()) -> None:
        """Adds a constraint on this value and on `others`."""
        values = [(name, "!pdl.value") for name in (self._name, *others)]
        self._add(constraint, values, [str(parameter) for parameter in parameters], negated)

    def _place(self, predicate: str, argument: str) -> str:
        """Returns the name of an argument for messages."""
        return f"'{argument}' of {self._name}.{predicate} in pattern '{self._pattern}'"

    def dtype(self, *types: torch.dtype | str) -> None:
        """Requires one of these dtypes, such as torch.float16 or "f16"."""
        try:
            texts = [element_text(dtype) for dtype in types]
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise type(error)(f"in {self._name}.dtype of pattern '{self._pattern}': {error}") from None
        if not texts:
            raise ArgumentValueError(f"expected dtypes for {self._name}.dtype in pattern '{self._pattern}'")
        self._ask("dtype", "[" + ", ".join(map(quote, texts)) + "]")

    def rank(self, least: int, most: int | None = None) -> None:
        """Requires a rank from `least` to `most`. By default `most` equals `least`."""
        least = check_integer(self._place("rank", "least"), least, 0)
        most = least if most is None else check_integer(self._place("rank", "most"), most, least)
        self._ask("rank", least, most)

    def dim(self, dim: int, size: int) -> None:
        """Requires this size of dim `dim`. A negative `dim` counts from the last dim."""
        self._ask("dim", self._dim("dim", dim), check_integer(self._place("dim", "size"), size, 0))

    def dim_between(self, dim: int, least: int, most: int) -> None:
        """Requires a size of dim `dim` from `least` to `most`. A negative `dim` counts from the last dim."""
        least = check_integer(self._place("dim_between", "least"), least, 0)
        most = check_integer(self._place("dim_between", "most"), most, least)
        self._ask("dim_between", self._dim("dim_between", dim), least, most)

    def multiple_of(self, dim: int, factor: int) -> None:
        """Requires that `factor` divides the size of dim `dim`. A negative `dim` counts from the last dim."""
        factor = check_integer(self._place("multiple_of", "factor"), factor, 1)
        self._ask("multiple_of", self._dim("multiple_of", dim), factor)

    def _dim(self, predicate: str, dim: int) -> int:
        return check_integer(self._place(predicate, "dim"), dim)

    def static_shape(self) -> None:
        """Requires that all dims are known."""
        self._ask("static_shape")

    def splat(self, number: float, tolerance: float = 0.0) -> None:
        """Requires a constant whose elements all equal `number`, up to `tolerance` (default: exactly)."""
        number = check_number(self._place("splat", "number"), number)
        tolerance = check_number(self._place("splat", "tolerance"), tolerance, 0)
        self._ask("splat", *(f"{float_text(value, 'f64')} : f64" for value in (number, tolerance)))

    def constant(self, yes: bool = True) -> None:
        """Requires a constant, or no constant if `yes` is False."""
        self._ask("constant", negated=not check_flag(self._place("constant", "yes"), yes))

    def foldable(self, depth: int = 10) -> None:
        """Requires a value that `depth` or fewer ops (default: 10) compute from constants."""
        self._ask("foldable", check_integer(self._place("foldable", "depth"), depth, 0))

    def one_use(self) -> None:
        """Requires that the value has one use."""
        self._ask("one_use")

    def same_shape(self, other: Condition) -> None:
        """Requires the same shape as that of another captured value, such as `m.y`."""
        self._ask("same_shape", others=[self._other("same_shape", other)])

    def same_type(self, other: Condition) -> None:
        """Requires the same type as that of another captured value, such as `m.y`."""
        self._ask("same_type", others=[self._other("same_type", other)])

    def _other(self, predicate: str, other: Condition) -> str:
        if not isinstance(other, Condition):
            place = self._place(predicate, "other")
            raise ArgumentTypeError(
                f"expected {place} to be a captured value, as m.{self._name}, but got {other!r:.80}"
            )
        return other._name


class Args:
    """The conditions on the arguments of the run: `m.args` in `where`."""

    def __init__(self, add: _Add, pattern: str) -> None:
        self._add, self._pattern = add, pattern

    def equals(self, name: str, value: Any) -> None:
        """Requires that argument `name` of the run equals `value`: a number, string, flag or list of integers."""
        check_text(f"'name' of args.equals in pattern '{self._pattern}'", name)
        self._add("arg", [], (quote(name), print_attribute(name, value, None)), False)


class Conditions:
    """The conditions of a pattern: `m` in `where`.

    `m.x` has the predicates of the captured value `x`, `m.args` those of the arguments of the run, and `m.constraint`
    adds a Python function.
    """

    args: Args

    def __init__(
        self,
        pattern: str,
        names: Sequence[str],
        writer: Writer,
        call: Callable[[Callable[..., bool | str], list[str]], None],
    ) -> None:
        """names: the captures of the pattern. call: adds a Python function that takes the captures of these names."""
        self._pattern, self._names, self._writer, self._call = pattern, names, writer, call
        self.args = Args(self._add, pattern)

    def constraint(self, function: Callable[..., bool | str], *captured: Condition) -> None:
        """Requires that a Python function returns True for captured values: `m.constraint(is_even, m.x)`.

        The function may return the reason against a match as text instead of False.
        """
        if not captured or not all(isinstance(value, Condition) for value in captured):
            raise ArgumentTypeError(
                f"expected the arguments of a constraint of pattern '{self._pattern}' to be captured values, as m.x"
            )
        self._call(check_function(self._pattern, function), [value._name for value in captured])

    def __getattr__(self, name: str) -> Condition:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._names:
            raise ArgumentValueError(
                f"pattern '{self._pattern}' captures no value '{name}'{did_you_mean(name, self._names)}"
            )
        return Condition(self._add, name, self._pattern)

    def _add(
        self, constraint: str, operands: Sequence[tuple[str, str]], parameters: Sequence[str], negated: bool
    ) -> None:
        operands = [
            *operands,
            *((self._writer._line(f"pdl.attribute = {text}"), "!pdl.attribute") for text in parameters),
        ]
        names, kinds = ", ".join("%" + name for name, _ in operands), ", ".join(kind for _, kind in operands)
        end = " {isNegated = true}" if negated else ""
        self._writer._lines.append(f'pdl.apply_native_constraint "{constraint}"({names} : {kinds}){end}')
