# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that do more than compute their results: random numbers, checks, ops of other libraries without results."""

import contextlib
import operator

import torch

aten = torch.ops.aten

# Random although PyTorch doesn't mark them so: they are split into calls that are.
_RANDOM = {"dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "rrelu"}
# Hints, and checks of what export knows.
_CHECKED = {"_assert_tensor_metadata", "sym_constrain_range", "sym_constrain_range_for_size"}


def draws_random_numbers(node):
    """Whether a call draws from PyTorch's generator."""
    op = node.target
    if not isinstance(op, torch._ops.OpOverload):
        return False
    if torch.Tag.nondeterministic_seeded not in op.tags and _base(op) not in _RANDOM:
        return False
    given = {argument.name: argument.default_value for argument in op._schema.arguments}
    given.update(zip(given, node.args, strict=False))
    given.update(node.kwargs)
    if given.get("train", given.get("training", True)) is False:
        return False
    return all(given.get(name, 1) != 0 for name in ("dropout_p", "dropout"))


def has_effect(node):
    """Whether a call must be made, in its order among such calls, even if nobody uses its results."""
    if node.op != "call_function" or is_checked_already(node):
        return False
    op = node.target
    if isinstance(op, torch._ops.HigherOrderOperator):
        return any(has_effect(inner) for graph in _graphs(node) for inner in graph.nodes) or op.name() == "with_effects"
    if not isinstance(op, torch._ops.OpOverload):
        return False
    return op._schema.is_mutable or not op._schema.returns or draws_random_numbers(node)


def is_checked_already(node):
    """Whether a call only checks or hints at what export has made sure of."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    if node.target.namespace != "aten":
        return False
    return _base(node.target) in _CHECKED or (_base(node.target) == "_assert_scalar" and node.args[0] is True)


@contextlib.contextmanager
def keeping_effects(graph_module):
    """Meanwhile torch.fx drops no call that draws random numbers or gives nothing, used or not."""
    marked = torch.fx.node._side_effectful_functions
    new = {node.target for node in graph_module.graph.nodes if has_effect(node)} - marked
    marked |= new
    try:
        yield
    finally:
        marked -= new


def restore_dropout(graph):
    """Makes dropout whole again where it was split: the pieces round otherwise."""
    for node in list(graph.nodes):
        if node.target is not aten.native_dropout.default or not draws_random_numbers(node):
            continue
        users = list(node.users)
        if any(user.target is not operator.getitem or user.args[1] != 0 for user in users):
            continue
        with graph.inserting_before(node):
            args, name = (*node.args[:2], True), node.name.removeprefix("native_")
            whole = graph.create_node("call_function", aten.dropout.default, args, name=name)
        whole.meta = {**node.meta, "val": node.meta["val"][0]}
        for user in users:
            user.replace_all_uses_with(whole)
            graph.erase_node(user)
        graph.erase_node(node)


def _base(op):
    return op._schema.name.partition("::")[2]


def _graphs(node):
    for source in node.all_input_nodes:
        if source.op == "get_attr":
            holder = source.graph.owning_module
            for part in source.target.split("."):
                holder = getattr(holder, part, None)  # constants of some graphs are kept elsewhere
            if isinstance(holder, torch.fx.GraphModule):
                yield holder.graph
