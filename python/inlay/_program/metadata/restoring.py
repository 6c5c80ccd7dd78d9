# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the interface and calling convention of a saved model from JSON. All parts of the text are checked.

`saving.py` writes it.
"""

from __future__ import annotations

import collections
import json
import math
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, NamedTuple, TypeAlias, TypeVar

import sympy
import torch
from torch.utils import _pytree as pytree

from ..._dialect.text import tensor_text
from ...errors import ArgumentTypeError, ArgumentValueError
from ..imported import CallConvention, Check, ImportedProgram, Interface, ModelState, ProgramInput, TensorType
from ..outputs import BufferOutput, InputOutput, Output, ResultOutput, SizeOutput, ValueOutput, WeightsOutput, Write
from ..signature import Signature
from ..sizes import UNBOUNDED, Size, Symbol, Symbols
from .limits import measure
from .structures import load_structure
from .vocabulary import OPERATORS, OUTPUT_KINDS, PASSED_ON, TORCH_KINDS, VERSION, is_int, is_plain

_T = TypeVar("_T")
_Find: TypeAlias = Callable[[str], bytes | None]


class Restored(NamedTuple):
    """The interface and calling convention of a saved model."""

    program: ImportedProgram  # without text and weights
    signature: Signature
    more: dict[str, Any]  # the parts of PASSED_ON, by key


def restore(text: str, find: _Find) -> Restored:
    """Reads the text that `describe` wrote.

    find: returns the data of a tensor that is stored with the program, by its key, or None.
    Raises ArgumentValueError if the text is malformed.
    """
    try:
        described = json.loads(text)
        if described["python"] != VERSION:
            raise ArgumentValueError(
                f"expected metadata of version {VERSION}, but got {described['python']!r}: a different version of "
                "Inlay saved the model"
            )
        return _Reader(described, find).read()
    except ArgumentValueError:
        raise
    except Exception as error:  # any exception means that the text is malformed
        raise ArgumentValueError(f"malformed metadata: {_reason(error)}") from error


class _Reader:
    """Reads the parts of the metadata. Their methods raise exceptions of any type for a malformed value."""

    def __init__(self, described: Mapping[str, Any], find: _Find) -> None:
        self._described, self._find = described, find
        named = self.part("symbols", lambda symbols: [_symbol(symbol) for symbol in symbols])
        self._own = [sympy.Symbol(f"s{number}", integer=True, nonnegative=True) for number in range(len(named))]
        self._symbols = Symbols(zip(self._own, named, strict=True))
        self._interface = Interface(symbols=self._symbols)
        self._state_names: set[str] = set()

    def read(self) -> Restored:
        interface = self._interface
        interface.inputs = self.each("inputs", self.input)
        interface.results = self.each("results", self.tensor)
        self._state = state = ModelState(dict(self.each("carried", self.carried)))
        interface.carried = list(state.tensors)
        interface.outputs = self.each("outputs", self.output)
        interface.writes = self.each("writes", self.write)
        interface.states = self.each("states", self.state) if "states" in self._described else []
        interface.checks = self.each("checks", self.check) if "checks" in self._described else []
        interface.conditions = self.each("conditions", self.condition)
        in_spec, out_spec = self.part("in_spec", self.in_spec), self.part("out_spec", self.out_spec)
        names, defaults = self.part("argument_names", _names), self.part("defaults", _defaults)
        signature = _Signature(interface, CallConvention(in_spec, out_spec, names, defaults))
        more = {key: self._described[key] for key in PASSED_ON if key in self._described}
        return Restored(ImportedProgram("", {}, interface, state), signature, more)

    def part(self, key: str, read: Callable[[Any], _T]) -> _T:
        """Returns the value that `read` returns for part `key` of the metadata."""
        if key not in self._described:
            raise ArgumentValueError(f"malformed metadata: expected {key!r}, but it is missing")
        try:
            return read(self._described[key])
        except Exception as error:
            raise ArgumentValueError(f"malformed metadata: {key!r}: {_reason(error)}") from error

    def each(self, key: str, read: Callable[[Any], _T]) -> list[_T]:
        """Returns the values that `read` returns for the elements of part `key`, which is a list."""
        return self.part(key, lambda elements: [read(element) for element in _checked(list, elements)])

    def in_spec(self, text: str) -> pytree.TreeSpec:
        spec = load_structure(text)
        kinds = [child.type for child in spec.children()]
        if spec.type is not tuple or kinds != [tuple, dict]:
            raise ValueError(
                f"expected a tuple of positional arguments and a dict of keyword arguments, but got {spec}"
            )
        _check_count(spec, self._interface.inputs, "inputs")
        return spec

    def out_spec(self, text: str) -> pytree.TreeSpec:
        spec = load_structure(text)
        _check_count(spec, self._interface.outputs, "outputs")
        return spec

    def check(self, described: Sequence[Any]) -> Check:
        number, message = described
        _check_index(number, self._interface.results, "results")
        return Check(number, _checked(str, message))

    def input(self, described: Mapping[str, Any]) -> ProgramInput:
        name = _checked(str, described["name"])
        if "dtype" not in described:
            value, is_carrier = self.value(described["value"]), _checked(bool, described.get("carrier", False))
            if is_carrier and (not isinstance(value, Size) or value.line() is None):
                raise ValueError(f"expected {name!r} to determine a size, but got {value!r}")
            return ProgramInput(name, value=value, is_carrier=is_carrier)
        shape, dtype = self.tensor(described)
        return ProgramInput(name, shape, dtype)

    def state(self, described: Mapping[str, Any]) -> ProgramInput:
        state = self.input(described)
        if not state.is_tensor:
            raise ValueError(f"expected state {state.name!r} to be a tensor, but got {state.value!r}")
        if state.name in self._state_names:
            raise ValueError(f"expected states of different names, but got {state.name!r} twice")
        self._state_names.add(state.name)
        return state

    def output(self, described: Mapping[str, Any]) -> Output:
        kind, copied = described["kind"], _checked(bool, described["copied"])
        read: dict[str, Callable[[Any, Any, bool], Output]] = {
            "result": self.result_output,
            "input": self.input_output,
            "value": self.value_output,
            "size": self.size_output,
            "weights": self.weights_output,
            "buffer": self.buffer_output,
        }
        if kind not in read:
            raise ValueError(f"expected a kind of output ({', '.join(read)}), but got {kind!r}")
        return read[kind](described["index"], described["value"], copied)

    def result_output(self, index: int, _: Any, copied: bool) -> Output:
        _check_index(index, self._interface.results, "results")
        return ResultOutput(index, copied=copied)

    def input_output(self, index: int, _: Any, copied: bool) -> Output:
        inputs = self._interface.inputs
        _check_index(index, inputs, "inputs")
        if copied and not inputs[index].is_tensor:
            raise ValueError(f"expected the number of a copied tensor, but got {index}")
        return InputOutput(index, copied=copied)

    def value_output(self, _: Any, written: Any, copied: bool) -> Output:
        value = self.value(written)
        if copied or isinstance(value, Size):
            raise ValueError(f"expected a constant value that is not copied, but got {value!r}")
        return ValueOutput(value)

    def size_output(self, _: Any, written: Any, copied: bool) -> Output:
        size = self.value(written)
        if copied or not (isinstance(size, Size) or is_int(size)):
            raise ValueError(f"expected a size that is not copied, but got {size!r}")
        return SizeOutput(size) if isinstance(size, Size) else ValueOutput(size)

    def weights_output(self, _: Any, written: Any, copied: bool) -> Output:
        tensor = self.stored(written)
        return WeightsOutput(lambda state: tensor, copied=copied)

    def buffer_output(self, _: Any, name: str, copied: bool) -> Output:
        if name not in self._interface.carried:
            raise ValueError(f"expected the name of a buffer, but got {name!r}")
        return BufferOutput(name, copied=copied)

    def write(self, described: Sequence[Any]) -> Write:
        target, output = described
        if isinstance(target, str):
            if target not in self._interface.carried:
                raise ValueError(f"expected the name of a buffer to write, but got {target!r}")
        else:
            _check_index(target, self._interface.inputs, "inputs")
            if not self._interface.inputs[target].is_tensor:
                raise ValueError(f"expected the number of a tensor to write, but got {target}")
        write = Write(target, self.output(output))
        wanted, got = self._type_of(target), self._written_type(write.value)
        if got is None:
            raise ValueError(f"expected a tensor to write to {target!r}, but got a {OUTPUT_KINDS[type(write.value)]}")
        if not _can_equal(wanted, got):
            raise ValueError(
                f"expected {tensor_text(wanted.dtype, wanted.shape)} to write to {target!r}, but got "
                f"{tensor_text(got.dtype, got.shape)}"
            )
        return write

    def _type_of(self, target: str | int) -> TensorType:
        """Returns the type of a buffer or of an input that is a tensor."""
        if isinstance(target, str):
            tensor = self._state.tensors[target]
            return TensorType(tuple(tensor.shape), tensor.dtype)
        described = self._interface.inputs[target]
        assert described.dtype is not None
        return TensorType(described.shape, described.dtype)

    def _written_type(self, output: Output) -> TensorType | None:
        """Returns the type of an output, or None if it is no tensor."""
        match output:
            case ResultOutput():
                return self._interface.results[output.index]
            case InputOutput():
                return self._type_of(output.index) if self._interface.inputs[output.index].is_tensor else None
            case BufferOutput():
                return self._type_of(output.name)
            case WeightsOutput():
                tensor = output.compute(self._state.tensors)
                return TensorType(tuple(tensor.shape), tensor.dtype)
            case _:
                return None

    def carried(self, described: Mapping[str, Any]) -> tuple[str, torch.Tensor]:
        return _checked(str, described["name"]), self.stored(described)

    def stored(self, described: Mapping[str, Any]) -> torch.Tensor:
        """Returns a tensor that is stored with the program."""
        dims, dtype = self.tensor(described)
        shape = [dim for dim in dims if isinstance(dim, int)]
        if len(shape) != len(dims):
            raise ValueError(f"expected a tensor {described['key']!r} of known dims, but got {dims}")
        found = self._find(_checked(str, described["key"]))
        if found is None:
            raise ValueError(f"the tensor {described['key']!r} is missing")
        wanted = math.prod(shape) * dtype.itemsize
        if len(found) != wanted:
            raise ValueError(f"expected {wanted} bytes of the tensor {described['key']!r}, but got {len(found)}")
        if not found:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(bytearray(found), dtype=dtype).reshape(shape)

    def tensor(self, described: Mapping[str, Any]) -> TensorType:
        dims = tuple(self.dim(dim) for dim in _checked(list, described["dims"]))
        return TensorType(dims, _dtype(described["dtype"]))

    def dim(self, tree: Any) -> int | Size:
        dim = self.size(tree)
        if isinstance(dim, int) and dim < 0:
            raise ValueError(f"expected a dim of 0 or more, but got {dim}")
        return dim

    def size(self, tree: Any) -> int | Size:
        expr = self.expr(tree)
        if not isinstance(expr, sympy.Expr):
            raise ValueError(f"expected a size to be a number, but got {tree!r}")
        size = self._symbols.make(expr)
        if isinstance(size, Size):
            self._symbols.function(size.expr)  # raises an exception if the size can't be computed
        return size

    def condition(self, tree: Any) -> sympy.Basic:
        expr = self.expr(tree)
        if not isinstance(expr, sympy.logic.boolalg.Boolean) or expr.is_Symbol:
            raise ValueError(f"expected a condition, but got {tree!r}")
        self._symbols.function(expr)
        return expr

    def value(self, value: Any) -> Any:
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

    def expr(self, tree: Any) -> sympy.Basic:
        """Returns the expression for a tree of operators."""
        measure(tree)
        return self._build(tree)

    def _build(self, tree: Any) -> sympy.Basic:
        if isinstance(tree, bool):
            return sympy.true if tree else sympy.false
        if isinstance(tree, int):
            return sympy.Integer(tree)
        ((name, content),) = _checked(dict, tree).items()
        if name == "symbol":
            _check_index(content, self._own, "symbols")
            return self._own[content]
        args: list[Any] = [self._build(arg) for arg in _checked(list, content)]
        if name in ("Pow", "PowByNatural") and args[0].is_number:
            raise ValueError(f"expected a power of a size, but got {args}")
        return OPERATORS[name](*args)


class _Signature(Signature):
    """The signature of a saved model, whose positional arguments may share names. Such arguments have no keyword.

    Programs that other tools saved have such names.
    """

    def __init__(self, interface: Interface, convention: CallConvention) -> None:
        super().__init__(interface, convention)
        places: dict[str, list[int]] = collections.defaultdict(list)
        for place, name in enumerate([*self._positional, *self._keywords], 1):
            places[name].append(place)
        self._shared = {name: numbers for name, numbers in places.items() if len(numbers) > 1}
        if shared := [name for name in self._keywords if name in self._shared]:
            raise ArgumentValueError(f"malformed metadata: 'in_spec': expected one argument named {shared[0]!r}")
        self._positional = [
            f"{name} (place {place})" if name in self._shared else name
            for place, name in enumerate(self._positional, 1)
        ]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Returns the arguments of a call in flat order. Raises ArgumentTypeError if they don't fit the model.

        An argument whose name is shared must be positional.
        """
        for name, places in self._shared.items():
            if name in kwargs or len(args) < places[-1]:
                raise ArgumentTypeError(
                    f"argument {name!r} is ambiguous because places {' and '.join(map(str, places))} have that name: "
                    "pass them by position"
                )
        return super().flatten(args, kwargs)


