# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs nodes at a call that the import can't write as calls, because values that are known only then decide them.

The handlers of ops run such a node as they import one, with a graph in which all values are known.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
import torch

from ..._dialect.text import tensor_text
from ...errors import ArgumentValueError
from . import functions
from .call import NodeCall
from .files import TensorFiles
from .handlers import all_handlers
from .known import KnownGraph, value_of
from .outcomes import expectations, find_outcomes
from .subgraphs import HELD, Converter, Scope
from .tensors import ValueType, read_tensor
from .values import LateError
from .versions import OpTable


def defer(call: NodeCall, types: Mapping[str, ValueType], error: LateError) -> list[torch.fx.Node]:
    """Adds a call that runs a node. Returns the nodes of its results.

    types: the types of values by name, as far as they are known. error: why the node can't be written as calls.
    """
    outcomes = find_outcomes(call, types, error.outcomes)
    node = onnx.NodeProto()
    node.CopyFrom(call.proto)
    names: set[str] = set()
    held: list[torch.fx.Node] = []
    for attribute in node.attribute:
        if attribute.type == attribute.GRAPH:
            names |= _taken_names(attribute.g)
            _hold(attribute.g, call, f"{node.name or node.op_type}.{attribute.name}", held)
    outside = sorted(name for name in names if name in call.scope)
    text = base64.b64encode(node.SerializeToString(deterministic=True)).decode()
    limit = call.converter.max_loop_iterations
    args = (call.version, limit, call.place, outside, call.given, [call.scope[name] for name in outside], held)
    reason = f"({call.place}) runs at each call as a whole, because {error}"
    return call.scope.graph.defer(run_node, (text, *args, expectations(outcomes)), outcomes, reason)


def _taken_names(graph: onnx.GraphProto) -> set[str]:
    """Returns the names of the values that a body takes from outside."""
    made = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer}
    taken = {info.name for info in graph.output}
    for node in graph.node:
        made.update(node.output)
        taken.update(node.input)
        for attribute in node.attribute:
            if attribute.type == attribute.GRAPH:
                taken |= _taken_names(attribute.g)
    return taken - made - {""}


def _hold(graph: onnx.GraphProto, call: NodeCall, path: str, held: list[torch.fx.Node]) -> None:
    """Replaces the elements of the initializers of a body by numbers, and adds constants for them to `held`.

    path: starts the names of the constants.
    """
    for tensor in graph.initializer:
        value = read_tensor(tensor, call.converter.files, f"initializer {tensor.name!r}")
        is_weight = value.is_floating_point() and value.numel() > 1
        number = onnx.StringStringEntryProto(key=HELD, value=str(len(held)))
        held.append(call.scope.graph.constant(value, f"{path}.{tensor.name}", is_weight))
        name = tensor.name
        tensor.Clear()
        tensor.name = name
        tensor.external_data.append(number)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == attribute.GRAPH:
                _hold(attribute.g, call, f"{path}.{node.name or node.op_type}.{attribute.name}", held)


def run_node(
    text: str,
    version: int,
    max_loop_iterations: int,
    place: str,
    names: Sequence[str],
    inputs: Sequence[Any],
    outside: Sequence[Any],
    held: Sequence[torch.Tensor],
    expected: Sequence[Any],
) -> list[Any]:
    """Runs a node of an ONNX graph. Returns its results: tensors, lists of tensors, or None.

    text: the node, in base64. version: of ONNX's own ops. max_loop_iterations: after which a loop fails as endless.
    place: the node's place in the model. names, outside: the values that its bodies take from outside. held: the
    initializers of its bodies. expected: see `expectations`.
    Raises ArgumentValueError if a result has another type than expected.
    """
    graph = KnownGraph()
    scope = Scope(graph)
    for name, value in zip(names, outside, strict=True):
        scope[name] = graph.add(value)
    converter = Converter(_table(version), TensorFiles(), held=held, max_loop_iterations=max_loop_iterations)
    call = converter.call(_decode(text), [graph.add(value) for value in inputs], scope, place)
    results = [value_of(result) for result in converter.make(call)]
    for name, result, wanted in zip(call.proto.output, results, expected, strict=False):
        if wanted is not None and name and not _fits(result, wanted):
            text = tensor_text(getattr(torch, wanted[0]), ["?" if size is None else size for size in wanted[1]])
            raise ArgumentValueError(f"{place}: expected {name!r} to be {text}, but got {_describe(result)}")
    return results[: len(call.proto.output)]


@functools.cache
def _table(version: int) -> OpTable:
    return OpTable(all_handlers(), functions.expand, version)


@functools.lru_cache(maxsize=1024)
def _decode(text: str) -> onnx.NodeProto:
    node = onnx.NodeProto()
    node.ParseFromString(base64.b64decode(text))
    return node


def _fits(result: Any, wanted: Sequence[Any]) -> bool:
    """Returns true if a result is a tensor of the expected type."""
    dtype, dims = wanted
    return (
        isinstance(result, torch.Tensor)
        and result.dtype == getattr(torch, dtype)
        and result.dim() == len(dims)
        and all(size is None or size == got for size, got in zip(dims, result.shape, strict=True))
    )


def _describe(result: Any) -> str:
    """Returns the type of a result for messages."""
    return tensor_text(result.dtype, result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
