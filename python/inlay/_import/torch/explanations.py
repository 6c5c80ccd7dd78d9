# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes sentences for the report that say why calls have no graph op, and finds the quantized weights for it."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..._dialect.quantized import BITS
from ..._dialect.text import dtype_name
from ..._program.imported import QuantizedWeight
from .call import Call, operator_name
from .constants import ConstantFolder

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


def dequantized_weight(call: Call, constants: ConstantFolder) -> list[QuantizedWeight]:
    """Returns the weight that a call of `inlay::dequantize` reads; an empty list if its codes are none."""
    codes = call["codes"]
    names = constants.weights_of(codes)
    if not names or codes not in constants:
        return []
    count = constants[codes].numel() * 8 // BITS[call["code"]]
    readers = tuple(str(user.meta.get("label", user.name)) for user in call.node.users)
    return [QuantizedWeight(min(names), call["code"], count, call.label, readers)]


def folded_weight(node: torch.fx.Node, constants: ConstantFolder) -> list[QuantizedWeight]:
    """Returns the weight of 8 bits from which a constant of wider floats is computed; an empty list if there is none.

    Both have the same number of elements.
    """
    value, names = constants[node], constants.weights_of(node)
    if not names or not value.is_floating_point() or value.element_size() == 1:
        return []
    pending, seen = [node], set[torch.fx.Node]()
    while pending:
        source = pending.pop()
        if source in seen or source not in constants:
            continue
        seen.add(source)
        found = source.meta.get("val")
        if isinstance(found, torch.Tensor) and found.numel() == value.numel() and _is_code(found.dtype):
            return [QuantizedWeight(min(names), dtype_name(found.dtype), value.numel())]
        pending += source.all_input_nodes
    return []


def _is_code(dtype: torch.dtype) -> bool:
    """Returns true for a dtype of numbers with 8 bits."""
    return dtype.itemsize == 1 and dtype != torch.bool
