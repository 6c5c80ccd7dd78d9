# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From Python functions to PDL: a function runs once, on symbols that write down what is done with them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .._dialect.text import quote
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from .conditions import Conditions, check_function
from .writing import SharedNames, Symbol, SymbolKind, Writer, check_name

_FREE = inspect.Parameter.POSITIONAL_OR_KEYWORD
_MANY = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Constraint(NamedTuple):
    """A Python function that a pattern asks, and the names of the captures that it takes."""

    function: Callable[..., bool | str]
    names: list[str]


class Traced(NamedTuple):
    """A pattern as text in PDL, and its constraints by name."""

    pdl: str
    constraints: dict[str, Constraint]


class Pattern:
    """A pattern and, once `to` is given, what replaces it."""

    label: str
    benefit: int

    def __init__(self, label: str, function: Callable[..., Symbol | Sequence[Symbol]], benefit: int) -> None:
        self.label, self.benefit, self._function = label, benefit, function
        self._replacement = self._condition = self._pdl = None
        self._asked = []

    def to(self, function: Callable[..., Symbol | Sequence[Symbol]]) -> Pattern:
        """Decorates the function that makes the replacement."""
        self._replacement, self._pdl = check_function(self.label, function), None
        return self

    def where(self, function: Callable[[Conditions], None]) -> Pattern:
        """Decorates the function that states conditions on what is captured."""
        self._condition, self._pdl = check_function(self.label, function), None
        return self

    def constraint(self, function: Callable[..., bool | str]) -> Pattern:
        """Decorates a Python function that is asked for each match; its parameters are captured names, and `args`.

        Values come as Tensors, attributes as Python values, lists as lists. It returns True, False, or why not as text.
        """
        self._asked.append(check_function(self.label, function))
        self._pdl = None
        return self

    @property
    def rewrites(self) -> bool:
        """Whether it has a replacement."""
        return self._replacement is not None

    @property
    def pdl(self) -> str:
        """The pattern in PDL. Python functions that it asks are constraints `python.LABEL.NUMBER`."""
        if self._replacement is None:
            raise ArgumentValueError(f"pattern '{self.label}' has no replacement: give it one with '.to'")
        if self._pdl is None:
            self._pdl = self.trace(self.label).pdl
        return self._pdl

    def trace(self, label: str) -> Traced:
        """The pattern in PDL, and the Python functions that it asks.

        label: what constraints are named after. Without a replacement the pattern only finds.
        """
        constraints = {}
        return Traced(self._trace(label, constraints), constraints)

    def draft(self, label: str) -> str:
        """The matching half in PDL, without Python functions: what it may match if they all say yes."""
        return self._trace(label, None)

    def _trace(self, label, constraints):
        names = _parameters(self.label, self._function)
        for name in names:
            check_name(self.label, name)
        shared = SharedNames(captured=set(names))
        captures = {}
        writer = Writer(self.label, captures, shared, matching=True)
        shared.lines = writer._lines
        captures.update({name: Symbol(writer, name, SymbolKind.VALUE) for name in names})
        writer._lines += [f"%{name} = pdl.operand" for name in names]
        results = self._call(self._function, writer, names, captures)
        roots = [writer._op_of(result) for result in results]
        for name in captures.keys() - set(writer._used):
            raise ArgumentValueError(f"capture '{name}' isn't used by pattern '{self.label}'")
        writer._check_parts([root.op for root in roots])
        shared.types = {value: made.types[made.number] for value, made in writer._made.items()}

        def call(function, given):
            if constraints is None:
                return
            name = f"python.{label}.{len(constraints)}"
            constraints[name] = Constraint(function, given)
            self._ask(writer, captures, name, given)

        if self._condition is not None:
            self._condition(Conditions(self.label, names, writer, call))
        for function in self._asked:
            call(function, [one.name for one in inspect.signature(function).parameters.values()])
        if self._replacement is None or constraints is None:
            ops_found = dict.fromkeys(root.op for root in roots)
            found = [f"pdl.erase %{op}" for op in ops_found] if len(ops_found) > 1 else ["pdl.attribute = unit"]
            return self._finish(writer, roots, found)  # which nothing does
        # What is done with a capture from here on belongs to the replacement.
        rewriter = Writer(self.label, captures, shared, matching=False)
        captures.update({name: Symbol(rewriter, one._name, one._kind) for name, one in captures.items()})
        values = self._call(self._replacement, rewriter, _parameters(self.label, self._replacement), captures)
        if len(values) != len(results):
            raise ArgumentValueError(
                f"pattern '{self.label}' has {len(results)} results, but its replacement has {len(values)}"
            )
        self._replace(writer, rewriter, roots, values)
        return self._finish(writer, roots, rewriter._lines)

    def _finish(self, writer, roots, replacement):
        lines = writer._lines
        for number, exact in writer._ops.items():
            name = lines[number].partition(" = ")[0]
            flags = ["shared"] * (name[1:] in writer._shared) + ["exact"] * exact
            if flags:
                lines[number] += f" {{{', '.join(flags)}}}"
        root = f" %{roots[0].op}" if len({root.op for root in roots}) == 1 else ""
        body = ["  " + line for line in lines] + [f"  pdl.rewrite{root} {{"] + ["    " + one for one in replacement]
        return "\n".join([f"pdl.pattern @{quote(self.label)} : benefit({self.benefit}) {{", *body, "  }", "}", ""])

    def _ask(self, writer, captures, called, names):
        """Lets the pattern ask a Python function."""
        operands = [name for name in names if name != "args"]
        for name in operands:
            if name not in captures:
                raise ArgumentValueError(
                    f"pattern '{self.label}' captures no '{name}' for a constraint{did_you_mean(name, captures)}"
                )
        if not operands:
            raise ArgumentTypeError(f"expected a constraint of pattern '{self.label}' to take captured values")
        texts = ", ".join("%" + writer._use(captures[name]) for name in operands)
        types = ", ".join(captures[name]._kind.pdl_type for name in operands)
        writer._lines.append(f"pdl.apply_native_constraint {quote(called)}({texts} : {types})")

    def _call(self, function, writer, names, captures):
        missing = [name for name in names if name not in captures]
        if missing:
            raise ArgumentValueError(f"the replacement of pattern '{self.label}' names '{missing[0]}', which isn't "
                                     f"captured{did_you_mean(missing[0], captures)}")  # fmt: skip
        results = function(writer, *(captures[name] for name in names))
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        for result in results:
            if not isinstance(result, Symbol) or result._kind is not SymbolKind.VALUE:
                raise ArgumentTypeError(f"expected values from the functions of pattern '{self.label}', got {result!r}")
        return results

    def _replace(self, writer, rewriter, roots, values):
        by_op, types = {}, {}
        for root, value in zip(roots, values, strict=True):
            if by_op.setdefault(root.op, [None] * root.count)[root.number] is not None:
                raise ArgumentValueError(f"pattern '{self.label}' returns a result twice")
            by_op[root.op][root.number] = value._name
            types[value._name] = root.types[root.number]
        rewriter._give_types(types)
        # What the match alone uses is left until its users are gone.
        for op, names in sorted(by_op.items(), key=lambda one: (None in one[1], -int(one[0]))):
            missing = [number for number, name in enumerate(names) if name is None]
            kept = {number: writer._expect_uses(op, number) for number in missing}
            for user in writer._users(kept.values(), by_op):
                rewriter._lines.append(f"pdl.erase %{user}")
            names = [kept.get(number, name) for number, name in enumerate(names)]
            kinds = ", ".join(["!pdl.value"] * len(names))
            rewriter._lines.append(f"pdl.replace %{op} with ({', '.join('%' + name for name in names)} : {kinds})")


