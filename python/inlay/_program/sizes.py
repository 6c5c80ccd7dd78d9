# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that are known at a call alone: expressions of symbols, which dims of the arguments tell."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sympy
import torch
from torch.utils._sympy import functions as F
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from .._dialect.text import quote
from ..errors import UnsupportedError

UNBOUNDED = 2**63 - 1  # the end of a range that has none
_DIVISIONS = {F.FloorDiv: "floordiv", F.CleanDiv: "floordiv", F.CeilDiv: "ceildiv", F.Mod: "mod", F.PythonMod: "mod"}
_ROUNDINGS = {F.FloorToInt: "floordiv", F.TruncToInt: "floordiv", F.CeilToInt: "ceildiv"}


# How operators are written: in MLIR's affine maps, in Python.
_AFFINE = {"*": " * ", "floordiv": "{} floordiv {}", "ceildiv": "{} ceildiv {}", "mod": "{} mod {}"}
_PYTHON = {"*": "*", "floordiv": "{} // {}", "ceildiv": "-(-{} // {})", "mod": "{} % {}"}
_PYTHON |= {F.Max: "max", F.Min: "min", sympy.And: " and ", sympy.Or: " or ", sympy.Not: "not {}"}
_RELATIONS = {sympy.Eq: "==", sympy.Ne: "!=", sympy.Lt: "<", sympy.Le: "<=", sympy.Gt: ">", sympy.Ge: ">="}


class UndecidedError(Exception):
    """A handler asked about a size what is true of some of its values alone."""


class InexpressibleError(UnsupportedError):
    """A size that the dialect has no expression for."""


@dataclass(frozen=True)
class Symbol:
    """A size that arguments tell; both ends of its range belong to it. typical: what code is made for, 0 if unknown."""

    name: str
    min: int = 0
    max: int = UNBOUNDED
    typical: int = 0

    def __str__(self) -> str:
        typical = f", typically {self.typical}" if self.typical else ""
        return f"#inlay.symbol<{quote(self.name)}, {self.min} to {self.max}{typical}>"

    @property
    def range_text(self) -> str:
        """`1 to 8`, `2 or more`."""
        return f"{self.min} or more" if self.max == UNBOUNDED else f"{self.min} to {self.max}"


class Line(NamedTuple):
    """The size `factor * symbol + rest`; symbol: its number."""

    symbol: int
    factor: int
    rest: int


