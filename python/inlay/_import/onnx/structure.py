# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the structure of a model's graphs and repairs what other tools accept.

Files come from many exporters and editors. What a graph means must be certain: each value has one producer, each node
has the inputs and attributes that its op takes. The rest is repaired: the order of nodes, and parts that nothing uses.
"""

from __future__ import annotations

import enum
import heapq
import warnings
from collections.abc import Iterable, Iterator, Sequence

import onnx
from onnx import AttributeProto

from ...errors import ArgumentValueError, ModelWarning
from .domains import DEFAULT, domain_of


def repair(model: onnx.ModelProto, version: int, name: str) -> None:
    """Sorts the nodes of a model and removes those that nothing uses.

    version: of ONNX's own ops. name: the model, for messages. Raises ArgumentValueError for a graph that means nothing
    or could mean several things.
    """
    graph = model.graph
    if not graph.output:
        raise ArgumentValueError(f"{name} is not a valid ONNX model: it has no outputs")
    outside = {info.name for info in graph.input} | {tensor.name for tensor in _initializers(graph)}
    _check_unique((info.name for info in graph.input), f"{name} has several inputs of the name")
    _repair_graph(graph, outside, version, name)


def describe(node: onnx.NodeProto, number: int) -> str:
    """Returns the place of a node for messages: `node 3, '/layer1/Conv' (Conv of domain 'ai.onnx')`."""
    name = f", {node.name!r}" if node.name else ""
    return f"node {number}{name} ({node.op_type} of domain {node.domain or 'ai.onnx'!r})"


def bodies(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """Returns the graphs that a node has, with the names of their attributes."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g


def forget_types(graph: onnx.GraphProto) -> None:
    """Removes the declared types of inner values and outputs, also in bodies. They may be wrong."""
    del graph.value_info[:]
    for info in graph.output:
        if info.type.HasField("tensor_type"):
            info.type.Clear()
    for node in graph.node:
        for _, body in bodies(node):
            forget_types(body)
            for info in body.input:
                if info.type.HasField("tensor_type"):
                    info.type.tensor_type.ClearField("shape")


def _initializers(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    return [*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)]


def _repair_graph(graph: onnx.GraphProto, outside: set[str], version: int, name: str, around: str = "") -> None:
    """Repairs a graph and the bodies in it.

    outside: the names of the values that it may use besides those that its nodes compute. around: its place, for
    messages.
    """
    places = [describe(node, number) + around for number, node in enumerate(graph.node)]
    known = {tensor.name for tensor in _initializers(graph)}
    _check_unique((tensor.name for tensor in _initializers(graph)), f"{name} has several initializers of the name")
    makers: dict[str, int] = {}
    for number, node in enumerate(graph.node):
        _check_node(node, version, places[number])
        for output in filter(None, node.output):
            if output in makers or output in known:
                first = f"that of {places[makers[output]]}" if output in makers else "an initializer"
                raise ArgumentValueError(f"{places[number]}: the output {output!r} has the same name as {first}")
            makers[output] = number
    uses = [names_used(node) for node in graph.node]
    inside = outside | known | {info.name for info in graph.input} | makers.keys()
    for number, node in enumerate(graph.node):
        if missing := sorted(set(filter(None, node.input)) - inside):
            raise ArgumentValueError(f"{places[number]}: no node, input or initializer has the name {missing[0]!r}")
    results = {info.name for info in graph.output}
    if missing := sorted(results - inside):
        raise ArgumentValueError(
            f"no node, input or initializer{around} of {name} has the name {missing[0]!r}, which is an output"
        )
    order = _order(uses, makers, results, places, name)
    wanted = results.union(*(uses[number] for number in order))
    for number in order:
        node = graph.node[number]
        node.output[:] = [output if output in wanted else "" for output in node.output]
        for attribute, body in bodies(node):
            _repair_graph(body, inside, version, name, f", in {attribute} of {places[number]}")
    if order != list(range(len(places))):
        kept = [onnx.NodeProto.FromString(graph.node[number].SerializeToString()) for number in order]
        del graph.node[:]
        graph.node.extend(kept)


