# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph in forms to look at: Graphviz's language, and an ONNX file with a node per layer, of its dialect's domain."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from .._dialect.text import dtype_name
from ..errors import CompileError, UnsupportedError

if TYPE_CHECKING:
    from .module import Module

_LONGEST_TEXT = 200


def draw_dot(module: Module) -> str:
    """Returns the graph in Graphviz's language."""
    lines = ["digraph network {", "  node [shape=box];"]
    numbers = {}
    for tensor in module.get_inputs():
        numbers[tensor] = f"n{len(numbers)}"
        lines.append(f"  {numbers[tensor]} [shape=ellipse, label={_quote(tensor.name, tensor.type)}];")
    for layer in module.get_layers():
        node = f"n{len(numbers)}"
        lines.append(f"  {node} [label={_quote(layer.name, layer.op)}];")
        for tensor in layer.get_inputs():
            if tensor in numbers:
                lines.append(f"  {numbers[tensor]} -> {node} [label={_quote(tensor.type)}];")
        numbers[layer] = node
        numbers.update(dict.fromkeys(layer.get_outputs(), node))
    for number, tensor in enumerate(module.get_outputs()):
        lines.append(f"  out{number} [shape=ellipse, label={_quote(f'output {number}')}];")
        if tensor in numbers:
            lines.append(f"  {numbers[tensor]} -> out{number};")
    return "\n".join([*lines, "}", ""])


def write_onnx(module: Module, folder: pathlib.Path) -> pathlib.Path:
    """The path of `network.onnx` in the folder, which is made if it isn't there."""
    try:
        import onnx
    except ImportError as error:
        raise UnsupportedError('an ONNX file needs the package "onnx": pip install inlay[onnx]') from error
    layers, helper = module.get_layers(), onnx.helper
    graph = helper.make_graph(
        [_make_node(layer, helper) for layer in layers],
        "network",
        [_make_value(tensor, onnx) for tensor in module.get_inputs()],
        [_make_value(tensor, onnx) for tensor in module.get_outputs()],
        value_info=[_make_value(tensor, onnx) for layer in layers for tensor in layer.get_outputs()],
    )
    domains = [helper.make_opsetid(one, 1) for one in sorted({node.domain for node in graph.node})]
    model = helper.make_model(graph, producer_name="inlay", opset_imports=domains)
    path = folder / "network.onnx"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model.SerializeToString())
    except OSError as error:
        raise CompileError(f"can't write {str(path)!r}: {error.strerror}") from error
    return path


def _make_node(layer, helper):
    domain, _, kind = layer.op.partition(".")
    inputs, outputs = ([tensor.name for tensor in some] for some in (layer.get_inputs(), layer.get_outputs()))
    node = helper.make_node(kind, inputs, outputs, name=layer.name, domain=domain)
    for key, value in layer.attributes.items():
        node.attribute.append(helper.make_attribute(key, _plain(value)))
    return node


def _plain(value):
    """The value if an attribute of ONNX can be that, else the beginning of its text."""
    flat = value if isinstance(value, list) and value else [value]
    if all(type(one) in (int, bool, float) for one in flat) or all(isinstance(one, str) for one in flat):
        return value
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "..."


def _make_value(tensor, onnx):
    kind = onnx.TensorProto.DataType.keys()
    name = str(tensor.dtype) if isinstance(tensor.dtype, str) else dtype_name(tensor.dtype)
    name = {"float32": "FLOAT", "float64": "DOUBLE"}.get(name, name.upper())
    element = onnx.TensorProto.DataType.Value(name if name in kind else "UNDEFINED")
    shape = None if tensor.shape is None else [None if size < 0 else size for size in tensor.shape]
    return onnx.helper.make_tensor_value_info(tensor.name, element, shape)


def _quote(*lines):
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
