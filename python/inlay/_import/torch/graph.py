# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a function of the dialect's ops as text.

`walker.py` decides which ops. `_dialect/text.py` writes types and constants.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

import sympy
import torch

from ..._dialect import ops
from ..._dialect.text import dense_literal, double_bits, quote, scalar_literal, tensor_type
from ..._program.conditions import conditions_text
from ..._program.imported import Dims, TensorType
from ..._program.sizes import Size, Symbols, UndecidedError
from ...errors import InternalError

_BOUNDED = ("pad", "slice", "slice_scatter")  # ops whose `inlay.dims` attribute says that bounds are inside a tensor
_MAX_INLINE_ELEMENTS = 16  # of a constant that is printed; larger ones are kept by name outside the text


@dataclass(frozen=True)
class Value:
    """An SSA value: a tensor."""

    name: str
    shape: Dims
    dtype: torch.dtype

    @property
    def type(self) -> str:
        """The text of the value's type."""
        return tensor_type(self.shape, self.dtype)


Operand: TypeAlias = Value | list[Value] | None  # a list for a variadic operand, None for an absent optional one


class Place(Protocol):
    """Returns the location of the op that is being written, or of a helper op with a suffix to its name."""

    def __call__(self, suffix: str | None = None) -> str: ...


@dataclass(frozen=True)
class Effects:
    """The effects of an opaque op.

    writes: numbers of the operands that the op writes. aliases: numbers of the operands with which its results may
    share memory. in_order: True if the op has other effects, so that it must keep its order among such ops.
    """

    writes: Sequence[int] = ()
    aliases: Sequence[int] = ()
    in_order: bool = False


@dataclass
class Region:
    """Ops inside an op that chooses or repeats them.

    results: the values that the region ends with. condition: in the first region of a loop, the tensor that is true if
    the loop goes on. position: in a counted loop, a vector of one element, the number of the iteration. counter: the
    SSA name of that number.
    """

    arguments: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    condition: Value | None = None
    position: Value | None = None
    counter: str = ""
    lines: list[_Line] = field(default_factory=list)


@dataclass
class _Line:
    """An op as text.

    text: the text before the first region. made, used: SSA names of the op's results and of the values that it uses.
    stays: True if the op is kept even if nothing uses its results. regions: the ops of each region, and the text behind
    it.
    """

    text: str
    location: str
    made: list[str]
    used: list[str]
    stays: bool
    regions: tuple[tuple[list[_Line], str], ...] = ()


