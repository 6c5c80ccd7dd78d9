# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that differ from call to call: expressions of symbols, which the dims of the arguments determine.

`signature.py` checks the sizes of the arguments of a call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sympy
import torch
from torch.utils._sympy import functions as F
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from .._dialect.text import quote
from ..errors import UnsupportedError

UNBOUNDED = 2**63 - 1  # the maximum of a range without end
_DIVISIONS = {F.FloorDiv: "floordiv", F.CleanDiv: "floordiv", F.CeilDiv: "ceildiv", F.Mod: "mod", F.PythonMod: "mod"}
_ROUNDINGS = {F.FloorToInt: "floordiv", F.TruncToInt: "floordiv", F.CeilToInt: "ceildiv"}


# The text of operators in MLIR's affine maps and in Python.
_AFFINE: dict[Any, str] = {"*": " * ", "floordiv": "{} floordiv {}", "ceildiv": "{} ceildiv {}", "mod": "{} mod {}"}
_PYTHON: dict[Any, str] = {"*": "*", "floordiv": "{} // {}", "ceildiv": "-(-{} // {})", "mod": "{} % {}"}
_PYTHON |= {F.Max: "max", F.Min: "min", sympy.And: " and ", sympy.Or: " or ", sympy.Not: "not {}"}
_RELATIONS = {sympy.Eq: "==", sympy.Ne: "!=", sympy.Lt: "<", sympy.Le: "<=", sympy.Gt: ">", sympy.Ge: ">="}


class UndecidedError(Exception):
    """A handler asked a question about a size whose answer depends on the value of the size."""


class InexpressibleError(UnsupportedError):
    """A size that the dialect has no expression for."""


@dataclass(frozen=True)
class Symbol:
    """A size that the dims of the arguments determine."""

    name: str
    min: int = 0
    max: int = UNBOUNDED  # inclusive
    typical: int = 0  # size for which the code is optimized; 0 if unknown

    def __str__(self) -> str:
        typical = f", typically {self.typical}" if self.typical else ""
        return f"#inlay.symbol<{quote(self.name)}, {self.min} to {self.max}{typical}>"

    @property
    def range_text(self) -> str:
        """The range as text: `1 to 8` or `2 or more`."""
        return f"{self.min} or more" if self.max == UNBOUNDED else f"{self.min} to {self.max}"


class Line(NamedTuple):
    """The size `factor * symbol + rest`."""

    symbol: int  # number of the symbol
    factor: int
    rest: int


class Size:
    """An integer expression of symbols. Two sizes are equal if their expressions are equal.

    Arithmetic returns an int or a Size. A comparison raises UndecidedError if the ranges of the symbols don't decide
    it. Every use as an int raises UndecidedError.
    """

    __slots__ = ("_function", "_symbols", "expr")

    def __init__(self, expr: sympy.Expr, symbols: Symbols) -> None:
        self.expr, self._symbols = expr, symbols
        self._function: Callable[..., int] | None = None  # of the values of the symbols; made when it is needed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.expr == other.expr

    def __hash__(self) -> int:
        return hash(self.expr)

    def __str__(self) -> str:
        return self._symbols.spell(self.expr)

    __repr__ = __str__

    def evaluate(self, values: Sequence[int]) -> int:
        """Returns the size for the values of the symbols in their order."""
        if self._function is None:
            self._function = self._symbols.function(self.expr)
        return self._function(*values)

    def bounds(self) -> tuple[int | None, int | None]:
        """Returns the minimum and the maximum of the size. An end is None if the size is unbounded."""
        return self._symbols.bounds(self.expr)

    def depends_on(self, number: int) -> bool:
        """Returns true if the symbol with that number occurs in the size."""
        return self._symbols.occurs(self.expr, number)

    def line(self) -> Line | None:
        """Returns the size as a multiple of one symbol plus a number, or None for other sizes."""
        return self._symbols.line(self.expr)

    def _make(self, function: Callable[..., Any], *others: int | Size) -> int | Size:
        """Returns the result of an operator, or NotImplemented for other operands."""
        if not all(isinstance(other, (int, Size)) for other in others):
            return NotImplemented  # type: ignore[no-any-return]  # mypy knows this value only in operators
        exprs = [other.expr if isinstance(other, Size) else sympy.Integer(other) for other in others]
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

    def _is_below(self, other: int | Size, or_equal: bool) -> bool:
        """Returns true if self < other, or self <= other if `or_equal`. Returns NotImplemented for other operands."""
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

    __int__ = __float__ = __index__  # these raise UndecidedError too


