# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes PDL. Symbols stand for values, attributes and lists, and a writer writes the ops that they are used in.

`tracing.py` traces the function of a pattern, and `conditions.py` its `where` function.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, TypeAlias

from .._dialect import ops
from .._dialect.text import quote
from .._graph.arithmetic import Arithmetic
from .._graph.values import check_number, float_text, print_attribute
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean

_NAME = re.compile(r"[A-Za-z_$.][\w$.-]*", re.ASCII)  # a named value of PDL; the name of an unnamed value is a number


def check_name(label: str, name: object) -> None:
    """Raises ArgumentValueError if `name` is not a valid name of a capture. label: the label of the pattern."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ArgumentValueError(
            f"expected names of ASCII letters, digits and underscores in pattern '{label}', but got {name!r:.80}"
        )


class SymbolKind(enum.Enum):
    """The kind of thing that a symbol stands for. The value is its name in messages."""

    VALUE = "value"
    ATTRIBUTE = "attribute"
    LIST = "list"

    @property
    def pdl_type(self) -> str:
        """The type of the symbol in PDL."""
        return "!pdl.range<value>" if self is SymbolKind.LIST else f"!pdl.{self.value}"


class Symbol(Arithmetic):
    """A placeholder for a value, an attribute or a list of values that a match finds.

    The operators `+ - * / ** @` and unary `-` write ops of the pattern.
    """

    __slots__ = ("_kind", "_name", "_writer")

    def __init__(self, writer: Writer, name: str, kind: SymbolKind) -> None:
        self._writer, self._name, self._kind = writer, name, kind

    def _combine(self, name: str, *operands: Symbol | float) -> Symbol:
        return self._writer.make(name, *operands)

    def __neg__(self) -> Symbol:
        return self._writer.make("neg", self)

    def __bool__(self) -> NoReturn:
        raise ArgumentTypeError(f"'{self._name}' has no value before the pattern matches: state conditions in 'where'")


Operand: TypeAlias = Symbol | float


@dataclass
class SharedNames:
    """The names of PDL that both halves of a pattern use."""

    captured: set[str]  # names of the captures that have a line in the text
    next: int = 0  # number of the next unnamed value
    types: dict[str, str] = field(default_factory=dict)  # name of a value -> name of its type
    lines: list[str] = field(default_factory=list)  # lines of the matching half


class Made(NamedTuple):
    """A result of an op of a pattern."""

    op: str  # name of the op in PDL
    number: int  # number of the result
    result_count: int  # number of results of the op
    types: list[str]  # names of the types of all results


class Writer:
    """Writes the ops of one half of a pattern. The functions of patterns call it `op`."""

    def __init__(self, pattern: str, captures: dict[str, Symbol], names: SharedNames, matching: bool) -> None:
        """pattern: the label of the pattern. matching: True for the half that matches, False for the replacement."""
        self._pattern, self._captures, self._shared_names, self._matching = pattern, captures, names, matching
        self._lines: list[str] = []
        self._made: dict[str, Made] = {}  # by the name of the result
        self._shared: set[str] = set()  # ops whose results may have users outside the match
        self._used: list[str] = []  # names of the used symbols, once for each use
        self._operands: dict[str, list[str]] = {}  # by the name of the op in PDL
        self._kinds: dict[str, str] = {}  # full name of the op by its name in PDL
        self._ops: dict[int, bool] = {}  # line of an op -> True if it must not have attributes besides the written ones
        self._untyped: list[tuple[int, list[Symbol]]] = []  # lines of ops with several untyped results, and these

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
        """Writes an op of any dialect and returns its result, or a tuple if it has several results or none.

        name: the full name of the op, such as "my.op".
        operands: symbols, lists of symbols, or numbers in the matching half.
        results: the number of results (default: 1).
        like: values of the pattern whose types are those of the results in the replacement. May be left out if the op
            has one result or if each result replaces a value.
        attributes: Python values, or symbols of attributes, by name.
        Raises ArgumentTypeError or ArgumentValueError for a wrong argument.
        """
        if not isinstance(name, str) or "." not in name:
            raise ArgumentValueError(f"expected an op's full name with its dialect, but got {name!r}")
        if "" in attributes:
            raise ArgumentValueError(f"expected names of attributes for '{name}', but got an empty one")
        texts = {key: self._attribute(key, value, None) for key, value in attributes.items()} if attributes else {}
        return self._write(name, self._flatten(name, operands), texts, results, like)

    def attr(self, name: str) -> Symbol:
        """Returns an attribute with any value. The pattern captures it under `name`, and the replacement may use it."""
        return self._capture(name, SymbolKind.ATTRIBUTE)

    def rest(self, name: str) -> Symbol:
        """Returns a list of any number of operands. The pattern captures it under `name`."""
        return self._capture(name, SymbolKind.LIST)

    def _capture(self, name: str, kind: SymbolKind) -> Symbol:
        check_name(self._pattern, name)
        if not self._matching and name not in self._captures:
            near = did_you_mean(name, self._captures)
            raise ArgumentValueError(f"pattern '{self._pattern}' captures no {kind.value} '{name}'{near}")
        found = self._captures.setdefault(name, Symbol(self, name, kind))
        if found._kind is not kind:
            raise ArgumentValueError(f"expected each name to be captured once, but '{name}' is captured twice")
        return found

    def arg(self, name: str) -> Symbol:
        """Returns argument `name` of the run as an attribute for ops of the replacement."""
        if self._matching:
            raise ArgumentValueError("expected 'op.arg' only in the replacement; use 'm.args' of 'where' in a pattern")
        text = self._line(f"pdl.attribute = {quote(name)}")
        found = self._line(f'pdl.apply_native_rewrite "arg"(%{text} : !pdl.attribute) : !pdl.attribute')
        return Symbol(self, found, SymbolKind.ATTRIBUTE)

    def shared(self, value: Symbol) -> Symbol:
        """Allows users outside the match for the op that makes `value`. Returns `value`."""
        self._shared.add(self._op_of(value).op)
        return value

    def make(self, name: str, *operands: Any, **attributes: Any) -> Symbol:
        """Writes op `name` of the inlay dialect and returns its result.

        The arguments are the operands and attributes of its definition, by position or by name.
        """
        definition = ops.table()[name]
        values, given = definition.bind(operands, attributes)
        kinds = {argument.name: argument.kind for argument in definition.attributes} if given else {}
        texts = {key: self._attribute(key, value, kinds[key]) for key, value in given.items()} if given else {}
        result: Symbol = self._write(f"inlay.{name}", self._flatten(name, values), texts, 1, None, exact=True)
        return result

    def _flatten(self, name: str, operands: Iterable[Any]) -> list[Symbol]:
        """Returns the symbols among the operands and in lists of operands. Numbers become constants."""
        values: list[Symbol] = []
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

    def _constant(self, number: float) -> Symbol:
        """Returns a constant whose elements are all `number`.

        Only the matching half may have numbers, because the type of a constant in the replacement is unknown.
        """
        if not self._matching:
            raise ArgumentTypeError(f"expected a captured value in the replacement, but got the number {number}")
        number = check_number(f"a number in pattern '{self._pattern}'", number)
        value = self._line("pdl.operand")
        wanted = self._line(f"pdl.attribute = {float_text(number, 'f64')} : f64")
        self._lines.append(f'pdl.apply_native_constraint "splat"(%{value}, %{wanted} : !pdl.value, !pdl.attribute)')
        return Symbol(self, value, SymbolKind.VALUE)

    def _attribute(self, key: str, value: Any, kind: ops.Kind | None) -> str:
        """Writes the attribute `key` if needed and returns its name in PDL."""
        if isinstance(value, Symbol):
            if value._kind is not SymbolKind.ATTRIBUTE:
                raise ArgumentTypeError(f"expected an attribute for '{key}', but got a value")
            if self._matching and value._name not in self._shared_names.captured:
                self._shared_names.captured.add(value._name)
                self._used.append(value._name)
                self._lines.append(f"%{value._name} = pdl.attribute")
            return value._name
        return self._line(f"pdl.attribute = {print_attribute(key, value, kind)}")

    def _write(
        self,
        name: str,
        operands: Sequence[Symbol],
        attributes: Mapping[str, str],
        results: int,
        like: Symbol | Sequence[Symbol] | None,
        exact: bool = False,
    ) -> Any:
        """Writes an op and returns its result, or a tuple if it has several results or none.

        attributes: their names in PDL by name. exact: True if a match must have no other attributes.
        """
        types: list[str] = []
        if self._matching:
            types = [self._line("pdl.type") for _ in range(results)]
        elif like is not None:
            values_like: Sequence[Any] = like if isinstance(like, (list, tuple)) else [like]
            types = [self._type_of(value) for value in values_like]
        text = f"pdl.operation {quote(name)}"
        if operands:
            kinds = ", ".join([operand._kind.pdl_type for operand in operands])
            text += f"({', '.join(['%' + self._use(operand) for operand in operands])} : {kinds})"
        if attributes:
            text += " {" + ", ".join(f"{quote(key)} = %{value}" for key, value in attributes.items()) + "}"
        if types:
            text += self._type_text(types)
        line = len(self._lines)
        self._ops[line] = exact and self._matching
        op = self._line(text)
        self._operands[op], self._kinds[op] = [operand._name for operand in operands], name
        values = []
        for number in range(results):
            value = self._line(f"pdl.result {number} of %{op}")
            self._made[value] = Made(op, number, results, types)
            values.append(Symbol(self, value, SymbolKind.VALUE))
        if results > 1 and not types:
            self._untyped.append((line, values))
        return values[0] if results == 1 else tuple(values)

    def _give_types(self, types: Mapping[str, str]) -> None:
        """Writes the result types of each op with several results if all of them are in `types`, by result."""
        for line, values in self._untyped:
            given = [types[value._name] for value in values if value._name in types]
            if len(given) == len(values):
                self._lines[line] += self._type_text(given)

    @staticmethod
    def _type_text(types: Sequence[str]) -> str:
        return f" -> ({', '.join(['%' + name for name in types])} : {', '.join(['!pdl.type'] * len(types))})"

    def _use(self, symbol: Symbol) -> str:
        """Notes a use of the symbol and returns its name in PDL."""
        captured = self._shared_names.captured
        if self._matching and symbol._kind is SymbolKind.LIST and symbol._name not in captured:
            captured.add(symbol._name)
            self._lines.append(f"%{symbol._name} = pdl.operands")
        self._used.append(symbol._name)
        return symbol._name

    def _type_of(self, value: Symbol) -> str:
        """Returns the name of the type of a value of the pattern. Writes the type of a capture if needed."""
        types, name = self._shared_names.types, getattr(value, "_name", "")
        if name not in types:
            operand = f"%{name} = pdl.operand"
            if operand not in self._shared_names.lines:
                raise ArgumentTypeError("expected 'like' to be a value of the pattern")
            types[name] = str(self._shared_names.next)
            self._shared_names.next += 1
            line = self._shared_names.lines.index(operand)
            self._shared_names.lines[line] = f"%{types[name]} = pdl.type\n  {operand} : %{types[name]}"
        return types[name]

    def _line(self, text: str) -> str:
        """Writes a line that defines a value and returns the name of the value."""
        name = str(self._shared_names.next)
        self._shared_names.next += 1
        self._lines.append(f"%{name} = {text}")
        return name

    def _expect_uses(self, op: str, number: int) -> str:
        """Adds the condition that only ops of the match use a result. Returns the name of the result."""
        value = next(value for value, made in self._made.items() if (made.op, made.number) == (op, number))
        count = self._line(f"pdl.attribute = {self._used.count(value)} : i64")
        self._lines.append(f'pdl.apply_native_constraint "uses"(%{value}, %{count} : !pdl.value, !pdl.attribute)')
        return value

    def _users(self, values: Iterable[str], besides: Collection[str]) -> list[str]:
        """Returns the ops that use these values directly or through other ops, without `besides`, users first."""
        reached: set[str] = set(values)
        users: list[str] = []
        for op, operands in self._operands.items():
            if op not in besides and reached.intersection(operands):
                users.append(op)
                reached.update(value for value, made in self._made.items() if made.op == op)
        return users[::-1]

    def _check_parts(self, roots: Sequence[str]) -> None:
        """Raises ArgumentValueError if the pattern is not connected.

        Each op must contribute to a result, and each result must share a value with the others.
        """
        reached = set(roots)
        for op in reversed(self._operands):  # users first
            if op not in reached:
                raise ArgumentValueError(
                    f"'{self._kinds[op]}' isn't part of a value that the function of pattern '{self._pattern}' returns"
                )
            reached.update(self._made[value].op for value in self._operands[op] if value in self._made)
        pieces: list[set[str]] = []  # sets of connected ops and values
        for op, operands in self._operands.items() if len(set(roots)) > 1 else ():
            piece = {op, *operands, *(self._made[name].op for name in operands if name in self._made)}
            connected = [other for other in pieces if other & piece]
            pieces = [other for other in pieces if other not in connected] + [piece.union(*connected)]
        if len(pieces) > 1:
            raise ArgumentValueError(f"expected the results of pattern '{self._pattern}' to share a captured value")

    def _op_of(self, value: Symbol) -> Made:
        """Returns the op that makes a value. Raises ArgumentTypeError for a capture."""
        name = getattr(value, "_name", "")
        made = self._made.get(name)
        if made is None:
            given = f", but got the capture '{name}'" if name in self._captures else ""
            raise ArgumentTypeError(f"expected a value that an op of pattern '{self._pattern}' makes{given}")
        return made