class Size:
    """An integer expression of symbols. Equal are those that are so whatever the symbols are.

    What isn't decided by the symbols' ranges raises UndecidedError: a comparison, or its use as a number.
    """

    __slots__ = ("_function", "_symbols", "expr")

    def __init__(self, expr: sympy.Expr, symbols: Symbols) -> None:
        self.expr, self._symbols = expr, symbols
        self._function = None  # of the symbols' values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.expr == other.expr

    def __hash__(self) -> int:
        return hash(self.expr)

    def __str__(self) -> str:
        return self._symbols.spell(self.expr)

    __repr__ = __str__

    def evaluate(self, values: Sequence[int]) -> int:
        """The int for the symbols' values, in their order."""
        if self._function is None:
            self._function = self._symbols.function(self.expr)
        return self._function(*values)

    def bounds(self) -> tuple[int | None, int | None]:
        """(smallest, largest) possible value; None for one without an end."""
        return self._symbols.bounds(self.expr)

    def depends_on(self, number: int) -> bool:
        """Whether the symbol of that number occurs in it."""
        return self._symbols.occurs(self.expr, number)

    def line(self) -> Line | None:
        """Returns the size as a multiple of one symbol plus a number; None for other sizes."""
        return self._symbols.line(self.expr)

    def _make(self, function, *others):
        if not all(isinstance(one, (int, Size)) for one in others):
            return NotImplemented
        exprs = [one.expr if isinstance(one, Size) else sympy.Integer(one) for one in others]
        return self._symbols.make(function(self.expr, *exprs))

    def __add__(self, other: int | Size) -> int | Size:
        return self._make(lambda a, b: a + b, other)

    __radd__ = __add__

    def __sub__(self, other: int | Size) -> int | Size:
        return self._make(lambda a, b: a - b, other)

    def __rsub__(self, other: int | Size) -> int | Size:
        return self._make(lambda a, b: b - a, other)

    def __neg__(self) -> int | Size:
        return self._make(lambda a: -a)

    def __mul__(self, other: int | Size) -> int | Size:
        return self._make(lambda a, b: a * b, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: int | Size) -> int | Size:
        return self._make(F.FloorDiv, other)

    def __rfloordiv__(self, other: int | Size) -> int | Size:
        return self._make(lambda a, b: F.FloorDiv(b, a), other)

    def __mod__(self, other: int | Size) -> int | Size:
        return self._make(F.PythonMod, other)

    def __rmod__(self, other: int | Size) -> int | Size:
        return self._make(lambda a, b: F.PythonMod(b, a), other)

    def _is_below(self, other, or_equal):
        """Whether self < other, or self <= other."""
        if not isinstance(other, (int, Size)):
            return NotImplemented
        difference = self - other
        low, high = (difference, difference) if isinstance(difference, int) else difference.bounds()
        limit = 0 if or_equal else -1
        if high is not None and high <= limit:
            return True
        if low is not None and low > limit:
            return False
        raise UndecidedError(f"{self} <{'=' * or_equal} {other}")

    def __lt__(self, other: int | Size) -> bool:
        return self._is_below(other, False)

    def __le__(self, other: int | Size) -> bool:
        return self._is_below(other, True)

    def __gt__(self, other: int | Size) -> bool:
        below = self._is_below(other, True)
        return below if below is NotImplemented else not below

    def __ge__(self, other: int | Size) -> bool:
        below = self._is_below(other, False)
        return below if below is NotImplemented else not below

    def __bool__(self) -> bool:
        low, high = self.bounds()
        if (low is not None and low > 0) or (high is not None and high < 0):
            return True
        raise UndecidedError(f"whether {self} is 0")

    def __index__(self) -> int:
        raise UndecidedError(f"{self} as a number")

    __int__ = __float__ = __index__  # these raise too


