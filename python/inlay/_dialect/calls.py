# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs framework calls that are given as text, as in the attribute `call` of `inlay.opaque`.

A call is the JSON object `{"op": "aten::where", "overload": "self", "args": [{"operand": 0}, 1.5], "kwargs": {}}`. If
only some results are used, `"results": [0, 2]` has their numbers. Several calls form a graph:
`{"calls": [...], "results": [...], "leaving": {"name": ...}}`. A call of a graph may also be
`{"function": "operator.mul", ...}` or `{"higher_order": "cond", ...}`. `{"graph_op": "gelu", "attributes":
{"approximate": true}}` is a graph op that PyTorch runs. It reads all operands and sizes.

Numbers, booleans, strings, null and lists are arguments as they are. Other arguments are objects:

    {"operand": n}           the n-th tensor operand
    {"strided": [n, dims]}   the n-th tensor operand with its dims in this order in memory, the outermost first
    {"size": n}              the n-th of the numbers that depend on the sizes of the program's inputs
    {"value": n}             the result of the n-th call of the graph
    {"kept": "name"}         a value that is passed beside the program
    {"graph": ...}           a graph as a function
    {"dtype": "float32"}     a value that JSON does not have; "device", "slice" and others likewise
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import torch

from ..errors import Error
from . import ops
from .meaning import compute
from .text import tensor_text

NAMED = {
    "dtype": torch.dtype,
    "device": torch.device,
    "layout": torch.layout,
    "memory_format": torch.memory_format,
}
# The first part of a function's name -> the module that has the function. A module is imported when it is needed.
FUNCTIONS = {"operator": "operator", "math": "math", "torch": "torch"}
FUNCTIONS |= {"onnx": "inlay._import.onnx.deferred", "onnx_failing": "inlay._import.onnx.library.failing"}
# Namespace of custom ops -> the module that registers them.
_OPERATORS = {"inlay_onnx": "inlay._import.onnx.library"}


def flatten_results(results: Any) -> list[torch.Tensor]:
    """Returns the tensors among the results of a call in order. Lists are flattened, and None is dropped."""
    if isinstance(results, (list, tuple)):
        return [tensor for result in results for tensor in flatten_results(result)]
    return [results] if isinstance(results, torch.Tensor) else []


def unflatten_results(results: Any, values: Iterator[Any]) -> Any:
    """Returns `values` nested like `results`, with None in place of results that are no tensors."""
    if isinstance(results, (list, tuple)):
        return [unflatten_results(result, values) for result in results]
    return next(values) if isinstance(results, torch.Tensor) else None


def run_call(
    call: str,
    inputs: Sequence[torch.Tensor],
    outputs: Sequence[torch.Tensor],
    kept: dict[str, Any] | None = None,
    sizes: Sequence[int] = (),
) -> None:
    """Runs a call and writes its tensor results to `outputs`.

    call: the call as JSON.
    inputs: tensors that may share memory with the buffers of the program. They are not written.
    outputs: tensors of the dtypes and shapes of the results. They may share memory with the buffers of the program.
    kept: the values that are passed beside the program, by name. The values that leave a graph are added.
    sizes: the numbers of the call that depend on the sizes of the program's inputs.
    Raises Error if the number, dtypes or shapes of the results differ from those of `outputs`.
    """
    decoded = _decode_call(call)
    with torch.no_grad(), no_autocast():
        if isinstance(decoded, _Graph):
            results = decoded.run(inputs, {} if kept is None else kept, sizes)
        elif decoded.writes_into(outputs):
            decoded.run_into(inputs, outputs, sizes)
            return
        else:
            results = decoded.run(_Frame(inputs, kept, sizes))
            results = results if decoded.used is None else [results[number] for number in decoded.used]
        tensors = flatten_results(results)
        if len(tensors) != len(outputs):
            raise Error(f"expected {len(outputs)} tensor results, but got {len(tensors)}")
        for number, (output, result) in enumerate(zip(outputs, tensors, strict=True)):
            if result.dtype != output.dtype or result.shape != output.shape:
                raise _mismatch(number, tensor_text(output.dtype, output.shape), result)
            output.copy_(result)


def describe_call(call: str) -> str:
    """Returns the name of the function that the JSON text `call` calls, for messages."""
    return str(_decode_call(call))


def no_autocast() -> contextlib.AbstractContextManager[Any]:
    """Returns a context without autocast, so that the dtypes of results are those of the export."""
    return torch.autocast("cpu", enabled=False) if torch.is_autocast_enabled("cpu") else contextlib.nullcontext()


def _mismatch(number: int, wanted: str, result: torch.Tensor) -> Error:
    got = tensor_text(result.dtype, result.shape)
    return Error(f"expected result {number} to be {wanted}, but got {got}")


