# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and outputs of a model that are sequences or optionals. Example inputs fix their structure.

Each tensor of such an input becomes an input of its own, and nodes make the sequence from these inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import onnx
from onnx import helper

from ...errors import ArgumentTypeError, UnsupportedError


class Inputs(NamedTuple):
    """The inputs of a model as its caller passes them.

    names: of the inputs. structures: for each input 0 for a tensor, None for an optional without an element, or a list
    of such. given: the examples of the tensors in order; None if there are no examples.
    """

    names: list[str]
    structures: list[Any]
    given: list[Any] | None


def split_inputs(model: onnx.ModelProto, infos: Sequence[onnx.ValueInfoProto], given: list[Any] | None) -> Inputs:
    """Replaces the inputs of a model that are sequences and optionals by inputs that are tensors.

    infos: the inputs that a caller passes. given: an example for each; None if there are no examples.
    Raises UnsupportedError for a sequence or an optional without an example, ArgumentTypeError for a wrong example.
    """
    names = [info.name for info in infos]
    if all(info.type.HasField("tensor_type") for info in infos):
        return Inputs(names, [0] * len(infos), given)
    others = [info for info in model.graph.input if info.name not in names]
    tensors: list[onnx.ValueInfoProto] = []
    nodes: list[onnx.NodeProto] = []
    flat: list[Any] = []
    structures = []
    for number, info in enumerate(infos):
        kind = info.type.WhichOneof("value") or "value"
        if given is None and kind != "tensor_type":
            kind = kind.removesuffix("_type").replace("optional", "optional value")
            raise UnsupportedError(f"input {info.name!r} is a {kind}: give example inputs, which fix its structure")
        example = None if given is None else given[number]
        structures.append(_split(info.name, info.type, example, tensors, nodes, flat))
    del model.graph.input[:]
    model.graph.input.extend([*tensors, *others])
    body = [*nodes, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(body)
    return Inputs(names, structures, flat)


def _split(
    name: str,
    kind: onnx.TypeProto,
    example: Any,
    tensors: list[onnx.ValueInfoProto],
    nodes: list[onnx.NodeProto],
    flat: list[Any],
) -> Any:
    """Returns the structure of a value, and adds its tensors, the nodes that make it and its examples to the lists."""
    if kind.HasField("optional_type"):
        if example is None:
            nodes.append(helper.make_node("Optional", [], [name], type=kind.optional_type.elem_type))
            return None
        inner = f"{name}.value"
        structure = _split(inner, kind.optional_type.elem_type, example, tensors, nodes, flat)
        nodes.append(helper.make_node("Optional", [inner], [name]))
        return structure
    if kind.HasField("tensor_type"):
        tensors.append(onnx.ValueInfoProto(name=name, type=kind))
        flat.append(example)
        return 0
    if not kind.HasField("sequence_type"):
        found = (kind.WhichOneof("value") or "value of unknown type").removesuffix("_type")
        raise UnsupportedError(f"input {name!r} is a {found}, but expected a tensor, a sequence or an optional")
    if not isinstance(example, (list, tuple)):
        raise ArgumentTypeError(f"example input {name!r}: expected a list, but got {type(example).__name__}")
    names = [f"{name}.{number}" for number in range(len(example))]
    inner = kind.sequence_type.elem_type
    made = [_split(one, inner, value, tensors, nodes, flat) for one, value in zip(names, example, strict=True)]
    if names:
        nodes.append(helper.make_node("SequenceConstruct", names, [name]))
    else:
        nodes.append(helper.make_node("SequenceEmpty", [], [name], dtype=inner.tensor_type.elem_type))
    return made
