# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a model before it is imported: its version, its ops, its types and its dims."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import onnx
import torch
from onnx import inliner, shape_inference

from ..._dialect.text import tensor_text
from ...errors import ArgumentTypeError, ArgumentValueError, ModelWarning, UnsupportedError
from .domains import DEFAULT, domain_name, domain_of
from .shapes import OpenDim
from .structure import bodies, describe, forget_types, names_used
from .tensors import DTYPES, ValueType, type_of
from .values import Value
from .versions import OLDEST, OpTable

_MAX_ELEMENTS = 2**60
_MAX_FUNCTION_NODES = 2**20  # a small file could describe any number
_MAX_SMALL_BYTES = 1024  # of an initializer whose elements shape inference may need, such as a shape


def check_text(message: Any, name: str) -> None:
    """Raises ArgumentValueError if a string in a model isn't UTF-8. protobuf returns such a string as bytes.

    message: a protobuf message. name: the model, for messages.
    """
    if isinstance(message, onnx.TensorProto):
        texts: list[Any] = [message.name]
        parts: list[Any] = list(message.external_data)
    else:
        texts, parts = [], []
        for field, value in message.ListFields():
            several = list(value) if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else [value]
            if field.type == field.TYPE_STRING:
                texts += several
            elif field.type == field.TYPE_MESSAGE:
                parts += several
    for text in texts:
        if isinstance(text, bytes):
            raise ArgumentValueError(f"{name} is not a valid ONNX model: expected text in UTF-8, but got {text[:40]!r}")
    for part in parts:
        check_text(part, name)


def check_versions(model: onnx.ModelProto, name: str) -> None:
    """Raises UnsupportedError unless Inlay supports the version of ONNX's own ops in a model."""
    version, newest = default_version(model), onnx.defs.onnx_opset_version()
    if version is None and any(domain_of(node.domain) == DEFAULT for node in model.graph.node):
        raise UnsupportedError(f"{name} has no version of ONNX's own ops, but expected {OLDEST} or newer")
    if version is not None and version < OLDEST:
        raise UnsupportedError(f"{name} has ops of version {version}, but expected {OLDEST} or newer")
    if version is not None and version > newest:
        raise UnsupportedError(
            f"{name} has ops of version {version}, but the installed package onnx supports {newest} at most"
        )


def check_ops(model: onnx.ModelProto, table: OpTable) -> None:
    """Raises UnsupportedError unless `table` has a handler for each node."""
    for node, place in walk(model.graph.node):
        table.find(node, place)


def walk(nodes: Iterable[onnx.NodeProto], around: str = "") -> Iterator[tuple[onnx.NodeProto, str]]:
    """Returns nodes and those in their bodies, with their places. around: the place of the nodes, for messages."""
    for number, node in enumerate(nodes):
        place = describe(node, number) + around
        yield node, place
        for name, body in bodies(node):
            yield from walk(body.node, f", in {name} of {place}")


def default_version(model: onnx.ModelProto) -> int | None:
    """Returns the version of the default domain's ops; None if the model has none."""
    versions = (entry.version for entry in model.opset_import if domain_of(entry.domain) == DEFAULT)
    return max(versions, default=None)


