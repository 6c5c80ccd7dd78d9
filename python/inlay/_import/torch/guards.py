# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.export knows of symbolic sizes: names, ranges, conditions. A SymInt that is compared makes it assume more,
which nobody may do once the graph is there."""

import contextlib

import sympy
import torch
from torch.export._trace import _ignore_backend_decomps as plain_kernels  # libraries choose kernels by sizes
from torch.fx.experimental.symbolic_shapes import _ShapeEnvGuardError as GuardError

from ..._program.sizes import UNBOUNDED, Symbol, Symbols
from ...errors import UnsupportedError

_SPECIALISED = 2  # the least size that torch traces a symbolic dim with


def find_shape_env(values):
    """The ShapeEnv of the first symbolic size among fake tensors and sizes; None if there is none."""
    for value in values:
        for size in _sizes_of(value):
            if isinstance(size, torch.SymInt):
                return size.node.shape_env
    return None


def no_new_guards(values):
    """A context in which GuardError is raised where something is assumed about a size of `values`."""
    env = find_shape_env(values)
    return contextlib.nullcontext() if env is None else env.error_on_new_guards()


def read_symbols(inputs, ranges=None, shape_profiles=None):
    """The Symbols of a graph's inputs.

    inputs: (name, fake tensor or other value); ranges: torch's symbols (and expressions) -> ValueRanges, those of the
    ShapeEnv if None; shape_profiles: see `import_program`. Raises UnsupportedError for a symbol that no dim of a tensor
    tells.
    """
    env = find_shape_env(value for _, value in inputs)
    if env is None:
        return Symbols()
    places, wishes, ties, firsts = {}, {}, {}, {}
    for number, (name, value) in enumerate(inputs):
        for dim, size in enumerate(_sizes_of(value)):
            wish = (shape_profiles or {}).get((number, dim))
            if (
                wish is not None
                and wish.tie is not None
                and isinstance(size, torch.SymInt)
                and size.node.expr.is_Symbol
            ):
                ties[size.node.expr] = firsts.setdefault(wish.tie, size.node.expr)
            for symbol in _symbols_of(size):
                places.setdefault(symbol, None)
                if size.node.expr == symbol:
                    places[symbol] = places[symbol] or (f"{name}[{dim}]" if isinstance(value, torch.Tensor) else name)
                    wishes.setdefault(symbol, []).append(wish)
    ranges = env.var_to_range if ranges is None else ranges
    found = {}
    for symbol, place in places.items():
        found.setdefault(ties.get(symbol, symbol), []).append((symbol, place or str(symbol)))
    symbols = Symbols(
        [
            (symbol, _make_symbol(env, ranges, same, [one for it, _ in same for one in wishes.get(it, ()) if one]))
            for symbol, same in found.items()
        ],
        {symbol: first for symbol, first in ties.items() if symbol != first},
    )
    _check_told(symbols, inputs)
    return symbols


def read_conditions(inputs, symbols):
    """The conditions on sizes that the export assumed and the ranges of the Symbols don't make sure of."""
    env = find_shape_env(value for _, value in inputs)
    if env is None:
        return []
    found = (env.replace(guard.expr) for guard in env.guards)
    found = dict.fromkeys(symbols.tie(one) for one in found if symbols.is_known(one))
    numbers = [one for one in found if isinstance(one, sympy.Eq) and one.args[1].is_Integer and is_open(one, symbols)]
    symbols.assume(numbers)
    others = dict.fromkeys(symbols.simplify(one) for one in found if one not in numbers)
    return [*numbers, *(one for one in others if is_open(one, symbols))]


def is_open(condition, symbols):
    """Whether a condition (of torch's) must be checked at a call."""
    if condition in (sympy.true, True) or not condition.free_symbols or not symbols.is_known(condition):
        return False
    return not symbols.is_sure(condition)


def _sizes_of(value):
    if isinstance(value, torch.Tensor):
        return value.shape
    return [value] if isinstance(value, torch.SymInt) else []


def _symbols_of(size):
    return sorted(size.node.expr.free_symbols, key=str) if isinstance(size, torch.SymInt) else []


def _make_symbol(env, ranges, same, wishes):
    """The Symbol for torch's symbols, with the place of each, that are one. wishes: what the user said of them."""
    found = [_find_range(env, ranges, symbol) for symbol, _ in same]
    low, high = max(low for low, _ in found), min(high for _, high in found)
    asked = [wish.min for wish in wishes if wish.min is not None]
    if low == _SPECIALISED and asked:
        low = min(low, max(asked))
    given = [wish.typical for wish in wishes if wish.typical is not None]
    symbol, place = same[0]
    typical = given[0] if given else int(env.backed_var_to_val.get(symbol, 0))
    names = [wish.tie for wish in wishes if wish.tie is not None]
    name = names[0] if names else _find_name(env, symbol) or place
    return Symbol(name, low, high, typical if low <= typical <= high else 0)


def _find_name(env, symbol):
    """What the user called a symbol's Dim; None if nothing is known."""
    for source in env.var_to_sources.get(symbol, ()):
        text = source.name if isinstance(source.name, str) else source.name()
        name = env.source_name_to_debug_name.get(text, text)
        if name.isidentifier():
            return name
    return None


def _find_range(env, ranges, symbol):
    """(least, largest) value. torch never traces sizes of 0 and 1, but takes them where the user's Dim has them."""
    known = ranges.get(symbol) or env.var_to_range[symbol]
    low, high = (_to_int(end, default) for end, default in ((known.lower, 0), (known.upper, UNBOUNDED)))
    if low == _SPECIALISED:
        for expr, of_expr in ranges.items():
            factor = expr.coeff(symbol)
            rest = expr - factor * symbol
            if expr != symbol and factor.is_Integer and factor > 0 and rest.is_Integer:
                low = min(low, max(0, -int((rest - _to_int(of_expr.lower, 0)) // factor)))
    return low, high


def _to_int(end, default):
    return int(end) if end.is_Integer and abs(int(end)) < UNBOUNDED - 1 else default


def _check_told(symbols, inputs):
    told = set()
    for _, value in inputs:
        for size in value.shape if isinstance(value, torch.Tensor) else ():
            size = symbols.size(size)
            line = None if isinstance(size, int) else size.line()
            told |= set() if line is None else {line.symbol}
    for number, symbol in enumerate(symbols.table):
        if number not in told:
            raise UnsupportedError(f"no dim of a tensor tells the size {symbol.name!r}")


__all__ = [
    "GuardError",
    "find_shape_env",
    "is_open",
    "no_new_guards",
    "plain_kernels",
    "read_conditions",
    "read_symbols",
]
