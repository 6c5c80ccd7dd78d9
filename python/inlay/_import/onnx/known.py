# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph in which each call is computed immediately, because all values are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx.node import map_arg

from ...errors import InternalError
from .graph import Graph
from .naming import Labels, ModuleStack
from .values import Value


class KnownGraph(Graph):
    """A graph of constants. The handlers of ops compute a model with it as they would import it."""

    runs_now = True

    def __init__(self) -> None:
        self.fx, self.labels, self.sizes = torch.fx.Graph(), Labels(), {}

    def add(self, value: Any) -> Value:
        """Returns the value of a graph for a tensor, a list of values, or None."""
        if isinstance(value, (list, tuple)):
            return [self.add(element) for element in value]
        return None if value is None else self.constant(value)

    def constant(self, tensor: torch.Tensor, name: str = "constant", is_weight: bool = False) -> torch.fx.Node:
        node = self.fx.create_node("placeholder", name, name="value")
        node.meta["val"] = tensor
        return node

    def call(
        self, op: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> torch.fx.Node | list[torch.fx.Node]:
        given_args, given_kwargs = map_arg((tuple(args), dict(kwargs)), lambda source: source.meta["val"])
        with torch.no_grad():
            result = op(*given_args, **given_kwargs)
        return [self.constant(one) for one in result] if isinstance(result, (list, tuple)) else self.constant(result)

    def control(self, op: Callable[..., Any], args: Sequence[Any], values: Sequence[Any]) -> list[torch.fx.Node]:
        raise InternalError("a graph of known values has no control flow")

    def size_tensor(self, values: Sequence[int]) -> torch.fx.Node:
        return self.constant(torch.tensor(values, dtype=torch.int64))

    def is_constant(self, node: torch.fx.Node) -> bool:
        return True

    def inspect(self, node: torch.fx.Node) -> Any:
        return node.meta["val"]

    def capture(self, node: torch.fx.Node) -> torch.fx.Node:
        """Returns a node of another graph, whose value is known."""
        return node

    def name(self, label: str, stack: ModuleStack, results: Sequence[Value]) -> None:
        pass


def value_of(value: Value) -> Any:
    """Returns the tensor of a value of a KnownGraph, or the list of them."""
    if isinstance(value, list):
        return [value_of(element) for element in value]
    return None if value is None else value.meta["val"]
