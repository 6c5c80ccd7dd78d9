# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph as torch.export traces it, without calls that write their operands."""

import operator

import torch
from torch.fx.node import map_arg

from .call import operator_name
from .control import is_control_flow

# Composite calls that give new memory, although their schemas don't promise it.
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


def functional_copy(graph):
    """A copy of an FX graph in which `relu_(x)` is `relu(x)` and what read x after it reads the result.

    None where that is not all there is to it: arguments, parameters or what may share memory with another value are
    written, or the graph calls other things than operators and control flow. `ExportedProgram.run_decompositions` rids
    those graphs of writes by tracing them anew, which takes milliseconds a node.
    """
    if not all(_is_plain(node) for node in graph.nodes):
        return None
    copy, memory, current = torch.fx.Graph(), {}, {}
    if not _copy_attributes(graph, copy):
        return None
    sharing = {}  # node whose memory it is -> the nodes that have it

    def value_of(node):
        return current[memory[node]]

    def share(node, root):
        memory[node] = root
        sharing.setdefault(root, []).append(node)

    for node in graph.nodes:
        target, name = node.target, node.name
        if _is_identity(node):
            share(node, memory[node.args[0]])
            continue
        if _writes(node):
            target, name = _functional(node), node.target._schema.name.partition("::")[2].rstrip("_")
            if target is None or not _is_own_memory(sharing[memory[node.args[0]]]):
                return None
        args, kwargs = map_arg((node.args, node.kwargs), value_of)
        made = copy.create_node(node.op, target, args, kwargs, name, node.type)
        made.meta = dict(node.meta)
        _keep_name(made, node)
        share(node, memory[node.args[0]] if _writes(node) else node)
        current[memory[node]] = made
    return copy


def _copy_attributes(graph, copy):
    """Gives `copy` what `graph` reads from its module, graphs among it without writes; False if one has others."""
    read = {node.target: node for node in graph.find_nodes(op="get_attr")}
    root = torch.nn.Module() if read else None
    for name, node in read.items():
        held = operator.attrgetter(name)(node.graph.owning_module)
        if isinstance(held, torch.fx.GraphModule):
            inner = functional_copy(held.graph)
            if inner is None:
                return False
            held = torch.fx.GraphModule(inner.owning_module or torch.nn.Module(), inner)
            root.add_module(name, held)
        else:
            setattr(root, name, held)
    copy.owning_module = root
    return True


def _keep_name(made, node):
    """An argument may go by the name of one of Python's functions, which a copied graph would change."""
    if node.op == "placeholder":
        made.name = node.name


def _is_plain(node):
    if node.op == "call_function" and not isinstance(node.target, torch._ops.OpOverload):
        if isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool, int)):  # arithmetic of sizes
            return True
        if is_control_flow(node):
            return True
        return getattr(node.target, "__module__", "") == "_operator" and node.target.__name__ == "getitem"
    if node.op == "get_attr":
        return "." not in node.target
    return node.op in ("placeholder", "call_function", "output")


def _writes(node):
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _is_identity(node):
    """Whether the call gives its operand itself. PyTorch's own way forgets that dropout does so in evaluation."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    name = node.target._schema.name
    return name in ("aten::alias", "aten::detach") or (name == "aten::dropout" and node.args[2:] == (False,))


def _functional(node):
    """The operator that gives what `node` writes into its first operand, and nothing else; None if there is none."""
    schema = node.target._schema
    space, _, name = schema.name.partition("::")
    written = [number for number, one in enumerate(schema.arguments) if one.alias_info and one.alias_info.is_write]
    if written != [0] or not node.args or not name.endswith("_"):
        return None
    packet = getattr(getattr(torch.ops, space), name[:-1], None)
    overload = getattr(packet, node.target._overloadname, None)
    tensors = [one.meta.get("val") for one in node.all_input_nodes]
    tensors = [one for one in tensors if not isinstance(one, (torch.SymInt, int))]
    alike = all(isinstance(one, torch.Tensor) and one.dtype == tensors[0].dtype for one in tensors)
    return overload if alike and overload is not None and not overload._schema.is_mutable else None


def _is_own_memory(group):
    """Whether nothing but a group of nodes, the first of which made it, has the group's memory."""
    root = group[0]
    made = root.args[0] if root.target is operator.getitem else root
    if made.op != "call_function" or not (made is root or is_control_flow(made)) or _may_alias(made):
        return False
    readers = {user for node in group for user in node.users if user.op == "call_function"}
    return not any(_may_alias(user) for user in readers if not _writes(user) and not _is_identity(user))


def _may_alias(node):
    """Whether a result of the call may share memory with an operand, or with another result."""
    target = node.target
    if is_control_flow(node):  # PyTorch refuses to trace one whose results do
        return False
    if not isinstance(target, torch._ops.OpOverload) or any(one.alias_info for one in target._schema.returns):
        return True
    return is_composite(target) and operator_name(target) not in _FRESH


def is_composite(target):
    """Whether PyTorch itself makes the call out of others, whatever the device."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), "CompositeImplicitAutograd")
