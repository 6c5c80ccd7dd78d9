# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the definitions of the graph ops from the table that the build generates from the .td files.

The table has the operands, attributes, ATen names and assembly format of each op. No code here depends on one op.
"""

from __future__ import annotations

import enum
import functools
import json
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import ArgumentTypeError, InternalError, did_you_mean
from .text import print_float, quote

_TABLE = pathlib.Path(__file__).parents[1] / "_ops.json"
_FORMAT_TOKEN = re.compile(r"`([^`]*)`|\$(\w+)(\^)?|(functional-type\(operands, results\))|(attr-dict)|(\()|(\)\?)")
_CUSTOM = re.compile(r"custom<\w+>\((\$\w+)\)")  # is printed like the attribute itself, except that OPEN is `?`
# Ops that are not in the table. They call a function by name, so the caller states the types of their results.
CALLS = ("opaque", "plugin")
OPEN = -(2**63)  # an i64 of an attribute whose value is a result of the `sizes` attribute of the op


class Kind(enum.Enum):
    """The kind of an argument: of an operand (the first two) or an attribute."""

    TENSOR = "tensor"
    VARIADIC = "variadic"
    I64 = "i64"
    I64S = "i64s"
    F64 = "f64"
    UNIT = "unit"
    TYPE = "type"
    STRING = "string"
    MAP = "map"  # an affine map of the symbols of the function, as text


@dataclass(frozen=True)
class Argument:
    """An operand or an attribute in the definition of an op."""

    name: str
    kind: Kind
    is_optional: bool = False

    @classmethod
    def parse(cls, name: str, kind: str) -> Argument:
        """Returns the argument for an entry of the table.

        The kind of an optional operand is "optional", the kind of an optional attribute "optional KIND".
        """
        is_optional = kind.startswith("optional")
        found = Kind(kind.removeprefix("optional").strip() or Kind.TENSOR.value)
        return cls(name, found, is_optional or found is Kind.UNIT)


class _TokenKind(enum.Enum):
    """The parts of an assembly format."""

    LITERAL = enum.auto()
    VARIABLE = enum.auto()
    ANCHOR = enum.auto()  # the variable of a group: the group is printed if the variable has a value
    TYPE = enum.auto()
    DICT = enum.auto()
    OPEN = enum.auto()  # start of a group
    CLOSE = enum.auto()  # end of a group


class _Token(NamedTuple):
    kind: _TokenKind
    text: str = ""


@dataclass(frozen=True)
class Op:
    """The definition of a graph op."""

    name: str  # without the dialect: "relu"
    aten: tuple[str, ...]  # names of the ATen operators that the op stands for, such as "add.Tensor"
    operands: tuple[Argument, ...]
    attributes: tuple[Argument, ...]
    format: str  # the assembly format, as in the .td file
    reference: str  # the meaning as a Python expression of the arguments and `torch`
    summary: str
    pointwise: bool
    elements: tuple[str, ...]  # supported elements of a pointwise op: some of "floats", "integers" and "booleans"
    result: str  # elements of the result of a pointwise op: "same" (as those of the last operand) or "boolean"
    tokens: tuple[_Token, ...] = field(repr=False)  # of `format`

    def print(
        self,
        operands: Mapping[str, str],
        attributes: Mapping[str, Any],
        types: Sequence[str],
        result_type: str,
        besides: str = "",
    ) -> str:
        """Returns the op in the assembly format of the dialect, without results and location.

        operands: the SSA names of each operand by its name, separated by commas. Empty for an absent operand.
        attributes: Python values by name.
        types: the type of each SSA name as text, in the order of the operands.
        result_type: the type of the result as text.
        besides: attributes that the definition does not have, as text in braces.
        """
        kinds = {attribute.name: attribute.kind for attribute in self.attributes}
        values = {**operands, **attributes}
        words, skipping = [f"inlay.{self.name}"], False
        for position, token in enumerate(self.tokens):
            kind, text = token
            if kind is _TokenKind.OPEN:
                skipping = not values.get(self._anchor(position))
            elif kind is _TokenKind.CLOSE:
                skipping = False
            elif skipping:
                continue
            elif kind is _TokenKind.LITERAL:
                words.append(text)
            elif kind is _TokenKind.DICT:
                words += [besides] if besides else []
            elif kind is _TokenKind.TYPE:
                words.append(f"({', '.join(types)}) -> {result_type}")
            elif kinds.get(text) is not Kind.UNIT:
                words.append(_print_value(values[text], kinds.get(text)))
        return " ".join(words).replace(" ,", ",")

    def bind(self, operands: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
        """Returns (operands in order, attributes by name) of a call, without absent arguments.

        operands, attributes: the positional and the keyword arguments of the call. Each may be an operand or an
        attribute of the definition.
        Raises ArgumentTypeError for an argument that is missing, unknown or given twice.
        """
        plain = not attributes and not self.attributes and len(operands) == len(self.operands)
        if plain and all(operand is not None for operand in operands):
            return list(operands), {}
        names = [argument.name for argument in (*self.operands, *self.attributes)]
        if len(operands) > len(names):
            raise ArgumentTypeError(
                f"op.{self.name} takes {len(names)} arguments ({', '.join(names)}), not {len(operands)}"
            )
        given = dict(zip(names, operands, strict=False))
        for key, value in attributes.items():
            if key not in names:
                raise ArgumentTypeError(f"op.{self.name} has no argument '{key}'{did_you_mean(key, names)}")
            if key in given:
                raise ArgumentTypeError(f"op.{self.name} got its argument '{key}' twice")
            given[key] = value
        given = {key: value for key, value in given.items() if value is not None}
        for argument in (*self.operands, *self.attributes):
            if argument.kind is Kind.UNIT and given.get(argument.name) is False:
                del given[argument.name]
            elif argument.name not in given and not argument.is_optional:
                raise ArgumentTypeError(f"op.{self.name} needs its argument '{argument.name}'")
        values = [given[operand.name] for operand in self.operands if operand.name in given]
        return values, {
            attribute.name: given[attribute.name] for attribute in self.attributes if attribute.name in given
        }

    def group(self, values: Iterable[Any]) -> list[Any]:
        """Groups the operands of an op by its definition: None for an absent operand, a list for a variadic operand."""
        flat = list(values)
        groups: list[Any] = []
        for number, operand in enumerate(self.operands):
            rest = flat[number:]
            groups.append(rest if operand.kind is Kind.VARIADIC else rest[0] if rest else None)
        return groups

    def _anchor(self, position: int) -> str:
        for kind, text in self.tokens[position:]:
            if kind is _TokenKind.ANCHOR:
                return text
        raise InternalError(f"the assembly format of inlay.{self.name} has a group without an anchor: {self.format}")


def _print_value(value: Any, kind: Kind | None) -> str:
    if kind is Kind.I64S:
        return f"[{', '.join(_print_number(number) for number in value)}]"
    if kind is Kind.I64:
        return _print_number(value)
    if kind is Kind.F64:
        return print_float(float(value))
    if kind is Kind.STRING:
        return quote(value)
    return str(value)


def _print_number(number: int) -> str:
    return "?" if number == OPEN else str(int(number))


def _tokenize(assembly_format: str) -> tuple[_Token, ...]:
    tokens = []
    for match in _FORMAT_TOKEN.finditer(_CUSTOM.sub(r"\1", assembly_format)):
        literal, variable, anchor, functional, attributes, opening, closing = match.groups()
        if literal is not None:
            tokens.append(_Token(_TokenKind.LITERAL, literal))
        elif variable:
            tokens.append(_Token(_TokenKind.ANCHOR if anchor else _TokenKind.VARIABLE, variable))
        elif functional:
            tokens.append(_Token(_TokenKind.TYPE))
        elif attributes:
            tokens.append(_Token(_TokenKind.DICT))
        elif opening or closing:
            tokens.append(_Token(_TokenKind.OPEN if opening else _TokenKind.CLOSE))
    return tuple(tokens)


@functools.cache
def table() -> dict[str, Op]:
    """Returns the definitions of all graph ops by name, such as "relu"."""
    try:
        entries = json.loads(_TABLE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InternalError(f"{_TABLE} is missing: build the target InlayPython first") from None
    ops = {}
    for entry in entries:
        lists: dict[str, Any] = {
            key: tuple(Argument.parse(**argument) for argument in entry.pop(key)) for key in ("operands", "attributes")
        }
        lists.update({key: tuple(entry.pop(key)) for key in ("aten", "elements")})
        ops[entry["name"]] = Op(**entry, **lists, tokens=_tokenize(entry["format"]))
    return ops


@functools.cache
def _by_aten() -> dict[str, Op]:
    return {name: op for op in table().values() for name in op.aten}


def find(aten_name: str) -> Op | None:
    """Returns the op for the name of an ATen operator without namespace, such as "add.Tensor" or "relu".

    "relu.default" also finds "relu". Returns None if there is no op for the operator.
    """
    names = _by_aten()
    return names.get(aten_name) or names.get(aten_name.removesuffix(".default"))
