# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Limits on the expressions of a saved model.

SymPy expands products and powers, and the text of an expression repeats the base of a power. Nested operators multiply,
so a few bytes can describe an expression that no machine can expand. The limits hold for whole expressions, and they
are checked on the tree from the file, before SymPy sees it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

MAX_NUMBER = 2**63  # magnitude of a number
MAX_DEGREE = 16
MAX_TERMS = 64
MAX_TEXT = 512  # in operands
MAX_CHOICES = 16  # operands of maxima, minima and logical operators, which are compared in pairs


class Cost(NamedTuple):
    """Upper bounds on an expression after expansion."""

    degree: int = 0
    terms: int = 1
    text: int = 1
    choices: int = 0

    def check(self) -> Cost:
        """Returns the cost. Raises ValueError if it exceeds a limit."""
        for name, limit in (("degree", MAX_DEGREE), ("terms", MAX_TERMS), ("text", MAX_TEXT), ("choices", MAX_CHOICES)):
            if getattr(self, name) > limit:
                raise ValueError(f"expected an expression with at most {limit} {_WORDS[name]}, but got a larger one")
        return self


_WORDS = {
    "degree": "as the power of a size",
    "terms": "terms",
    "text": "operands",
    "choices": "operands of maxima, minima and logical operators",
}


def measure(tree: Any) -> Cost:
    """Returns the cost of a tree of operators. Raises ValueError if it or a part of it exceeds a limit.

    Raises an exception of any type for a tree that is malformed.
    """
    if isinstance(tree, bool):
        return Cost()
    if isinstance(tree, int):
        if abs(tree) >= MAX_NUMBER:
            raise ValueError("expected numbers of 64 bits in an expression, but got a larger one")
        return Cost()
    ((name, content),) = tree.items()
    if name == "symbol":
        return Cost(degree=1)
    if name in ("Pow", "PowByNatural"):
        base, exponent = content
        if isinstance(base, int) or not isinstance(exponent, int) or not 0 <= exponent <= MAX_DEGREE:
            raise ValueError(f"expected a power of a size up to {MAX_DEGREE}, but got {name} of {content!r}"[:200])
        return _product([measure(base)] * exponent).check()
    costs = [measure(operand) for operand in content]
    if name == "Mul":
        return _product(costs).check()
    degree, terms, text, choices = (list(column) for column in zip(*costs, strict=True))
    total = Cost(max(degree), sum(terms), sum(text), sum(choices))
    if name in ("Max", "Min", "And", "Or"):
        total = total._replace(choices=total.choices + len(costs))
    if name != "Add":  # the operator is an atom of the expressions around it, but its operands must have a limit too
        total = total.check()._replace(degree=1, terms=1)
    return total.check()


def _product(factors: list[Cost]) -> Cost:
    cost = Cost(text=0)
    for factor in factors:
        cost = Cost(
            cost.degree + factor.degree,
            cost.terms * factor.terms,
            cost.text + factor.text,
            cost.choices + factor.choices,
        ).check()
    return cost
