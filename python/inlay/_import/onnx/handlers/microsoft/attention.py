# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports attention of the domain com.microsoft."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, dtype_of, shape_of

_Tensor = torch.fx.Node


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Attention": _handle_attention,
        "GroupQueryAttention": _handle_group_query_attention,
        "MultiHeadAttention": _handle_multi_head_attention,
        "RotaryEmbedding": _handle_rotary_embedding,
    }


def _refuse_inputs(call: NodeCall, names: dict[int, str]) -> None:
    """Raises UnsupportedError if the node has one of these inputs."""
    for number, name in names.items():
        if call.get(number) is not None:
            raise call.unsupported(f"the input {name!r} is not supported")


def _refuse_attributes(call: NodeCall, defaults: dict[str, object]) -> None:
    """Raises UnsupportedError if an attribute differs from its default."""
    for name, default in defaults.items():
        if call.attribute(name, default) != default:
            raise call.unsupported(f"the attribute {name!r} is not supported")


def _split_heads(call: NodeCall, x: _Tensor, heads: int) -> _Tensor:
    """Returns `x`, batch x length x (heads * width), as batch x heads x length x width."""
    batch, length, width = shape_of(x)
    return call.aten("permute", call.reshape(x, [batch, length, heads, width // heads]), [0, 2, 1, 3])


def _join_heads(call: NodeCall, x: _Tensor) -> _Tensor:
    """Returns `x`, batch x heads x length x width, as batch x length x (heads * width)."""
    batch, heads, length, width = shape_of(x)
    return call.reshape(call.aten("permute", x, [0, 2, 1, 3]), [batch, length, heads * width])


def _places(call: NodeCall, size: int) -> _Tensor:
    """Returns the integers below `size`."""
    return call.aten("arange", size, dtype=torch.int64)


def _sum(call: NodeCall, parts: Iterable[_Tensor | None]) -> _Tensor | None:
    """Returns the sum of tensors; None if there are none."""
    total: _Tensor | None = None
    for part in parts:
        if part is not None:
            total = part if total is None else call.aten("add.Tensor", total, part)
    return total


def _as_bias(call: NodeCall, allowed: _Tensor, dtype: torch.dtype, value: float) -> _Tensor:
    """Returns the numbers to add to scores: `value` where a key is not allowed."""
    zero, barred = (call.constant(torch.tensor(number, dtype=dtype)) for number in (0.0, value))
    return call.aten("where.self", allowed, zero, barred)


def _mask_bias(call: NodeCall, mask: _Tensor | None, batch: int, keys: int, dtype: torch.dtype) -> _Tensor | None:
    """Returns the numbers to add to scores for a mask of any form; None if there is no mask."""
    if mask is None:
        return None
    value = call.attribute("mask_filter_value", -10000.0)
    shape = shape_of(mask)
    if len(shape) == 1:  # lengths, or ends and starts
        places = _places(call, keys)
        if shape[0] == batch:
            allowed = call.aten("lt.Tensor", places, call.reshape(mask, [batch, 1]))
        elif shape[0] == 2 * batch:
            ends, starts = (call.reshape(part, [batch, 1]) for part in call.aten_results("split.Tensor", mask, batch))
            inside = (call.aten("lt.Tensor", places, ends), call.aten("ge.Tensor", places, starts))
            allowed = call.aten("logical_and", *inside)
        else:
            raise call.unsupported(f"a mask of the shape {list(shape)} is not supported")
    elif len(shape) in (2, 3):
        allowed = call.aten("gt.Scalar", mask, 0)
    else:
        raise call.unsupported(f"a mask of {len(shape)} dims is not supported")
    wanted = [shape_of(allowed)[0], 1, 1 if len(shape_of(allowed)) == 2 else shape_of(allowed)[1], keys]
    return _as_bias(call, call.reshape(allowed, wanted), dtype, value)


def _causal_bias(call: NodeCall, queries: int, keys: int, dtype: torch.dtype) -> _Tensor:
    """Returns the numbers to add to scores so that no query sees a later key. The last query sees all keys."""
    last = call.aten("add.Scalar", call.reshape(_places(call, queries), [queries, 1]), keys - queries)
    return _as_bias(call, call.aten("le.Tensor", _places(call, keys), last), dtype, torch.finfo(dtype).min)


def _attend(
    call: NodeCall, query: _Tensor, key: _Tensor, value: _Tensor, mask: _Tensor | None, bias: _Tensor | None
) -> _Tensor:
    """Returns the attention of heads. mask: in one of the forms of the ops. bias: added to the scores."""
    batch, _, queries, width = shape_of(query)
    keys, dtype = shape_of(key)[2], dtype_of(query)
    is_causal = call.attribute("unidirectional", 0)
    causal = _causal_bias(call, queries, keys, dtype) if is_causal else None
    total = _sum(call, (_mask_bias(call, mask, batch, keys, dtype), causal, bias))
    scale = call.attribute("scale", 0.0) or 1 / math.sqrt(width)
    return call.aten("scaled_dot_product_attention", query, key, value, total, 0.0, False, scale=scale)


def _handle_attention(call: NodeCall) -> NodeResult:
    _refuse_inputs(call, {6: "past_sequence_length"})
    _refuse_attributes(call, {"do_rotary": 0, "rotary_embedding_dim": 0, "past_present_share_buffer": 0})
    heads, bias, past = call.attribute("num_heads"), call.get(2), call.get(4)
    projected = _sum(call, (call.aten("matmul", call[0], call[1]), bias))
    assert projected is not None
    sizes = call.attribute("qkv_hidden_sizes") or [shape_of(projected)[-1] // 3] * 3
    parts = call.aten_results("split_with_sizes", projected, sizes, -1)
    query, key, value = (_split_heads(call, part, heads) for part in parts)
    if past is not None:
        key, value = (
            call.aten("cat", [call.aten("select.int", past, 0, number), new], 2)
            for number, new in enumerate((key, value))
        )
    result = _join_heads(call, _attend(call, query, key, value, call.get(3), call.get(5)))
    return [result, call.aten("stack", [key, value]) if call.is_wanted(1) else None]


def _handle_multi_head_attention(call: NodeCall) -> NodeResult:
    _refuse_inputs(call, {8: "past_sequence_length", 9: "cache_indirection"})
    heads = call.attribute("num_heads")
    query, key, value = _separate(call, heads)
    for number, past in ((1, call.get(6)), (2, call.get(7))):
        if past is not None and number == 1:
            key = call.aten("cat", [past, key], 2)
        elif past is not None:
            value = call.aten("cat", [past, value], 2)
    result = _attend(call, query, key, value, call.get(4), call.get(5))
    return [_join_heads(call, result), key, value]


def _separate(call: NodeCall, heads: int) -> list[_Tensor]:
    """Returns the query, key and value, batch x heads x length x width, after the bias."""
    query, key, value, bias = call[0], call.get(1), call.get(2), call.get(3)
    if key is None:  # packed: batch x length x heads x 3 x width
        if bias is not None or len(shape_of(query)) != 5:
            raise call.unsupported("a packed query with a bias is not supported")
        parts = [call.aten("select.int", query, 3, number) for number in range(3)]
        return [call.aten("permute", part, [0, 2, 1, 3]) for part in parts]
    if value is None:  # packed: batch x length x heads x 2 x width
        if bias is not None or len(shape_of(key)) != 5:
            raise call.unsupported("a packed key with a bias is not supported")
        parts = [call.aten("select.int", key, 3, number) for number in range(2)]
        return [_split_heads(call, query, heads), *(call.aten("permute", part, [0, 2, 1, 3]) for part in parts)]
    is_split = len(shape_of(key)) == 4
    if bias is not None:
        width = shape_of(query)[-1]
        rest = shape_of(bias)[0] - 2 * width
        biases = call.aten_results("split_with_sizes", bias, [width, width, rest], 0)
        query = call.aten("add.Tensor", query, biases[0])
        if not is_split:
            key, value = call.aten("add.Tensor", key, biases[1]), call.aten("add.Tensor", value, biases[2])
    if is_split:
        return [_split_heads(call, query, heads), key, value]
    return [_split_heads(call, x, heads) for x in (query, key, value)]


def _handle_group_query_attention(call: NodeCall) -> NodeResult:
    unknown = {12: "k_scale", 13: "v_scale", 14: "q_norm_weight", 15: "k_norm_weight", 16: "query_seqlens"}
    _refuse_inputs(call, unknown)
    _refuse_attributes(
        call,
        {"sliding_window_cache": 0, "causal": 1, "qk_output": 0, "k_quant_type": "NONE", "v_quant_type": "NONE"},
    )
    for name in ("q_norm_epsilon", "k_norm_epsilon", "qk_norm_epsilon", "kv_cache_bit_width"):
        call.ignore(name)  # only for the inputs above
    heads, kv_heads = call.attribute("num_heads"), call.attribute("kv_num_heads")
    query, key, value = call[0], call.get(1), call.get(2)
    if key is None or value is None:
        width = shape_of(query)[-1] // (heads + 2 * kv_heads)
        sizes = [heads * width, kv_heads * width, kv_heads * width]
        query, key, value = call.aten_results("split_with_sizes", query, sizes, -1)
    query, key, value = (
        _split_heads(call, x, count) for x, count in ((query, heads), (key, kv_heads), (value, kv_heads))
    )
    # The length of the results' cache if an import knows it.
    length = -1
    if call.has_ints(6):
        (total,) = call.required_ints(6, "total_sequence_length")
        past = call.get(3)
        length = total if past is None else torch.sym_max(total, shape_of(past)[2])
    result, *present = call.library(
        "group_query_attention",
        query,
        key,
        value,
        call.get(3),
        call.get(4),
        call[5],
        call[6],
        call.get(7),
        call.get(8),
        call.get(9),
        call.get(10),
        call.get(11),
        length,
        bool(call.attribute("do_rotary", 0)),
        bool(call.attribute("rotary_interleaved", 0)),
        call.attribute("scale", 0.0) or 1 / math.sqrt(shape_of(query)[-1]),
        call.attribute("softcap", 0.0),
        call.attribute("local_window_size", -1),
        call.attribute("smooth_softmax", 0) == 1,
    )
    return [_join_heads(call, result), *present]


# -- Rotary embedding -------------------------------------------------------------------------------------------------


def _handle_rotary_embedding(call: NodeCall) -> NodeResult:
    _refuse_attributes(call, {"is_packed_batching": 0, "scale": 1.0})
    x, places, cos, sin = (call[number] for number in range(4))
    heads, width = call.attribute("num_heads", 0), call.attribute("rotary_embedding_dim", 0)
    is_flat = len(shape_of(x)) == 3
    if is_flat:
        if width and not heads:
            raise ArgumentValueError(f"{call.place}: expected num_heads with rotary_embedding_dim")
        size = shape_of(x)[-1] // heads if width else shape_of(cos)[1] * 2
        x = _split_heads(call, x, shape_of(x)[-1] // size)
    _, _, length, size = shape_of(x)
    turned = shape_of(cos)[1] * 2
    if shape_of(places) == (1,):  # the place of the first element
        places = call.reshape(call.aten("add.Tensor", _places(call, length), places), [1, length])
    cos, sin = (call.aten("unsqueeze", call.aten("embedding", table, places), 1) for table in (cos, sin))
    if call.attribute("interleaved", 0):
        apart = call.reshape(call.aten("slice.Tensor", x, 3, 0, turned), [*shape_of(x)[:3], turned // 2, 2])
        first, second = (call.aten("select.int", apart, 4, number) for number in range(2))
    else:
        first, second = (call.aten("slice.Tensor", x, 3, start, start + turned // 2) for start in (0, turned // 2))
    real = call.aten("sub.Tensor", call.aten("mul.Tensor", first, cos), call.aten("mul.Tensor", second, sin))
    imaginary = call.aten("add.Tensor", call.aten("mul.Tensor", second, cos), call.aten("mul.Tensor", first, sin))
    if call.attribute("interleaved", 0):
        result = call.reshape(call.aten("stack", [real, imaginary], -1), [*shape_of(x)[:3], turned])
    else:
        result = call.aten("cat", [real, imaginary], -1)
    if turned != size:
        result = call.aten("cat", [result, call.aten("slice.Tensor", x, 3, turned, size)], -1)
    return _join_heads(call, result) if is_flat else result
