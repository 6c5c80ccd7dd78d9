# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what torch.export knows of symbolic sizes: names, ranges and conditions.

A comparison of a SymInt can make torch.export assume more about the size (a guard). An import must not add guards,
because the graph is already traced.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy
import torch
from torch.export._trace import _ignore_backend_decomps as plain_kernels  # kernels of libraries guard on sizes
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.experimental.symbolic_shapes import _ShapeEnvGuardError as GuardError
from torch.utils._sympy.value_ranges import ValueRanges

from ..._program.conditions import can_express
from ..._program.sizes import UNBOUNDED, Size, Symbol, Symbols
from ...errors import UnsupportedError
from ..examples import ShapeProfile
from .graph import Value

if TYPE_CHECKING:
    from .call import Call
    from .walker import Walker

_MIN_TRACED = 2  # torch traces no symbolic dim with a smaller size


# torch's symbols and expressions -> their ranges.
Ranges: TypeAlias = Mapping[sympy.Basic, "ValueRanges[sympy.Expr]"]

# The inputs of a graph: names, and fake tensors, sizes or other values.
NamedValues: TypeAlias = Sequence[tuple[str, Any]]


def find_shape_env(values: Iterable[Any]) -> ShapeEnv | None:
    """Returns the ShapeEnv of the first symbolic size among fake tensors and sizes; None if there is none."""
    for value in values:
        for size in _sizes_of(value):
            if isinstance(size, torch.SymInt):
                env: ShapeEnv = size.node.shape_env
                return env
    return None


def no_new_guards(values: Iterable[Any]) -> AbstractContextManager[None]:
    """Returns a context in which an assumption about a size of `values` raises GuardError."""
    env = find_shape_env(values)
    context: AbstractContextManager[None] = contextlib.nullcontext() if env is None else env.error_on_new_guards()
    return context


def read_symbols(
    inputs: NamedValues,
    ranges: Ranges | None = None,
    shape_profiles: Mapping[tuple[int, int], ShapeProfile] | None = None,
) -> Symbols:
    """Returns the Symbols of a graph's inputs.

    ranges: by default those of the ShapeEnv. shape_profiles: see `import_program`.
    """
    env = find_shape_env(value for _, value in inputs)
    if env is None:
        return Symbols()
    places: dict[sympy.Symbol, str | None] = {}
    requests: dict[sympy.Symbol, list[ShapeProfile | None]] = {}
    ties: dict[sympy.Symbol, sympy.Symbol] = {}  # symbol -> the first symbol with the same tie
    firsts: dict[str, sympy.Symbol] = {}  # tie -> its first symbol
    for number, (name, value) in enumerate(inputs):
        for dim, size in enumerate(_sizes_of(value)):
            profile = (shape_profiles or {}).get((number, dim))
            if (
                profile is not None
                and profile.tie is not None
                and isinstance(size, torch.SymInt)
                and size.node.expr.is_Symbol
            ):
                ties[size.node.expr] = firsts.setdefault(profile.tie, size.node.expr)
            for symbol in _symbols_of(size):
                places.setdefault(symbol, None)
                if isinstance(size, torch.SymInt) and size.node.expr == symbol:
                    places[symbol] = places[symbol] or (f"{name}[{dim}]" if isinstance(value, torch.Tensor) else name)
                    requests.setdefault(symbol, []).append(profile)
    for symbol in places:  # torch leaves dims of one name apart if the trace did not compare them
        known = _find_name(env, symbol)
        if known is not None and symbol not in ties:
            ties[symbol] = firsts.setdefault(known, symbol)
    ranges = env.var_to_range if ranges is None else ranges
    found: dict[sympy.Symbol, list[tuple[sympy.Symbol, str]]] = {}
    for symbol, place in places.items():
        found.setdefault(ties.get(symbol, symbol), []).append((symbol, place or str(symbol)))
    return Symbols(
        [
            (
                symbol,
                _make_symbol(
                    env, ranges, same, [profile for tied, _ in same for profile in requests.get(tied, ()) if profile]
                ),
            )
            for symbol, same in found.items()
        ],
        {symbol: first for symbol, first in ties.items() if symbol != first},
    )


def read_conditions(inputs: NamedValues, symbols: Symbols) -> list[sympy.Basic]:
    """Returns the conditions on sizes that the export assumed and that the ranges of `symbols` do not guarantee.

    `symbols` then replaces sizes that equal simpler ones.
    """
    env = find_shape_env(value for _, value in inputs)
    if env is None:
        return []
    guards = (env.replace(guard.expr) for guard in env.guards)
    found = dict.fromkeys(symbols.tie(condition) for condition in guards if symbols.is_known(condition))
    equalities = [
        condition
        for condition in found
        if isinstance(condition, sympy.Eq) and is_open(condition, symbols) and can_express(condition, symbols)
    ]
    symbols.assume(equalities)
    others = dict.fromkeys(symbols.simplify(condition) for condition in found if condition not in equalities)
    return [*equalities, *(condition for condition in others if is_open(condition, symbols))]


def is_open(condition: sympy.Basic, symbols: Symbols) -> bool:
    """Returns true if a condition of torch's must be checked at a call."""
    if condition in (sympy.true, True) or not condition.free_symbols or not symbols.is_known(condition):
        return False
    return not symbols.is_sure(condition)


