# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers GroupQueryAttention of ONNX Runtime, whose batch entries have caches of several lengths."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def _rotate(x: Tensor, cos: Tensor, sin: Tensor, places: Tensor, interleaved: bool) -> Tensor:
    """Returns `x`, heads x length x width, with rotary embeddings for the places in a sequence."""
    cos, sin = cos[places], sin[places]
    turned = 2 * cos.shape[-1]
    part, rest = x[..., :turned], x[..., turned:]
    if interleaved:
        first, second = part[..., ::2], part[..., 1::2]
        pairs = torch.stack([first * cos - second * sin, second * cos + first * sin], -1).flatten(-2)
    else:
        first, second = part.chunk(2, -1)
        pairs = torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
    return torch.cat([pairs, rest], -1)


@torch.library.custom_op("inlay_onnx::group_query_attention", mutates_args=())
def group_query_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_key: Tensor | None,
    past_value: Tensor | None,
    last_places: Tensor,
    total_length: Tensor,
    cos: Tensor | None,
    sin: Tensor | None,
    position_ids: Tensor | None,
    bias: Tensor | None,
    sink: Tensor | None,
    known_length: int,
    rotates: bool,
    interleaved: bool,
    scale: float,
    softcap: float,
    window: int,
    smooth: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the attention of groups of heads, and the keys and values with those of earlier calls before them.

    Tensors are batch x heads x length x width. last_places: the place of the last key of each batch entry.
    known_length: the length of the resulting cache if an import knows it, else -1.
    """
    batch, heads, count, _ = query.shape
    total = int(total_length)
    length = total if past_key is None else max(total, past_key.shape[2])
    kept_keys, kept_values = (x.new_zeros(batch, x.shape[1], length, x.shape[3]) for x in (key, value))
    result = query.new_zeros(batch, heads, count, value.shape[3])
    for entry in range(batch):
        end = int(last_places[entry]) + 1
        start = 0 if total == count else end - count  # a first call may have padding behind its elements
        places = start + torch.arange(count)
        q, k, v = query[entry], key[entry], value[entry]
        if rotates:
            assert cos is not None and sin is not None
            turn = places if position_ids is None or total == count else position_ids[entry]
            turn = turn.clamp(max=cos.shape[0] - 1)
            q, k = (_rotate(x, cos, sin, turn, interleaved) for x in (q, k))
        if past_key is not None and past_value is not None:
            kept_keys[entry, :, :start] = past_key[entry, :, :start]
            kept_values[entry, :, :start] = past_value[entry, :, :start]
        kept_keys[entry, :, start : start + count] = k
        kept_values[entry, :, start : start + count] = v
        seen = start + count
        groups = heads // key.shape[1]
        keys, values = (x[entry, :, :seen].repeat_interleave(groups, 0).float() for x in (kept_keys, kept_values))
        scores = q.float() @ keys.transpose(1, 2) * scale
        if softcap:
            scores = softcap * torch.tanh(scores / softcap)
        if bias is not None:
            scores = scores + bias[entry % bias.shape[0], :, :count, :seen].float()
        others = torch.arange(seen)
        barred = others > places[:, None]
        if window > 0:
            barred = barred | (others <= places[:, None] - window)
        scores = scores.masked_fill(barred, float("-inf"))
        if smooth or sink is not None:
            level = torch.zeros(heads) if sink is None else sink.float()
            scores = torch.cat([scores, level[:, None, None].expand(-1, count, 1)], -1)
        weights = scores.softmax(-1)[..., :seen]
        result[entry] = (weights @ values).to(query.dtype)
    return result, kept_keys, kept_values


@group_query_attention.register_fake
def _fake_group_query_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_key: Tensor | None,
    past_value: Tensor | None,
    last_places: Tensor,
    total_length: Tensor,
    cos: Tensor | None,
    sin: Tensor | None,
    position_ids: Tensor | None,
    bias: Tensor | None,
    sink: Tensor | None,
    known_length: int,
    rotates: bool,
    interleaved: bool,
    scale: float,
    softcap: float,
    window: int,
    smooth: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    length: Any = known_length
    if isinstance(length, int) and length < 0:
        length = torch.library.get_ctx().new_dynamic_size()
    keys, values = (x.new_empty(x.shape[0], x.shape[1], length, x.shape[3]) for x in (key, value))
    return query.new_empty([*query.shape[:3], value.shape[3]]), keys, values
