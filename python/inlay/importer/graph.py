# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a function of the dialect's ops as text."""

import re
from dataclasses import dataclass

from .. import ops
from ..errors import InternalError
from ..text import dense_literal, double_bits, scalar_literal, tensor_type
from .sizes import Size, Symbols, UndecidedError

_BOUNDED = ("pad", "slice", "slice_scatter")
_MOST_INLINE = 16  # elements of a constant that is printed rather than kept aside


@dataclass(frozen=True)
class Value:
    """An SSA value: a tensor of these dims, each an int or Size, and dtype."""

    name: str
    shape: tuple
    dtype: object

    @property
    def type(self):
        return tensor_type(self.shape, self.dtype)


class GraphBuilder:
    """Collects ops in order. Each op has a label: the name that reports and diagnostics say it by."""

    def __init__(self, symbols=None):
        """symbols: the function's Symbols."""
        self.symbols = Symbols() if symbols is None else symbols
        self.weights = {}  # key -> tensor, contiguous, on the CPU
        self._arguments, self._lines, self._locations = [], [], {}
        self._aliases, self._constants = set(), {}
        self._keys = {}  # memory, dims and dtype of a tensor -> the key it is kept by
        self._number = 0

    def argument(self, shape, dtype, location):
        """Adds an argument of the function."""
        value = Value(f"%arg{len(self._arguments)}", tuple(shape), dtype)
        dims = f" {{inlay.dims = {self.symbols.map_text(shape)}}}" if _is_dynamic(shape) else ""
        self._arguments.append(f"{value.name}: {value.type}{dims} {location}")
        return value

    def op(self, name, operands, attributes, shape, dtype, location):
        """Adds `inlay.<name>`; `operands` are Values (a list for a variadic one, None for an absent optional one).

        Sizes among the numbers of attributes become results of the op's `sizes`.
        """
        op = ops.table()[name]
        if len(operands) != len(op.operands):
            raise InternalError(f"inlay.{name} has {len(op.operands)} operands, but got {len(operands)}")
        names, used = {}, []
        for argument, operand in zip(op.operands, operands, strict=True):
            given = operand if isinstance(operand, list) else [operand] if operand is not None else []
            names[argument.name] = ", ".join(value.name for value in given)
            used += given
        result = self._result(shape, dtype)
        attributes, sizes = split_sizes(op, attributes)
        besides = ""
        if sizes:
            attributes["sizes"] = self.symbols.map_text(sizes)
            # What the ranges alone may not tell: that a slice is inside of its tensor.
            besides = f"{{inlay.dims = [{self.symbols.map_text(shape)}]}}" if name in _BOUNDED else ""
        text = op.print(names, attributes, [value.type for value in used], result.type, besides)
        self._line(f"{result.name} = {text}", location, [result], used)
        return result

    def opaque(self, name, operands, results, effects, call, location, sizes=()):
        """Adds `inlay.opaque`.

        results: (shape, dtype) of each; effects: "writes" and "aliases" -> operand numbers, "in_order" -> whether there
        are others; call: the call as JSON; sizes: the Sizes that it refers to.
        """
        values = [self._result(shape, dtype) for shape, dtype in results]
        words = [f"inlay.opaque {ops.quote(name)}({', '.join(value.name for value in operands)})"]
        for effect in ("writes", "aliases"):
            if effects.get(effect):
                words.append(f"{effect} [{', '.join(map(str, effects[effect]))}]")
        if effects.get("in_order"):
            words.append("in_order")
        types = ", ".join(value.type for value in operands)
        to = ", ".join(value.type for value in values)
        words.append(f"call {ops.quote(call)}")
        if sizes:
            words.append(f"sizes {self.symbols.map_text(sizes)}")
        if any(_is_dynamic(value.shape) for value in values):
            words.append(f"{{inlay.dims = [{', '.join(self.symbols.map_text(value.shape) for value in values)}]}}")
        words.append(f": ({types}) -> {to if len(values) == 1 else f'({to})'}")
        head = ", ".join(value.name for value in values)
        made = [] if effects.get("writes") or effects.get("in_order") else values  # an effect stays, used or not
        self._line((f"{head} = " if values else "") + " ".join(words), location, made, operands)
        return values

    def splat(self, number, shape, dtype):
        """A constant whose elements are all `number`; its dims are ints."""
        key = (double_bits(number) if isinstance(number, float) else number, type(number), tuple(shape), dtype)
        if key not in self._constants:
            literal = f"dense<{scalar_literal(number, dtype)}>"
            self._constants[key] = self._constant(literal, shape, dtype, 'loc("constant")')
        return self._constants[key]

    def weight(self, key, tensor):
        """A constant kept by name outside the text; tensors that are one in memory share the first's name."""
        identity = (tensor.data_ptr(), tensor.shape, tensor.dtype)
        if identity not in self._keys:
            unique, number = key, 0
            while unique in self.weights:
                number += 1
                unique = f"{key}_{number}"
            self.weights[unique] = tensor
            self._keys[identity] = unique
        key = self.key_of(tensor)
        return self._constant(f"dense_resource<{ops.quote(key)}>", tensor.shape, tensor.dtype, f"loc({ops.quote(key)})")

    def key_of(self, tensor):
        """The name that a tensor goes by that was given to `weight`."""
        return self._keys[(tensor.data_ptr(), tensor.shape, tensor.dtype)]

    def literal(self, key, tensor):
        """A constant printed in the text if it is small, else kept by `key`."""
        if tensor.numel() > _MOST_INLINE:
            return self.weight(key, tensor)
        return self._constant(dense_literal(tensor), tensor.shape, tensor.dtype, f"loc({ops.quote(key)})")

    def alias(self, label, location):
        """A name for a location that is printed once, after the ops."""
        if label not in self._locations:
            name = "#" + re.sub(r"[^A-Za-z0-9_]", "_", label)
            while name in self._aliases:
                name += "_"
            self._aliases.add(name)
            self._locations[label] = (name, location)
        return f"loc({self._locations[label][0]})"

    def module(self, results, attributes=None):
        """The whole module, returning `results` from its only function, @forward."""
        types = [value.type for value in results]
        arrow = f" -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}" if types else ""
        attached = ", ".join(f"{key} = {ops.quote(text)}" for key, text in (attributes or {}).items())
        lines = [f"module{f' attributes {{{attached}}}' if attached else ''} {{"]
        symbols = f" attributes {{inlay.symbols = {self.symbols.text()}}}" if len(self.symbols) else ""
        lines.append(f"  func.func public @forward({', '.join(self._arguments)}){arrow}{symbols} {{")
        lines += [f"    {line}" for line in self._live_lines(results)]
        names = ", ".join(value.name for value in results)
        lines.append(f"    return {names} : {', '.join(types)}" if types else "    return")
        lines += ["  }", "}"]
        lines += [f"{alias} = {location}" for alias, location in self._locations.values()]
        return "\n".join(lines) + "\n"

    def _live_lines(self, results):
        """The lines that `results` or an effect need: a handler may look through a node that nobody else uses."""
        needed, live = {value.name for value in results}, []
        for text, made, used in reversed(self._lines):
            if not made or needed.intersection(made):
                needed.update(used)
                live.append(text)
        return reversed(live)

    def _constant(self, literal, shape, dtype, location):
        value = self._result(shape, dtype)
        self._line(f"{value.name} = inlay.constant {literal} : {value.type}", location, [value], [])
        return value

    def _result(self, shape, dtype):
        value = Value(f"%{self._number}", tuple(shape), dtype)
        self._number += 1
        return value

    def _line(self, text, location, made, used):
        self._lines.append((f"{text} {location}", [value.name for value in made], [value.name for value in used]))


def _is_dynamic(shape):
    return any(isinstance(dim, Size) for dim in shape)


def split_sizes(op, attributes):
    """(the attributes with OPEN in place of Sizes, these in order) of an op; UndecidedError if it takes none."""
    attributes, sizes = dict(attributes), []
    takes = any(argument.name == "sizes" for argument in op.attributes)

    def take(value):
        if isinstance(value, Size):
            if not takes:
                raise UndecidedError(f"{value} as a number of inlay.{op.name}")
            sizes.append(value)
            return ops.OPEN
        return value

    for argument in op.attributes:
        value = attributes.get(argument.name)
        if argument.name == "sizes" and value is not None:
            sizes += attributes.pop("sizes")
        elif argument.kind == "i64s":
            attributes[argument.name] = [take(number) for number in value]
        elif argument.kind == "i64":
            attributes[argument.name] = take(value)
    return attributes, sizes
