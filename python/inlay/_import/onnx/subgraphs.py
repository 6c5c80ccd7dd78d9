# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds the nodes of an ONNX graph, and of the bodies of control flow, as calls to an FX graph.

`versions.py` finds the handler of a node, and the modules in `handlers` write the calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import onnx
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ..._dialect.text import tensor_text
from ...errors import ArgumentValueError, Error
from ..torch.guards import GuardError
from . import unsigned
from .call import Handler, NodeCall, dtype_of, shape_of
from .checking import declared_types
from .files import TensorFiles
from .graph import Graph, Subgraph
from .known import KnownGraph
from .naming import module_stack
from .structure import Factor, describe, find_factors
from .tensors import ValueType, keep_narrow, mark_narrow, read_tensor
from .values import LateError, Value, is_unknown, map_value
from .versions import OpTable

# PyTorch's exceptions for a decision that depends on sizes or elements which are known only at a call.
_LATE = (GuardError, GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException)

MAX_LOOP_ITERATIONS = 2**24  # the default of the option
HELD = "held"  # the key in `external_data` of an initializer whose value is passed beside its graph

# Adds a call that runs a node at a call of the program. Takes the node, the types of values by name, and the reason.
Defer: TypeAlias = Callable[[NodeCall, Mapping[str, ValueType], LateError], Sequence[Value]]


class Body(NamedTuple):
    """A body of control flow, and the nodes of its results."""

    graph: Subgraph
    results: list[torch.fx.Node]