class GraphBuilder:
    """Collects the ops of a function in order. Each op has a label, the name that reports and diagnostics use."""

    def __init__(self, symbols: Symbols | None = None) -> None:
        """symbols: the Symbols of the function."""
        self.symbols = Symbols() if symbols is None else symbols
        self.weights: dict[str, torch.Tensor] = {}  # key -> tensor, contiguous, on the CPU
        self._arguments: list[str] = []
        self._lines: list[_Line] = []
        self._locations: dict[str, tuple[str, str]] = {}  # label -> alias, location
        self._open = [self._lines]  # lines of the function and of the regions that are being written, innermost last
        self._aliases: set[str] = set()
        self._constants: dict[tuple[Any, ...], Value] = {}
        self._keys: dict[tuple[int, torch.Size, torch.dtype], str] = {}  # memory, dims and dtype of a tensor -> its key
        self._number = 0

    def argument(self, shape: Dims, dtype: torch.dtype, location: str) -> Value:
        """Adds an argument of the function."""
        value = Value(f"%arg{len(self._arguments)}", tuple(shape), dtype)
        dims = f" {{inlay.dims = {self.symbols.map_text(shape)}}}" if _is_dynamic(shape) else ""
        self._arguments.append(f"{value.name}: {value.type}{dims} {location}")
        return value

    def op(
        self,
        name: str,
        operands: Sequence[Operand],
        attributes: Mapping[str, Any],
        shape: Dims,
        dtype: torch.dtype,
        location: str,
    ) -> Value:
        """Adds the op `inlay.<name>` and returns its result.

        Sizes among the numbers of attributes become results of the op's `sizes` attribute.
        """
        op = ops.table()[name]
        if len(operands) != len(op.operands):
            raise InternalError(f"inlay.{name} has {len(op.operands)} operands, but got {len(operands)}")
        names: dict[str, str] = {}
        used: list[Value] = []
        for argument, operand in zip(op.operands, operands, strict=True):
            given = operand if isinstance(operand, list) else [operand] if operand is not None else []
            names[argument.name] = ", ".join(value.name for value in given)
            used += given
        result = self._result(shape, dtype)
        numbers, sizes = split_sizes(op, attributes)
        besides = ""
        if sizes:
            numbers["sizes"] = self.symbols.map_text(sizes)
            # The ranges of symbols may not imply that a slice is inside of its tensor.
            besides = f"{{inlay.dims = [{self.symbols.map_text(shape)}]}}" if name in _BOUNDED else ""
        text = op.print(names, numbers, [value.type for value in used], result.type, besides)
        self._line(f"{result.name} = {text}", location, [result], used)
        return result

    def opaque(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[TensorType],
        effects: Effects,
        call: str,
        location: str,
        sizes: Sequence[Size] = (),
        reason: str = "",
    ) -> list[Value]:
        """Adds an op `inlay.opaque` and returns its results.

        call: the call as JSON. sizes: the Sizes that the call refers to. reason: why the call has no graph op.
        """
        values = [self._result(shape, dtype) for shape, dtype in results]
        words = [f"inlay.opaque {quote(name)}({', '.join(value.name for value in operands)})"]
        for effect, numbers in (("writes", effects.writes), ("aliases", effects.aliases)):
            if numbers:
                words.append(f"{effect} [{', '.join(map(str, numbers))}]")
        if effects.in_order:
            words.append("in_order")
        types = ", ".join(value.type for value in operands)
        to = ", ".join(value.type for value in values)
        words.append(f"call {quote(call)}")
        if sizes:
            words.append(f"sizes {self.symbols.map_text(sizes)}")
        attributes = []
        if any(_is_dynamic(value.shape) for value in values):
            dims = ", ".join(self.symbols.map_text(value.shape) for value in values)
            attributes.append(f"inlay.dims = [{dims}]")
        if reason:
            attributes.append(f"inlay.reason = {quote(reason)}")
        if attributes:
            words.append(f"{{{', '.join(attributes)}}}")
        words.append(f": ({types}) -> {to if len(values) == 1 else f'({to})'}")
        head = ", ".join(value.name for value in values)
        stays = not values or bool(effects.writes or effects.in_order)
        self._line((f"{head} = " if values else "") + " ".join(words), location, values, operands, stays)
        return values

    # -- Regions --------------------------------------------------------------------------------------------------

    @property
    def is_in_region(self) -> bool:
        """True while a region is open."""
        return len(self._open) > 1

    @contextlib.contextmanager
    def region(self, arguments: Sequence[TensorType] = (), place: Place | None = None) -> Iterator[Region]:
        """Yields a Region to which ops are added while the context is open.

        arguments: the types of its arguments. place: for the body of a counted loop, the locations of the ops that
        convert the counter.
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

    def choose(
        self, condition: Value, then: Region, otherwise: Region, results: Sequence[TensorType], place: Place
    ) -> list[Value]:
        """Adds an `scf.if` and returns its results.

        condition: a tensor without dims. results: the types of the results of each region.
        """
        values = [self._result(shape, dtype) for shape, dtype in results]
        chosen = self._extract(condition, place)
        arrow = f" -> ({_types(values)})" if values else ""
        regions = [(self._end(then), "} else {"), (self._end(otherwise), f"}}{self._dims_of(values)}")]
        self._regions(f"scf.if {chosen}{arrow} {{", place(), values, [chosen], regions)
        return values

    def repeat(self, before: Region, after: Region, starts: Sequence[Value], place: Place) -> list[Value]:
        """Adds an `scf.while` and returns its results.

        While the condition of `before` is true, the results of `before` are passed to `after`, and the results of
        `after` to `before`. Both take and return values of the types of `starts`.
        """
        values = [self._result(value.shape, value.dtype) for value in starts]
        types = _types(values)
        carried = f"({_bind(before.arguments, starts)}) : ({types}) -> ({types})" if values else ": () -> ()"
        self._open.append(before.lines)
        assert before.condition is not None
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

    def count(self, number: int | Value, body: Region, starts: Sequence[Value], place: Place) -> list[Value]:
        """Adds an `scf.for` that runs `body` `number` times, and returns its results."""
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

    def _regions(
        self,
        text: str,
        location: str,
        values: Sequence[Value],
        used: list[str],
        regions: Sequence[tuple[list[_Line], str]],
    ) -> None:
        """Adds an op with regions."""
        made = [value.name for value in values]
        stays = any(line.stays for lines, _ in regions for line in lines[:-1])
        text = f"{_names(values)} = {text}" if values else text
        self._open[-1].append(_Line(text, location, made, used, stays, tuple(regions)))

    def _extract(self, value: Value, place: Place) -> str:
        """Adds an op that reads the only element of a tensor without dims. Returns the element's SSA name."""
        name = self._name()
        text = f"{name} = tensor.extract {value.name}[] : {value.type}"
        self._write(text, place("extract"), name, [value.name])
        return name

    def _index(self, number: int, location: str) -> str:
        """Adds an index constant and returns its SSA name."""
        name = self._name()
        self._write(f"{name} = arith.constant {number} : index", location, name, [])
        return name

    @staticmethod
    def _end(region: Region) -> list[_Line]:
        """Returns the lines of a region with an `scf.yield` of its results."""
        results = region.results
        text = f"scf.yield {_names(results)} : {_types(results)}" if results else "scf.yield"
        return [*region.lines, _Line(text, "", [], [value.name for value in results], True)]

    def _dims_of(self, values: Sequence[Value], before: str = " ") -> str:
        """Returns the attribute `inlay.dims` of an op with these results, after the text `before`; "" if all dims
        are static."""
        if not any(_is_dynamic(value.shape) for value in values):
            return ""
        return f"{before}{{inlay.dims = [{', '.join(self.symbols.map_text(value.shape) for value in values)}]}}"

    # -- Constants ------------------------------------------------------------------------------------------------

    def splat(self, number: float, shape: Dims, dtype: torch.dtype) -> Value:
        """Adds a constant whose elements are all `number`. The dims must be ints."""
        key = (double_bits(number) if isinstance(number, float) else number, type(number), tuple(shape), dtype)
        if key not in self._constants:
            literal = f"dense<{scalar_literal(number, dtype)}>"
            self._constants[key] = self._constant(literal, shape, dtype, 'loc("constant")')
        return self._constants[key]

    def weight(self, key: str, tensor: torch.Tensor) -> Value:
        """Adds a constant that is kept by name outside the text. Tensors with the same memory share the first one's
        name."""
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

    def key_of(self, tensor: torch.Tensor) -> str:
        """Returns the name under which `weight` keeps a tensor."""
        return self._keys[(tensor.data_ptr(), tensor.shape, tensor.dtype)]

    def literal(self, key: str, tensor: torch.Tensor) -> Value:
        """Adds a constant that is printed in the text if it is small. A large one is kept as a weight."""
        if tensor.numel() > _MAX_INLINE_ELEMENTS:
            return self.weight(key, tensor)
        return self._constant(dense_literal(tensor), tensor.shape, tensor.dtype, f"loc({quote(key)})")

    def alias(self, label: str, location: str) -> str:
        """Returns an alias for a location, which is printed once, behind the ops."""
        if label not in self._locations:
            name = "#" + re.sub(r"^(?![A-Za-z])|[^A-Za-z0-9_]", "_", label)  # starts with no digit
            while name in self._aliases:
                name += "_"
            self._aliases.add(name)
            self._locations[label] = (name, location)
        return f"loc({self._locations[label][0]})"

    def module(
        self,
        results: Sequence[Value],
        attributes: Mapping[str, str] | None = None,
        states: int = 0,
        conditions: Sequence[sympy.Basic] = (),
    ) -> str:
        """Returns the text of the module, whose only function, @forward, returns `results`.

        states: so many last results are the next values of so many last arguments. conditions: what calls check of the
        sizes besides the ranges of the symbols.
        """
        types = [value.type for value in results]
        arrow = f" -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}" if types else ""
        attached = ", ".join(f"{key} = {quote(text)}" for key, text in (attributes or {}).items())
        lines = [f"module{f' attributes {{{attached}}}' if attached else ''} {{"]
        properties = [f"inlay.states = {states}"] if states else []
        properties += [f"inlay.symbols = {self.symbols.text()}"] if len(self.symbols) else []
        properties += [f"inlay.conditions = {conditions_text(conditions, self.symbols)}"] if conditions else []
        described = f" attributes {{{', '.join(properties)}}}" if properties else ""
        lines.append(f"  func.func public @forward({', '.join(self._arguments)}){arrow}{described} {{")
        lines += [f"    {line}" for line in self._live_lines(self._lines, {value.name for value in results})]
        names = ", ".join(value.name for value in results)
        lines.append(f"    return {names} : {', '.join(types)}" if types else "    return")
        lines += ["  }", "}"]
        lines += [f"{alias} = {location}" for alias, location in self._locations.values()]
        return "\n".join(lines) + "\n"

    def _live_lines(self, lines: Sequence[_Line], needed: set[str]) -> list[str]:
        """Returns the lines that effects or the values in `needed` need. Adds the values that these lines use to
        `needed`.

        Lines can be dead because a handler may look through a node that nothing else uses.
        """
        live: list[str] = []
        for line in reversed(lines):
            if not (line.stays or needed.intersection(line.made)):
                continue
            needed.update(line.used)
            written = [f"{line.text} {line.location}".rstrip()]
            if line.regions:
                inner = [(self._live_lines(lines, needed), after) for lines, after in line.regions]
                written = line.text.splitlines()
                for text, after in inner:
                    written += [f"  {nested}" for nested in text] + after.splitlines()
                written[-1] += f" {line.location}"
            live = written + live
        return live

    def _constant(self, literal: str, shape: Dims, dtype: torch.dtype, location: str) -> Value:
        """Adds a constant outside of all regions, so that the whole function can use it."""
        value = self._result(shape, dtype)
        text = f"{value.name} = inlay.constant {literal} : {value.type}"
        self._lines.append(_Line(text, location, [value.name], [], False))
        return value

    def _name(self) -> str:
        """Returns a new SSA name."""
        self._number += 1
        return f"%{self._number - 1}"

    def _result(self, shape: Iterable[int | Size], dtype: torch.dtype) -> Value:
        """Returns a new Value."""
        return Value(self._name(), tuple(shape), dtype)

    def _line(
        self, text: str, location: str, made: Sequence[Value], used: Sequence[Value], stays: bool = False
    ) -> None:
        """Adds an op of the dialect."""
        line = _Line(text, location, [value.name for value in made], [value.name for value in used], stays)
        self._open[-1].append(line)

    def _write(self, text: str, location: str, made: str, used: list[str]) -> None:
        """Adds an op of another dialect. made, used: the SSA names of its result and of the values that it uses."""
        self._open[-1].append(_Line(text, location, [made], used, False))


