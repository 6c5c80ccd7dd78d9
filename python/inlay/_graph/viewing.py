# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes graphs for viewers: in the language of Graphviz, or as an ONNX file with a node for each layer.

The domain of such a node is the dialect of its op.
"""

from __future__ import annotations

import pathlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._dialect.text import dtype_name
from ..errors import CompileError, UnsupportedError

if TYPE_CHECKING:
    from .module import Layer, Module, Tensor

_MAX_TEXT = 200  # characters of an attribute


def draw_dot(module: Module) -> str:
    """Returns the graph in the language of Graphviz."""
    lines = ["digraph network {", "  node [shape=box];"]
    numbers: dict[Tensor | Layer, str] = {}
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
    """Writes `network.onnx` to the folder, which is created if it is missing, and returns the path.

    Raises UnsupportedError without the package `onnx`, and CompileError if the file can't be written.
    """
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
    domains = [helper.make_opsetid(domain, 1) for domain in sorted({node.domain for node in graph.node})]
    model = helper.make_model(graph, producer_name="inlay", opset_imports=domains)
    path = folder / "network.onnx"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model.SerializeToString())
    except OSError as error:
        raise CompileError(f"can't write {str(path)!r}: {error.strerror}") from error
    return path


def _make_node(layer: Layer, helper: ModuleType) -> Any:
    domain, _, kind = layer.op.partition(".")
    inputs, outputs = ([tensor.name for tensor in tensors] for tensors in (layer.get_inputs(), layer.get_outputs()))
    node = helper.make_node(kind, inputs, outputs, name=layer.name, domain=domain)
    for key, value in layer.attributes.items():
        node.attribute.append(helper.make_attribute(key, _plain(value)))
    return node


def _plain(value: Any) -> Any:
    """Returns the value if ONNX has attributes of its type, else the beginning of its text."""
    flat = value if isinstance(value, list) and value else [value]
    if all(type(element) in (int, bool, float) for element in flat) or all(isinstance(text, str) for text in flat):
        return value
    text = str(value)
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "..."


def _make_value(tensor: Tensor, onnx: ModuleType) -> Any:
    kind = onnx.TensorProto.DataType.keys()
    name = str(tensor.dtype) if isinstance(tensor.dtype, str) else dtype_name(tensor.dtype)
    name = {"float32": "FLOAT", "float64": "DOUBLE"}.get(name, name.upper())
    element = onnx.TensorProto.DataType.Value(name if name in kind else "UNDEFINED")
    shape = None if tensor.shape is None else [None if size < 0 else size for size in tensor.shape]
    return onnx.helper.make_tensor_value_info(tensor.name, element, shape)


def _quote(*lines: str) -> str:
    """Returns a label of several lines."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
