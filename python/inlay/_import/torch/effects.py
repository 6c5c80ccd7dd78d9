# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells which calls do more than compute their results: they draw random numbers, check something, or return
nothing."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator

import torch

from .call import Overload

aten = torch.ops.aten

# Calls that PyTorch does not mark as random, although it decomposes them into random calls.
_RANDOM = {"dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "rrelu"}
# Hints, and checks of facts that the export has established.
_CHECKED = {"_assert_tensor_metadata", "sym_constrain_range", "sym_constrain_range_for_size"}


def draws_random_numbers(node: torch.fx.Node) -> bool:
    """Returns true if a call draws numbers from PyTorch's generator."""
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


def has_effect(node: torch.fx.Node) -> bool:
    """Returns true if a call must run, in its order among such calls, even if nothing uses its results."""
    if node.op != "call_function" or is_checked_already(node):
        return False
    op = node.target
    if isinstance(op, torch._ops.HigherOrderOperator):
        return any(has_effect(inner) for graph in _graphs(node) for inner in graph.nodes) or op.name() == "with_effects"
    if not isinstance(op, torch._ops.OpOverload):
        return False
    return (
        bool(node.meta.get("has_effect"))
        or op._schema.is_mutable
        or not op._schema.returns
        or draws_random_numbers(node)
    )


def is_checked_already(node: torch.fx.Node) -> bool:
    """Returns true if a call only checks a fact that the export has established, or only gives a hint."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    if node.target.namespace != "aten":
        return False
    return _base(node.target) in _CHECKED or (_base(node.target) == "_assert_scalar" and node.args[0] is True)


def is_assertion(node: torch.fx.Node) -> bool:
    """Returns true if a call only checks the elements of a tensor."""
    return node.target in (aten._assert_async.default, aten._assert_async.msg)


def drop_effect_tokens(graph: torch.fx.Graph) -> None:
    """Replaces calls `with_effects(token, op, ...)` by calls of their ops, which are marked to keep their order.

    The tokens that the graph takes and returns become None.
    """
    wrapped = [node for node in graph.nodes if node.target is torch.ops.higher_order.with_effects]
    for node in wrapped:
        token, op, *args = node.args
        with graph.inserting_before(node):
            call = graph.call_function(op, tuple(args), node.kwargs)
        values = node.meta.get("val")
        call.meta = {**node.meta, "has_effect": True}
        if isinstance(values, (tuple, list)):
            call.meta["val"] = values[1] if len(values) == 2 else tuple(values[1:])
        for user in list(node.users):
            number = user.args[1]
            if number == 0:
                user.replace_all_uses_with(token)
            elif len(op._schema.returns) == 1:
                user.replace_all_uses_with(call)
            else:
                user.args = (call, number - 1)
                continue
            graph.erase_node(user)
        graph.erase_node(node)
        if token.op == "placeholder":
            _drop_token(token)


def _drop_token(token: torch.fx.Node) -> None:
    """Makes a graph's input and the results that return it None."""
    token.meta["val"] = None
    for user in list(token.users):
        if user.op == "output":
            user.args = torch.fx.node.map_arg(user.args, lambda node: None if node is token else node)


@contextlib.contextmanager
def keeping_effects(graph_module: torch.fx.GraphModule) -> Iterator[None]:
    """Keeps torch.fx from dropping calls of the graph that have an effect, as long as the context is open."""
    marked = torch.fx.node._side_effectful_functions
    new = {node.target for node in graph_module.graph.nodes if has_effect(node)} - marked
    marked |= new
    try:
        yield
    finally:
        marked -= new


def restore_dropout(graph: torch.fx.Graph) -> None:
    """Replaces native_dropout, into which PyTorch decomposes dropout, by dropout, because the two round differently."""
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


def _base(op: Overload) -> str:
    """Returns the name of an operator without namespace and overload."""
    return op._schema.name.partition("::")[2]


def _graphs(node: torch.fx.Node) -> Iterator[torch.fx.Graph]:
    """Yields the graphs that a call takes."""
    for source in node.all_input_nodes:
        if source.op == "get_attr":
            holder: object = source.graph.owning_module
            for part in str(source.target).split("."):
                holder = getattr(holder, part, None)  # constants of some graphs are not in their modules
            if isinstance(holder, torch.fx.GraphModule):
                yield holder.graph
