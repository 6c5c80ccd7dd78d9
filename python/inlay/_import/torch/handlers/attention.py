# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports attention and the normalizations that compute statistics of the input, each as one op of the dialect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from ...._program.imported import Dims
from ..call import Call
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {
        "scaled_dot_product_attention": _handle_attention,
        "_scaled_dot_product_flash_attention_for_cpu": _handle_attention,
        "layer_norm": _handle_layer_norm,
        "native_layer_norm": _handle_layer_norm,
        "group_norm": _handle_group_norm,
        "native_group_norm": _handle_group_norm,
        "rms_norm": _handle_rms_norm,
        "_fused_rms_norm": _handle_rms_norm,
        "_native_batch_norm_legit.no_stats": _handle_batch_statistics,
        "instance_norm": _handle_instance_norm,
    }


def _handle_attention(walker: Walker, call: Call) -> HandlerResult:
    if call["dropout_p"]:
        return None
    query, key, value = (walker.tensor(call[name]) for name in ("query", "key", "value"))
    mask = call["attn_mask"] and walker.tensor(call["attn_mask"])
    if mask and mask.dtype != torch.bool:
        mask = walker.cast(mask, query.dtype, "mask_cast")
    grouped = call.get("enable_gqa", False) and (query.shape[-3] != key.shape[-3] or query.shape[-3] != value.shape[-3])
    if grouped and key.shape[-3] != value.shape[-3]:
        return None
    attributes = {
        "scale": call.get("scale", 1 / math.sqrt(query.shape[-1])),
        "is_causal": call["is_causal"],
        "enable_gqa": grouped,
    }
    operands = [query, key, value, mask]
    result = walker.op("scaled_dot_product_attention", operands, attributes, shape=call.shape, dtype=call.dtype)
    return _first_of(call, result)


def _first_of(call: Call, result: Value) -> HandlerResult:
    """Returns the results of a call of which only the first one, `result`, can be computed; None if another one is
    used."""
    if isinstance(call.val, torch.Tensor):
        return result
    return None if _uses_others(call) else [result, *[None] * (len(call.val) - 1)]


def _uses_others(call: Call) -> bool:
    """Returns true if the call has several results and one besides the first is used."""
    return not isinstance(call.val, torch.Tensor) and any(user.args[1] != 0 for user in call.node.users)


# -- Normalization ----------------------------------------------------------------------------------------------------


def _normalize(
    walker: Walker,
    call: Call,
    name: str,
    x: Value,
    vectors: Sequence[tuple[torch.fx.Node | None, float, Dims]],
    attributes: dict[str, Any],
) -> Value:
    """Writes the normalization op `name` in the widest element type of `x` and `vectors`, and casts the result.

    vectors: (node or None, number to fill the vector with if the node is None, dims) of each.
    """
    dtype = x.dtype
    for node, _, _ in vectors:
        dtype = dtype if node is None else torch.promote_types(dtype, node.meta["val"].dtype)
    operands = [walker.cast(x, dtype, "input_cast")]
    for position, (node, number, shape) in enumerate(vectors):
        vector = walker.splat(number, shape, dtype) if node is None else walker.tensor(node)
        operands.append(walker.cast(vector, dtype, f"vector{position}_cast"))
    suffix = None if dtype == call.dtype else "wide"
    result = walker.op(name, operands, attributes, shape=x.shape, dtype=dtype, suffix=suffix)
    return walker.cast(result, call.dtype, None)


def _handle_layer_norm(walker: Walker, call: Call) -> HandlerResult:
    if _uses_others(call):
        return None
    x, shape = walker.tensor(call["input"]), tuple(call["normalized_shape"])
    vectors = [(call["weight"], 1, shape), (call["bias"], 0, shape)]
    return _first_of(call, _normalize(walker, call, "layer_norm", x, vectors, {"eps": call["eps"]}))


def _handle_group_norm(walker: Walker, call: Call) -> HandlerResult:
    if _uses_others(call):
        return None
    x = walker.tensor(call["input"])
    vectors = [(call["weight"], 1, x.shape[1:2]), (call["bias"], 0, x.shape[1:2])]
    groups = call["num_groups"] if call.base == "group_norm" else call["group"]
    return _first_of(call, _normalize(walker, call, "group_norm", x, vectors, {"groups": groups, "eps": call["eps"]}))


def _handle_rms_norm(walker: Walker, call: Call) -> HandlerResult:
    if _uses_others(call):
        return None
    x, shape = walker.tensor(call["input"]), tuple(call["normalized_shape"])
    # PyTorch computes in this dtype and takes the default eps from it.
    wide = torch.float32 if x.dtype.itemsize < 4 else x.dtype
    attributes = {"eps": call.get("eps", torch.finfo(wide).eps)}
    return _first_of(call, _normalize(walker, call, "rms_norm", x, [(call["weight"], 1, shape)], attributes))


def _handle_batch_statistics(walker: Walker, call: Call) -> HandlerResult:
    # Each channel is one group. The elements of all examples of the batch belong to the group.
    if _uses_others(call):
        return None
    x = walker.tensor(call["input"])
    vectors = [(call["weight"], 1, x.shape[1:2]), (call["bias"], 0, x.shape[1:2])]
    attributes = {"groups": x.shape[1], "eps": call["eps"]}
    if x.shape[0] == 1:
        return _first_of(call, _normalize(walker, call, "group_norm", x, vectors, attributes))
    order = [1, 0, *range(2, len(x.shape))]
    dims = (x.shape[1], x.shape[0], *x.shape[2:])
    channels = walker.op("permute", [x], {"dims": order}, shape=dims, dtype=x.dtype, suffix="channels")
    channels = walker.reshape(channels, (1, *dims), "batch")
    result = walker.reshape(_normalize(walker, call, "group_norm", channels, vectors, attributes), dims, "reshape")
    return _first_of(call, walker.op("permute", [result], {"dims": order}, shape=x.shape, dtype=call.dtype))


def _handle_instance_norm(walker: Walker, call: Call) -> HandlerResult:
    # Each channel of each example is one group.
    x = walker.tensor(call["input"])
    if not call["use_input_stats"]:
        return _normalize_by_statistics(walker, call, x)
    if call["running_mean"] is not None:  # the call also writes the statistics
        return None
    vectors = [(call["weight"], 1, x.shape[1:2]), (call["bias"], 0, x.shape[1:2])]
    return _normalize(walker, call, "group_norm", x, vectors, {"groups": x.shape[1], "eps": call["eps"]})


def _normalize_by_statistics(walker: Walker, call: Call, x: Value) -> Value | None:
    """Returns `x` normalized by the given mean and variance of each channel; None if the dtypes differ."""
    mean, variance = walker.tensor(call["running_mean"]), walker.tensor(call["running_var"])
    weight, bias = (
        walker.splat(number, mean.shape, x.dtype) if call[name] is None else walker.tensor(call[name])
        for name, number in (("weight", 1), ("bias", 0))
    )
    vectors = [weight, bias, mean, variance]
    if any(vector.dtype != x.dtype for vector in vectors):
        return None
    return walker.op("batch_norm", [x, *vectors], {"eps": call["eps"]}, shape=x.shape, dtype=x.dtype)
