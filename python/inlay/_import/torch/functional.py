# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removes calls that write their operands from a graph that torch.export traced.

`effects.py` tells which calls have other effects.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx.node import map_arg

from .call import Overload, operator_name, overload_of
from .control import is_control_flow

# Composite calls whose results have new memory, although their schemas do not guarantee it.
_FRESH = {
    "batch_norm",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d.input",
    "conv_transpose3d.input",
    "embedding",
    "group_norm",
    "layer_norm",
    "linear",
    "matmul",
    "scaled_dot_product_attention",
    "softmax.int",
    "sym_numel",
    "sym_size.int",
    "sym_storage_offset",
    "sym_stride.int",
}


# Calls that write true and false as numbers. The operators without writes return bool.
_BOOLEAN = {
    "eq_",
    "ge_",
    "gt_",
    "le_",
    "logical_and_",
    "logical_not_",
    "logical_or_",
    "logical_xor_",
    "lt_",
    "ne_",
}

# Views -> the operators that return their operand with new contents of the view.
_SCATTERS: dict[Any, Overload] = {
    torch.ops.aten.slice.Tensor: torch.ops.aten.slice_scatter.default,
    torch.ops.aten.select.int: torch.ops.aten.select_scatter.default,
}


@dataclass(frozen=True)
class FunctionalGraph:
    """A graph without writes. writes: the new value of each argument that the original graph writes, by its name."""

    graph: torch.fx.Graph
    writes: dict[str, torch.fx.Node] = field(default_factory=dict)


def functional_copy(graph: torch.fx.Graph, owned: Container[str] = ()) -> FunctionalGraph | None:
    """Returns a copy of an FX graph in which `relu_(x)` is `relu(x)`, and nodes that read x after it read the
    result.

    owned: the names of arguments that share no memory with others. The graph may write them and slices of them.

    Returns None if that is not enough: the graph writes other arguments, parameters or values that may share memory, or
    it calls other things than operators and control flow. `ExportedProgram.run_decompositions` removes the writes of
    such graphs, but it traces them again, which takes milliseconds per node.
    """
    if not all(_is_plain(node) for node in graph.nodes):
        return None
    copy = torch.fx.Graph()
    if not _copy_attributes(graph, copy):
        return None
    values = _Values()
    for node in graph.nodes:
        if values.reads_stale(node):
            return None
        target: torch.fx.node.Target | None
        target, name, writes = node.target, node.name, _writes(node)
        if _is_identity(node):
            values.share(node, _first_operand(node))
            continue
        if writes:
            target, name = _functional(node), overload_of(node)._schema.name.partition("::")[2].rstrip("_")
            if target is None or not values.may_write(_first_operand(node)):
                return None
        args, kwargs = map_arg((node.args, node.kwargs), values.of)
        made = copy.create_node(node.op, target, args, kwargs, name, node.type)
        made.meta = dict(node.meta)
        _keep_name(made, node)
        if writes:
            values.write(node, made)
        else:
            values.add(node, made, is_owned=node.op == "placeholder" and node.name in owned)
    return FunctionalGraph(copy, values.written_arguments())


