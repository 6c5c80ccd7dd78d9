# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups the calls of a graph that PyTorch must make together.

The dialect can't hold some values: complex and sparse tensors, tensors of sizes that depend on data, numbers that are
read out of a tensor. They can't be passed from one op to another. So calls that pass such values form one part,
together with the calls on paths between them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import networkx
import torch


class Part(NamedTuple):
    """Nodes that are imported together. is_foreign: True if PyTorch makes their calls, as one op."""

    nodes: list[torch.fx.Node]
    is_foreign: bool = False


def is_number(value: object) -> bool:
    """Returns true if a node's value is a symbolic number, which is known only at a call."""
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def form_parts(
    nodes: Sequence[torch.fx.Node],
    can_hold: Callable[[torch.fx.Node], bool],
    has_effect: Callable[[torch.fx.Node], bool],
    region_operands: Callable[[torch.fx.Node], list[torch.fx.Node] | None],
) -> list[Part]:
    """Groups nodes into parts, in an order that keeps dependencies and effects.

    nodes: calls in graph order; can_hold: returns true if the dialect can hold the node's value; region_operands:
    returns the nodes that a call takes if the call becomes ops with regions, else None.
    """
    known = dict.fromkeys(nodes)
    taken = {node: region_operands(node) for node in nodes}
    foreign = {node for node in nodes if _is_foreign(node, taken[node], can_hold)}
    if not foreign:
        return [Part([node]) for node in nodes]
    groups = networkx.utils.UnionFind(nodes)
    for node in nodes:
        operands = taken[node]
        for source in node.all_input_nodes if operands is None else operands:
            if source in known and (node.target is operator.getitem or not can_hold(source)):
                groups.union(source, node)
    units = networkx.DiGraph()
    last = None
    for node in nodes:
        units.add_node(groups[node])
        units.add_edges_from((groups[source], groups[node]) for source in node.all_input_nodes if source in known)
        if has_effect(node):
            if last is not None:
                units.add_edge(groups[last], groups[node])
            last = node
    units.remove_edges_from(list(networkx.selfloop_edges(units)))
    return _in_order(nodes, foreign, groups, networkx.condensation(units))


def _is_foreign(
    node: torch.fx.Node, taken: list[torch.fx.Node] | None, can_hold: Callable[[torch.fx.Node], bool]
) -> bool:
    """Returns true if PyTorch must make a call, because the dialect can't hold an operand or the result."""
    if node.target is operator.getitem:
        return not can_hold(node)
    if taken is not None:
        return not all(map(can_hold, taken))
    if not isinstance(node.target, torch._ops.OpOverload):
        return True
    if not isinstance(node.meta.get("val"), (list, tuple)) and not can_hold(node):
        return True
    return any(not can_hold(source) for source in node.all_input_nodes)


def _in_order(nodes: Sequence[torch.fx.Node], foreign: set[torch.fx.Node], groups: Any, condensed: Any) -> list[Part]:
    """Returns the parts in topological order. Ties are broken by the order in the graph.

    groups: a networkx UnionFind of nodes; condensed: the networkx condensation of the graph of groups.
    """
    places = condensed.graph["mapping"]
    members: dict[int, list[torch.fx.Node]] = {}
    for node in nodes:
        members.setdefault(places[groups[node]], []).append(node)
    first = {node: number for number, node in enumerate(nodes)}
    order = networkx.lexicographical_topological_sort(condensed, key=lambda place: first[members[place][0]])
    result: list[Part] = []
    for place in order:
        if len(condensed.nodes[place]["members"]) > 1 or not foreign.isdisjoint(members[place]):
            result.append(Part(members[place], True))
        else:
            result += [Part([node]) for node in members[place]]
    return result