class Symbols:
    """The symbols of a function in order. They convert expressions of PyTorch to sizes."""

    def __init__(
        self, named: Iterable[tuple[sympy.Symbol, Symbol]] = (), ties: Mapping[sympy.Symbol, sympy.Symbol] | None = None
    ) -> None:
        """named: pairs of a symbol of PyTorch and its Symbol. ties: an equal symbol in `named` for other symbols."""
        pairs = list(named)
        self._ties = dict(ties or {})
        self._equal: dict[sympy.Basic, sympy.Basic] = {}  # expression of PyTorch -> simpler one that it equals
        self.table = [symbol for _, symbol in pairs]
        self._numbers = {key: number for number, (key, _) in enumerate(pairs)}
        self._ranges = {key: _value_range(symbol) for key, symbol in pairs}
        self._texts = {key: f"s{number}" for key, number in self._numbers.items()}
        self._affine: dict[sympy.Basic, str] = {}  # texts of expressions
        self._functions: dict[sympy.Basic, Callable[..., int]] = {}  # by expression

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self.table)

    @property
    def numbers(self) -> Mapping[sympy.Symbol, int]:
        """The numbers of the symbols by the symbol of PyTorch."""
        return self._numbers

    def size(self, value: int | torch.SymInt | Size) -> int | Size:
        """Returns an int or torch.SymInt as an int or Size.

        Raises InexpressibleError if the dialect has no expression for it.
        """
        if isinstance(value, (int, Size)):
            return value
        made = self.make(value.node.expr)
        if isinstance(made, Size):
            self.express(made.expr)
        return made

    def dims(self, fake: torch.Tensor) -> tuple[int | Size, ...]:
        """Returns the dims of a tensor."""
        return tuple(self.size(dim) for dim in fake.shape)

    def can_express(self, value: object) -> bool:
        """Returns true for an int, and for a torch.SymInt for which the dialect has an expression."""
        if isinstance(value, torch.SymInt):
            try:
                self.size(value)
            except InexpressibleError:
                return False
            return True
        return isinstance(value, int) and not isinstance(value, bool)

    def make(self, expr: sympy.Expr) -> int | Size:
        """Returns the int or Size for an expression of PyTorch."""
        expr = self._simplify(expr)
        return int(expr) if expr.is_Integer else Size(expr, self)

    def map_text(self, sizes: Iterable[int | Size]) -> str:
        """Returns the affine map of sizes as text, such as `affine_map<()[s0] -> (s0, 4)>`."""
        symbols = ", ".join(self._texts.values())
        results = ", ".join(self.express(size.expr) if isinstance(size, Size) else str(size) for size in sizes)
        return f"affine_map<()[{symbols}] -> ({results})>"

    def set_text(self, constraints: Iterable[str]) -> str:
        """Returns a set of the symbols as text, such as `affine_set<()[s0] : (s0 - 4 >= 0)>`."""
        return f"affine_set<()[{', '.join(self._texts.values())}] : ({', '.join(constraints)})>"

    def text(self) -> str:
        """Returns the attribute for the symbols as text, such as `[#inlay.symbol<"batch", 1 to 8>]`."""
        return f"[{', '.join(map(str, self.table))}]"

    def spell(self, expr: sympy.Basic) -> str:
        """Returns an expression as text for messages, such as `2*batch + 1`."""
        return _write(expr, {symbol: self.table[number].name for symbol, number in self._numbers.items()}, _PYTHON)

    def function(self, expr: sympy.Basic) -> Callable[..., int]:
        """Returns the function of the values of the symbols for an expression or a condition of PyTorch."""
        if expr not in self._functions:
            names = self._texts.values()
            self._functions[expr] = eval(f"lambda {', '.join(names)}: {_write(expr, self._texts, _PYTHON)}")
        return self._functions[expr]

    def is_known(self, expr: sympy.Basic) -> bool:
        """Returns true if an expression or condition of PyTorch has only these symbols."""
        return all(symbol in self._numbers or symbol in self._ties for symbol in expr.free_symbols)

    def assume(self, equalities: Iterable[sympy.Eq]) -> None:
        """Replaces one side of each equality by the other, which is simpler, from now on."""
        for equality in equalities:
            simple, other = sorted(map(self.simplify, equality.args), key=_complexity)
            if other.is_Integer or simple == other or self.line(other) is not None:  # a line may determine a symbol
                continue
            self._equal = {expr: equal.xreplace({other: simple}) for expr, equal in self._equal.items()}
            self._equal[other] = simple

    def is_assumed(self, size: int | torch.SymInt) -> bool:
        """Returns true if the form of a size follows from what `assume` was given."""
        if isinstance(size, int):
            return False
        expr = _round_down(self.tie(size.node.expr))
        return bool(expr != expr.xreplace(self._equal))

    def tie(self, expr: sympy.Basic) -> sympy.Basic:
        """Returns an expression or condition of PyTorch with tied symbols replaced."""
        return expr.xreplace(self._ties)

    def simplify(self, expr: sympy.Basic) -> sympy.Basic:
        """Returns an expression or condition of PyTorch without tied symbols and maxima that the ranges decide.

        Quotients that are rounded up, which PyTorch writes as `-(-size // step)`, become `(size + step - 1) // step`.
        """
        expr = _round_down(self.tie(expr)).xreplace(self._equal)
        return expr.replace(lambda part: isinstance(part, (F.Max, F.Min)), self._drop_extremes)

    def is_sure(self, condition: sympy.Basic) -> bool:
        """Returns true if a condition of PyTorch holds for all values in the ranges."""
        condition = self.simplify(condition)
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if isinstance(condition, (sympy.Eq, sympy.Ne)):  # the bounds of the difference are tighter than of both sides
            sides = condition.args
            condition = condition.func(sympy.expand(sides[0] - sides[1]), 0)
            if condition in (sympy.true, sympy.false):
                return bool(condition)
        known = bound_sympy(condition, self._ranges)
        return bool(known.is_singleton()) and bool(known.lower)

    def bounds(self, expr: sympy.Expr) -> tuple[int | None, int | None]:
        """See Size.bounds."""
        known = bound_sympy(expr, self._ranges)
        low, high = (int(end) if end.is_Integer else None for end in (known.lower, known.upper))
        return low, high

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

    def _simplify(self, expr: sympy.Expr) -> sympy.Expr:
        if not self.is_known(expr):
            raise InexpressibleError("depends on data")
        return sympy.expand(self.simplify(expr))

    def _drop_extremes(self, expr: Any) -> Any:
        """Returns a maximum or minimum without the operands that can't be its value."""
        sign = 1 if isinstance(expr, F.Max) else -1
        kept = list(expr.args)
        for operand in expr.args:
            others = [other for other in kept if other is not operand]
            if any(self._is_at_most(sign * operand, sign * other) for other in others):
                kept = others
        return expr.func(*kept) if len(kept) > 1 else kept[0]

    def _is_at_most(self, lhs: sympy.Expr, rhs: sympy.Expr) -> bool:
        high = self.bounds(sympy.expand(lhs - rhs))[1]
        return high is not None and high <= 0

    def express(self, expr: sympy.Expr) -> str:
        """Returns an expression in MLIR's affine syntax. Raises InexpressibleError if it has none."""
        if expr not in self._affine:
            self._affine[expr] = _write(expr, self._texts, _AFFINE)
        return self._affine[expr]