class _Values:
    """The contents of the nodes of a graph whose first nodes have been copied, as nodes of the copy."""

    def __init__(self) -> None:
        self._memory: dict[torch.fx.Node, torch.fx.Node] = {}  # node -> the node that made its memory
        self._current: dict[torch.fx.Node, torch.fx.Node] = {}  # node that made memory -> the copy of its contents
        self._sharing: dict[torch.fx.Node, list[torch.fx.Node]] = {}  # node that made memory -> the nodes that have it
        self._viewed: dict[torch.fx.Node, set[torch.fx.Node]] = {}  # node that made memory -> owned arguments in it
        self._owned: dict[torch.fx.Node, torch.fx.Node] = {}  # owned argument -> its copy before all writes
        self._stale: set[torch.fx.Node] = set()  # nodes that made memory, whose contents a write has changed

    def of(self, node: torch.fx.Node) -> torch.fx.Node:
        """Returns the contents of a node."""
        return self._current[self._memory[node]]

    def reads_stale(self, node: torch.fx.Node) -> bool:
        """Returns true if a node reads contents that are not known."""
        return any(self._memory[source] in self._stale for source in node.all_input_nodes)

    def share(self, node: torch.fx.Node, other: torch.fx.Node) -> None:
        """Adds a node that is `other` itself."""
        root = self._memory[node] = self._memory[other]
        self._sharing[root].append(node)

    def add(self, node: torch.fx.Node, made: torch.fx.Node, is_owned: bool) -> None:
        """Adds a node that writes nothing, and its copy."""
        self._memory[node], self._current[node], self._sharing[node] = node, made, [node]
        if is_owned:
            self._owned[node], self._viewed[node] = made, {node}
        elif _may_alias(node):
            self._viewed[node] = {
                viewed for source in node.all_input_nodes for viewed in self._viewed.get(self._memory[source], ())
            }

    def may_write(self, node: torch.fx.Node) -> bool:
        """Returns true if all effects of a write into a node are known."""
        root = self._memory[node]
        if self._viewed.get(root):
            return bool(self._views_of_argument(root))
        return _has_only_readers(self._sharing[root], self._memory)

    def write(self, node: torch.fx.Node, made: torch.fx.Node) -> None:
        """Adds a call that writes its first operand, and the functional call in the copy."""
        self.share(node, _first_operand(node))
        root = self._memory[node]
        self._current[root] = made
        if not self._viewed.get(root):
            return
        views = self._views_of_argument(root)
        for view, base in itertools.pairwise(views):
            scatter = _SCATTERS[view.target]
            args, kwargs = map_arg((view.args[1:], view.kwargs), self.of)
            args = (self._current[base], made, *args)
            made = made.graph.create_node("call_function", scatter, args, kwargs, scatter._schema.name[len("aten::") :])
            made.meta = {**node.meta, "val": base.meta["val"]}
            self._current[base] = made
        argument = views[-1]
        self._stale |= {other for other, viewed in self._viewed.items() if argument in viewed and other not in views}

    def written_arguments(self) -> dict[str, torch.fx.Node]:
        """Returns the new contents of the owned arguments that were written, by their names."""
        return {node.name: self._current[node] for node, made in self._owned.items() if self._current[node] is not made}

    def _views_of_argument(self, root: torch.fx.Node) -> list[torch.fx.Node]:
        """Returns `root`, the view of which it is a slice, and so on, up to an owned argument. Empty if `root` is no
        such view."""
        views = [root]
        while views[-1] not in self._owned:
            if views[-1].target not in _SCATTERS:
                return []
            views.append(self._memory[_first_operand(views[-1])])
        return views


def _first_operand(node: torch.fx.Node) -> torch.fx.Node:
    """Returns the node of a call's first argument, which must be a node."""
    operand = node.args[0]
    assert isinstance(operand, torch.fx.Node)
    return operand


def _copy_attributes(graph: torch.fx.Graph, copy: torch.fx.Graph) -> bool:
    """Copies the attributes that `graph` reads from its module, with graphs among them without writes.

    Returns false if writes can't be removed from one of those graphs.
    """
    read = {str(node.target): node for node in graph.find_nodes(op="get_attr")}
    root = torch.nn.Module()
    for name, node in read.items():
        held = operator.attrgetter(name)(node.graph.owning_module)
        if isinstance(held, torch.fx.GraphModule):
            inner = functional_copy(held.graph)
            if inner is None:
                return False
            root.add_module(name, torch.fx.GraphModule(inner.graph.owning_module or torch.nn.Module(), inner.graph))
        else:
            setattr(root, name, held)
    if read:
        copy.owning_module = root  # type: ignore[assignment]  # declared as a GraphModule, but nodes read any module
    return True