def _parameters(label, function):
    code = getattr(function, "__code__", None)
    plain = code and type(function) is types.FunctionType and not hasattr(function, "__wrapped__")
    if (
        plain
        and code.co_argcount
        and not (function.__defaults__ or code.co_kwonlyargcount or code.co_posonlyargcount or code.co_flags & _MANY)
    ):
        return list(code.co_varnames[1 : code.co_argcount])  # as below, which takes longer than the rest of tracing
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or any(one.kind != _FREE or one.default is not one.empty for one in parameters):
        raise ArgumentTypeError(f"expected functions of 'op' and captured values for pattern '{label}'")
    return [one.name for one in parameters[1:]]


def pattern(label: str, benefit: int = 1) -> Callable[[Callable[..., Symbol | Sequence[Symbol]]], Pattern]:
    """Decorates the function that builds what a pattern looks for; its parameters after `op` are captured values."""
    if not isinstance(label, str) or not label:
        raise ArgumentTypeError(f'expected a label, but got {label!r}: write @pattern("label")')
    if not isinstance(benefit, int) or not 0 <= benefit <= 0x7FFF:
        raise ArgumentValueError(f"expected a benefit from 0 to 32767, but got {benefit!r}")
    return lambda function: Pattern(label, check_function(label, function), benefit)
