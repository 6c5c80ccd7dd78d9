# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports attention."""

from __future__ import annotations

import math

import torch
from onnx import TensorProto

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..functions import expand
from ..tensors import type_number


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"Attention": _handle_attention}


def _handle_attention(call: NodeCall) -> NodeResult:
    if not _is_plain(call):
        return expand(call)
    query, key, value = (call[number] for number in range(3))
    flat = len(shape_of(query)) == 3
    heads, kv_heads = call.attribute("q_num_heads"), call.attribute("kv_num_heads")
    if flat:
        if not heads or not kv_heads:
            raise ArgumentValueError(f"{call.place}: expected q_num_heads and kv_num_heads for inputs of 3 dims")
        query, key, value = (
            _split_heads(call, x, count) for x, count in ((query, heads), (key, kv_heads), (value, kv_heads))
        )
    is_causal = bool(call.attribute("is_causal", 0))
    mask = call.get(3)
    if is_causal and mask is not None:
        mask, is_causal = _causal(call, mask, shape_of(query)[-2], shape_of(key)[-2]), False
    scale = call.attribute("scale") or 1 / math.sqrt(shape_of(query)[-1])
    grouped = shape_of(query)[1] != shape_of(key)[1]
    result = call.aten(
        "scaled_dot_product_attention", query, key, value, mask, 0.0, is_causal, scale=scale, enable_gqa=grouped
    )
    if flat:
        batch, heads, length, width = shape_of(result)
        result = call.reshape(call.aten("permute", result, [0, 2, 1, 3]), (batch, length, heads * width))
    return result


def _is_plain(call: NodeCall) -> bool:
    """Returns true if PyTorch's function computes the results of an attention node."""
    has_cache = any(call.get(number) is not None for number in (4, 5, 6))
    windows = [call.attribute(f"{side}_window_size", -1) for side in ("left", "right")]
    precision = call.attribute("softmax_precision", TensorProto.FLOAT)
    mask = call.get(3)
    return (
        not has_cache
        and len(call.proto.output) == 1
        and not call.attribute("softcap", 0.0)
        and windows == [-1, -1]
        and precision in (TensorProto.FLOAT, type_number(dtype_of(call[0])))
        and (mask is None or _covers(call, mask))
    )


def _covers(call: NodeCall, mask: torch.fx.Node) -> bool:
    """Returns true if a mask has an element for each key. The specification pads a shorter one."""
    keys = shape_of(call[1])[-2]
    return len(shape_of(mask)) >= 2 and (shape_of(mask)[-1] == keys)


def _split_heads(call: NodeCall, x: torch.fx.Node, heads: int) -> torch.fx.Node:
    """Returns `x`, batch x length x (heads * width), as batch x heads x length x width."""
    batch, length, width = shape_of(x)
    return call.aten("permute", call.reshape(x, (batch, length, heads, width // heads)), [0, 2, 1, 3])


def _causal(call: NodeCall, mask: torch.fx.Node, queries: int, keys: int) -> torch.fx.Node:
    """Returns the mask with all keys behind their query masked too."""
    allowed = torch.ones(queries, keys, dtype=torch.bool).tril()
    if dtype_of(mask) == torch.bool:
        return call.aten("logical_and", mask, call.constant(allowed))
    barred = torch.zeros(queries, keys, dtype=dtype_of(mask)).masked_fill(~allowed, -math.inf)
    return call.aten("add.Tensor", mask, call.constant(barred))
