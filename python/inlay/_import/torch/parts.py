# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which calls of a graph must be made together, by PyTorch.

A value that the dialect can't hold (complex or sparse, of a size that depends on data, a number read out of a tensor)
can't go from one op to another. So calls that pass such values are one part, and with them what lies between.
"""

import operator
from typing import NamedTuple

import networkx
import torch


class Part(NamedTuple):
    """Nodes that are imported together. is_foreign: PyTorch makes their calls, as one."""

    nodes: list[torch.fx.Node]
    is_foreign: bool = False


def is_number(value):
    """Whether a node's value is a number that is known only at a call."""
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def form_parts(nodes, can_hold, has_effect, region_operands=lambda node: None):
    """Groups nodes into Parts, in an order that keeps dependencies and effects.

    nodes: calls in their order; can_hold(node): whether the dialect can hold the node's value; region_operands(node):
    of a call that becomes ops with regions, the nodes that it takes, else None.
    """
    known = dict.fromkeys(nodes)
    taken = {node: region_operands(node) for node in nodes}
    foreign = {node for node in nodes if _is_foreign(node, taken[node], can_hold)}
    if not foreign:
        return [Part([node]) for node in nodes]
    groups = networkx.utils.UnionFind(nodes)
    for node in nodes:
        for source in node.all_input_nodes if taken[node] is None else taken[node]:
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


def _is_foreign(node, taken, can_hold):
    if node.target is operator.getitem:
        return not can_hold(node)
    if taken is not None:
        return not all(map(can_hold, taken))
    if not isinstance(node.target, torch._ops.OpOverload):
        return True
    if not isinstance(node.meta.get("val"), (list, tuple)) and not can_hold(node):
        return True
    return any(not can_hold(source) for source in node.all_input_nodes)


def _in_order(nodes, foreign, groups, condensed):
    places = condensed.graph["mapping"]
    members = {}
    for node in nodes:
        members.setdefault(places[groups[node]], []).append(node)
    first = {node: number for number, node in enumerate(nodes)}
    order = networkx.lexicographical_topological_sort(condensed, key=lambda place: first[members[place][0]])
    result = []
    for place in order:
        if len(condensed.nodes[place]["members"]) > 1 or not foreign.isdisjoint(members[place]):
            result.append(Part(members[place], True))
        else:
            result += [Part([node]) for node in members[place]]
    return result
