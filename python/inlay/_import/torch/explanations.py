# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes sentences for the report that say why calls have no graph op."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..._dialect.text import dtype_name
from .call import Call, operator_name

_MAX_NAMED = 3  # calls that a sentence names


def explain_call(call: Call, has_handler: bool) -> str:
    """Returns why a call that the dialect can hold has no graph op. has_handler: True if other forms of it have one."""
    name = f"{call.space}::{call.name}{_on_dtypes(call.node)}"
    if has_handler:
        return f"no op of the dialect for {name} with these arguments"
    return f"no op of the dialect for {name}"


def describe_calls(nodes: Sequence[torch.fx.Node]) -> str:
    """Returns the names of the operators that nodes call, with the dtypes of their tensors."""
    found = list(
        dict.fromkeys(
            f"{node.target.namespace}::{operator_name(node.target)}{_on_dtypes(node)}"
            for node in nodes
            if isinstance(node.target, torch._ops.OpOverload)
        )
    )
    found = found or list(dict.fromkeys(str(node.target) for node in nodes))
    more = len(found) - _MAX_NAMED
    return ", ".join(found[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _on_dtypes(node: torch.fx.Node) -> str:
    """Returns " on float32, int64" for the dtypes of a call's operands; "" if it has none."""
    values = [source.meta.get("val") for source in node.all_input_nodes]
    names = dict.fromkeys(dtype_name(value.dtype) for value in values if isinstance(value, torch.Tensor))
    return f" on {', '.join(names)}" if names else ""
