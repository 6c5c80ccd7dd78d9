# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ops that the ONNX specification defines as functions of other ops.

`upgrades.py` changes nodes of older versions, and `checking.py` inlines the functions that a model defines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
import torch
from onnx import AttributeProto, TypeProto

from .call import NodeCall, NodeResult, dtype_of, shape_of
from .domains import DEFAULT, domain_of, has_function, op_of
from .subgraphs import Scope
from .tensors import type_number
from .values import Value


def expand(call: NodeCall) -> NodeResult:
    """Adds the nodes of the function that defines a node's op. Returns the FX nodes of the outputs."""
    op = op_of(call.proto)
    if not has_function(op, call.version):  # of a node in another function
        raise call.unsupported("Inlay can't import this op")
    schema = onnx.defs.get_schema(op.name, call.version, op.domain)
    function = _function_of(call, schema)
    graph = call.scope.graph
    scope = Scope(graph, call.scope if _takes_graphs(call.proto) else None)
    left_out = set(function.input[len(call.inputs) :])
    for name, value in zip(function.input, call.inputs, strict=False):
        if value is None:
            left_out.add(name)
        else:
            scope[name] = value
    attributes = {attribute.name: attribute for attribute in call.take_attributes()}
    for name, default in schema.attributes.items():
        if name not in attributes and default.default_value.type != AttributeProto.UNDEFINED:
            attributes[name] = default.default_value
    nodes = [_bind(node, attributes, left_out) for node in function.node]
    label = call.proto.name or call.proto.op_type
    for node in nodes:
        node.name = f"{label}.{node.op_type}"
    call.converter.with_version(_version_of(function) or call.version).convert(
        nodes, scope, around=f", in the function of {call.place}"
    )
    return [scope[name] if call.is_wanted(number) else None for number, name in enumerate(function.output)]


def _function_of(call: NodeCall, schema: Any) -> onnx.FunctionProto:
    """Returns the function that defines a node's op."""
    function = onnx.FunctionProto()
    if schema.has_context_dependent_function:
        versions = schema.context_dependent_function_opset_versions
        types = [_type_of(value).SerializeToString() for value in call.inputs]
        text = schema.get_context_dependent_function_with_opset_version(
            _newest(versions, call.version), call.proto.SerializeToString(), types
        )
    else:
        text = schema.get_function_with_opset_version(_newest(schema.function_opset_versions, call.version))
    function.ParseFromString(text)
    return function


def _newest(versions: list[int], limit: int) -> int:
    """Returns the newest version up to `limit`; the oldest if all are newer."""
    return max((version for version in versions if version <= limit), default=min(versions))


def _version_of(function: onnx.FunctionProto) -> int | None:
    """Returns the version of the default domain's ops in a function; None if the function doesn't name one."""
    versions = (entry.version for entry in function.opset_import if domain_of(entry.domain) == DEFAULT)
    return max(versions, default=None)


def _type_of(value: Value) -> TypeProto:
    """Returns the type of an input."""
    if isinstance(value, list) and value:
        return onnx.helper.make_sequence_type_proto(_type_of(value[0]))
    if not isinstance(value, torch.fx.Node):
        return TypeProto()
    sizes = [size if isinstance(size, int) else None for size in shape_of(value)]
    return onnx.helper.make_tensor_type_proto(type_number(dtype_of(value)), sizes)


def _takes_graphs(node: onnx.NodeProto) -> bool:
    """Returns true if a node has a graph as attribute, which may use values from outside."""
    return any(attribute.type == AttributeProto.GRAPH for attribute in node.attribute)


def _bind(node: onnx.NodeProto, attributes: Mapping[str, AttributeProto], left_out: set[str]) -> onnx.NodeProto:
    """Returns a node of a function with the attributes of the call, and without the inputs that are left out."""
    bound = onnx.NodeProto()
    bound.CopyFrom(node)
    del bound.attribute[:], bound.input[:]
    bound.input.extend("" if name in left_out else name for name in node.input)
    for attribute in node.attribute:
        if attribute.ref_attr_name and attribute.ref_attr_name not in attributes:
            continue
        made = bound.attribute.add()
        made.CopyFrom(attributes[attribute.ref_attr_name] if attribute.ref_attr_name else attribute)
        made.name = attribute.name
        if made.type == AttributeProto.GRAPH:
            inner = [_bind(one, attributes, left_out) for one in made.g.node]
            del made.g.node[:]
            made.g.node.extend(inner)
    return bound
