# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values known at import: parameters, and what is computed from them and from numbers alone (masks, positions)."""

import torch
from torch.fx.node import map_arg

_LARGEST = 16 << 20  # bytes of a folded value that is larger than all it was computed from

# Calls whose result does not depend on the elements of their tensor operand.
_FILLED = {
    "aten::full_like": lambda args: args[1],
    "aten::zeros_like": lambda args: 0,
    "aten::ones_like": lambda args: 1,
    "aten::new_full": lambda args: args[2],
    "aten::new_zeros": lambda args: 0,
    "aten::new_ones": lambda args: 1,
}


class ConstantFolder:
    """Knows which nodes are constant and their values (detached, on the CPU, contiguous).

    What is computed from named weights is known to be: it must be computed anew when they are replaced.
    """

    def __init__(self, known, names=None):
        """known: node -> tensor; names: node -> name of the weight that it is, of those that may be replaced."""
        self._values = dict(known)
        self._names = dict(names or {})
        self._used = {node: {name} for node, name in self._names.items()}
        self.read = set()  # names of weights whose elements the import depends on

    def __contains__(self, node):
        return node in self._values

    def __getitem__(self, node):
        value = self._values[node]
        if isinstance(value, torch.Tensor) and not value.is_contiguous():
            value = self._values[node] = value.contiguous()
        return value

    def add(self, node, tensor, name=None):
        """Makes `node` a constant; name: that of the weight that it is, if it may be replaced."""
        self._values[node] = tensor
        if name is not None:
            self._names[node] = name
            self._used[node] = {name}

    def stand_in(self, node, source):
        """Makes `node` what `source` is, if that is constant; whether it is."""
        if source not in self._values:
            return False
        self._values[node] = self._values[source]
        if self.weights_of(source):
            self._used[node] = self.weights_of(source)
        return True

    def inspect(self, node):
        """The value of a node, for a decision that depends on its elements."""
        self.read |= self.weights_of(node)
        return self[node]

    def weights_of(self, node):
        """Names of the weights that a constant node is computed from."""
        return self._used.get(node, set())

    def recipe(self, node):
        """A function from (name -> tensor) of the weights to the node's value."""
        fixed = {source: self._values[source] for source in self._leaves(node) if source not in self._names}
        names = self._names

        def compute(weights):
            values = dict(fixed)
            for step in _steps(node, values, names):
                if step in names:
                    values[step] = weights[names[step]]
                else:
                    args, kwargs = map_arg((step.args, step.kwargs), values.__getitem__)
                    with torch.no_grad():
                        values[step] = step.target(*args, **kwargs)
            return values[node].contiguous()

        return compute

    def _leaves(self, node):
        """What a node is computed from and is not computed from weights itself."""
        leaves, pending, seen = [], [node], set()
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

    def fold(self, node):
        """Computes `node` if all it depends on is constant; whether it is constant now."""
        if node in self._values:
            return True
        if not self._is_pure(node) or not self._is_small(node):
            return False
        fill = _FILLED.get(node.target._schema.name) if isinstance(node.target, torch._ops.OpOverload) else None
        meta = node.meta.get("val")
        with torch.no_grad():
            if fill and isinstance(meta, torch.Tensor):
                self._values[node] = torch.full(tuple(meta.shape), fill(node.args), dtype=meta.dtype)
                return True
            if any(source not in self._values for source in node.all_input_nodes):
                return False
            args, kwargs = map_arg((node.args, node.kwargs), self._values.__getitem__)
            result = node.target(*args, **kwargs)
        if isinstance(result, torch.Tensor) and (result.layout != torch.strided or result.device.type != "cpu"):
            return False
        self._values[node] = result
        used = set().union(*(self.weights_of(source) for source in node.all_input_nodes))
        if used:
            self._used[node] = used
        return True

    @staticmethod
    def _is_pure(node):
        if node.op != "call_function":
            return False
        if not isinstance(node.target, torch._ops.OpOverload):
            return node.target.__module__ == "_operator"
        random = torch.Tag.nondeterministic_seeded in node.target.tags
        return not random and not node.target._schema.is_mutable and node.target.namespace in ("aten", "prims")

    def _is_small(self, node):
        values = node.meta.get("val")
        values = values if isinstance(values, (list, tuple)) else [values]
        if not all(_has_static_shape(value) for value in values):
            return False
        used = sum(_byte_size(self._values.get(source)) for source in node.all_input_nodes)
        return sum(_byte_size(value) for value in values) <= max(used, _LARGEST)


def _steps(node, known, names):
    """The nodes that must be computed for `node`, in order."""
    order, pending, seen = [], [node], set(known)
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


def _has_static_shape(value):
    return not isinstance(value, torch.Tensor) or all(isinstance(dim, int) for dim in value.shape)


def _byte_size(value):
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0
