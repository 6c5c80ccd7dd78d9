# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folds constants: parameters, and what is computed from parameters and numbers alone, such as masks and positions."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

import torch
from torch.fx.node import map_arg

from ..._dialect import quantized  # noqa: F401  # registers `inlay::pack`
from ..._program.outputs import Tensors

# Calls besides those of ATen that are folded. Dequantized weights are not, because their floats take more memory.
_FOLDED = (torch.ops.export.access_subclass_inner_tensor.default, torch.ops.inlay.pack.default)

_MAX_GROWTH_BYTES = 16 << 20  # of a folded value that is larger than all values that it is computed from

# Calls whose results do not depend on the elements of their tensor operand -> function from arguments to the number.
_FILL_VALUES: dict[str, Callable[[tuple[Any, ...]], Any]] = {
    "aten::full_like": lambda args: args[1],
    "aten::zeros_like": lambda args: 0,
    "aten::ones_like": lambda args: 1,
    "aten::new_full": lambda args: args[2],
    "aten::new_zeros": lambda args: 0,
    "aten::new_ones": lambda args: 1,
}


class ConstantFolder:
    """The constant nodes of a graph and their values, which are detached, on the CPU and contiguous.

    The folder knows which values are computed from named weights. They must be computed again when the weights are
    replaced.
    """

    def __init__(self, known: Mapping[torch.fx.Node, Any], names: Mapping[torch.fx.Node, str] | None = None) -> None:
        """known: node -> value; names: node -> name, of the nodes that are weights which may be replaced."""
        self._values = dict(known)
        self._names = dict(names or {})
        self._used = {node: {name} for node, name in self._names.items()}
        self.read: set[str] = set()  # names of weights whose elements the import depends on

    def __contains__(self, node: object) -> bool:
        return node in self._values

    def __getitem__(self, node: torch.fx.Node) -> Any:
        value = self._values[node]
        if isinstance(value, torch.Tensor) and not value.is_contiguous():
            value = self._values[node] = value.contiguous()
        return value

    def add(self, node: torch.fx.Node, tensor: torch.Tensor, name: str | None = None) -> None:
        """Makes `node` a constant. name: the name of the weight, if the node is a weight that may be replaced."""
        self._values[node] = tensor
        if name is not None:
            self._names[node] = name
            self._used[node] = {name}

    def stand_in(self, node: torch.fx.Node, source: torch.fx.Node) -> bool:
        """Gives `node` the value of `source`. Returns false if `source` is not constant."""
        if source not in self._values:
            return False
        self._values[node] = self._values[source]
        if self.weights_of(source):
            self._used[node] = self.weights_of(source)
        return True

    def inspect(self, node: torch.fx.Node) -> Any:
        """Returns the value of a node for a decision that depends on its elements."""
        self.read |= self.weights_of(node)
        return self[node]

    def resolve(self, node: torch.fx.Node) -> Any:
        """Returns the value of a node that is a constant number, such as an element of a weight, and other nodes
        themselves. The import then depends on the weight."""
        is_number = node in self and isinstance(self._values[node], (bool, int, float))
        return self.inspect(node) if is_number else node

    def weights_of(self, node: torch.fx.Node) -> set[str]:
        """Returns the names of the weights that a constant node is computed from."""
        return self._used.get(node, set())

    def recipe(self, node: torch.fx.Node) -> Callable[[Tensors], Any]:
        """Returns a function that computes the node's value from the weights by name."""
        fixed = {source: self._values[source] for source in self._leaves(node) if source not in self._names}
        names = self._names

        def compute(weights: Tensors) -> Any:
            values = dict(fixed)
            for step in _steps(node, values, names):
                if step in names:
                    values[step] = weights[names[step]]
                else:
                    args, kwargs = map_arg((step.args, step.kwargs), values.__getitem__)
                    with torch.no_grad():
                        values[step] = _call(step, args, kwargs)
            return values[node].contiguous()

        return compute

    def _leaves(self, node: torch.fx.Node) -> list[torch.fx.Node]:
        """Returns the nodes from which `node` is computed: weights, and constants that do not depend on weights."""
        leaves: list[torch.fx.Node] = []
        pending, seen = [node], set[torch.fx.Node]()
        while pending:
            source = pending.pop()
            if source in seen:
                continue
            seen.add(source)
            if self.weights_of(source) and source not in self._names:
                pending += source.all_input_nodes
            else:
                leaves.append(source)
        return leaves

    def fold(self, node: torch.fx.Node) -> bool:
        """Computes `node` if all its operands are constant. Returns true if the node is constant now."""
        if node in self._values:
            return True
        if not self._is_pure(node) or not self._is_small(node):
            return False
        fill = _FILL_VALUES.get(node.target._schema.name) if isinstance(node.target, torch._ops.OpOverload) else None
        meta = node.meta.get("val")
        with torch.no_grad():
            if fill and isinstance(meta, torch.Tensor):
                self._values[node] = torch.full(tuple(meta.shape), fill(node.args), dtype=meta.dtype)
                return True
            if any(source not in self._values for source in node.all_input_nodes):
                return False
            args, kwargs = map_arg((node.args, node.kwargs), self._values.__getitem__)
            result = _call(node, args, kwargs)
        if isinstance(result, torch.Tensor) and (result.layout != torch.strided or result.device.type != "cpu"):
            return False
        self._values[node] = result
        used: set[str] = set().union(*(self.weights_of(source) for source in node.all_input_nodes))
        if used:
            self._used[node] = used
        return True

    @staticmethod
    def _is_pure(node: torch.fx.Node) -> bool:
        """Returns true if a call depends on its operands alone and has no effect."""
        if node.op != "call_function":
            return False
        if not isinstance(node.target, torch._ops.OpOverload):
            return node.target.__module__ == "_operator"
        random = torch.Tag.nondeterministic_seeded in node.target.tags
        is_known = node.target.namespace in ("aten", "prims") or node.target in _FOLDED
        return is_known and not random and not node.target._schema.is_mutable

    def _is_small(self, node: torch.fx.Node) -> bool:
        """Returns true if the results of a call have known sizes and may be kept as constants."""
        values = node.meta.get("val")
        values = values if isinstance(values, (list, tuple)) else [values]
        if not all(_has_static_shape(value) for value in values):
            return False
        used = sum(_byte_size(self._values.get(source)) for source in node.all_input_nodes)
        return sum(_byte_size(value) for value in values) <= max(used, _MAX_GROWTH_BYTES)


def _call(node: torch.fx.Node, args: Any, kwargs: Any) -> Any:
    """Returns the result of a node's function for other arguments."""
    assert callable(node.target)
    return node.target(*args, **kwargs)


def _steps(
    node: torch.fx.Node, known: Mapping[torch.fx.Node, Any], names: Container[torch.fx.Node]
) -> list[torch.fx.Node]:
    """Returns the nodes to compute for `node`, in order. known: nodes with values; names: nodes that are weights."""
    order: list[torch.fx.Node] = []
    pending, seen = [node], set(known)
    while pending:
        step = pending[-1]
        missing = [] if step in names else [source for source in step.all_input_nodes if source not in seen]
        if missing:
            pending += missing
            continue
        pending.pop()
        if step not in seen:
            seen.add(step)
            order.append(step)
    return order


def _has_static_shape(value: object) -> bool:
    """Returns true if a value is no tensor, or a tensor whose dims are known."""
    return not isinstance(value, torch.Tensor) or all(isinstance(dim, int) for dim in value.shape)


def _byte_size(value: object) -> int:
    """Returns the size of a tensor in bytes, and 0 for other values."""
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0
