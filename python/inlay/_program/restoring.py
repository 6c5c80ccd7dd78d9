# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a saved model's calls from JSON. Whatever the text holds is checked before it is believed."""

from __future__ import annotations

import collections
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import sympy
import torch

from ..errors import ArgumentTypeError, ArgumentValueError
from .imported import CallConvention, ImportedProgram, Interface, ModelState, ProgramInput, TensorType
from .metadata import OPERATORS, TORCH_KINDS, VERSION, is_int, is_plain
from .outputs import BufferOutput, InputOutput, ResultOutput, SizeOutput, ValueOutput, WeightsOutput, Write
from .signature import Signature
from .sizes import UNBOUNDED, Size, Symbol, Symbols
from .structures import load_structure

_MOST_POWER = 16


class Restored(NamedTuple):
    """A saved model's calls. program: without a graph."""

    program: ImportedProgram
    signature: Signature


def restore(text: str, find: Callable[[str], bytes | None]) -> Restored:
    """Reads what `describe` wrote.

    find: key -> bytes of a tensor that is stored with the program, or None.
    Raises ArgumentValueError if the text isn't what `describe` writes.
    """
    try:
        described = json.loads(text)
        if described["python"] != VERSION:
            raise ArgumentValueError(
                f"expected metadata of version {VERSION}, but got {described['python']!r}: another version of Inlay "
                "saved the model"
            )
        return _Reader(described, find).read()
    except ArgumentValueError:
        raise
    except Exception as error:  # whatever it is, the text is to blame
        raise ArgumentValueError(f"malformed metadata: {_reason(error)}") from error


class _Reader:
    def __init__(self, described, find):
        self._described, self._find = described, find
        named = self.part("symbols", lambda many: [_symbol(one) for one in many])
        self._own = [sympy.Symbol(f"s{number}", integer=True, nonnegative=True) for number in range(len(named))]
        self._symbols = Symbols(zip(self._own, named, strict=True))
        self._interface = Interface(symbols=self._symbols)

    def read(self):
        interface = self._interface
        interface.inputs = self.each("inputs", self.input)
        interface.results = self.each("results", self.tensor)
        state = ModelState(dict(self.each("carried", self.carried)))
        interface.carried = list(state.tensors)
        interface.outputs = self.each("outputs", self.output)
        interface.writes = self.each("writes", self.write)
        interface.conditions = self.each("conditions", self.condition)
        in_spec, out_spec = self.part("in_spec", self.in_spec), self.part("out_spec", self.out_spec)
        names, defaults = self.part("argument_names", _names), self.part("defaults", _defaults)
        signature = _Signature(interface, CallConvention(in_spec, out_spec, names, defaults))
        return Restored(ImportedProgram("", {}, interface, state), signature)

    def part(self, key, read):
        """What `read` makes of the metadata's part of that name."""
        if key not in self._described:
            raise ArgumentValueError(f"malformed metadata: expected {key!r}, but it isn't there")
        try:
            return read(self._described[key])
        except Exception as error:
            raise ArgumentValueError(f"malformed metadata: {key!r}: {_reason(error)}") from error

    def each(self, key, read):
        return self.part(key, lambda many: [read(one) for one in _checked(list, many)])

    def in_spec(self, text):
        spec = load_structure(text)
        kinds = [one.type for one in spec.children()]
        if spec.type is not tuple or kinds != [tuple, dict]:
            raise ValueError(f"expected a tuple of positional arguments and a dict of others, but got {spec}")
        _check_count(spec, self._interface.inputs, "inputs")
        return spec

    def out_spec(self, text):
        spec = load_structure(text)
        _check_count(spec, self._interface.outputs, "outputs")
        return spec

    def input(self, one):
        name = _checked(str, one["name"])
        if "dtype" not in one:
            return ProgramInput(name, value=self.value(one["value"]))
        shape, dtype = self.tensor(one)
        return ProgramInput(name, shape, dtype)

    def output(self, one):
        kind, copied = one["kind"], _checked(bool, one["copied"])
        read = {
            "result": self.result_output,
            "input": self.input_output,
            "value": self.value_output,
            "size": self.size_output,
            "weights": self.weights_output,
            "buffer": self.buffer_output,
        }
        if kind not in read:
            raise ValueError(f"expected a kind of output ({', '.join(read)}), but got {kind!r}")
        return read[kind](one["index"], one["value"], copied)

    def result_output(self, index, _, copied):
        _check_index(index, self._interface.results, "results")
        return ResultOutput(index, copied=copied)

    def input_output(self, index, _, copied):
        inputs = self._interface.inputs
        _check_index(index, inputs, "inputs")
        if copied and not inputs[index].is_tensor:
            raise ValueError(f"expected the number of a tensor that is copied, but got {index}")
        return InputOutput(index, copied=copied)

    def value_output(self, _, written, copied):
        value = self.value(written)
        if copied or isinstance(value, Size):
            raise ValueError(f"expected a value that is fixed and not copied, but got {value!r}")
        return ValueOutput(value)

    def size_output(self, _, written, copied):
        size = self.value(written)
        if copied or not (isinstance(size, Size) or is_int(size)):
            raise ValueError(f"expected a size that is not copied, but got {size!r}")
        return SizeOutput(size) if isinstance(size, Size) else ValueOutput(size)

    def weights_output(self, _, written, copied):
        tensor = self.stored(written)
        return WeightsOutput(lambda state: tensor, copied=copied)

    def buffer_output(self, _, name, copied):
        if name not in self._interface.carried:
            raise ValueError(f"expected the name of a buffer, but got {name!r}")
        return BufferOutput(name, copied=copied)

    def write(self, one):
        target, output = one
        if isinstance(target, str):
            if target not in self._interface.carried:
                raise ValueError(f"expected the name of a buffer to write, but got {target!r}")
        else:
            _check_index(target, self._interface.inputs, "inputs")
            if not self._interface.inputs[target].is_tensor:
                raise ValueError(f"expected the number of a tensor to write, but got {target}")
        return Write(target, self.output(output))

    def carried(self, one):
        return _checked(str, one["name"]), self.stored(one)

    def stored(self, one):
        shape, dtype = self.tensor(one)
        if not all(map(is_int, shape)):
            raise ValueError(f"expected a tensor {one['key']!r} of known dims, but got {shape}")
        found = self._find(_checked(str, one["key"]))
        if found is None:
            raise ValueError(f"the tensor {one['key']!r} isn't there")
        wanted = math.prod(shape) * dtype.itemsize
        if len(found) != wanted:
            raise ValueError(f"expected {wanted} bytes of the tensor {one['key']!r}, but got {len(found)}")
        if not found:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(bytearray(found), dtype=dtype).reshape(shape)

    def tensor(self, one):
        dims = tuple(self.dim(dim) for dim in _checked(list, one["dims"]))
        return TensorType(dims, _torch_value("dtype", one["dtype"]))

    def dim(self, tree):
        dim = self.size(tree)
        if is_int(dim) and dim < 0:
            raise ValueError(f"expected a dim of 0 or more, but got {dim}")
        return dim

    def size(self, tree):
        expr = self.expr(tree)
        if not isinstance(expr, sympy.Expr):
            raise ValueError(f"expected a number as a size, but got {tree!r}")
        size = self._symbols.make(expr)
        if isinstance(size, Size):
            self._symbols.function(size.expr)  # raises if it can't be computed
        return size

    def condition(self, tree):
        expr = self.expr(tree)
        if not isinstance(expr, sympy.logic.boolalg.Boolean) or expr.is_Symbol:
            raise ValueError(f"expected a condition, but got {tree!r}")
        self._symbols.function(expr)
        return expr

    def value(self, value):
        if not isinstance(value, dict):
            if not is_plain(value):
                raise ValueError(f"expected a plain value, but got {value!r}")
            return value
        ((kind, content),) = value.items()
        if kind == "size":
            return self.size(content)
        content = _checked(str, content)
        if kind == "float":
            return float(content)
        return torch.device(content) if kind == "device" else _torch_value(kind, content)

    def expr(self, tree):
        if isinstance(tree, bool):
            return sympy.true if tree else sympy.false
        if isinstance(tree, int):
            return sympy.Integer(tree)
        ((name, content),) = _checked(dict, tree).items()
        if name == "symbol":
            _check_index(content, self._own, "symbols")
            return self._own[content]
        args = [self.expr(one) for one in _checked(list, content)]
        if name in ("Pow", "PowByNatural") and (args[0].is_number or not 0 <= int(args[1]) <= _MOST_POWER):
            raise ValueError(f"expected a power of a size up to {_MOST_POWER}, but got {args}")
        return OPERATORS[name](*args)