class Scope:
    """The values of a graph by name. It includes the values of the graphs around it, unless a name is hidden.

    nodes: the sorted nodes that make the graph's own values.
    """

    def __init__(self, graph: Graph, outside: Scope | None = None) -> None:
        self.graph, self._outside = graph, outside
        self.nodes: Sequence[onnx.NodeProto] = ()
        self._values: dict[str, Value] = {}

    def __setitem__(self, name: str, value: Value) -> None:
        self._values[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._values or (self._outside is not None and name in self._outside)

    @functools.cached_property
    def factors(self) -> dict[str, Factor]:
        """The values that are only weights of products or of convolutions; see `find_factors`."""
        return find_factors(self.nodes)

    def get(self, name: str) -> Value:
        """Returns a value; None for the empty name, which stands for an input that is left out."""
        return self[name] if name else None

    def __getitem__(self, name: str) -> Value:
        """Returns a value, in this scope's graph. Raises ArgumentValueError if there is none."""
        if name in self._values:
            return self._values[name]
        if self._outside is None:
            raise ArgumentValueError(f"no value has the name {name!r}")
        value = self._outside[name]
        if self._outside.graph is self.graph:
            return value
        assert isinstance(self.graph, (Subgraph, KnownGraph))
        return map_value(self.graph.capture, value)


class Converter:
    """Adds the nodes of ONNX graphs as calls to FX graphs."""

    def __init__(
        self,
        table: OpTable,
        files: TensorFiles,
        defer: Defer | None = None,
        held: Sequence[torch.Tensor] = (),
        max_loop_iterations: int = MAX_LOOP_ITERATIONS,
    ) -> None:
        """table: has the handlers. files: has the bytes that are not in the model.

        defer: adds a call that runs a node at a call of the program; None if all values are known. held: initializers
        of bodies whose values are passed beside them. max_loop_iterations: of a loop that runs at a call as a whole.
        """
        self._table, self.files, self._defer, self._held = table, files, defer, held
        self.max_loop_iterations = max_loop_iterations

    def with_version(self, version: int) -> Converter:
        """Returns a Converter for nodes of another version of ONNX's own ops."""
        return Converter(
            self._table.with_version(version), self.files, self._defer, self._held, self.max_loop_iterations
        )

    def convert(
        self,
        nodes: Iterable[onnx.NodeProto],
        scope: Scope,
        types: Mapping[str, ValueType] | None = None,
        around: str = "",
        hints: Mapping[str, ValueType] | None = None,
    ) -> None:
        """Adds calls for nodes to the graph of `scope`.

        types: the types of values by name, as far as they are known. around: the place of the nodes, for messages.
        hints: types that are only used for values that nothing else determines.
        """
        graph, nodes = scope.graph, list(nodes)
        scope.nodes = nodes
        known = {**(hints or {}), **{name: one for name, one in (types or {}).items() if one.dims is not None}}
        for number, node in enumerate(nodes):
            place = describe(node, number) + around
            call = self.call(node, [scope.get(name) for name in node.input], scope, place)
            results = self.make(call, known)
            _check_results(call, results, types or {})
            keep_narrow(call.inputs, results)
            graph.name(graph.labels.take(node.name or node.op_type), module_stack(node), results)
            for name, result in zip(node.output, results, strict=False):
                if name:
                    scope[name] = result

    def call(self, node: onnx.NodeProto, inputs: list[Value], scope: Scope, place: str) -> NodeCall:
        """Returns the NodeCall of a node. place: its place in the model."""
        return NodeCall(node, inputs, scope.graph, self._table.version, place, scope, self)

    def make(self, call: NodeCall, types: Mapping[str, ValueType] | None = None) -> Sequence[Value]:
        """Adds calls for a node. Returns the values of its outputs; None for an output that is not used.

        types: the types of values by name, as far as they are known.
        """
        handler = self._table.find(call.proto, call.place)
        if self._defer is None:
            return _make(handler, call)
        unknown = next(
            (name for name, value in zip(call.proto.input, call.given, strict=True) if is_unknown(value)), None
        )
        try:
            if unknown is not None:
                raise LateError(f"the structure of {unknown!r} is known only at a call")
            return _make(handler, call)
        except LateError as error:
            return self._defer(call, types or {}, error)

    def read(self, tensors: Iterable[onnx.TensorProto], scope: Scope, prefix: str = "") -> None:
        """Adds initializers as constants. prefix: starts their names."""
        for tensor in tensors:
            held = held_number(tensor) if scope.graph.runs_now else None
            if held is not None:
                scope[tensor.name] = scope.graph.constant(self._held[held])
                continue
            read = read_tensor(tensor, self.files, f"initializer {tensor.name!r}")
            # Exporters store numbers as initializers too. Those are not weights.
            is_weight = read.is_floating_point() and read.numel() > 1
            constant = scope.graph.constant(read, prefix + tensor.name, is_weight)
            scope[tensor.name] = mark_narrow(constant, tensor.data_type)

    def inline(self, call: NodeCall, name: str, arguments: Sequence[Value] = ()) -> list[Value]:
        """Adds a body to the graph around it. Returns its results. arguments: the body's inputs."""
        body = call.graph_attribute(name)
        # The values of an iteration of a loop that runs now are not kept for the next one.
        graph = KnownGraph() if call.runs_now else call.scope.graph
        scope = Scope(graph, call.scope)
        self._check_count(call, name, body, arguments)
        for info, argument in zip(body.input, arguments, strict=True):
            scope[info.name] = argument
        return self._fill(call, name, body, scope)

    def body(self, call: NodeCall, name: str, arguments: Sequence[Any]) -> Body:
        """Converts a body of control flow. name: the attribute with the body.

        arguments: for each input of the body, a fake tensor or a known tensor.
        """
        body, graph = call.graph_attribute(name), Subgraph(call.scope.graph)
        scope = Scope(graph, call.scope)
        self._check_count(call, name, body, arguments)
        for info, argument in zip(body.input, arguments, strict=True):
            known = isinstance(argument, torch.Tensor) and not hasattr(argument, "fake_mode")
            scope[info.name] = graph.constant(argument) if known else graph.add_argument(info.name, argument)
        results = self._fill(call, name, body, scope)
        taken = [*graph.captured, *results]
        if any(isinstance(value, list) or value is None or is_unknown(value) for value in taken):
            raise LateError(f"{name} takes or returns values that are no tensors")
        return Body(graph, [value for value in results if isinstance(value, torch.fx.Node)])

    @staticmethod
    def _check_count(call: NodeCall, name: str, body: onnx.GraphProto, arguments: Sequence[Any]) -> None:
        """Raises ArgumentValueError unless a body takes as many values as it is given."""
        if len(body.input) != len(arguments):
            raise ArgumentValueError(
                f"{call.place}: expected {name} to take {len(arguments)} values, but it takes {len(body.input)}"
            )

    def empty(self, call: NodeCall) -> Subgraph:
        """Returns an empty Subgraph for a node."""
        return Subgraph(call.scope.graph)

    def _fill(self, call: NodeCall, name: str, body: onnx.GraphProto, scope: Scope) -> list[Value]:
        """Adds the nodes of a body to the graph of `scope`. Returns its results."""
        if body.sparse_initializer:
            raise call.unsupported(f"{name} has a sparse initializer, which Inlay can't take")
        label = call.proto.name or call.proto.op_type
        self.read(body.initializer, scope, f"{label}.{name}.")
        self.convert(body.node, scope, around=f", in {name} of {call.place}", hints=declared_types(body))
        return [scope[info.name] for info in body.output]


def describe_value(node: torch.fx.Node) -> str:
    """Returns the type of an FX node that is a tensor, for messages: `float32[2x3]`."""
    return tensor_text(dtype_of(node), shape_of(node))


def held_number(tensor: onnx.TensorProto) -> int | None:
    """Returns the number of the value of an initializer that is passed beside its graph; None for other tensors."""
    return next((int(entry.value) for entry in tensor.external_data if entry.key == HELD), None)


def _make(handler: Handler, call: NodeCall) -> Sequence[Value]:
    """Returns the values of a call's outputs; None for an output that is not used."""
    try:
        result = unsigned.adapt(call, handler)
        call.check_attributes()
    except Error:
        raise
    except _LATE as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise LateError(f"a size that is known only at a call decides it: {first}") from error
    except Exception as error:  # PyTorch's, about invalid operands
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ArgumentValueError(f"{call.place}: {first}") from error
    return [result] if isinstance(result, torch.fx.Node) else result


def _check_results(call: NodeCall, results: Sequence[Value], types: Mapping[str, ValueType]) -> None:
    """Raises ArgumentValueError unless the results have the types of shape inference or of the file."""
    for number, output in enumerate(call.proto.output):
        if output and number >= len(results):
            raise call.unsupported(f"output {number}, {output!r}, is not supported")
        result = results[number] if number < len(results) else None
        if not output or not isinstance(result, torch.fx.Node) or is_unknown(result):
            continue
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