class _Frame:
    """The values that the arguments of calls refer to."""

    def __init__(self, operands: Sequence[Any], kept: dict[str, Any] | None, sizes: Sequence[int]) -> None:
        self.operands, self.kept, self.sizes = operands, kept, sizes
        self.values: list[Any] = []  # the result of each call of the graph so far

    def find_kept(self, name: str) -> Any:
        if self.kept is None or name not in self.kept:
            raise Error(f"expected the value {name!r} of the call to be passed beside the program, but it is missing")
        return self.kept[name]

    def bind(self, value: Any) -> Any:
        """Returns the argument with its references replaced by the values of this frame."""
        kind = type(value)
        if kind is _Reference:
            return value.read(self)
        if kind is list:
            return [self.bind(element) for element in value]
        if kind is tuple:
            return tuple(self.bind(element) for element in value)
        if kind is dict:
            return {name: self.bind(element) for name, element in value.items()}
        return value


class _Reference:
    """An argument whose value is known only when the call runs."""

    def __init__(self, read: Callable[[_Frame], Any]) -> None:
        self.read = read


class _OutVariant(NamedTuple):
    """An overload that writes its results to given tensors, and the names of these arguments."""

    function: Callable[..., Any]
    names: list[str]


class _Runnable(Protocol):
    """A decoded call of a function or of a graph op."""

    used: list[int] | None  # numbers of the used results; None for all

    def writes_into(self, outputs: Sequence[torch.Tensor]) -> bool: ...
    def run(self, frame: _Frame) -> Any: ...
    def run_into(
        self, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], sizes: Sequence[int]
    ) -> None: ...


class _Call:
    """A decoded call of a function."""

    def __init__(
        self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], used: list[int] | None
    ) -> None:
        self.function, self.args, self.kwargs, self.used = function, args, kwargs, used
        self._into = _find_out_variant(function) if used is None else None

    def __str__(self) -> str:
        return str(self.function)

    def run(self, frame: _Frame) -> Any:
        return self.function(*frame.bind(self.args), **frame.bind(self.kwargs))

    def writes_into(self, outputs: Sequence[torch.Tensor]) -> bool:
        """Returns true if PyTorch can write the results directly to `outputs`."""
        return self._into is not None and len(self._into.names) == len(outputs)

    def run_into(self, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], sizes: Sequence[int]) -> None:
        """Runs the call, which writes its results to `outputs`. Expects that `writes_into` returned true."""
        assert self._into is not None
        frame = _Frame(inputs, None, sizes)
        function, names = self._into
        wanted = [output.shape for output in outputs]
        function(*frame.bind(self.args), **frame.bind(self.kwargs), **dict(zip(names, outputs, strict=True)))
        for number, (output, shape) in enumerate(zip(outputs, wanted, strict=True)):
            if output.shape != shape:
                raise _mismatch(number, tensor_text(output.dtype, shape), output)


class _GraphOp:
    """A graph op that PyTorch computes."""

    def __init__(self, name: str, attributes: Mapping[str, Any]) -> None:
        self._op, self._attributes = ops.table()[name], attributes
        self.used: list[int] | None = None

    def __str__(self) -> str:
        return f"inlay.{self._op.name}"

    def writes_into(self, outputs: Sequence[torch.Tensor]) -> bool:
        return False

    def run(self, frame: _Frame) -> torch.Tensor:
        return compute(self._op.name, self._op.group(frame.operands), self._attributes, frame.sizes)

    def run_into(self, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], sizes: Sequence[int]) -> None:
        raise NotImplementedError


class _Graph:
    """The decoded calls of a graph."""

    def __init__(self, calls: Sequence[_Call], results: Any, leaving: Mapping[str, Any]) -> None:
        self._calls, self._results, self._leaving = calls, results, leaving

    def __str__(self) -> str:
        return "graph of " + ", ".join(str(call) for call in self._calls)

    def run(self, operands: Sequence[Any], kept: dict[str, Any], sizes: Sequence[int]) -> Any:
        """Returns the results of the graph. The values that leave it are added to `kept`."""
        frame = _Frame(operands, kept, sizes)
        for call in self._calls:
            frame.values.append(call.run(frame))
        if not self._leaving:  # in a function that torch.vmap calls, operands have no memory that could be looked at
            return frame.bind(self._results)
        taken = {tensor.untyped_storage().data_ptr() for tensor in operands if _is_strided(tensor)}
        for name, value in self._leaving.items():
            kept[name] = _detach(frame.bind(value), taken)
        return frame.bind(self._results)


