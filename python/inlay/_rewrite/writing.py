# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes PDL: symbols stand for values, and a writer notes the ops that are made of them."""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, TypeAlias

from .._dialect import ops
from .._dialect.text import quote
from .._graph.arithmetic import Arithmetic
from .._graph.values import check_number, float_text, print_attribute
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean

_NAME = re.compile(r"[A-Za-z_$.][\w$.-]*", re.ASCII)  # of a value in PDL; digits alone are what has no name


def check_name(label, name):
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ArgumentValueError(
            f"expected names of ASCII letters, digits and underscores in pattern '{label}', but got {name!r:.80}"
        )


class SymbolKind(enum.Enum):
    """What a symbol stands for, by the name that messages give it; `pdl_type` is its type in PDL."""

    VALUE = "value"
    ATTRIBUTE = "attribute"
    LIST = "list"

    @property
    def pdl_type(self) -> str:
        return "!pdl.range<value>" if self is SymbolKind.LIST else f"!pdl.{self.value}"


class Symbol(Arithmetic):
    """A value, an attribute or a list of values that stands for what a match will find there."""

    __slots__ = ("_kind", "_name", "_writer")

    def __init__(self, writer: Writer, name: str, kind: SymbolKind) -> None:
        self._writer, self._name, self._kind = writer, name, kind

    def _combine(self, name: str, *operands: Symbol | float) -> Symbol:
        return self._writer.make(name, *operands)

    def __neg__(self) -> Symbol:
        return self._writer.make("neg", self)

    def __bool__(self) -> NoReturn:
        raise ArgumentTypeError(f"'{self._name}' is known when it matches, not here: state conditions in 'where'")


Operand: TypeAlias = Symbol | float


@dataclass
class SharedNames:
    """What the two halves of a pattern have in common."""

    captured: set[str]  # names of the captures that have a line
    next: int = 0  # the number of the next value
    types: dict[str, str] = field(default_factory=dict)  # the type of a value, by the names of both
    lines: list[str] = field(default_factory=list)  # of the matching half


class Made(NamedTuple):
    """A result of an op that a pattern writes: the op's name, which result of how many, and the names of all types."""

    op: str
    number: int
    count: int
    types: list[str]