def _keep_name(made: torch.fx.Node, node: torch.fx.Node) -> None:
    """Restores the name of an argument. A copied graph changes it if it is the name of a Python builtin."""
    if node.op == "placeholder":
        made.name = node.name


def _is_plain(node: torch.fx.Node) -> bool:
    """Returns true if a node is a call of an operator or of control flow, arithmetic of sizes, an input or an
    output."""
    if node.op == "call_function" and not isinstance(node.target, torch._ops.OpOverload):
        if isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool, int)):  # arithmetic of sizes
            return True
        if is_control_flow(node):
            return True
        return node.target is operator.getitem
    if node.op == "get_attr":
        return "." not in str(node.target)
    return node.op in ("placeholder", "call_function", "output")


def _writes(node: torch.fx.Node) -> bool:
    """Returns true if a call writes operands."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _is_identity(node: torch.fx.Node) -> bool:
    """Returns true if the call returns its operand itself. PyTorch's own test misses dropout in evaluation."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    name = node.target._schema.name
    return name in ("aten::alias", "aten::detach") or (name == "aten::dropout" and node.args[2:] == (False,))


def _functional(node: torch.fx.Node) -> Overload | None:
    """Returns the operator that computes what `node` writes into its first operand; None if there is none."""
    operator_ = overload_of(node)
    schema = operator_._schema
    space, _, name = schema.name.partition("::")
    written = [
        number
        for number, argument in enumerate(schema.arguments)
        if argument.alias_info and argument.alias_info.is_write
    ]
    if written != [0] or not node.args or not name.endswith("_"):
        return None
    if name in _BOOLEAN and node.meta["val"].dtype != torch.bool:
        return None
    packet = getattr(getattr(torch.ops, space), name[:-1], None)
    overload: Overload | None = getattr(packet, operator_._overloadname, None)
    tensors: list[Any] = [source.meta.get("val") for source in node.all_input_nodes]
    tensors = [fake for fake in tensors if not isinstance(fake, (torch.SymInt, int))]
    alike = all(isinstance(fake, torch.Tensor) and fake.dtype == tensors[0].dtype for fake in tensors)
    return overload if alike and overload is not None and not overload._schema.is_mutable else None


def _has_only_readers(group: Sequence[torch.fx.Node], earlier: Container[torch.fx.Node]) -> bool:
    """Returns true if only the nodes of `group`, the first of which made the memory, have the group's memory.

    earlier: the nodes before the one that writes. Later ones read the result of the write.
    """
    root = group[0]
    made = _first_operand(root) if root.target is operator.getitem else root
    if made is not root and not is_control_flow(made):
        return False
    made = _owner(made)
    if made.op != "call_function" or _may_alias(made):
        return False
    readers = {user for node in group for user in node.users if user.op == "call_function" and user in earlier}
    return not any(_may_alias(user) for user in readers if not _writes(user) and not _is_identity(user))


def _owner(node: torch.fx.Node) -> torch.fx.Node:
    """Returns the call whose memory `node` may have, if only views lie between them that nothing else reads."""
    while node.op == "call_function" and _may_alias(node) and not _writes(node) and len(node.all_input_nodes) == 1:
        source = node.all_input_nodes[0]
        if len(source.users) != 1 or source.op != "call_function":
            break
        node = source
    return node


def _may_alias(node: torch.fx.Node) -> bool:
    """Returns true if a result of the call may share memory with an operand or with another result."""
    target = node.target
    if is_control_flow(node):  # PyTorch refuses to trace control flow whose results share memory
        return False
    if not isinstance(target, torch._ops.OpOverload) or any(result.alias_info for result in target._schema.returns):
        return True
    return is_composite(target) and operator_name(target) not in _FRESH


def is_composite(target: Overload) -> bool:
    """Returns true if PyTorch itself computes the call by other calls on every device."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), "CompositeImplicitAutograd"))