def _round_down(expr: sympy.Basic) -> Any:
    """Returns an expression with each quotient `-size // step` as `-((size + step - 1) // step)`."""
    return expr.replace(_is_negative_quotient, lambda part: -F.FloorDiv(part.args[1] - 1 - part.args[0], part.args[1]))


def _is_negative_quotient(expr: sympy.Basic) -> bool:
    """Returns true for a quotient by a positive number whose dividend has no symbol with a positive factor."""
    if not isinstance(expr, F.FloorDiv) or not expr.args[1].is_Integer or expr.args[1] < 1:
        return False
    terms = [term for term in sympy.Add.make_args(expr.args[0]) if term.free_symbols]
    return bool(terms) and all(term.as_coeff_Mul()[0] < 0 for term in terms)


def _complexity(expr: sympy.Basic) -> tuple[int, str]:
    """Returns the key by which expressions are sorted from simple to complex: numbers, symbols, others by length."""
    parts = sum(1 for _ in sympy.preorder_traversal(expr))
    return (0 if expr.is_Integer else parts), str(expr)


def _value_range(symbol: Symbol) -> Any:
    return ValueRanges(symbol.min, int_oo if symbol.max == UNBOUNDED else symbol.max)


def _write(expr: Any, names: Mapping[sympy.Symbol, str], form: Mapping[Any, str]) -> str:
    """Returns an expression as text. names: the texts of symbols. form: the texts of operators.

    Raises InexpressibleError for an operator without text.
    """

    def inner(operand: Any) -> str:
        text = _write(operand, names, form)
        return text if operand.is_Symbol or (operand.is_Integer and operand >= 0) else f"({text})"

    if expr.is_Integer:
        return str(int(expr))
    if expr.is_Symbol:
        return names[expr]
    if form is _PYTHON and expr.is_Float:
        return repr(float(expr))
    if expr.is_Add:
        number, rest = expr.as_coeff_Add()
        terms = sorted(_write(term, names, form) for term in sympy.Add.make_args(rest))
        return functools.reduce(_add, terms + [str(number)] * (number != 0))
    if expr.is_Mul and not any(factor.is_Rational and not factor.is_Integer for factor in expr.args):
        number, rest = expr.as_coeff_Mul()
        factors = sorted(map(inner, sympy.Mul.make_args(rest)))
        return form["*"].join([_write(number, names, form)] * (number != 1) + factors)
    if isinstance(expr, (sympy.Pow, F.PowByNatural)) and expr.args[1].is_Integer and expr.args[1] > 0:
        return form["*"].join([inner(expr.args[0])] * int(expr.args[1]))
    if isinstance(expr, F.ModularIndexing):
        base, divisor, modulus = (inner(arg) for arg in expr.args)
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