class Writer:
    """Writes the ops of one half of a pattern; patterns call it `op`."""

    def __init__(self, pattern: str, captures: dict[str, Symbol], names: SharedNames, matching: bool) -> None:
        self._pattern, self._captures, self._shared_names, self._matching = pattern, captures, names, matching
        self._lines, self._made, self._shared, self._used = [], {}, set(), []
        self._operands, self._kinds = {}, {}  # by op
        self._ops = {}  # by line: whether no other attributes may be there than those that it says
        self._untyped = []  # lines of ops of several results, whose types aren't said, and these results

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ops.CALLS:
            return functools.partial(self, f"inlay.{name}")
        if name not in ops.table():
            raise ArgumentValueError(
                f"unknown op '{name}' in pattern '{self._pattern}'{did_you_mean(name, ops.table())}"
            )
        return lambda *operands, **attributes: self.make(name, *operands, **attributes)

    def __call__(
        self,
        name: str,
        /,
        *operands: Operand | Sequence[Operand],
        results: int = 1,
        like: Symbol | Sequence[Symbol] | None = None,
        **attributes: Any,
    ) -> Any:
        """An op of any dialect by its full name.

        like: values whose types are those of the results that the rewrite makes; left out if there is one result, or if
        each takes the place of a value.
        """
        if not isinstance(name, str) or "." not in name:
            raise ArgumentValueError(f"expected an op's full name with its dialect, but got {name!r}")
        if "" in attributes:
            raise ArgumentValueError(f"expected names of attributes for '{name}', but got an empty one")
        texts = {key: self._attribute(key, value, None) for key, value in attributes.items()} if attributes else {}
        return self._write(name, self._flatten(name, operands), texts, results, like)

    def attr(self, name: str) -> Symbol:
        """An attribute of any value: captured in the pattern, known by that name in the replacement."""
        return self._capture(name, SymbolKind.ATTRIBUTE)

    def rest(self, name: str) -> Symbol:
        """A list of operands, of any number."""
        return self._capture(name, SymbolKind.LIST)

    def _capture(self, name, kind):
        check_name(self._pattern, name)
        if not self._matching and name not in self._captures:
            near = did_you_mean(name, self._captures)
            raise ArgumentValueError(f"pattern '{self._pattern}' captures no {kind.value} '{name}'{near}")
        found = self._captures.setdefault(name, Symbol(self, name, kind))
        if found._kind is not kind:
            raise ArgumentValueError(f"expected each name to be captured once, but '{name}' is captured twice")
        return found

    def arg(self, name: str) -> Symbol:
        """An argument of the run, as an attribute of an op that the replacement makes."""
        if self._matching:
            raise ArgumentValueError("expected 'op.arg' in the replacement; in a pattern it is 'm.args' of 'where'")
        text = self._line(f"pdl.attribute = {quote(name)}")
        found = self._line(f'pdl.apply_native_rewrite "arg"(%{text} : !pdl.attribute) : !pdl.attribute')
        return Symbol(self, found, SymbolKind.ATTRIBUTE)

    def shared(self, value: Symbol) -> Symbol:
        """Lets the op that makes `value` have users besides the match."""
        self._shared.add(self._op_of(value).op)
        return value

    def make(self, name: str, *operands: Any, **attributes: Any) -> Symbol:
        """An op of the inlay dialect, its arguments by place or by name as in its definition."""
        definition = ops.table()[name]
        values, given = definition.bind(operands, attributes)
        kinds = {argument.name: argument.kind for argument in definition.attributes} if given else {}
        texts = {key: self._attribute(key, value, kinds[key]) for key, value in given.items()} if given else {}
        return self._write(f"inlay.{name}", self._flatten(name, values), texts, 1, None, exact=True)

    def _flatten(self, name, operands):
        values = []
        for operand in operands:
            if isinstance(operand, Symbol) and operand._kind is not SymbolKind.ATTRIBUTE:
                values.append(operand)
            elif isinstance(operand, (list, tuple)):
                values.extend(self._flatten(name, operand))
            elif isinstance(operand, (int, float)) and not isinstance(operand, bool):
                values.append(self._constant(operand))
            else:
                raise ArgumentTypeError(f"expected values as operands of '{name}', but got {operand!r}")
        return values

    def _constant(self, number):
        """In a pattern a number is a constant of equal elements; a replacement can't tell of which type it would be."""
        if not self._matching:
            raise ArgumentTypeError(f"expected a captured value in the replacement, but got the number {number}")
        number = check_number(f"a number in pattern '{self._pattern}'", number)
        value = self._line("pdl.operand")
        wanted = self._line(f"pdl.attribute = {float_text(number, 'f64')} : f64")
        self._lines.append(f'pdl.apply_native_constraint "splat"(%{value}, %{wanted} : !pdl.value, !pdl.attribute)')
        return Symbol(self, value, SymbolKind.VALUE)

    def _attribute(self, key, value, kind):
        if isinstance(value, Symbol):
            if value._kind is not SymbolKind.ATTRIBUTE:
                raise ArgumentTypeError(f"expected an attribute for '{key}', but got a value")
            if self._matching and value._name not in self._shared_names.captured:
                self._shared_names.captured.add(value._name)
                self._used.append(value._name)
                self._lines.append(f"%{value._name} = pdl.attribute")
            return value._name
        return self._line(f"pdl.attribute = {print_attribute(key, value, kind)}")

    def _write(self, name, operands, attributes, results, like, exact=False):
        types = []
        if self._matching:
            types = [self._line("pdl.type") for _ in range(results)]
        elif like is not None:
            types = [self._type_of(one) for one in (like if isinstance(like, (list, tuple)) else [like])]
        text = f"pdl.operation {quote(name)}"
        if operands:
            kinds = ", ".join([one._kind.pdl_type for one in operands])
            text += f"({', '.join(['%' + self._use(one) for one in operands])} : {kinds})"
        if attributes:
            text += " {" + ", ".join(f"{quote(key)} = %{value}" for key, value in attributes.items()) + "}"
        if types:
            text += self._type_text(types)
        line = len(self._lines)
        self._ops[line] = exact and self._matching
        op = self._line(text)
        self._operands[op], self._kinds[op] = [one._name for one in operands], name
        values = []
        for number in range(results):
            value = self._line(f"pdl.result {number} of %{op}")
            self._made[value] = Made(op, number, results, types)
            values.append(Symbol(self, value, SymbolKind.VALUE))
        if results > 1 and not types:
            self._untyped.append((line, values))
        return values[0] if results == 1 else tuple(values)

    def _give_types(self, types):
        """Says the types of ops whose results all have one: `types`, by result."""
        for line, values in self._untyped:
            given = [types.get(value._name) for value in values]
            if None not in given:
                self._lines[line] += (
                    f" -> ({', '.join('%' + one for one in given)} : {', '.join(['!pdl.type'] * len(given))})"
                )

    @staticmethod
    def _type_text(types):
        return f" -> ({', '.join(['%' + one for one in types])} : {', '.join(['!pdl.type'] * len(types))})"

    def _use(self, symbol):
        captured = self._shared_names.captured
        if self._matching and symbol._kind is SymbolKind.LIST and symbol._name not in captured:
            captured.add(symbol._name)
            self._lines.append(f"%{symbol._name} = pdl.operands")
        self._used.append(symbol._name)
        return symbol._name

    def _type_of(self, value):
        types, name = self._shared_names.types, getattr(value, "_name", None)
        if name not in types:
            operand = f"%{name} = pdl.operand"
            if operand not in self._shared_names.lines:
                raise ArgumentTypeError("expected 'like' to be a value of the pattern")
            types[name] = str(self._shared_names.next)
            self._shared_names.next += 1
            line = self._shared_names.lines.index(operand)
            self._shared_names.lines[line] = f"%{types[name]} = pdl.type\n  {operand} : %{types[name]}"
        return types[name]

    def _line(self, text):
        name = str(self._shared_names.next)
        self._shared_names.next += 1
        self._lines.append(f"%{name} = {text}")
        return name

    def _expect_uses(self, op, number):
        """Lets the result match only where nothing but this function's ops uses it; returns its name."""
        value = next(value for value, made in self._made.items() if (made.op, made.number) == (op, number))
        count = self._line(f"pdl.attribute = {self._used.count(value)} : i64")
        self._lines.append(f'pdl.apply_native_constraint "uses"(%{value}, %{count} : !pdl.value, !pdl.attribute)')
        return value

    def _users(self, values, besides):
        """The ops of this function that use these values, or what they make of them, users first."""
        reached, users = set(values), []
        for op, operands in self._operands.items():
            if op not in besides and reached.intersection(operands):
                users.append(op)
                reached.update(value for value, made in self._made.items() if made.op == op)
        return users[::-1]

    def _check_parts(self, roots):
        """That the pattern is in one piece: each op is part of a result, and each result shares a value with others."""
        reached = set(roots)
        for op in reversed(self._operands):  # users first
            if op not in reached:
                raise ArgumentValueError(
                    f"'{self._kinds[op]}' isn't part of what the function of pattern '{self._pattern}' returns"
                )
            reached.update(self._made[value].op for value in self._operands[op] if value in self._made)
        pieces = []  # sets of values that ops share
        for op, operands in self._operands.items() if len(set(roots)) > 1 else ():
            piece = {op, *operands, *(self._made[one].op for one in operands if one in self._made)}
            near = [one for one in pieces if one & piece]
            pieces = [one for one in pieces if one not in near] + [piece.union(*near)]
        if len(pieces) > 1:
            raise ArgumentValueError(f"expected the results of pattern '{self._pattern}' to share a captured value")

    def _op_of(self, value):
        made = self._made.get(getattr(value, "_name", None))
        if made is None:
            given = f", but got the capture '{value._name}'" if getattr(value, "_name", None) in self._captures else ""
            raise ArgumentTypeError(f"expected a value that an op of pattern '{self._pattern}' makes{given}")
        return made
