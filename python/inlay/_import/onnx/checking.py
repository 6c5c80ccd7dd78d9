# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must hold of a model before it is imported: its version, its ops, its types, dims that are numbers."""

import math
from collections.abc import Sequence

import onnx
import torch
from onnx import inliner, shape_inference

from ..._dialect.text import tensor_text
from ...errors import ArgumentTypeError, ArgumentValueError, UnsupportedError, did_you_mean
from .tensors import DTYPES, type_of

OLDEST = 17
DOMAINS = ("", "ai.onnx")
_MOST = 2**60  # elements
_LARGE = 1024  # bytes of an initializer whose elements shape inference does not need


def check_text(message, name):
    """Raises ArgumentValueError if a name, or another text, in a model isn't UTF-8: protobuf gives it as bytes then."""
    if isinstance(message, onnx.TensorProto):
        texts, parts = [message.name], list(message.external_data)
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
            raise ArgumentValueError(f"{name} is no valid ONNX model: expected text in UTF-8, but got {text[:40]}")
    for part in parts:
        check_text(part, name)


def check_ops(model, known, name):
    """Raises UnsupportedError unless every node is an op of the default domain, OLDEST or newer, and `known`."""
    version, newest = default_version(model), onnx.defs.onnx_opset_version()
    if version is None and model.graph.node:
        raise UnsupportedError(f"{name} says no version of ONNX's own ops, but expected {OLDEST} or newer")
    if version is not None and version < OLDEST:
        raise UnsupportedError(
            f"{name} has ops of version {version}, but expected {OLDEST} or newer: "
            "onnx.version_converter.convert_version brings it there"
        )
    if version is not None and version > newest:
        raise UnsupportedError(
            f"{name} has ops of version {version}, but the installed package onnx knows none newer than {newest}"
        )
    _check_nodes(model.graph.node, known)


def _check_nodes(nodes, known, around=""):
    for number, node in enumerate(nodes):
        place = describe(node, number) + around
        if node.domain not in DOMAINS:
            raise UnsupportedError(f"{place}: Inlay has no ops of the domain {node.domain!r}, only those of 'ai.onnx'")
        if node.op_type not in known:
            raise UnsupportedError(f"{place}: Inlay can't import this op{did_you_mean(node.op_type, known)}")
        for attribute in node.attribute:
            if attribute.type == attribute.GRAPH:
                _check_nodes(attribute.g.node, known, f", in {attribute.name} of {place}")


def default_version(model):
    """The version of the default domain's ops, or None."""
    return max((entry.version for entry in model.opset_import if entry.domain in DOMAINS), default=None)


def describe(node, number):
    """`node 3, '/layer1/Conv' (Conv of domain 'ai.onnx')`."""
    name = f", {node.name!r}" if node.name else ""
    return f"node {number}{name} ({node.op_type} of domain {node.domain or 'ai.onnx'!r})"


def inline_functions(model, name):
    """The model without functions of its own."""
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model)
    except Exception as error:
        raise ArgumentValueError(f"{name} is no valid ONNX model: {_first_line(error)}") from error


def take_initializers(model):
    """Takes the initializers out of a model; those that are large become arguments of its graph.

    Shape inference and the checker need no elements of theirs, and would copy them.
    """
    graph = model.graph
    taken = list(graph.initializer)
    del graph.initializer[:]
    given = {one.name for one in graph.input}
    for tensor in taken:
        if tensor.data_location == tensor.DEFAULT and tensor.ByteSize() <= _LARGE:
            graph.initializer.append(tensor)
        elif tensor.name not in given:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return taken


def check_and_infer(model, name):
    """Checks a model; a dict of the types of its values by name, as (dtype, dims) (see `type_of`), where known.

    Raises ArgumentValueError with the words of ONNX's checker or of its shape inference.
    """
    try:
        onnx.checker.check_model(model)
        inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:  # the checker's, that of inference, protobuf's
        raise ArgumentValueError(f"{name} is no valid ONNX model: {_first_line(error)}") from error
    types = {}
    for info in [*inferred.graph.value_info, *inferred.graph.output]:
        if info.type.WhichOneof("value") == "tensor_type" and info.type.tensor_type.elem_type in DTYPES:
            types[info.name] = type_of(info, f"value {info.name!r}")
    return types


def graph_inputs(model):
    """The graph's inputs that a caller gives: those that no initializer stands for."""
    fixed = {tensor.name for tensor in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in fixed]


def fix_dims(model, tensors, name, wishes):
    """Gives a model's inputs the dims of example inputs, and forgets what the file says of dims that follow from them.

    tensors: one for each of `graph_inputs`, or None, when all dims must be numbers but those that may differ. wishes:
    dim -> OpenDim of those, for each input. Raises UnsupportedError for a dim
    that is none, ArgumentTypeError or ArgumentValueError for example inputs that don't fit.
    """
    for number, info in enumerate(graph_inputs(model)):
        dtype, dims = type_of(info, f"input {info.name!r}")
        if tensors is None:
            fixed = dims and [1 if dim in wishes[number] else size for dim, size in enumerate(dims)]
            check_known(info.name, fixed, name)
            sizes = [wishes[number][dim].name if dim in wishes[number] else size for dim, size in enumerate(dims)]
        else:
            _check_example(info.name, number, dtype, dims, tensors[number])
            sizes = [
                wishes[number][dim].name if dim in wishes[number] else size
                for dim, size in enumerate(tensors[number].shape)
            ]
        info.type.CopyFrom(onnx.helper.make_tensor_type_proto(info.type.tensor_type.elem_type, sizes))
    if tensors is not None or any(wishes):
        _forget_symbolic(model)


def check_known(name, dims, model):
    """Raises unless the dims of the input of that name are numbers, and such that a tensor can have."""
    if dims is None:
        raise UnsupportedError(f"input {name!r} of {model} has no dims: give example inputs, which fix them")
    for dim, size in enumerate(dims):
        if not isinstance(size, int):
            raise UnsupportedError(
                f"dim {dim} of input {name!r} is symbolic ({size}): give example inputs, which fix it"
            )
        if size < 0:
            raise ArgumentValueError(f"dim {dim} of input {name!r} of {model} is {size}, but expected none below 0")
    if math.prod(dims) > _MOST:
        raise ArgumentValueError(f"input {name!r} of {model} has the dims {list(dims)}: no tensor is as large as that")


def _forget_symbolic(model):
    """What the file says of the dims of other values holds for any size of the symbolic ones: it is inferred anew."""
    del model.graph.value_info[:]
    for info in model.graph.output:
        for dim in info.type.tensor_type.shape.dim:
            if not dim.HasField("dim_value"):
                dim.Clear()


def _check_example(name, number, dtype, dims, tensor):
    place = f"example input {name!r} (place {number + 1})"
    if not isinstance(tensor, torch.Tensor):
        raise ArgumentTypeError(f"{place}: expected a tensor, but got {type(tensor).__name__}")
    text = tensor_text(dtype, dims or ())
    got = tensor_text(tensor.dtype, tensor.shape)
    if tensor.dtype != dtype:
        raise ArgumentTypeError(f"{place}: expected dtype {text}, but got {got}")
    if dims is None:
        return
    fits = all(isinstance(want, str) or want == have for want, have in zip(dims, tensor.shape, strict=False))
    if len(dims) != tensor.dim() or not fits:
        raise ArgumentValueError(f"{place}: expected {text}, but got {got}")


def _first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]