def _names(values: Sequence[Value]) -> str:
    """Returns the SSA names of values, separated by commas."""
    return ", ".join(value.name for value in values)


def _bind(arguments: Sequence[Value], starts: Sequence[Value]) -> str:
    """Returns the initial values of a loop's arguments as text."""
    return ", ".join(f"{argument.name} = {start.name}" for argument, start in zip(arguments, starts, strict=True))


def _types(values: Sequence[Value]) -> str:
    """Returns the types of values, separated by commas."""
    return ", ".join(value.type for value in values)


def _is_dynamic(shape: Dims) -> bool:
    """Returns true if a dim is known only at a call."""
    return any(isinstance(dim, Size) for dim in shape)


class SplitAttributes(NamedTuple):
    """Attributes with OPEN in place of Sizes, and the Sizes in order."""

    attributes: dict[str, Any]
    sizes: list[Size]


def split_sizes(op: ops.Op, attributes: Mapping[str, Any]) -> SplitAttributes:
    """Separates the Sizes from the attributes of an op. Raises UndecidedError if the op takes none."""
    numbers, sizes = dict(attributes), list[Size]()
    takes_sizes = any(argument.name == "sizes" for argument in op.attributes)

    def take(value: Any) -> Any:
        if isinstance(value, Size):
            if not takes_sizes:
                raise UndecidedError(f"{value} as a number of inlay.{op.name}")
            sizes.append(value)
            return ops.OPEN
        return value

    for argument in op.attributes:
        value = numbers.get(argument.name)
        if argument.name == "sizes" and value is not None:
            sizes += numbers.pop("sizes")
        elif argument.kind is ops.Kind.I64S:
            numbers[argument.name] = [take(number) for number in numbers[argument.name]]
        elif argument.kind is ops.Kind.I64:
            numbers[argument.name] = take(value)
    return SplitAttributes(numbers, sizes)
