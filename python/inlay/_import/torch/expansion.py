# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decomposes calls that no handler takes.

`decompose` lists what is decomposed before the import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from .call import Call, overload_of
from .decompose import Decompositions, late_decompositions
from .effects import has_effect
from .functional import is_composite
from .guards import plain_kernels


class WritesError(Exception):
    """A decomposition writes its operands. PyTorch must trace the whole graph again to remove the writes."""


class Expansion(NamedTuple):
    """The nodes of a decomposition in order, and the nodes of the call's results as the call returns them."""

    nodes: list[torch.fx.Node]
    results: Any


class Expander:
    """Replaces a node by the nodes of its decomposition.

    Calls that differ only in their operands share one trace, because models repeat their layers.
    """

    def __init__(self, table: Decompositions) -> None:
        """table: operator -> its decomposition, for calls inside other decompositions too."""
        self._table = table
        self._late = late_decompositions()
        self._traced: dict[Any, torch.fx.GraphModule | None] = {}
        self._constants: list[tuple[torch.fx.Node, torch.Tensor]] = []

    def take_constants(self) -> list[tuple[torch.fx.Node, torch.Tensor]]:
        """Returns the constants of the expansions since the last call of this function: their nodes and values."""
        taken, self._constants = self._constants, []
        return taken

    def expand(
        self, node: torch.fx.Node, can_hold: Callable[[torch.fx.Node], bool], used: Sequence[int] | None
    ) -> Expansion | None:
        """Inserts the decomposition of `node` before it. Returns None if there is none that the dialect can hold.

        can_hold: returns true if the dialect can hold the value of a node. used: numbers of the used results, for a
        call with several results.
        """
        target = overload_of(node)
        if target not in self._table and target not in self._late and not is_composite(target):
            return None
        leaves, spec = pytree.tree_flatten((node.args, node.kwargs))
        operands = [leaf for leaf in leaves if isinstance(leaf, torch.fx.Node)]
        fakes = [operand.meta.get("val") for operand in operands]
        if not all(isinstance(fake, (torch.Tensor, torch.SymInt, int)) for fake in fakes):
            return None
        key = (target, spec, tuple(_describe(leaf) for leaf in leaves))
        if key not in self._traced:
            self._traced[key] = self._trace(node, leaves, spec, fakes)
        traced = self._traced[key]
        if traced is None or not all(can_hold(step) for step in traced.graph.nodes if step.op == "call_function"):
            return None
        if used is not None and not all(isinstance(_results(traced)[number], torch.fx.Node) for number in used):
            return None  # a result is missing, or a list
        return self._insert(node, traced, operands)

    def _trace(
        self, node: torch.fx.Node, leaves: Sequence[Any], spec: pytree.TreeSpec, fakes: Sequence[Any]
    ) -> torch.fx.GraphModule | None:
        """Returns the decomposition as a graph module of the operands; None if PyTorch has none for these operands."""

        def call(*tensors: Any) -> Any:
            rest = iter(tensors)
            bound = [next(rest) if isinstance(leaf, torch.fx.Node) else leaf for leaf in leaves]
            args, kwargs = _unlock(pytree.tree_unflatten(bound, spec))
            result = NotImplemented
            for functions in (self._late, self._table):
                if result is NotImplemented and target in functions:
                    result = functions[target](*args, **kwargs)
            if result is NotImplemented:
                result = target.decompose(*args, **kwargs)
            return tuple(result) if isinstance(result, tuple) else result  # a named tuple would be a call in the graph

        target = overload_of(node)
        table: Any = self._table  # make_fx declares its keys to be OpOverloads alone
        results = pytree.tree_leaves(node.meta.get("val"))
        modes = [fake.fake_mode for fake in (*fakes, *results) if hasattr(fake, "fake_mode")]
        if not modes:
            return None
        try:
            with torch.enable_grad(), plain_kernels(), enable_python_dispatcher(), modes[0]:
                traced = make_fx(call, decomposition_table=table)(*map(_stand_in, fakes))
        except Exception:  # the call stays whole if its decomposition can't be traced
            return None
        traced.graph.eliminate_dead_code()
        made = [step for step in traced.graph.nodes if step.op == "call_function"]
        if any(isinstance(step.target, torch._ops.OpOverload) and step.target._schema.is_mutable for step in made):
            raise WritesError(node.name)
        repeats = any(step.target is target for step in made)
        return None if repeats or not _agrees(_results(traced), node.meta.get("val")) else traced

    def _insert(
        self, node: torch.fx.Node, traced: torch.fx.GraphModule, operands: Sequence[torch.fx.Node]
    ) -> Expansion:
        """Copies the traced nodes before `node`."""
        env: dict[torch.fx.Node, torch.fx.Node] = {}
        made: list[torch.fx.Node] = []
        results: Any = None
        label = node.meta.get("label", node.name)
        rest = iter(operands)
        with node.graph.inserting_before(node):
            for step in traced.graph.nodes:
                if step.op == "placeholder":
                    env[step] = next(rest)
                elif step.op == "output":
                    results = torch.fx.node.map_arg(step.args[0], env.__getitem__)
                elif step.op == "get_attr":
                    env[step] = node.graph.create_node("get_attr", step.target)
                    self._constants.append((env[step], getattr(traced, step.target).detach()))
                else:
                    env[step] = node.graph.node_copy(step, env.__getitem__)
                    meta = {"val": step.meta.get("val"), "label": f"{label}.{step.name}", "call": Call(node).origin}
                    for key in ("nn_module_stack", "stack_trace"):
                        if key in node.meta:
                            meta[key] = node.meta[key]
                    env[step].meta = meta
                    made.append(env[step])
        last = results if isinstance(results, torch.fx.Node) else None
        if last is not None and last in made:
            last.meta["label"] = label
            node.replace_all_uses_with(last)
        return Expansion(made, results)


