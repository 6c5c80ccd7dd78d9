# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inserts calls into an FX graph for other calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ..call import Call

_COPIED = ("nn_module_stack", "stack_trace")  # entries of `meta` that tell where a call came from


def fake_like(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns a fake tensor with the dims and strides of `value`, which is fake."""
    assert isinstance(value, FakeTensor)
    with value.fake_mode:
        return torch.empty_strided(value.shape, value.stride(), dtype=dtype, device=value.device)


class Inserter:
    """Inserts calls before or after nodes. The calls have the labels and origins of the nodes that they stand for."""

    def __init__(self, graph: torch.fx.Graph) -> None:
        self._graph = graph
        self.substitutes: dict[torch.fx.Node, torch.fx.Node] = {}  # node -> the node that users read instead

    def substitute(self, node: torch.fx.Node, made: torch.fx.Node) -> None:
        """Makes all users of `node` read `made`."""
        node.replace_all_uses_with(made)
        self.substitutes[node] = made

    def before(self, node: torch.fx.Node, target: Any, args: Any, value: Any, suffix: str = "", **kwargs: Any) -> Any:
        """Inserts a call before `node`. value: its fake result. suffix: tells its label from that of `node`."""
        return self._insert(self._graph.inserting_before(node), node, target, args, value, suffix, kwargs)

    def after(self, node: torch.fx.Node, target: Any, args: Any, value: Any, suffix: str = "", **kwargs: Any) -> Any:
        """Inserts a call after `node`."""
        return self._insert(self._graph.inserting_after(node), node, target, args, value, suffix, kwargs)

    def _insert(
        self, place: Any, node: torch.fx.Node, target: Any, args: Any, value: Any, suffix: str, kwargs: dict[str, Any]
    ) -> torch.fx.Node:
        with place:
            made = self._graph.create_node("call_function", target, tuple(args), kwargs)
        label = node.meta.get("label", node.name)
        made.meta = {"val": value, "label": f"{label}.{suffix}" if suffix else label}
        if isinstance(node.target, torch._ops.OpOverload):
            made.meta["call"] = Call(node).origin
        made.meta.update({key: node.meta[key] for key in _COPIED if key in node.meta})
        return made


def fake_of(value: Any) -> FakeTensor | None:
    """Returns the fake tensor of a node; None if `value` is no node of a strided tensor."""
    fake = value.meta.get("val") if isinstance(value, torch.fx.Node) else None
    return fake if isinstance(fake, FakeTensor) and fake.layout == torch.strided else None


def replace_arguments(node: torch.fx.Node, function: Callable[[torch.fx.Node], Any]) -> tuple[Any, Any]:
    """Returns the arguments of a call with `function(source)` in place of each node."""
    return torch.fx.node.map_arg((node.args, node.kwargs), function)
