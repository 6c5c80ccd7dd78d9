# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs inside of graphs: how the nodes of an ONNX graph become calls, and what a body takes from outside."""

from typing import NamedTuple

import torch

from ..._dialect.text import tensor_text
from ...errors import ArgumentValueError, Error
from ..torch.guards import GuardError
from . import checking
from .call import NodeCall, dtype_of, shape_of
from .graph import Subgraph
from .naming import module_stack
from .tensors import read_tensor


class Body(NamedTuple):
    """A body of control flow, and the nodes of its results."""

    graph: Subgraph
    results: list[torch.fx.Node]


class Scope:
    """Names of a graph's values; those of the graphs around it are there too, where they are not hidden."""

    def __init__(self, graph, outside=None):
        self.graph, self._outside = graph, outside
        self._values = {"": None}

    def __setitem__(self, name, node):
        self._values[name] = node

    def __getitem__(self, name):
        """The FX node of a value, in this scope's graph."""
        if name in self._values:
            return self._values[name]
        if self._outside is None:
            raise ArgumentValueError(f"no value has the name {name!r}")
        node = self._outside[name]
        return node if self._outside.graph is self.graph else self.graph.capture(node)


class Converter:
    """Makes calls of nodes."""

    def __init__(self, handlers, version, folder):
        """handlers: op -> function(call); version: of ONNX's own ops; folder: that of external data, or None."""
        self._handlers, self._version, self._folder = handlers, version, folder

    def convert(self, nodes, scope, types=None, around=""):
        """Adds calls for nodes to the graph of a Scope. types: name -> (dtype, dims) of values where they are known;
        around: what messages say of the place of them all."""
        graph = scope.graph
        for number, node in enumerate(nodes):
            place = checking.describe(node, number) + around
            call = NodeCall(node, [scope[one] for one in node.input], graph, self._version, place)
            call.scope, call.converter = scope, self
            results = _make(self._handlers[node.op_type], call)
            _check_results(call, results, types or {})
            graph.name(graph.labels.take(node.name or node.op_type), module_stack(node), results)
            for name, result in zip(node.output, results, strict=False):
                if name:
                    scope[name] = result

    def read(self, tensors, scope, prefix=""):
        """Makes constants of initializers."""
        for tensor in tensors:
            read = read_tensor(tensor, self._folder, f"initializer {tensor.name!r}")
            # Exporters keep numbers among the initializers; they are no weights.
            is_weight = read.is_floating_point() and read.numel() > 1
            scope[tensor.name] = scope.graph.constant(read, prefix + tensor.name, is_weight)

    def inline(self, call, name):
        """The nodes of a body's results, of a body without arguments that is made a part of the graph around it."""
        body, scope = call.graph_attribute(name), Scope(call.scope.graph, call.scope)
        return self._fill(call, name, body, scope)

    def body(self, call, name, arguments):
        """Converts a body of a node's.

        arguments: for each of its inputs a fake tensor, or a tensor that is known.
        """
        body, graph = call.graph_attribute(name), Subgraph(call.scope.graph)
        scope = Scope(graph, call.scope)
        if len(body.input) != len(arguments):
            raise ArgumentValueError(
                f"{call.place}: expected {name} to take {len(arguments)} values, but it takes {len(body.input)}"
            )
        for info, one in zip(body.input, arguments, strict=True):
            known = isinstance(one, torch.Tensor) and not hasattr(one, "fake_mode")
            scope[info.name] = graph.constant(one) if known else graph.own_argument(info.name, one)
        return Body(graph, self._fill(call, name, body, scope))

    def empty(self, call):
        """A Subgraph of a node's without anything in it."""
        return Subgraph(call.scope.graph)

    def _fill(self, call, name, body, scope):
        if body.sparse_initializer:
            raise call.unsupported(f"{name} has a sparse initializer, which Inlay can't take")
        label = call.proto.name or call.proto.op_type
        self.read(body.initializer, scope, f"{label}.{name}.")
        self.convert(body.node, scope, around=f", in {name} of {call.place}")
        return [scope[info.name] for info in body.output]


def describe_value(node):
    """`float32[2x3]` for an FX node that is a tensor."""
    return tensor_text(dtype_of(node), shape_of(node))


def _make(handler, call):
    """The FX nodes of a call's outputs, None where nobody reads one."""
    try:
        result = handler(call)
        call.check_attributes()
    except Error:
        raise
    except GuardError as error:
        raise call.unsupported(
            f"it can't be said for every size ({error}): give example inputs, which fix sizes"
        ) from error
    except Exception as error:  # PyTorch's, about operands that don't go together
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ArgumentValueError(f"{call.place}: {first}") from error
    return result if isinstance(result, list) else [result]


def _check_results(call, results, types):
    """Raises unless the results are what shape inference, or the file, says of them."""
    for number, output in enumerate(call.proto.output):
        if not output:
            continue
        if number >= len(results) or results[number] is None:
            raise call.unsupported(f"output {number}, {output!r}, is not supported yet")
        value = results[number].meta["val"]
        dtype, dims = types.get(output, (value.dtype, None))
        if dims is None:
            dims = value.shape
        fits = all(
            isinstance(want, str) or not isinstance(have, int) or want == have
            for want, have in zip(dims, value.shape, strict=False)
        )
        if value.dtype != dtype or len(dims) != value.dim() or not fits:
            raise ArgumentValueError(
                f"{call.place}: expected {output!r} to be {tensor_text(dtype, dims)}, but its inputs give "
                f"{tensor_text(value.dtype, value.shape)}"
            )