def needed_nodes(nodes: Sequence[torch.fx.Node], results: Any) -> list[torch.fx.Node]:
    """Returns the nodes among `nodes`, which are in order, that have an effect or that `results` depend on."""
    needed = {result for result in pytree.tree_leaves(results) if isinstance(result, torch.fx.Node)}
    needed.update(node for node in nodes if has_effect(node))
    for node in reversed(nodes):
        if node in needed:
            needed.update(node.all_input_nodes)
    return [node for node in nodes if node in needed]


def _results(traced: torch.fx.GraphModule) -> Any:
    """Returns the node of a traced function's result, or those of several results."""
    return next(node for node in traced.graph.nodes if node.op == "output").args[0]


def _agrees(made: Any, wanted: Any) -> bool:
    """Returns true if the nodes of results have the dtypes of the fake tensors `wanted`."""
    if isinstance(made, (list, tuple)):
        return len(made) == len(wanted) and all(map(_agrees, made, wanted))
    fake = made.meta.get("val") if isinstance(made, torch.fx.Node) else None
    return not (isinstance(fake, torch.Tensor) and isinstance(wanted, torch.Tensor)) or fake.dtype == wanted.dtype


def _stand_in(fake: Any) -> Any:
    """Returns a value like `fake`, separate from the values of other operands.

    A tensor requires a gradient if its dtype allows that. PyTorch then keeps to calls that have a derivative, which
    calls that exist for one library lack.
    """
    if not isinstance(fake, torch.Tensor):
        return fake
    has_gradient = fake.dtype.is_floating_point
    return torch.empty_strided(
        fake.shape, fake.stride(), dtype=fake.dtype, device=fake.device, requires_grad=has_gradient
    )


def _unlock(value: Any) -> Any:
    """Returns arguments with plain lists in place of torch.fx's immutable ones, which some decompositions change."""
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(map(_unlock, value))
    return {name: _unlock(element) for name, element in value.items()} if isinstance(value, dict) else value


def _describe(leaf: Any) -> Any:
    """Returns a key for an argument: two arguments with one key have the same decomposition."""
    if isinstance(leaf, torch.fx.Node):
        fake = leaf.meta["val"]
        if not isinstance(fake, torch.Tensor):
            return str(fake)
        return str(tuple(fake.shape)), str(fake.stride()), fake.dtype
    return type(leaf), str(leaf)