# Operators of conditions on products of sizes and floats, such as the dims of an interpolation.
_CONVERSIONS: Mapping[Any, str] = {
    F.ToFloat: "float({})",
    F.TruncToInt: "int({})",
    F.FloorToInt: "int(({}) // 1)",
    F.CeilToInt: "-int(-({}) // 1)",
    F.FloatTrueDiv: "{} / {}",
    F.IntTrueDiv: "{} / {}",
}


def _write_for_checks(expr: Any, inner: Callable[[Any], str]) -> str | None:
    """Returns an operator of conditions as text, or None for other operators. inner: writes an operand."""
    kind, args = type(expr), [inner(arg) for arg in expr.args] if isinstance(expr, sympy.Basic) else []
    if kind in _CONVERSIONS:
        return _CONVERSIONS[kind].format(*args)
    if kind in _RELATIONS:
        return f"{args[0]} {_RELATIONS[kind]} {args[1]}"
    if kind in (F.Max, F.Min):
        return f"{_PYTHON[kind]}({', '.join(args)})"
    if kind in (sympy.And, sympy.Or):
        return _PYTHON[kind].join(args)
    return _PYTHON[kind].format(*args) if kind is sympy.Not else None


def _add(lhs: str, rhs: str) -> str:
    return f"{lhs} - {rhs[1:]}" if rhs.startswith("-") else f"{lhs} + {rhs}"