def inline_functions(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Returns the model with its functions inlined."""
    if not model.functions:
        return model
    _check_functions(model, name)
    try:
        return inliner.inline_local_functions(model)
    except Exception as error:
        raise ArgumentValueError(f"{name} is not a valid ONNX model: {_first_line(error)}") from error


class _FunctionName(NamedTuple):
    """The name of a function of a model, as a node that calls it gives it."""

    domain: str
    name: str
    overload: str


def _function_name(node: onnx.NodeProto) -> _FunctionName:
    return _FunctionName(domain_of(node.domain), node.op_type, node.overload)


def _check_functions(model: onnx.ModelProto, name: str) -> None:
    """Raises ArgumentValueError for functions that can't be inlined, and for those of which too many nodes become."""
    functions = {_FunctionName(domain_of(one.domain), one.name, one.overload): one for one in model.functions}
    calls = {key: _check_calls(one.node, functions, _spell(key)) for key, one in functions.items()}
    for key, function in functions.items():
        _check_scope(function, _spell(key))
    counts: dict[_FunctionName, int] = {}
    for key in functions:
        path = [key]  # of functions that wait for the counts of those that they call
        while path:
            function = path[-1]
            waiting = next((called for called in calls[function] if called not in counts), None)
            if waiting in path:
                raise ArgumentValueError(f"{name} is not a valid ONNX model: {_spell(waiting)} calls itself")
            if waiting is not None:
                path.append(waiting)
                continue
            own = sum(1 for _ in walk(functions[function].node)) - len(calls[function])
            counts[function] = own + sum(counts[called] for called in calls[function])
            path.pop()
    total = sum(counts[called] for called in _check_calls(model.graph.node, functions))
    if total > _MAX_FUNCTION_NODES:
        raise ArgumentValueError(
            f"the functions of {name} call each other so often that they have {total} nodes once they are inlined, but "
            f"expected {_MAX_FUNCTION_NODES} at most"
        )


def _spell(function: _FunctionName) -> str:
    return f"the function {function.name!r} of domain {domain_name(function.domain)!r}"


def _check_calls(
    nodes: Iterable[onnx.NodeProto], functions: Mapping[_FunctionName, onnx.FunctionProto], around: str = ""
) -> list[_FunctionName]:
    """Returns the functions that nodes call, also in bodies, once for each call.

    around: the function of the nodes, for messages. Raises ArgumentValueError for a call with too many inputs or
    outputs.
    """
    called = []
    for node, place in walk(nodes, around and f", in {around}"):
        function = functions.get(_function_name(node))
        if function is None:
            continue
        called.append(_function_name(node))
        for kind, given, known in (("inputs", node.input, function.input), ("outputs", node.output, function.output)):
            if len(given) > len(known):
                raise ArgumentValueError(f"{place}: expected {len(known)} {kind} at most, but got {len(given)}")
    return called


def _check_scope(function: onnx.FunctionProto, around: str) -> None:
    """Raises ArgumentValueError if a function uses a value of its caller. around: the function, for messages."""
    known = {*function.input, *(output for node in function.node for output in node.output)}
    for number, node in enumerate(function.node):
        if missing := sorted(names_used(node) - known):
            raise ArgumentValueError(
                f"{describe(node, number)}, in {around}: no node or input of the function has the name {missing[0]!r}"
            )
    if missing := sorted(set(function.output) - known):
        raise ArgumentValueError(f"no node or input of {around} has the name {missing[0]!r}, which is an output")


def take_initializers(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    """Returns the initializers of a model and removes the large ones from it. These become arguments of its graph.

    Shape inference does not need their elements, and would copy them.
    """
    graph = model.graph
    taken = list(graph.initializer)
    del graph.initializer[:]
    given = {info.name for info in graph.input}
    for tensor in taken:
        if tensor.data_location == tensor.DEFAULT and tensor.ByteSize() <= _MAX_SMALL_BYTES:
            graph.initializer.append(tensor)
        elif tensor.name not in given:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return taken


def infer_types(model: onnx.ModelProto, name: str) -> dict[str, ValueType]:
    """Returns the types of a model's values by name, as far as they are known.

    Raises ArgumentValueError with the message of ONNX's shape inference, for example about an op that can't take the
    dtypes of its inputs.
    """
    plain = onnx.ModelProto()
    plain.CopyFrom(model)
    forget_types(plain.graph)
    try:
        inferred = shape_inference.infer_shapes(plain, check_type=True, data_prop=True)
    except Exception as error:  # of shape inference or of protobuf
        raise ArgumentValueError(f"{name} is not a valid ONNX model: {_first_line(error)}") from error
    return declared_types(inferred.graph)


def declared_types(graph: onnx.GraphProto) -> dict[str, ValueType]:
    """Returns the types of tensors by name that a graph declares."""
    types = {}
    for info in [*graph.value_info, *graph.output]:
        if info.type.WhichOneof("value") == "tensor_type" and info.type.tensor_type.elem_type in DTYPES:
            types[info.name] = type_of(info, f"value {info.name!r}")
    return types


def check_outputs(graph: onnx.GraphProto, outputs: Sequence[Value], name: str) -> None:
    """Raises ArgumentValueError if an output has another dtype than the graph declares. Warns about other dims.

    name: the model, for messages.
    """
    declared = declared_types(graph)
    for info, output in zip(graph.output, outputs, strict=True):
        value = output.meta["val"] if isinstance(output, torch.fx.Node) else None
        if info.name in declared and isinstance(output, list):
            raise ArgumentValueError(f"{name} declares the output {info.name!r} as a tensor, but it is a sequence")
        if info.name not in declared or not isinstance(value, torch.Tensor):
            continue
        dtype, dims = declared[info.name]
        pairs = list(zip(dims or (), value.shape, strict=False))
        fits = all(want == have for want, have in pairs if isinstance(want, int) and isinstance(have, int))
        message = (
            f"{name} declares the output {info.name!r} as {tensor_text(dtype, dims or ())}, "
            f"but its nodes give {tensor_text(value.dtype, value.shape)}"
        )
        if value.dtype != dtype:
            raise ArgumentValueError(message)
        if dims is not None and (len(dims) != value.dim() or not fits):
            warnings.warn(message, ModelWarning, stacklevel=2)


def graph_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """Returns the inputs that a caller passes: those without an initializer."""
    fixed = {tensor.name for tensor in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in fixed]


def fix_dims(
    model: onnx.ModelProto, tensors: Sequence[Any] | None, name: str, open_dims: Sequence[Mapping[int, OpenDim]]
) -> None:
    """Gives a model's inputs the dims of example inputs.

    tensors: an example for each of `graph_inputs`. None if there are no examples: then all dims but the open ones must
    be numbers. open_dims: for each input, its open dims by number.
    Raises UnsupportedError for a dim that is not a number, ArgumentTypeError or ArgumentValueError for examples that do
    not fit.
    """
    for number, info in enumerate(graph_inputs(model)):
        dtype, dims = type_of(info, f"input {info.name!r}")
        if tensors is None:
            fixed = dims and [1 if dim in open_dims[number] else size for dim, size in enumerate(dims)]
            check_known(info.name, fixed, name)
            sizes = [
                open_dims[number][dim].name if dim in open_dims[number] else size for dim, size in enumerate(dims or ())
            ]
        else:
            _check_example(info.name, number, dtype, dims, tensors[number])
            sizes = [
                open_dims[number][dim].name if dim in open_dims[number] else size
                for dim, size in enumerate(tensors[number].shape)
            ]
        info.type.CopyFrom(onnx.helper.make_tensor_type_proto(info.type.tensor_type.elem_type, sizes))


def check_known(name: str, dims: Sequence[int | str] | None, model: str) -> None:
    """Raises UnsupportedError or ArgumentValueError unless the dims of input `name` are known and possible for a
    tensor.

    model: the model, for messages.
    """
    if dims is None:
        raise UnsupportedError(f"input {name!r} of {model} has no dims: give example inputs, which fix them")
    for dim, size in enumerate(dims):
        if not isinstance(size, int):
            raise UnsupportedError(
                f"dim {dim} of input {name!r} is symbolic ({size}): give example inputs, which fix it"
            )
        if size < 0:
            raise ArgumentValueError(f"dim {dim} of input {name!r} of {model} is {size}, but expected 0 or more")
    if math.prod(size for size in dims if isinstance(size, int)) > _MAX_ELEMENTS:
        raise ArgumentValueError(
            f"input {name!r} of {model} has the dims {list(dims)}, but expected at most 2**60 elements"
        )


def _check_example(name: str, number: int, dtype: torch.dtype, dims: Sequence[int | str] | None, tensor: Any) -> None:
    """Raises ArgumentTypeError or ArgumentValueError unless an example fits the type of the input."""
    place = f"example input {name!r} (place {number + 1})"
    if not isinstance(tensor, torch.Tensor):
        raise ArgumentTypeError(f"{place}: expected a tensor, but got {type(tensor).__name__}")
    text = tensor_text(dtype, dims or ())
    got = tensor_text(tensor.dtype, tensor.shape)
    if tensor.dtype != dtype:
        raise ArgumentTypeError(f"{place}: expected dtype {text}, but got {got}")
    if dims is None:
        return
    fits = all(isinstance(want, str) or want in (have, 0) for want, have in zip(dims, tensor.shape, strict=False))
    if len(dims) != tensor.dim() or not fits:
        raise ArgumentValueError(f"{place}: expected {text}, but got {got}")
    if any(want == 0 != have for want, have in zip(dims, tensor.shape, strict=True)):
        # Some exporters write 0 for a size that is not known.
        warnings.warn(f"{place}: the model declares {text}, but the example is {got}", ModelWarning, stacklevel=2)


def _first_line(error: Exception) -> str:
    """Returns the first line of an exception's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
