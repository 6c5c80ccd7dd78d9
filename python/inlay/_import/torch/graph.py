# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a function of the dialect's ops as text."""

import contextlib
import re
from dataclasses import dataclass, field

import torch

from ..._dialect import ops
from ..._dialect.text import dense_literal, double_bits, quote, scalar_literal, tensor_type
from ..._program.sizes import Size, Symbols, UndecidedError
from ...errors import InternalError

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


@dataclass
class Region:
    """Ops inside of one that chooses or repeats them.

    results: what it ends with; condition: of a loop's first region, whether the loop goes on; position: of a counted
    loop's, a vector of the one number of the round.
    """

    arguments: list = field(default_factory=list)
    results: list = field(default_factory=list)
    condition: Value | None = None
    position: Value | None = None
    counter: str = ""
    lines: list = field(default_factory=list)


@dataclass
class _Line:
    """An op: its text before the first region, then each region's ops and the text after them."""

    text: str
    location: str
    made: list
    used: list
    stays: bool
    regions: tuple = ()


class GraphBuilder:
    """Collects ops in order. Each op has a label: the name that reports and diagnostics say it by."""

    def __init__(self, symbols=None):
        """symbols: the function's Symbols."""
        self.symbols = Symbols() if symbols is None else symbols
        self.weights = {}  # key -> tensor, contiguous, on the CPU
        self._arguments, self._lines, self._locations = [], [], {}
        self._open = [self._lines]  # of the function and of each region that is being written, innermost last
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
        words = [f"inlay.opaque {quote(name)}({', '.join(value.name for value in operands)})"]
        for effect in ("writes", "aliases"):
            if effects.get(effect):
                words.append(f"{effect} [{', '.join(map(str, effects[effect]))}]")
        if effects.get("in_order"):
            words.append("in_order")
        types = ", ".join(value.type for value in operands)
        to = ", ".join(value.type for value in values)
        words.append(f"call {quote(call)}")
        if sizes:
            words.append(f"sizes {self.symbols.map_text(sizes)}")
        if any(_is_dynamic(value.shape) for value in values):
            words.append(f"{{inlay.dims = [{', '.join(self.symbols.map_text(value.shape) for value in values)}]}}")
        words.append(f": ({types}) -> {to if len(values) == 1 else f'({to})'}")
        head = ", ".join(value.name for value in values)
        stays = not values or bool(effects.get("writes") or effects.get("in_order"))
        self._line((f"{head} = " if values else "") + " ".join(words), location, values, operands, stays)
        return values

    # -- Regions --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def region(self, arguments=(), place=None):
        """A Region that ops are added to meanwhile.

        arguments: (shape, dtype) of each; place(suffix): of a counted loop's, the location of an op of its own.
        """
        region = Region([self._result(shape, dtype) for shape, dtype in arguments])
        self._open.append(region.lines)
        try:
            if place is not None:
                region.counter = self._name()
                number = self._name()
                text = f"{number} = arith.index_cast {region.counter} : index to i64"
                self._write(text, place("round"), number, [])
                region.position = self._result((1,), torch.int64)
                text = f"{region.position.name} = tensor.from_elements {number} : {region.position.type}"
                self._write(text, place("position"), region.position.name, [number])
            yield region
        finally:
            self._open.pop()

    def choose(self, condition, then, otherwise, results, place):
        """Adds `scf.if`: the results of one Region or the other.

        results: (shape, dtype) of each; place(suffix): the location of the op, or with a suffix of a helper's.
        """
        values = [self._result(shape, dtype) for shape, dtype in results]
        chosen = self._extract(condition, place)
        arrow = f" -> ({_types(values)})" if values else ""
        regions = [(self._end(then), "} else {"), (self._end(otherwise), f"}}{self._dims_of(values)}")]
        self._regions(f"scf.if {chosen}{arrow} {{", place(), values, [chosen], regions)
        return values

    def repeat(self, before, after, starts, place):
        """Adds `scf.while`: while the condition of the Region `before` holds, what it ends with goes to `after`, and
        the results of that go to `before`; both take and give values like `starts`. place: as for `choose`."""
        values = [self._result(value.shape, value.dtype) for value in starts]
        types = _types(values)
        carried = f"({_bind(before.arguments, starts)}) : ({types}) -> ({types})" if values else ": () -> ()"
        self._open.append(before.lines)
        going = self._extract(before.condition, place)
        self._open.pop()
        used = [going, *(value.name for value in before.results)]
        ending = f"scf.condition({going})" + (f" {_names(before.results)} : {types}" if values else "")
        block = ", ".join(f"{value.name}: {value.type}" for value in after.arguments)
        regions = [
            ([*before.lines, _Line(ending, "", [], used, True)], f"}} do {{\n^bb0({block}):" if values else "} do {"),
            (self._end(after), f"}}{self._dims_of(values, ' attributes ')}"),
        ]
        self._regions(f"scf.while {carried} {{", place(), values, [start.name for start in starts], regions)
        return values

    def count(self, number, body, starts, place):
        """Adds `scf.for`: a Region runs `number` times, an int or a Value. place: as for `choose`."""
        first, step = self._index(0, place("first")), self._index(1, place("step"))
        if isinstance(number, int):
            end = self._index(number, place("end"))
        else:
            integer, end = self._extract(number, place), self._name()
            self._write(f"{end} = arith.index_cast {integer} : i64 to index", place("end"), end, [integer])
        values = [self._result(value.shape, value.dtype) for value in starts]
        carried = f" iter_args({_bind(body.arguments, starts)}) -> ({_types(values)})" if values else ""
        text = f"scf.for {body.counter} = {first} to {end} step {step}{carried} {{"
        used = [first, end, step, *(start.name for start in starts)]
        self._regions(text, place(), values, used, [(self._end(body), f"}}{self._dims_of(values)}")])
        return values

    def _regions(self, text, location, values, used, regions):
        made = [value.name for value in values]
        stays = any(line.stays for lines, _ in regions for line in lines[:-1])
        text = f"{_names(values)} = {text}" if values else text
        self._open[-1].append(_Line(text, location, made, used, stays, tuple(regions)))

    def _extract(self, value, place):
        """The name of the only element of a tensor without dims."""
        name = self._name()
        text = f"{name} = tensor.extract {value.name}[] : {value.type}"
        self._write(text, place("extract"), name, [value.name])
        return name

    def _index(self, number, location):
        name = self._name()
        self._write(f"{name} = arith.constant {number} : index", location, name, [])
        return name

    @staticmethod
    def _end(region):
        """The lines of a region that ends with its results."""
        results = region.results
        text = f"scf.yield {_names(results)} : {_types(results)}" if results else "scf.yield"
        return [*region.lines, _Line(text, "", [], [value.name for value in results], True)]

    def _dims_of(self, values, before=" "):
        if not any(_is_dynamic(value.shape) for value in values):
            return ""
        return f"{before}{{inlay.dims = [{', '.join(self.symbols.map_text(value.shape) for value in values)}]}}"

    # -- Constants ------------------------------------------------------------------------------------------------

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
        return self._constant(f"dense_resource<{quote(key)}>", tensor.shape, tensor.dtype, f"loc({quote(key)})")

    def key_of(self, tensor):
        """The name that a tensor goes by that was given to `weight`."""
        return self._keys[(tensor.data_ptr(), tensor.shape, tensor.dtype)]

    def literal(self, key, tensor):
        """A constant printed in the text if it is small, else kept by `key`."""
        if tensor.numel() > _MOST_INLINE:
            return self.weight(key, tensor)
        return self._constant(dense_literal(tensor), tensor.shape, tensor.dtype, f"loc({quote(key)})")

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
        attached = ", ".join(f"{key} = {quote(text)}" for key, text in (attributes or {}).items())
        lines = [f"module{f' attributes {{{attached}}}' if attached else ''} {{"]
        symbols = f" attributes {{inlay.symbols = {self.symbols.text()}}}" if len(self.symbols) else ""
        lines.append(f"  func.func public @forward({', '.join(self._arguments)}){arrow}{symbols} {{")
        lines += [f"    {line}" for line in self._live_lines(self._lines, {value.name for value in results})]
        names = ", ".join(value.name for value in results)
        lines.append(f"    return {names} : {', '.join(types)}" if types else "    return")
        lines += ["  }", "}"]
        lines += [f"{alias} = {location}" for alias, location in self._locations.values()]
        return "\n".join(lines) + "\n"

    def _live_lines(self, lines, needed):
        """The lines that the values `needed` or an effect need: a handler may look through a node that nobody else
        uses. Adds what these need to `needed`."""
        live = []
        for line in reversed(lines):
            if not (line.stays or needed.intersection(line.made)):
                continue
            needed.update(line.used)
            written = [f"{line.text} {line.location}".rstrip()]
            if line.regions:
                inner = [(self._live_lines(lines, needed), after) for lines, after in line.regions]
                written = line.text.splitlines()
                for text, after in inner:
                    written += [f"  {one}" for one in text] + after.splitlines()
                written[-1] += f" {line.location}"
            live = written + live
        return live

    def _constant(self, literal, shape, dtype, location):
        """Constants belong to the function, so that all of it can use them."""
        value = self._result(shape, dtype)
        text = f"{value.name} = inlay.constant {literal} : {value.type}"
        self._lines.append(_Line(text, location, [value.name], [], False))
        return value

    def _name(self):
        self._number += 1
        return f"%{self._number - 1}"

    def _result(self, shape, dtype):
        return Value(self._name(), tuple(shape), dtype)

    def _line(self, text, location, made, used, stays=False):
        line = _Line(text, location, [value.name for value in made], [value.name for value in used], stays)
        self._open[-1].append(line)

    def _write(self, text, location, made, used):
        """Adds an op of another dialect, which makes the value of that name out of those."""
        self._open[-1].append(_Line(text, location, [made], used, False))


def _names(values):
    return ", ".join(value.name for value in values)


def _bind(arguments, starts):
    return ", ".join(f"{one.name} = {start.name}" for one, start in zip(arguments, starts, strict=True))


def _types(values):
    return ", ".join(value.type for value in values)


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
        elif argument.kind is ops.Kind.I64S:
            attributes[argument.name] = [take(number) for number in value]
        elif argument.kind is ops.Kind.I64:
            attributes[argument.name] = take(value)
    return attributes, sizes