def _sizes_of(value: object) -> Sequence[int | torch.SymInt]:
    """Returns the dims of a tensor, or the symbolic size itself."""
    if isinstance(value, torch.Tensor):
        return value.shape
    return [value] if isinstance(value, torch.SymInt) else []


def _symbols_of(size: int | torch.SymInt) -> list[sympy.Symbol]:
    """Returns the symbols of a size in a fixed order."""
    return sorted(size.node.expr.free_symbols, key=str) if isinstance(size, torch.SymInt) else []


def _make_symbol(
    env: ShapeEnv, ranges: Ranges, same: Sequence[tuple[sympy.Symbol, str]], profiles: Sequence[ShapeProfile]
) -> Symbol:
    """Returns the Symbol that stands for several symbols of torch's.

    same: the symbols, each with a place, "x[0]". profiles: what the user asked for about them.
    """
    found = [_find_range(env, ranges, symbol) for symbol, _ in same]
    low, high = max(0, *(low for low, _ in found)), min(high for _, high in found)
    if high < 0:
        raise UnsupportedError(f"expected {same[0][1]!r} to be 0 or more, but its range ends at {high}")
    minima = [profile.min for profile in profiles if profile.min is not None]
    if low == _MIN_TRACED and minima:
        low = min(low, max(minima))
    typicals = [profile.typical for profile in profiles if profile.typical is not None]
    symbol, place = same[0]
    typical = typicals[0] if typicals else int(env.backed_var_to_val.get(symbol, 0))
    names = [profile.tie for profile in profiles if profile.tie is not None]
    name = names[0] if names else _find_name(env, symbol) or place
    return Symbol(name, low, high, typical if low <= typical <= high else 0)


def _find_name(env: ShapeEnv, symbol: sympy.Symbol) -> str | None:
    """Returns the name that the user gave a symbol's Dim; None if it is unknown."""
    for source in env.var_to_sources.get(symbol, ()):
        text: str = source.name if isinstance(source.name, str) else source.name()  # older releases have a method
        name = env.source_name_to_debug_name.get(text, text)
        if name.isidentifier():
            return name
    return None


def _find_range(env: ShapeEnv, ranges: Ranges, symbol: sympy.Symbol) -> tuple[int, int]:
    """Returns the smallest and the largest value of a symbol.

    torch does not trace sizes of 0 and 1. The result includes them if the user's Dim does.
    """
    known = ranges.get(symbol) or env.var_to_range[symbol]
    low, high = (_to_int(end, default) for end, default in ((known.lower, 0), (known.upper, UNBOUNDED)))
    if low == _MIN_TRACED:
        for expr, of_expr in ranges.items():
            factor = expr.coeff(symbol)
            rest = expr - factor * symbol
            if expr != symbol and factor.is_Integer and factor > 0 and rest.is_Integer:
                low = min(low, max(0, -int((rest - _to_int(of_expr.lower, 0)) // factor)))
    return low, high


def _to_int(end: sympy.Expr, default: int) -> int:
    """Returns an end of a range; `default` if it is infinite."""
    return int(end) if end.is_Integer and abs(int(end)) < UNBOUNDED - 1 else default


def find_carriers(inputs: NamedValues, symbols: Symbols) -> set[str]:
    """Returns the names of the ints that determine symbols, because no dim of a tensor does.

    Raises UnsupportedError for a symbol that no input determines.
    """
    determined: set[int] = set()
    for _, value in inputs:
        for dim in value.shape if isinstance(value, torch.Tensor) else ():
            determined |= _determined_by(dim, symbols)
    carriers: set[str] = set()
    for name, value in inputs:
        if isinstance(value, torch.SymInt) and not _determined_by(value, symbols) <= determined:
            carriers.add(name)
            determined |= _determined_by(value, symbols)
    for number, symbol in enumerate(symbols.table):
        if number not in determined:
            raise UnsupportedError(f"no dim of an input determines the size {symbol.name!r}")
    return carriers


def _determined_by(dim: int | torch.SymInt, symbols: Symbols) -> set[int]:
    """Returns the number of the symbol that a size determines; the empty set if it determines none."""
    size = symbols.size(dim)
    line = None if isinstance(size, int) else size.line()
    return set() if line is None else {line.symbol}


def state_sizes(walker: Walker, call: Call, value: Any, operands: Sequence[Any]) -> Any:
    """Returns the result of a call, as a reshape to its own dims if a condition gives one of them another form.

    For example, `(n + 1) // 2` is `n // 2` for an even `n`. operands: the Values of the call's operands, whose sizes
    are stated already.
    """
    if not isinstance(value, Value) or not isinstance(call.val, torch.Tensor):
        return value
    known = {size for operand in operands if isinstance(operand, Value) for size in operand.shape}
    pairs = zip(value.shape, call.val.shape, strict=False)
    new = [fake for size, fake in pairs if isinstance(size, Size) and size not in known]
    if not any(map(walker.symbols.is_assumed, new)):
        return value
    shape = {"shape": list(value.shape)}
    return walker.op("reshape", [value], shape, shape=value.shape, dtype=value.dtype, suffix="sizes")


__all__ = [
    "GuardError",
    "find_carriers",
    "find_shape_env",
    "is_open",
    "no_new_guards",
    "plain_kernels",
    "read_conditions",
    "read_symbols",
    "state_sizes",
]
