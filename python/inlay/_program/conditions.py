# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes conditions on sizes for the dialect, as sets of the symbols.

`signature.py` checks the conditions when Python calls a program. The runtime checks what this module writes, in
lib/Runtime/Core/Execute/Arguments.cpp.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import sympy
from torch.utils._sympy import functions as F

from .sizes import InexpressibleError, Symbols

_MAX_SETS = 64  # alternatives of a condition
_EXTREMES = (F.Max, F.Min, sympy.Max, sympy.Min)


class _Constraint(NamedTuple):
    """`value` is 0 if `is_equality`, and at least 0 otherwise."""

    value: sympy.Expr
    is_equality: bool = False


_Set = tuple[_Constraint, ...]  # all of them hold


def conditions_text(conditions: Iterable[sympy.Basic], symbols: Symbols) -> str:
    """Returns the attribute for conditions of PyTorch as text, such as `[[affine_set<()[s0] : (s0 mod 2 == 0)>]]`.

    Leaves out conditions that `can_express` refuses.
    """
    return f"[{', '.join(text for text in (_write(condition, symbols) for condition in conditions) if text)}]"


def can_express(condition: sympy.Basic, symbols: Symbols) -> bool:
    """Returns true if the dialect has sets for a condition."""
    return _write(condition, symbols) is not None


def _write(condition: sympy.Basic, symbols: Symbols) -> str | None:
    """Returns the array of alternatives of a condition as text; None if the dialect can't express it."""
    try:
        sets = _bounded(
            one for every in _alternatives(symbols.tie(condition), True) for one in _without_extremes(every)
        )
        texts = [symbols.set_text(_text(constraint, symbols) for constraint in one) for one in sets]
    except InexpressibleError:
        return None
    return f"[{', '.join(texts)}]"


def _text(constraint: _Constraint, symbols: Symbols) -> str:
    return f"{symbols.express(sympy.expand(constraint.value))} {'==' if constraint.is_equality else '>='} 0"


def _bounded(sets: Iterable[_Set]) -> list[_Set]:
    found = list(itertools.islice(sets, _MAX_SETS + 1))
    if len(found) > _MAX_SETS:
        raise InexpressibleError(f"has more than {_MAX_SETS} alternatives")
    return found


def _alternatives(condition: Any, holds: bool) -> Iterator[_Set]:
    """Yields sets, one of which holds if and only if `condition` is `holds`."""
    if condition in (sympy.true, sympy.false):
        yield (_Constraint(sympy.Integer(0 if bool(condition) == holds else -1)),)
    elif isinstance(condition, sympy.Not):
        yield from _alternatives(condition.args[0], not holds)
    elif isinstance(condition, (sympy.And, sympy.Or)):
        parts = [_bounded(_alternatives(part, holds)) for part in condition.args]
        if isinstance(condition, sympy.And) == holds:
            yield from (tuple(itertools.chain.from_iterable(one)) for one in itertools.product(*parts))
        else:
            yield from itertools.chain.from_iterable(parts)
    else:
        yield from _comparisons(condition, holds)


def _comparisons(condition: Any, holds: bool) -> Iterator[_Set]:
    """Yields sets, one of which holds if and only if a comparison of whole numbers is `holds`."""
    if not isinstance(condition, sympy.core.relational.Relational) or any(arg.is_Boolean for arg in condition.args):
        raise InexpressibleError(f"is {condition}, which the dialect has no set for")
    relation = condition if holds else condition.negated
    lhs, rhs = relation.args
    if isinstance(relation, sympy.Eq):
        yield (_Constraint(lhs - rhs, True),)
    elif isinstance(relation, sympy.Ne):
        yield (_Constraint(lhs - rhs - 1),)
        yield (_Constraint(rhs - lhs - 1),)
    else:
        small, large = (lhs, rhs) if isinstance(relation, (sympy.Lt, sympy.Le)) else (rhs, lhs)
        yield (_Constraint(large - small - (1 if isinstance(relation, (sympy.Lt, sympy.Gt)) else 0)),)


def _without_extremes(constraints: _Set) -> Iterator[_Set]:
    """Yields sets without maxima and minima, one of which holds if and only if `constraints` do."""
    extremes = (
        part for one in constraints for part in sympy.preorder_traversal(one.value) if isinstance(part, _EXTREMES)
    )
    extreme = next((part for part in extremes if not any(arg.has(*_EXTREMES) for arg in part.args)), None)
    if extreme is None:
        yield constraints
        return
    sign = 1 if isinstance(extreme, (F.Max, sympy.Max)) else -1
    for chosen in extreme.args:
        others = tuple(_Constraint(sign * (chosen - other)) for other in extreme.args if other is not chosen)
        replaced = tuple(one._replace(value=one.value.xreplace({extreme: chosen})) for one in constraints)
        yield from _without_extremes((*others, *replaced))