def _can_equal(wanted: TensorType, got: TensorType) -> bool:
    """Returns false if tensors of these types never have the same dtype and dims."""
    return (
        wanted.dtype == got.dtype
        and len(wanted.shape) == len(got.shape)
        and all(
            a == b for a, b in zip(wanted.shape, got.shape, strict=True) if isinstance(a, int) and isinstance(b, int)
        )
    )


def _symbol(described: Mapping[str, Any]) -> Symbol:
    symbol = Symbol(_checked(str, described["name"]), described["min"], described["max"])
    if not (is_int(symbol.min) and is_int(symbol.max) and 0 <= symbol.min <= symbol.max <= UNBOUNDED):
        raise ValueError(f"expected a range of sizes for {symbol.name!r}, but got {symbol.min!r} to {symbol.max!r}")
    return symbol


def _names(names: Any) -> list[str] | None:
    return None if names is None else [_checked(str, name) for name in _checked(list, names)]


def _defaults(defaults: Any) -> dict[str, Any]:
    checked: dict[str, Any] = _checked(dict, defaults)
    for name, value in checked.items():
        if not is_plain(value):
            raise ValueError(f"expected a plain value for {name!r}, but got {value!r}")
    return checked


def _checked(kind: type[_T], value: Any) -> _T:
    """Returns the value if it has type `kind`. Raises TypeError otherwise."""
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__}, but got {value!r}")
    return value


def _check_index(index: Any, things: Sized, name: str) -> None:
    if not is_int(index) or not 0 <= index < len(things):
        raise ValueError(f"expected the number of one of {len(things)} {name}, but got {index!r}")


def _check_count(spec: pytree.TreeSpec, things: Sized, name: str) -> None:
    if spec.num_leaves != len(things):
        raise ValueError(f"expected {len(things)} leaves for the {name}, but got {spec.num_leaves}")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ArgumentValueError) else f"{type(error).__name__}: {error}"


def _dtype(name: str) -> torch.dtype:
    dtype: torch.dtype = _torch_value("dtype", name)
    return dtype


def _torch_value(kind: str, name: str) -> Any:
    """Returns a dtype, layout or memory format of PyTorch by its name."""
    value = vars(torch).get(name)  # getattr would import modules of PyTorch
    if not isinstance(value, TORCH_KINDS[kind]):
        raise ValueError(f"expected a {kind} of PyTorch, but got {name!r}")
    return value
