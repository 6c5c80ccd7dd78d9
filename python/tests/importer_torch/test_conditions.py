# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conditions on sizes as sets of the dialect, and the forms of sizes."""

import itertools
import random
import re

import pytest
import sympy
from inlay._program.conditions import can_express, conditions_text
from inlay._program.sizes import Symbol, Symbols
from torch.utils._sympy import functions as F

A, B = sympy.symbols("a b", integer=True, nonnegative=True)
SYMBOLS = Symbols([(A, Symbol("a", 0, 9)), (B, Symbol("b", 0, 9))])


def holds(text, a, b):
    """Returns true if one set of each condition in the attribute `text` contains the sizes."""
    text = re.sub(r"\bs0\b", str(a), re.sub(r"\bs1\b", str(b), text.replace("()[s0, s1] : ", "")))
    text = text.replace("floordiv", "//").replace("mod", "%").replace(",", " and")
    text = re.sub(r"\S+ ceildiv \S+", lambda match: "-(-{} // {})".format(*match[0].split(" ceildiv ")), text)
    conditions = re.findall(r"\[((?:affine_set<.*?>(?=[\] ]))(?: and affine_set<.*?>(?=[\] ]))*)\]", text)
    return all(any(eval(one) for one in re.findall(r"affine_set<(.*?)>(?: |$)", each + " ")) for each in conditions)


def test_the_text():
    conditions = [sympy.Eq(F.PythonMod(A, 2), 0), sympy.Or(sympy.Lt(A, B), sympy.Ge(A, 5))]
    assert conditions_text(conditions, SYMBOLS) == (
        "[[affine_set<()[s0, s1] : (s0 mod 2 == 0)>], "
        "[affine_set<()[s0, s1] : (s0 - 5 >= 0)>, affine_set<()[s0, s1] : (-1 * s0 + s1 - 1 >= 0)>]]"
    )


def make_size(rng, depth):
    if depth == 0:
        return rng.choice([A, B, sympy.Integer(rng.randint(0, 4))])
    arithmetic = [lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y]
    kind = rng.choice([*arithmetic, F.Max, F.Min, F.FloorDiv, F.PythonMod])
    lhs, rhs = make_size(rng, depth - 1), make_size(rng, depth - 1)
    return kind(lhs, sympy.Integer(rng.randint(1, 3)) if kind in (F.FloorDiv, F.PythonMod) else rhs)


def make_condition(rng, depth):
    if depth == 0:
        relation = rng.choice([sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge])
        return relation(make_size(rng, rng.randint(0, 2)), make_size(rng, rng.randint(0, 2)))
    kind = rng.choice([sympy.And, sympy.Or, lambda x, y: sympy.Not(x)])
    return kind(make_condition(rng, depth - 1), make_condition(rng, depth - 1))


@pytest.mark.parametrize("seed", range(30))
def test_sets_hold_where_the_condition_does(seed):
    rng = random.Random(seed)
    condition = make_condition(rng, seed % 3)
    while not condition.free_symbols:
        condition = make_condition(rng, seed % 3)
    text, decide = conditions_text([condition], SYMBOLS), SYMBOLS.function(condition)
    assert text != "[]"
    for a, b in itertools.product(range(7), repeat=2):
        assert holds(text, a, b) == bool(decide(a, b)), (condition, text, a, b)


@pytest.mark.parametrize("step", [1, 2, 5])
@pytest.mark.parametrize("size", [A, A + B, 3 * A + 2, A - B, 4 - A, 2 - A - B, A * B])
def test_quotients_that_are_rounded_up_have_one_form(size, step):
    up, down = -F.FloorDiv(-size, step), F.FloorDiv(size + step - 1, step)
    assert SYMBOLS.make(SYMBOLS.make(up).expr) == SYMBOLS.make(up)
    if size in (A, A + B, A * B):
        assert SYMBOLS.make(up) == SYMBOLS.make(down)
    for values in itertools.product(range(7), repeat=2):
        wanted = SYMBOLS.function(up)(*values)
        assert SYMBOLS.make(up).evaluate(values) == SYMBOLS.make(down).evaluate(values) == wanted


@pytest.mark.parametrize(
    "condition",
    [
        sympy.Gt(F.ToFloat(A) * 1.3, 4),  # floats
        sympy.Eq(F.IntTrueDiv(A, 2), B),  # a quotient that is not whole
        sympy.And(*(sympy.Ne(A * n + n * n, B) for n in range(2, 10))),  # too many alternatives
    ],
)
def test_conditions_without_sets(condition):
    assert not can_express(condition, SYMBOLS)
    assert conditions_text([condition, sympy.Ge(A, 5)], SYMBOLS) == "[[affine_set<()[s0, s1] : (s0 - 5 >= 0)>]]"