class Symbols:
    """The symbols of a function, in order, and what sizes they make."""

    def __init__(
        self, named: Iterable[tuple[sympy.Symbol, Symbol]] = (), ties: Mapping[sympy.Symbol, sympy.Symbol] | None = None
    ) -> None:
        """named: (symbol of torch's expressions, Symbol) pairs; ties: symbol of torch's -> the one that it is equal to,
        which is among these."""
        named = list(named)
        self._ties, self._equal = dict(ties or {}), {}  # _equal: expression of torch's -> the number that it is
        self.table = [symbol for _, symbol in named]
        self._numbers = {symbol: number for number, (symbol, _) in enumerate(named)}
        self._ranges = {symbol: _value_range(one) for symbol, one in named}
        self._texts = {symbol: f"s{number}" for symbol, number in self._numbers.items()}
        self._affine, self._functions = {}, {}

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self.table)

    @property
    def numbers(self) -> Mapping[sympy.Symbol, int]:
        """Symbol of torch's expressions -> its number."""
        return self._numbers

    def size(self, value: int | torch.SymInt | Size) -> int | Size:
        """An int or torch.SymInt as an int or Size; InexpressibleError if the dialect has no expression for it."""
        if isinstance(value, (int, Size)):
            return value
        made = self.make(value.node.expr)
        if isinstance(made, Size):
            self._express(made.expr)
        return made

    def dims(self, fake: torch.Tensor) -> tuple[int | Size, ...]:
        """The dims of a tensor, each an int or Size."""
        return tuple(self.size(dim) for dim in fake.shape)

    def can_express(self, value: object) -> bool:
        """Whether a value is an int, or a torch.SymInt that the dialect has an expression for."""
        if isinstance(value, torch.SymInt):
            try:
                self.size(value)
            except InexpressibleError:
                return False
            return True
        return isinstance(value, int) and not isinstance(value, bool)

    def make(self, expr: sympy.Expr) -> int | Size:
        """The int or Size for an expression of torch's."""
        expr = self._simplify(expr)
        return int(expr) if expr.is_Integer else Size(expr, self)

    def map_text(self, sizes: Iterable[int | Size]) -> str:
        """`affine_map<()[s0] -> (s0, 4)>` for ints and Sizes."""
        symbols = ", ".join(self._texts.values())
        results = ", ".join(self._express(size.expr) if isinstance(size, Size) else str(size) for size in sizes)
        return f"affine_map<()[{symbols}] -> ({results})>"

    def text(self) -> str:
        """`[#inlay.symbol<"batch", 1 to 8>]`."""
        return f"[{', '.join(map(str, self.table))}]"

    def spell(self, expr: sympy.Basic) -> str:
        """An expression for a message: `2*batch + 1`."""
        return _write(expr, {symbol: self.table[number].name for symbol, number in self._numbers.items()}, _PYTHON)

    def function(self, expr: sympy.Basic) -> Callable[..., int]:
        """The function of the symbols' values that an expression or condition of torch's is."""
        if expr not in self._functions:
            names = self._texts.values()
            self._functions[expr] = eval(f"lambda {', '.join(names)}: {_write(expr, self._texts, _PYTHON)}")
        return self._functions[expr]

    def is_known(self, expr: sympy.Basic) -> bool:
        """Whether an expression (or condition) of torch's has no other symbols."""
        return all(symbol in self._numbers or symbol in self._ties for symbol in expr.free_symbols)

    def assume(self, conditions: Iterable[sympy.Basic]) -> None:
        """Takes expressions for the numbers that conditions say them to be."""
        for one in conditions:
            if isinstance(one, sympy.Eq) and one.args[1].is_Integer and not one.args[0].is_Symbol:
                self._equal[one.args[0]] = one.args[1]

    def tie(self, expr: sympy.Basic) -> sympy.Basic:
        """An expression or condition of torch's in the symbols alone."""
        return expr.xreplace(self._ties)

    def simplify(self, expr: sympy.Basic) -> sympy.Basic:
        """An expression or condition of torch's in the symbols, without maxima and minima that the ranges decide."""
        expr = self.tie(expr).xreplace(self._equal)
        return expr.replace(lambda one: isinstance(one, (F.Max, F.Min)), self._drop_extremes)

    def is_sure(self, condition: sympy.Basic) -> bool:
        """Whether the ranges make a condition of torch's true."""
        condition = self.simplify(condition)
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if isinstance(condition, (sympy.Eq, sympy.Ne)):  # a difference tells more than two sides
            sides = condition.args
            condition = condition.func(sympy.expand(sides[0] - sides[1]), 0)
            if condition in (sympy.true, sympy.false):
                return bool(condition)
        known = bound_sympy(condition, self._ranges)
        return known.is_singleton() and bool(known.lower)

    def bounds(self, expr: sympy.Expr) -> tuple[int | None, int | None]:
        """See Size.bounds."""
        known = bound_sympy(expr, self._ranges)
        return tuple(int(end) if end.is_Integer else None for end in (known.lower, known.upper))

    def occurs(self, expr: sympy.Expr, number: int) -> bool:
        """See Size.depends_on."""
        return any(self._numbers[symbol] == number for symbol in expr.free_symbols)

    def line(self, expr: sympy.Expr) -> Line | None:
        """See Size.line."""
        if len(expr.free_symbols) != 1:
            return None
        (symbol,) = expr.free_symbols
        factor = expr.coeff(symbol)
        rest = expr - factor * symbol
        if not factor.is_Integer or not rest.is_Integer or not factor:
            return None
        return Line(self._numbers[symbol], int(factor), int(rest))

    def _simplify(self, expr):
        if not self.is_known(expr):
            raise InexpressibleError("depends on data")
        return sympy.expand(self.simplify(expr))

    def _drop_extremes(self, expr):
        """A maximum or minimum without what the ranges say that it never is."""
        sign = 1 if isinstance(expr, F.Max) else -1
        kept = list(expr.args)
        for one in expr.args:
            others = [other for other in kept if other is not one]
            if any(self._is_at_most(sign * one, sign * other) for other in others):
                kept = others
        return expr.func(*kept) if len(kept) > 1 else kept[0]

    def _is_at_most(self, lhs, rhs):
        high = self.bounds(sympy.expand(lhs - rhs))[1]
        return high is not None and high <= 0

    def _express(self, expr):
        """An expression in MLIR's affine syntax."""
        if expr not in self._affine:
            self._affine[expr] = _write(expr, self._texts, _AFFINE)
        return self._affine[expr]


