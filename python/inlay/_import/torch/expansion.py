# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that no handler takes, as the calls that they are made of."""

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from .call import Call
from .functional import is_composite
from .guards import plain_kernels


class WritesError(Exception):
    """A decomposition writes its operands: PyTorch must trace the whole graph to rid it of that."""


class Expander:
    """Replaces a node by the nodes that its decomposition makes.

    A decomposition is traced once for all calls that differ in their operands alone: models repeat their layers.
    """

    def __init__(self, table):
        """table: operator -> its decomposition."""
        self._table = table
        self._traced = {}
        self._constants = []

    def take_constants(self):
        """(node, tensor) of each constant that the last decomposition brought along."""
        taken, self._constants = self._constants, []
        return taken

    def expand(self, node, can_hold):
        """Puts the decomposition of `node` before it, if each node of that has a value that the dialect `can_hold`.

        Returns (new nodes in order, the results' nodes as the call gives them), or None for a call without one.
        """
        target = node.target
        if target not in self._table and not is_composite(target):
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
        if traced is None or not all(can_hold(one) for one in traced.graph.nodes if one.op == "call_function"):
            return None
        return self._insert(node, traced, operands)

    def _trace(self, node, leaves, spec, fakes):
        """The decomposition as a graph module of the operands; None if PyTorch has none for these."""

        def call(*tensors):
            rest = iter(tensors)
            bound = [next(rest) if isinstance(leaf, torch.fx.Node) else leaf for leaf in leaves]
            args, kwargs = pytree.tree_unflatten(bound, spec)
            known = node.target in self._table  # PyTorch's table has no `get`
            result = self._table[node.target](*args, **kwargs) if known else NotImplemented
            if result is NotImplemented:
                result = node.target.decompose(*args, **kwargs)
            return tuple(result) if isinstance(result, tuple) else result  # PyTorch's named ones are calls in a graph

        results = pytree.tree_leaves(node.meta.get("val"))
        modes = [one.fake_mode for one in (*fakes, *results) if hasattr(one, "fake_mode")]
        if not modes:
            return None
        try:
            with torch.enable_grad(), plain_kernels(), enable_python_dispatcher(), modes[0]:
                traced = make_fx(call, decomposition_table=self._table)(*map(_stand_in, fakes))
        except Exception:  # whatever a decomposition can't do, the call stays whole
            return None
        traced.graph.eliminate_dead_code()
        made = [one for one in traced.graph.nodes if one.op == "call_function"]
        if any(isinstance(one.target, torch._ops.OpOverload) and one.target._schema.is_mutable for one in made):
            raise WritesError(node.name)
        return None if any(one.target is node.target for one in made) else traced

    def _insert(self, node, traced, operands):
        env, made, results = {}, [], None
        label = node.meta.get("label", node.name)
        rest = iter(operands)
        with node.graph.inserting_before(node):
            for one in traced.graph.nodes:
                if one.op == "placeholder":
                    env[one] = next(rest)
                elif one.op == "output":
                    results = torch.fx.node.map_arg(one.args[0], env.__getitem__)
                elif one.op == "get_attr":
                    env[one] = node.graph.create_node("get_attr", one.target)
                    self._constants.append((env[one], getattr(traced, one.target).detach()))
                else:
                    env[one] = node.graph.node_copy(one, env.__getitem__)
                    kept = {key: node.meta[key] for key in ("nn_module_stack", "stack_trace") if key in node.meta}
                    meta = {"val": one.meta.get("val"), "label": f"{label}.{one.name}", "call": Call(node).origin}
                    env[one].meta = {**meta, **kept}
                    made.append(env[one])
        last = results if isinstance(results, torch.fx.Node) else None
        if last in made:
            last.meta["label"] = label
            node.replace_all_uses_with(last)
        return made, results


def _stand_in(fake):
    """A tensor (or number) like `fake`, which may be known for several operands. A tensor has a gradient where it can:
    then PyTorch keeps to calls with a derivative, which those made for one library's sake lack."""
    if not isinstance(fake, torch.Tensor):
        return fake
    can = fake.dtype.is_floating_point
    return torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype, device=fake.device, requires_grad=can)


def _describe(leaf):
    if isinstance(leaf, torch.fx.Node):
        fake = leaf.meta["val"]
        if not isinstance(fake, torch.Tensor):
            return str(fake)
        return str(tuple(fake.shape)), str(fake.stride()), fake.dtype
    return type(leaf), str(leaf)
