# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds the nodes of an ONNX graph, and of the bodies of control flow, as calls to an FX graph."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import onnx
import torch

from ..._dialect.text import tensor_text
from ...errors import ArgumentValueError, Error
from ..torch.guards import GuardError
from . import checking
from .call import Handler, NodeCall, dtype_of, shape_of
from .graph import Graph, Subgraph
from .naming import module_stack
from .tensors import ValueType, read_tensor
from .versions import OpTable


class Body(NamedTuple):
    """A body of control flow, and the nodes of its results."""

    graph: Subgraph
    results: list[torch.fx.Node]


class Scope:
    """The values of a graph by name. It includes the values of the graphs around it, unless a name is hidden."""

    def __init__(self, graph: Graph, outside: Scope | None = None) -> None:
        self.graph, self._outside = graph, outside
        self._values: dict[str, torch.fx.Node] = {}

    def __setitem__(self, name: str, node: torch.fx.Node) -> None:
        self._values[name] = node

    def get(self, name: str) -> torch.fx.Node | None:
        """Returns the FX node of a value; None for the empty name, which stands for an input that is left out."""
        return self[name] if name else None

    def __getitem__(self, name: str) -> torch.fx.Node:
        """Returns the FX node of a value, in this scope's graph. Raises ArgumentValueError if there is none."""
        if name in self._values:
            return self._values[name]
        if self._outside is None:
            raise ArgumentValueError(f"no value has the name {name!r}")
        node = self._outside[name]
        if self._outside.graph is self.graph:
            return node
        assert isinstance(self.graph, Subgraph)
        return self.graph.capture(node)


class Converter:
    """Adds the nodes of ONNX graphs as calls to FX graphs."""

    def __init__(self, table: OpTable, folder: pathlib.Path | None) -> None:
        """table: has the handlers. folder: the folder of external data, or None."""
        self._table, self._folder = table, folder

    def with_version(self, version: int) -> Converter:
        """Returns a Converter for nodes of another version of ONNX's own ops."""
        return Converter(self._table.with_version(version), self._folder)

    def convert(
        self,
        nodes: Iterable[onnx.NodeProto],
        scope: Scope,
        types: Mapping[str, ValueType] | None = None,
        around: str = "",
    ) -> None:
        """Adds calls for nodes to the graph of `scope`.

        types: the types of values by name, as far as they are known. around: the place of the nodes, for messages.
        """
        graph = scope.graph
        for number, node in enumerate(nodes):
            place = checking.describe(node, number) + around
            inputs = [scope.get(name) for name in node.input]
            call = NodeCall(node, inputs, graph, self._table.version, place, scope, self)
            results = _make(self._table.find(node, place), call)
            _check_results(call, results, types or {})
            graph.name(graph.labels.take(node.name or node.op_type), module_stack(node), results)
            for name, result in zip(node.output, results, strict=False):
                if name and result is not None:
                    scope[name] = result

    def read(self, tensors: Iterable[onnx.TensorProto], scope: Scope, prefix: str = "") -> None:
        """Adds initializers as constants. prefix: starts their names."""
        for tensor in tensors:
            read = read_tensor(tensor, self._folder, f"initializer {tensor.name!r}")
            # Exporters store numbers as initializers too. Those are not weights.
            is_weight = read.is_floating_point() and read.numel() > 1
            scope[tensor.name] = scope.graph.constant(read, prefix + tensor.name, is_weight)

    def inline(self, call: NodeCall, name: str) -> list[torch.fx.Node]:
        """Adds a body without arguments to the graph around it. Returns the nodes of its results."""
        body, scope = call.graph_attribute(name), Scope(call.scope.graph, call.scope)
        return self._fill(call, name, body, scope)

    def body(self, call: NodeCall, name: str, arguments: Sequence[Any]) -> Body:
        """Converts a body of control flow. name: the attribute with the body.

        arguments: for each input of the body, a fake tensor or a known tensor.
        """
        body, graph = call.graph_attribute(name), Subgraph(call.scope.graph)
        scope = Scope(graph, call.scope)
        if len(body.input) != len(arguments):
            raise ArgumentValueError(
                f"{call.place}: expected {name} to take {len(arguments)} values, but it takes {len(body.input)}"
            )
        for info, argument in zip(body.input, arguments, strict=True):
            known = isinstance(argument, torch.Tensor) and not hasattr(argument, "fake_mode")
            scope[info.name] = graph.constant(argument) if known else graph.add_argument(info.name, argument)
        return Body(graph, self._fill(call, name, body, scope))

    def empty(self, call: NodeCall) -> Subgraph:
        """Returns an empty Subgraph for a node."""
        return Subgraph(call.scope.graph)

    def _fill(self, call: NodeCall, name: str, body: onnx.GraphProto, scope: Scope) -> list[torch.fx.Node]:
        """Adds the nodes of a body to the graph of `scope`. Returns the nodes of its results."""
        if body.sparse_initializer:
            raise call.unsupported(f"{name} has a sparse initializer, which Inlay can't take")
        label = call.proto.name or call.proto.op_type
        self.read(body.initializer, scope, f"{label}.{name}.")
        self.convert(body.node, scope, around=f", in {name} of {call.place}")
        return [scope[info.name] for info in body.output]


def describe_value(node: torch.fx.Node) -> str:
    """Returns the type of an FX node that is a tensor, for messages: `float32[2x3]`."""
    return tensor_text(dtype_of(node), shape_of(node))


def _make(handler: Handler, call: NodeCall) -> Sequence[torch.fx.Node | None]:
    """Returns the FX nodes of a call's outputs; None for an output that is not used."""
    try:
        result = handler(call)
        call.check_attributes()
    except Error:
        raise
    except GuardError as error:
        raise call.unsupported(
            f"the op can't be imported for all sizes ({error}): give example inputs, which fix sizes"
        ) from error
    except Exception as error:  # PyTorch's, about invalid operands
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ArgumentValueError(f"{call.place}: {first}") from error
    return [result] if isinstance(result, torch.fx.Node) else result


def _check_results(call: NodeCall, results: Sequence[torch.fx.Node | None], types: Mapping[str, ValueType]) -> None:
    """Raises ArgumentValueError unless the results have the types of shape inference or of the file."""
    for number, output in enumerate(call.proto.output):
        if not output:
            continue
        result = results[number] if number < len(results) else None
        if result is None:
            raise call.unsupported(f"output {number}, {output!r}, is not supported yet")
        value: torch.Tensor = result.meta["val"]
        dtype, known = types.get(output, ValueType(value.dtype, None))
        dims: Sequence[int | str] = value.shape if known is None else known
        fits = all(
            isinstance(want, str) or not isinstance(have, int) or want == have
            for want, have in zip(dims, value.shape, strict=False)
        )
        if value.dtype != dtype or len(dims) != value.dim() or not fits:
            raise ArgumentValueError(
                f"{call.place}: expected {output!r} to be {tensor_text(dtype, dims)}, but its inputs give "
                f"{tensor_text(value.dtype, value.shape)}"
            )