class _Signature(Signature):
    """Of a model whose positional arguments may share names, as those of other tools do: these go by place alone."""

    def __init__(self, interface, convention):
        super().__init__(interface, convention)
        places = collections.defaultdict(list)
        for place, name in enumerate([*self._positional, *self._keywords], 1):
            places[name].append(place)
        self._shared = {name: many for name, many in places.items() if len(many) > 1}
        if shared := [name for name in self._keywords if name in self._shared]:
            raise ArgumentValueError(f"malformed metadata: 'in_spec': expected one argument named {shared[0]!r}")
        self._positional = [
            f"{name} (place {place})" if name in self._shared else name
            for place, name in enumerate(self._positional, 1)
        ]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """As for `Signature`; ArgumentTypeError for a name that several arguments have."""
        for name, places in self._shared.items():
            if name in kwargs or len(args) < places[-1]:
                raise ArgumentTypeError(
                    f"argument {name!r} is ambiguous, since places {' and '.join(map(str, places))} have that name: "
                    "expected them by place"
                )
        return super().flatten(args, kwargs)


def _symbol(one):
    symbol = Symbol(_checked(str, one["name"]), one["min"], one["max"])
    if not (is_int(symbol.min) and is_int(symbol.max) and 0 <= symbol.min <= symbol.max <= UNBOUNDED):
        raise ValueError(f"expected a range of sizes for {symbol.name!r}, but got {symbol.min!r} to {symbol.max!r}")
    return symbol


def _names(names):
    return None if names is None else [_checked(str, one) for one in _checked(list, names)]


def _defaults(defaults):
    for name, value in _checked(dict, defaults).items():
        if not is_plain(value):
            raise ValueError(f"expected a plain value for {name!r}, but got {value!r}")
    return defaults


def _checked(kind, value):
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__}, but got {value!r}")
    return value


def _check_index(index, many, what):
    if not is_int(index) or not 0 <= index < len(many):
        raise ValueError(f"expected a number of the {len(many)} {what}, but got {index!r}")


def _check_count(spec, many, what):
    if spec.num_leaves != len(many):
        raise ValueError(f"expected {len(many)} leaves for the {what}, but got {spec.num_leaves}")


def _reason(error):
    return str(error) if isinstance(error, ArgumentValueError) else f"{type(error).__name__}: {error}"


def _torch_value(kind, name):
    value = vars(torch).get(name)  # getattr would import modules of PyTorch's
    if not isinstance(value, TORCH_KINDS[kind]):
        raise ValueError(f"expected a {kind} of PyTorch's, but got {name!r}")
    return value
