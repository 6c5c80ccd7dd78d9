# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The conditions on the captures of a pattern that `where` states, as constraints in PDL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

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


def check_function(label, function):
    if not callable(function):
        raise ArgumentTypeError(f"expected a function for pattern '{label}', but got {function!r:.80}")
    return function


class Condition:
    """What `where` may ask of one captured value."""

    def __init__(self, add: Callable[..., None], name: str, pattern: str) -> None:
        self._add, self._name, self._pattern = add, name, pattern

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [one for one in vars(Condition) if not one.startswith("_")]
        raise UnknownNameError(
            f"unknown predicate '{name}' of '{self._name}' in pattern '{self._pattern}'{did_you_mean(name, known)}"
        )

    def _ask(self, constraint, *parameters, negated=False, others=()):
        values = [(one, "!pdl.value") for one in (self._name, *others)]
        self._add(constraint, values, [str(one) for one in parameters], negated)

    def _what(self, predicate, argument):
        return f"'{argument}' of {self._name}.{predicate} in pattern '{self._pattern}'"

    def dtype(self, *types: torch.dtype | str) -> None:
        try:
            texts = [element_text(one) for one in types]
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise type(error)(f"in {self._name}.dtype of pattern '{self._pattern}': {error}") from None
        if not texts:
            raise ArgumentValueError(f"expected dtypes for {self._name}.dtype in pattern '{self._pattern}'")
        self._ask("dtype", "[" + ", ".join(map(quote, texts)) + "]")

    def rank(self, least: int, most: int | None = None) -> None:
        least = check_integer(self._what("rank", "least"), least, 0)
        most = least if most is None else check_integer(self._what("rank", "most"), most, least)
        self._ask("rank", least, most)

    def dim(self, dim: int, size: int) -> None:
        self._ask("dim", self._dim("dim", dim), check_integer(self._what("dim", "size"), size, 0))

    def dim_between(self, dim: int, least: int, most: int) -> None:
        least = check_integer(self._what("dim_between", "least"), least, 0)
        most = check_integer(self._what("dim_between", "most"), most, least)
        self._ask("dim_between", self._dim("dim_between", dim), least, most)

    def multiple_of(self, dim: int, factor: int) -> None:
        factor = check_integer(self._what("multiple_of", "factor"), factor, 1)
        self._ask("multiple_of", self._dim("multiple_of", dim), factor)

    def _dim(self, predicate, dim):
        return check_integer(self._what(predicate, "dim"), dim)

    def static_shape(self) -> None:
        self._ask("static_shape")

    def splat(self, number: float, tolerance: float = 0.0) -> None:
        number = check_number(self._what("splat", "number"), number)
        tolerance = check_number(self._what("splat", "tolerance"), tolerance, 0)
        self._ask("splat", *(f"{float_text(one, 'f64')} : f64" for one in (number, tolerance)))

    def constant(self, yes: bool = True) -> None:
        self._ask("constant", negated=not check_flag(self._what("constant", "yes"), yes))

    def foldable(self, depth: int = 10) -> None:
        self._ask("foldable", check_integer(self._what("foldable", "depth"), depth, 0))

    def one_use(self) -> None:
        self._ask("one_use")

    def same_shape(self, other: Condition) -> None:
        self._ask("same_shape", others=[self._other("same_shape", other)])

    def same_type(self, other: Condition) -> None:
        self._ask("same_type", others=[self._other("same_type", other)])

    def _other(self, predicate, other):
        if not isinstance(other, Condition):
            what = self._what(predicate, "other")
            raise ArgumentTypeError(f"expected {what} to be a captured value, as m.{self._name}, but got {other!r:.80}")
        return other._name


class Args:
    """`m.args`: conditions on the run's arguments."""

    def __init__(self, add: Callable[..., None], pattern: str) -> None:
        self._add, self._pattern = add, pattern

    def equals(self, name: str, value: Any) -> None:
        check_text(f"'name' of args.equals in pattern '{self._pattern}'", name)
        self._add("arg", [], (quote(name), print_attribute(name, value, None)), False)


class Conditions:
    """`m` in `where`: captured values by name, `args`, and `constraint` for what these can't say."""

    args: Args

    def __init__(self, pattern: str, names: Sequence[str], writer: Writer, call: Callable[..., None]) -> None:
        self._pattern, self._names, self._writer, self._call = pattern, names, writer, call
        self.args = Args(self._add, pattern)

    def constraint(self, function: Callable[..., bool | str], *captured: Condition) -> None:
        """Asks a Python function for each match, with what is captured: `m.constraint(is_even, m.x)`."""
        if not captured or not all(isinstance(one, Condition) for one in captured):
            raise ArgumentTypeError(f"expected captured values to call a constraint of pattern '{self._pattern}' with")
        self._call(check_function(self._pattern, function), [one._name for one in captured])

    def __getattr__(self, name: str) -> Condition:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._names:
            raise ArgumentValueError(
                f"pattern '{self._pattern}' captures no value '{name}'{did_you_mean(name, self._names)}"
            )
        return Condition(self._add, name, self._pattern)

    def _add(self, constraint, operands, parameters, negated):
        operands = [
            *operands,
            *((self._writer._line(f"pdl.attribute = {one}"), "!pdl.attribute") for one in parameters),
        ]
        names, kinds = ", ".join("%" + one for one, _ in operands), ", ".join(kind for _, kind in operands)
        end = " {isNegated = true}" if negated else ""
        self._writer._lines.append(f'pdl.apply_native_constraint "{constraint}"({names} : {kinds}){end}')
