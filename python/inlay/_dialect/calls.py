# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Framework calls as text (what an `inlay.opaque` op's `call` holds), and how the framework makes them.

One call: `{"op": "aten::where", "overload": "self", "args": [{"operand": 0}, 1.5, ...], "kwargs": {...}}`, with
`"results": [0, 2]` for the numbers of the results that are wanted, of a call that gives several. Several calls are one
graph: `{"calls": [...], "results": [...], "leaving": {"name": ...}}`; a call in it may also be a
`{"function": "operator.mul"}` or a `{"higher_order": "cond"}`. A graph op that is to run in PyTorch is
`{"graph_op": "gelu", "attributes": {"approximate": true}}`: it takes all operands and sizes and is computed by its
meaning.

Arguments: numbers, booleans, strings, null and lists stand for themselves; `{"operand": n}` is the n-th tensor operand,
`{"strided": [n, dims]}` the same with its dims in this order in memory, from the outermost to the innermost,
`{"size": n}` the n-th number that is known at a call alone, `{"value": n}` what the n-th call of the graph gave,
`{"kept": "name"}` a value that goes beside the program, `{"graph": ...}` a graph as a function; what else JSON can't
hold is named, as `{"dtype": "float32"}`.
"""

import contextlib
import functools
import json
import math
import operator

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
FUNCTIONS = {"operator": operator, "math": math, "torch": torch}


def flatten_results(results):
    """The tensors among a call's results, in order: lists are flattened, None is left out."""
    if isinstance(results, (list, tuple)):
        return [tensor for result in results for tensor in flatten_results(result)]
    return [results] if isinstance(results, torch.Tensor) else []


def run_call(call, inputs, outputs, kept=None, sizes=()):
    """Makes the call described by the JSON text `call` and puts its tensor results into `outputs`.

    inputs, outputs: torch tensors that may share memory with the program's buffers; inputs are not written. kept: name
    -> value, of values that go beside the program; what leaves a graph is added. sizes: ints, the numbers of the call
    that follow from the sizes of the program's inputs.
    Raises Error if the results' number, dtypes or shapes are not those of `outputs`.
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
        results = flatten_results(results)
        if len(results) != len(outputs):
            raise Error(f"expected {len(outputs)} tensor results, but got {len(results)}")
        for number, (output, result) in enumerate(zip(outputs, results, strict=True)):
            if result.dtype != output.dtype or result.shape != output.shape:
                raise _mismatch(number, tensor_text(output.dtype, output.shape), result)
            output.copy_(result)


def describe_call(call):
    """What the JSON text `call` calls, for messages."""
    return str(_decode_call(call))


def no_autocast():
    """Meanwhile calls give the dtypes that the export says, whatever is on around them."""
    return torch.autocast("cpu", enabled=False) if torch.is_autocast_enabled("cpu") else contextlib.nullcontext()


def _mismatch(number, wanted, result):
    got = tensor_text(result.dtype, result.shape)
    return Error(f"expected result {number} to be {wanted}, but got {got}")


class _Frame:
    """What the arguments of calls refer to."""

    def __init__(self, operands, kept, sizes):
        self.operands, self.kept, self.sizes, self.values = operands, kept, sizes, []

    def find_kept(self, name):
        if name not in (self.kept or {}):
            raise Error(f"{name!r} goes beside the program, but the call was not given it")
        return self.kept[name]

    def bind(self, value):
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
    """An argument that is known at a call alone."""

    def __init__(self, read):
        self.read = read  # function(frame)


class _Call:
    """One call, decoded."""

    def __init__(self, function, args, kwargs, used):
        self.function, self.args, self.kwargs, self.used = function, args, kwargs, used
        self._into = _find_out_variant(function) if used is None else None

    def __str__(self):
        return str(self.function)

    def run(self, frame):
        return self.function(*frame.bind(self.args), **frame.bind(self.kwargs))

    def writes_into(self, outputs):
        """Whether PyTorch can compute the results in place of `outputs`."""
        return self._into is not None and len(self._into[1]) == len(outputs)

    def run_into(self, inputs, outputs, sizes):
        frame = _Frame(inputs, None, sizes)
        function, names = self._into
        wanted = [output.shape for output in outputs]
        function(*frame.bind(self.args), **frame.bind(self.kwargs), **dict(zip(names, outputs, strict=True)))
        for number, (output, shape) in enumerate(zip(outputs, wanted, strict=True)):
            if output.shape != shape:
                raise _mismatch(number, tensor_text(output.dtype, shape), output)


class _GraphOp:
    """A graph op, computed by its meaning."""

    used = None

    def __init__(self, name, attributes):
        self._op, self._attributes = ops.table()[name], attributes

    def __str__(self):
        return f"inlay.{self._op.name}"

    def writes_into(self, outputs):
        return False

    def run(self, frame):
        return compute(self._op.name, self._op.group(frame.operands), self._attributes, frame.sizes)


class _Graph:
    """Several calls, decoded; called itself, it is a function for a higher-order operator."""

    def __init__(self, calls, results, leaving):
        self._calls, self._results, self._leaving = calls, results, leaving

    def __str__(self):
        return "graph of " + ", ".join(str(call) for call in self._calls)

    def run(self, operands, kept, sizes):
        frame = _Frame(operands, kept, sizes)
        for call in self._calls:
            frame.values.append(call.run(frame))
        for name, value in self._leaving.items():
            kept[name] = frame.bind(value)
        return frame.bind(self._results)


def _find_out_variant(op):
    """(overload of `op` that writes its results into given tensors, the names of these), or None."""
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
        if torch.Tag.generated not in candidate.tags:  # these compute elsewhere and copy
            return candidate, outs
    return None


# -- From text --------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _decode_call(text):
    parsed = json.loads(text)
    if "graph_op" in parsed:
        return _GraphOp(parsed["graph_op"], _decode_all(parsed.get("attributes", {})))
    return _decode_graph(parsed) if "calls" in parsed else _decode_one(parsed)


def _decode_graph(parsed):
    calls = [_decode_one(call) for call in parsed["calls"]]
    return _Graph(calls, _decode(parsed["results"]), _decode_all(parsed.get("leaving", {})))


def _decode_one(parsed):
    if "function" in parsed:
        module, _, name = parsed["function"].partition(".")
        function = getattr(FUNCTIONS[module], name)
    elif "higher_order" in parsed:
        function = getattr(torch.ops.higher_order, parsed["higher_order"])
    else:
        function = _find_operator(parsed["op"], parsed.get("overload"))
    return _Call(function, _decode(parsed["args"]), _decode_all(parsed.get("kwargs", {})), parsed.get("results"))


def _find_operator(name, overload):
    namespace, _, base = name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    if packet is None:
        raise Error(f"PyTorch has no operator {name}: import the module that registers it")
    return getattr(packet, overload or "default")


def _decode_all(values):
    return {name: _decode(value) for name, value in values.items()}


def _decode(value):
    if isinstance(value, list):
        return [_decode(element) for element in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    return _DECODERS[kind](content) if kind in _DECODERS else getattr(torch, content)


def _lay_out(tensor, order):
    places = [order.index(dim) for dim in range(len(order))]
    return tensor.permute(order).contiguous().permute(places)


def _decode_function(parsed):
    graph = _decode_graph(parsed)

    def make(frame):
        return lambda *operands: graph.run(operands, frame.kept, frame.sizes)

    return _Reference(make)


_DECODERS = {
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