def _is_strided(value: Any) -> bool:
    """Returns true if a value is a tensor with strides."""
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def _detach(value: Any, taken: set[int]) -> Any:
    """Returns a value that shares no memory with operands, which the program overwrites or frees.

    taken: the addresses of the memory of operands.
    """
    if isinstance(value, (list, tuple)):
        return type(value)(_detach(element, taken) for element in value)
    if isinstance(value, torch.Tensor) and not _is_strided(value):  # a sparse tensor may share the memory of its parts
        return value.clone()
    shares = _is_strided(value) and value.untyped_storage().data_ptr() in taken
    return value.clone() if shares else value


def _find_out_variant(op: Callable[..., Any]) -> _OutVariant | None:
    """Returns the overload of `op` that writes its results to given tensors, or None if there is none."""
    if not isinstance(op, torch._ops.OpOverload) or op.namespace != "aten" or op._schema.is_mutable:
        return None
    if torch.Tag.nondeterministic_seeded in op.tags:
        return None
    wanted = [(argument.name, str(argument.type)) for argument in op._schema.arguments]
    packet = getattr(torch.ops.aten, op._schema.name.partition("::")[2])
    for candidate in (getattr(packet, overload) for overload in packet.overloads()):
        arguments = candidate._schema.arguments
        outs = [argument.name for argument in arguments if argument.is_out]
        rest = [(argument.name, str(argument.type)) for argument in arguments if not argument.is_out]
        if not outs or rest != wanted or len(outs) != len(op._schema.returns):
            continue
        if torch.Tag.generated not in candidate.tags:  # generated overloads allocate the results and copy them
            return _OutVariant(candidate, outs)
    return None


# -- From text --------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _decode_call(text: str) -> _Graph | _Runnable:
    parsed = json.loads(text)
    if "graph_op" in parsed:
        return _GraphOp(parsed["graph_op"], _decode_all(parsed.get("attributes", {})))
    return _decode_graph(parsed) if "calls" in parsed else _decode_function_call(parsed)


def _decode_graph(parsed: Mapping[str, Any]) -> _Graph:
    calls = [_decode_function_call(call) for call in parsed["calls"]]
    return _Graph(calls, _decode(parsed["results"]), _decode_all(parsed.get("leaving", {})))


def _decode_function_call(parsed: Mapping[str, Any]) -> _Call:
    if "function" in parsed:
        module, _, name = parsed["function"].partition(".")
        function = getattr(_import_module(FUNCTIONS[module]), name)
    elif "higher_order" in parsed:
        function = getattr(torch.ops.higher_order, parsed["higher_order"])
    else:
        function = _find_operator(parsed["op"], parsed.get("overload"))
    return _Call(function, _decode(parsed["args"]), _decode_all(parsed.get("kwargs", {})), parsed.get("results"))


def _find_operator(name: str, overload: str | None) -> Any:
    namespace, _, base = name.partition("::")
    if namespace in _OPERATORS:
        _import_module(_OPERATORS[namespace])
    packet = getattr(getattr(torch.ops, namespace), base, None)
    if packet is None:
        raise Error(f"PyTorch has no operator {name}: import the module that registers it")
    return getattr(packet, overload or "default")


def _import_module(name: str) -> Any:
    """Returns a module. Raises Error if a package that it needs is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Error(f"a call of the program needs the package {error.name!r}: install it") from error


def _decode_all(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _decode(value) for name, value in values.items()}


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(element) for element in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    return _DECODERS[kind](content) if kind in _DECODERS else getattr(torch, content)


def _lay_out(tensor: torch.Tensor, order: list[int]) -> torch.Tensor:
    """Returns the tensor with its dims in this order in memory, from the outermost to the innermost."""
    places = [order.index(dim) for dim in range(len(order))]
    return tensor.permute(order).contiguous().permute(places)


def _decode_function(parsed: Mapping[str, Any]) -> _Reference:
    graph = _decode_graph(parsed)

    def make(frame: _Frame) -> Callable[..., Any]:
        return lambda *operands: graph.run(operands, {} if frame.kept is None else frame.kept, frame.sizes)

    return _Reference(make)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "operand": lambda number: _Reference(lambda frame: frame.operands[number]),
    "strided": lambda parts: _Reference(lambda frame: _lay_out(frame.operands[parts[0]], parts[1])),
    "size": lambda number: _Reference(lambda frame: frame.sizes[number]),
    "value": lambda number: _Reference(lambda frame: frame.values[number]),
    "kept": lambda name: _Reference(lambda frame: frame.find_kept(name)),
    "graph": _decode_function,
    "float": float,
    "complex": lambda parts: complex(*(float(part) for part in parts)),
    "device": torch.device,
    "tuple": lambda elements: tuple(_decode(element) for element in elements),
    "dict": _decode_all,
    "slice": lambda parts: slice(*parts),
    "operator": lambda name: _find_operator(*name),
}
