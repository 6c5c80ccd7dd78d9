# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces assertions about the numbers that `.item()` returns by assertions about tensors.

The dialect has no number that is known only at a call, so PyTorch would read the number and check it.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import torch

from .nodes import Inserter, fake_of

aten = torch.ops.aten

_DTYPES = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_ITEMS = (aten.item.default, aten._local_scalar_dense.default)
_COMPARISONS: dict[Any, Any] = {
    operator.eq: aten.eq.Scalar,
    operator.ge: aten.ge.Scalar,
    operator.gt: aten.gt.Scalar,
    operator.le: aten.le.Scalar,
    operator.lt: aten.lt.Scalar,
    operator.ne: aten.ne.Scalar,
}


class _Condition(NamedTuple):
    """A comparison of the only element of a tensor of integers or bools with an int."""

    element: torch.fx.Node
    compare: Any
    number: int


def assert_about_tensors(graph: torch.fx.Graph) -> None:
    """Replaces the assertions of a graph that compare `.item()` of a tensor of integers or bools with an int, unless
    the graph needs the number for anything else."""
    insert = Inserter(graph)
    for node in list(graph.nodes):
        if node.target is not aten._assert_scalar.default or (condition := _condition(node.args[0])) is None:
            continue
        fake = fake_of(condition.element)
        assert fake is not None
        with fake.fake_mode:
            wide = fake.to(torch.int64)
            holds = condition.compare(wide, condition.number)
        # The number may be out of the range of a narrow dtype.
        made = insert.before(node, aten._to_copy.default, (condition.element,), wide, "wide", dtype=torch.int64)
        made = insert.before(node, condition.compare, (made, condition.number), holds, "holds")
        insert.before(node, aten._assert_async.msg, (made, node.args[1]), None)
        graph.erase_node(node)


def _condition(node: Any) -> _Condition | None:
    """Returns the condition that a node computes, or None if it is of another form."""
    if not isinstance(node, torch.fx.Node) or node.target not in _COMPARISONS:
        return None
    compared, number = node.args
    item = _item(compared)
    if item is None or type(number) is not int:
        return None
    is_only_asserted = all(
        comparison.target in _COMPARISONS
        and all(user.target is aten._assert_scalar.default for user in comparison.users)
        for comparison in compared.users  # type: ignore[union-attr]  # `_item` returns None for others than nodes
    )
    is_only_compared = item is compared or len(item.users) == 1
    fake = fake_of(item.args[0])
    if not is_only_asserted or not is_only_compared or fake is None or fake.dtype not in _DTYPES:
        return None
    return _Condition(item.args[0], _COMPARISONS[node.target], number)  # type: ignore[arg-type]  # a node, as it has a fake


def _item(node: Any) -> torch.fx.Node | None:
    """Returns the call of `.item()` whose result a node is, or is 1 for True and 0 for False; None for other nodes."""
    if not isinstance(node, torch.fx.Node):
        return None
    if node.target is torch.sym_ite and node.args[1:] == (1, 0):
        return _item(node.args[0])
    return node if node.target in _ITEMS else None
