# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect's graph ops, read from the table that the build generates from the .td files.

Nothing here knows an op by name: operands, attributes, ATen names and assembly format are what the table says.
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
_CUSTOM = re.compile(r"custom<\w+>\((\$\w+)\)")  # prints as the attribute itself but for OPEN, which is ?
CALLS = ("opaque", "plugin")  # ops that the table hasn't: they call by a name, so that calls say their results' types
OPEN = -(2**63)  # an i64 of an attribute that is a result of the op's `sizes`


class Kind(enum.Enum):
    """The kinds of arguments: of operands, and then of attributes."""

    TENSOR = "tensor"
    VARIADIC = "variadic"
    I64 = "i64"
    I64S = "i64s"
    F64 = "f64"
    UNIT = "unit"
    TYPE = "type"
    STRING = "string"
    MAP = "map"  # an affine map of the function's symbols, as text


@dataclass(frozen=True)
class Argument:
    """An operand or an attribute of an op."""

    name: str
    kind: Kind
    is_optional: bool = False

    @classmethod
    def parse(cls, name: str, kind: str) -> Argument:
        """Reads an entry of the table, whose kind is "optional" for an operand, "optional KIND" for an attribute."""
        is_optional = kind.startswith("optional")
        found = Kind(kind.removeprefix("optional").strip() or Kind.TENSOR.value)
        return cls(name, found, is_optional or found is Kind.UNIT)


class _TokenKind(enum.Enum):
    """The parts of an assembly format."""

    LITERAL = enum.auto()
    VARIABLE = enum.auto()
    ANCHOR = enum.auto()  # the variable that decides whether its group is there
    TYPE = enum.auto()
    DICT = enum.auto()
    OPEN = enum.auto()  # of a group
    CLOSE = enum.auto()


class _Token(NamedTuple):
    kind: _TokenKind
    text: str = ""


@dataclass(frozen=True)
class Op:
    """One graph op of the dialect."""

    name: str
    aten: tuple[str, ...]
    operands: tuple[Argument, ...]
    attributes: tuple[Argument, ...]
    format: str
    reference: str
    summary: str
    pointwise: bool
    elements: tuple[str, ...]  # what a pointwise op is defined on: some of "floats", "integers" and "booleans"
    result: str  # elements of a pointwise op's result: "same" as its (last) operand's, or "boolean"
    tokens: tuple[_Token, ...] = field(repr=False)

    def print(
        self,
        operands: Mapping[str, str],
        attributes: Mapping[str, Any],
        types: Sequence[str],
        result_type: str,
        besides: str = "",
    ) -> str:
        """The op in the dialect's assembly format, without results and location.

        operands: operand name -> SSA names with commas between, empty for an absent one; attributes: name -> Python
        value; types: type text of each SSA name, in operand order; result_type: type text; besides: attributes that are
        none of the op's own, as text in braces.
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
        """The arguments of a call, by place or by name: (operands in order, attributes by name), without absent ones.

        Raises ArgumentTypeError for one that is missing, unknown or there twice.
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
        return values, {one.name: given[one.name] for one in self.attributes if one.name in given}

    def group(self, values: Iterable[Any]) -> list[Any]:
        """Operands as an op has them, one after the other, by its definition: None for an absent one, a list for those
        of a variadic one."""
        values = list(values)
        groups = []
        for number, operand in enumerate(self.operands):
            rest = values[number:]
            groups.append(rest if operand.kind is Kind.VARIADIC else rest[0] if rest else None)
        return groups

    def _anchor(self, position):
        for kind, text in self.tokens[position:]:
            if kind is _TokenKind.ANCHOR:
                return text
        raise InternalError(f"the assembly format of inlay.{self.name} has a group without an anchor: {self.format}")


def _print_value(value, kind):
    if kind is Kind.I64S:
        return f"[{', '.join(_print_number(number) for number in value)}]"
    if kind is Kind.I64:
        return _print_number(value)
    if kind is Kind.F64:
        return print_float(float(value))
    if kind is Kind.STRING:
        return quote(value)
    return str(value)


def _print_number(number):
    return "?" if number == OPEN else str(int(number))


def _tokenize(assembly_format):
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
    """All graph ops by name."""
    try:
        entries = json.loads(_TABLE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InternalError(f"{_TABLE} is missing: build the target InlayPython first") from None
    ops = {}
    for entry in entries:
        lists = {
            key: tuple(Argument.parse(**argument) for argument in entry.pop(key)) for key in ("operands", "attributes")
        }
        lists.update({key: tuple(entry.pop(key)) for key in ("aten", "elements")})
        ops[entry["name"]] = Op(**entry, **lists, tokens=_tokenize(entry["format"]))
    return ops


@functools.cache
def _by_aten():
    return {name: op for op in table().values() for name in op.aten}


def find(aten_name: str) -> Op | None:
    """The op for an ATen name without namespace ("add.Tensor", "relu"), or None; an exact overload goes first."""
    names = _by_aten()
    return names.get(aten_name) or names.get(aten_name.removesuffix(".default"))