def _value_range(symbol):
    return ValueRanges(symbol.min, int_oo if symbol.max == UNBOUNDED else symbol.max)


def _write(expr, names, form):
    """An expression as text. names: symbol -> its text; form: how operators are written."""

    def inner(one):
        text = _write(one, names, form)
        return text if one.is_Symbol or (one.is_Integer and one >= 0) else f"({text})"

    if expr.is_Integer:
        return str(int(expr))
    if expr.is_Symbol:
        return names[expr]
    if expr.is_Add:
        number, rest = expr.as_coeff_Add()
        terms = sorted(_write(one, names, form) for one in sympy.Add.make_args(rest))
        return functools.reduce(_add, terms + [str(number)] * (number != 0))
    if expr.is_Mul and not any(one.is_Rational and not one.is_Integer for one in expr.args):
        number, rest = expr.as_coeff_Mul()
        factors = sorted(map(inner, sympy.Mul.make_args(rest)))
        return form["*"].join([str(number)] * (number != 1) + factors)
    if isinstance(expr, (sympy.Pow, F.PowByNatural)) and expr.args[1].is_Integer and expr.args[1] > 0:
        return form["*"].join([inner(expr.args[0])] * int(expr.args[1]))
    if isinstance(expr, F.ModularIndexing):
        base, divisor, modulus = (inner(one) for one in expr.args)
        return form["mod"].format(f"({form['floordiv'].format(base, divisor)})", modulus)
    if isinstance(expr, F.Identity):
        return _write(expr.args[0], names, form)
    if form is _PYTHON and (text := _write_for_checks(expr, inner)) is not None:
        return text
    word = _DIVISIONS.get(type(expr))
    if word is None and type(expr) in _ROUNDINGS and isinstance(expr.args[0], F.IntTrueDiv):
        word, expr = _ROUNDINGS[type(expr)], expr.args[0]
    if word is None:
        raise InexpressibleError(f"is {expr}, which the dialect has no expression for")
    return form[word].format(*map(inner, expr.args))


def _write_for_checks(expr, inner):
    """What conditions are made of besides sizes; None for anything else."""
    kind, args = type(expr), [inner(one) for one in expr.args] if isinstance(expr, sympy.Basic) else []
    if kind in _RELATIONS:
        return f"{args[0]} {_RELATIONS[kind]} {args[1]}"
    if kind in (F.Max, F.Min):
        return f"{_PYTHON[kind]}({', '.join(args)})"
    if kind in (sympy.And, sympy.Or):
        return _PYTHON[kind].join(args)
    return _PYTHON[kind].format(*args) if kind is sympy.Not else None


def _add(lhs, rhs):
    return f"{lhs} - {rhs[1:]}" if rhs.startswith("-") else f"{lhs} + {rhs}"