def _check_unique(names: Iterable[str], message: str) -> None:
    """Raises ArgumentValueError if a name occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ArgumentValueError(f"{message} {name!r}")
        seen.add(name)


def names_used(node: onnx.NodeProto) -> set[str]:
    """Returns the names of the values that a node takes from its graph, also those that its bodies use."""
    used = set(filter(None, node.input))
    for _, body in bodies(node):
        inner = {info.name for info in body.output}.union(*map(names_used, body.node))
        made = {output for one in body.node for output in one.output}
        made |= {info.name for info in body.input} | {tensor.name for tensor in _initializers(body)}
        used |= inner - made
    return used - {""}


class Factor(enum.Enum):
    """The only use of a value."""

    MATRIX = enum.auto()  # the right factor of products, also transposed
    KERNEL = enum.auto()  # the weight of convolutions of one group whose input is dequantized


def find_factors(nodes: Sequence[onnx.NodeProto]) -> dict[str, Factor]:
    """Returns the values that sorted nodes only use as factors, by name."""
    dequantized = {node.output[0] for node in nodes if node.op_type == "DequantizeLinear"}

    def find_factor(user: onnx.NodeProto, number: int) -> Factor | None:
        if user.op_type == "Conv":
            groups = next((attribute.i for attribute in user.attribute if attribute.name == "group"), 1)
            return Factor.KERNEL if number == 1 and groups == 1 and user.input[0] in dequantized else None
        is_matrix = (user.op_type in ("MatMul", "Gemm") and number == 1) or (
            user.op_type == "Transpose" and factors.get(user.output[0]) is Factor.MATRIX
        )
        return Factor.MATRIX if is_matrix else None

    uses: dict[str, list[tuple[onnx.NodeProto, int]]] = {}
    for node in nodes:
        for number, name in enumerate(node.input):
            uses.setdefault(name, []).append((node, number))
        for name in names_used(node) - set(node.input):
            uses.setdefault(name, []).append((node, -1))
    factors: dict[str, Factor] = {}
    for node in reversed(nodes):
        for name in node.output:
            kinds = {find_factor(user, number) for user, number in uses.get(name, [])}
            kind = kinds.pop() if len(kinds) == 1 else None
            if kind is not None:
                factors[name] = kind
    return factors


def _order(
    uses: Sequence[set[str]], makers: dict[str, int], results: set[str], places: Sequence[str], name: str
) -> list[int]:
    """Returns the numbers of the nodes that the results need, sorted so that each comes behind those whose values it
    uses. Nodes that are sorted keep their order."""
    needed: set[int] = set()
    pending = [makers[result] for result in results if result in makers]
    while pending:
        number = pending.pop()
        if number not in needed:
            needed.add(number)
            pending += [makers[value] for value in uses[number] if value in makers]
    sources = {number: {makers[value] for value in uses[number] if value in makers} for number in needed}
    users: dict[int, list[int]] = {}
    for number, before in sources.items():
        for source in before:
            users.setdefault(source, []).append(number)
    ready = [number for number, before in sources.items() if not before]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for user in users.get(number, ()):
            sources[user].discard(number)
            if not sources[user]:
                heapq.heappush(ready, user)
    if len(order) < len(needed):
        left = needed - set(order)
        circle = "; ".join(places[number] for number in _circle(sources, left))
        raise ArgumentValueError(f"{name} has a cycle, so its nodes can't be computed: {circle}")
    if order != sorted(order):
        warnings.warn(f"the nodes of {name} are not sorted, so Inlay sorts them", ModelWarning, stacklevel=2)
    return order


def _circle(sources: dict[int, set[int]], left: set[int]) -> list[int]:
    """Returns nodes each of which needs the one before it, and the first the last."""
    path: list[int] = []
    number = min(left)
    while number not in path:
        path.append(number)
        number = min(sources[number] & left)
    return path[path.index(number) :][::-1]


# -- Nodes ------------------------------------------------------------------------------------------------------------


def _check_node(node: onnx.NodeProto, version: int, place: str) -> None:
    """Raises ArgumentValueError unless a node has the inputs, outputs and attributes that its op takes."""
    _check_unique((attribute.name for attribute in node.attribute), f"{place}: several attributes have the name")
    schema = _schema(node, version)
    if schema is None:
        return
    for kind, names, low, high in (
        ("inputs", node.input, schema.min_input, schema.max_input),
        ("outputs", node.output, schema.min_output, schema.max_output),
    ):
        if not low <= len(names) <= high:
            expected = f"{low}" if low == high else f"{low} or more" if high > 2**30 else f"{low} to {high}"
            raise ArgumentValueError(f"{place}: expected {expected} {kind}, but got {len(names)}")
    given = {attribute.name: attribute for attribute in node.attribute}
    for name, attribute in given.items():
        if attribute.ref_attr_name:
            raise ArgumentValueError(
                f"{place}: attribute {name!r} refers to {attribute.ref_attr_name!r}, which only a function has"
            )
        if name not in schema.attributes:
            raise ArgumentValueError(f"{place}: the op has no attribute {name!r} in version {schema.since_version}")
        wanted = str(schema.attributes[name].type).rpartition(".")[2]
        got = AttributeProto.AttributeType.Name(attribute.type)
        if got != wanted:
            raise ArgumentValueError(f"{place}: expected attribute {name!r} to be of type {wanted}, but got {got}")
    for name, known in schema.attributes.items():
        if known.required and name not in given:
            raise ArgumentValueError(f"{place}: the attribute {name!r} is missing")


def _schema(node: onnx.NodeProto, version: int) -> onnx.defs.OpSchema | None:
    """Returns the specification of a node's op; None if the package onnx has none."""
    domain = domain_of(node.domain)
    try:
        return onnx.defs.get_schema(node.op_type, version if domain == DEFAULT else 1, domain)
    except onnx.defs.SchemaError:
        return None
