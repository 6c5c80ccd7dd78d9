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
    """Knows which nodes are constant and their values (detached, on the CPU, contiguous)."""

    def __init__(self, known):
        """known: node -> tensor."""
        self._values = dict(known)

    def __contains__(self, node):
        return node in self._values

    def __getitem__(self, node):
        value = self._values[node]
        if isinstance(value, torch.Tensor) and not value.is_contiguous():
            value = self._values[node] = value.contiguous()
        return value

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


def _has_static_shape(value):
    return not isinstance(value, torch.Tensor) or all(isinstance(dim, int) for dim in value.shape)


def _byte_size(value):
    return value.numel() * value.element_size() if isinstance(value, torch.Tensor) else 0
