# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The domains of ONNX ops that Inlay imports."""

from __future__ import annotations

from typing import Any, NamedTuple

import onnx

DEFAULT = ""  # ONNX's own ops
MICROSOFT = "com.microsoft"  # ops that ONNX Runtime adds
LEARNING = "ai.onnx.ml"  # ONNX's ops of classical machine learning
PREVIEW = "ai.onnx.preview"  # ops that ONNX tries out
DOMAINS = (DEFAULT, LEARNING, PREVIEW, MICROSOFT)

# Ops that exporters write in the default domain, but that only ONNX Runtime defines.
_MISPLACED = ("SimplifiedLayerNormalization",)

_DEFAULT_NAME = "ai.onnx"  # another name of the default domain


class Op(NamedTuple):
    """An op by its domain and its name in the domain."""

    domain: str
    name: str


def op_of(node: onnx.NodeProto) -> Op:
    """Returns the op of a node. The default domain has one name."""
    return Op(domain_of(node.domain), node.op_type)


def domain_of(name: str) -> str:
    """Returns a domain. The default domain has one name."""
    return DEFAULT if name == _DEFAULT_NAME else name


def domain_name(domain: str) -> str:
    """Returns the name of a domain for messages."""
    return domain or _DEFAULT_NAME


def has_function(op: Op, version: int) -> bool:
    """Returns true if the specification defines an op of version `version` as a function."""
    try:
        schema: Any = onnx.defs.get_schema(op.name, version, op.domain)
    except onnx.defs.SchemaError:
        return False
    return bool(schema.has_function or schema.has_context_dependent_function)


def adjust_nodes(model: onnx.ModelProto) -> None:
    """Changes valid nodes in a model that ONNX's checker or its shape inference refuses.

    Nodes of the default domain whose op only ONNX Runtime defines move to its domain. MeanVarianceNormalization gets
    its default axes, without which shape inference fails.
    """
    if _adjust_nodes(model.graph) and all(entry.domain != MICROSOFT for entry in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid(MICROSOFT, 1))


def _adjust_nodes(graph: onnx.GraphProto) -> bool:
    """Changes the nodes in a graph and in its bodies: see `adjust_nodes`. Returns true if a node has moved."""
    moved = False
    for node in graph.node:
        if domain_of(node.domain) == DEFAULT and node.op_type in _MISPLACED:
            node.domain = MICROSOFT
            moved = True
        if op_of(node) == Op(DEFAULT, "MeanVarianceNormalization") and not node.attribute:
            node.attribute.append(onnx.helper.make_attribute("axes", [0, 2, 3]))
        for attribute in node.attribute:
            if attribute.type == attribute.GRAPH:
                moved |= _adjust_nodes(attribute.g)
    return moved
