# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of writes at indices that the dialect has only in part, and of sums over bags of embeddings."""

from __future__ import annotations

from typing import Any

import torch

from .common import Decompositions, is_static, widen

aten = torch.ops.aten


def _divide(total: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    """Returns means as scatter_reduce and index_reduce compute them."""
    count = torch.clamp(count, min=1)
    return total / count if total.is_floating_point() else torch.div(total, count, rounding_mode="floor")


def _scatter_reduce(
    x: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    if reduce != "mean" or x.dtype == torch.bool:
        return NotImplemented
    total = torch.scatter_reduce(x, dim, index, src, "sum", include_self=include_self)
    start = torch.ones_like(x) if include_self else torch.zeros_like(x)
    return _divide(total, torch.scatter_add(start, dim, index, torch.ones_like(src)))


def _index_reduce(
    x: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    if reduce != "mean" or x.dtype == torch.bool or x.dim() == 0:
        return NotImplemented
    start = x if include_self else torch.index_fill(x, dim, index, 0)
    total = torch.index_add(start, dim, index, source)
    count = torch.ones_like(x) if include_self else torch.zeros_like(x)
    return _divide(total, torch.index_add(count, dim, index, torch.ones_like(source)))


def _masked_scatter(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> Any:
    # PyTorch raises an error if the mask has more true elements than the source has elements.
    if not all(map(is_static, (x, mask, source))) or x.dtype != source.dtype or mask.dtype != torch.bool:
        return NotImplemented
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    flat = mask.expand(shape).reshape(-1)
    if source.numel() < flat.numel() or flat.numel() == 0:
        return NotImplemented
    place = torch.clamp(torch.cumsum(flat, 0) - 1, min=0)
    return torch.where(flat, source.reshape(-1)[place], x.expand(shape).reshape(-1)).reshape(shape)


def _embedding_bag(
    weight: torch.Tensor,
    indices: torch.Tensor,
    offsets: torch.Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> Any:
    """Returns the sums, means or maxima, and None for the other results, which only the gradient needs."""
    if not all(map(is_static, (weight, indices, offsets))) or not weight.is_floating_point():
        return NotImplemented
    starts = offsets.narrow(0, 0, offsets.shape[0] - 1) if include_last_offset else offsets
    bags, count = starts.shape[0], indices.shape[0]
    if bags == 0 or count == 0:
        return NotImplemented
    # An element belongs to the last bag that starts at it or before it.
    bag = torch.sum(starts.unsqueeze(0) <= torch.arange(count).unsqueeze(1), [1]) - 1
    rows = widen(weight[indices])
    if per_sample_weights is not None:
        rows = rows * widen(per_sample_weights).unsqueeze(1)
    used = torch.ones_like(indices, dtype=torch.bool)
    if padding_idx >= 0:
        used = indices != padding_idx
    bag = torch.where(used, bag, bags)  # a bag behind the others takes what is left out
    start = torch.zeros([bags + 1, weight.shape[1]], dtype=rows.dtype)
    size = torch.zeros([bags + 1], dtype=rows.dtype).index_add(0, bag, torch.ones_like(indices, dtype=rows.dtype))
    if mode == 2:
        spread = bag.unsqueeze(1).expand(rows.shape)
        result = torch.scatter_reduce(start, 0, spread, rows, "amax", include_self=False)
    else:
        result = torch.index_add(start, 0, bag, rows)
    if mode == 1:
        result = result / torch.clamp(size, min=1).unsqueeze(1)
    return result.narrow(0, 0, bags).to(weight.dtype), None, None, None


DECOMPOSITIONS: Decompositions = {
    aten._embedding_bag.default: _embedding_bag,
    aten._embedding_bag_forward_only.default: _embedding_bag,
    aten.index_reduce.default: _index_reduce,
    aten.masked_scatter.default: _masked_scatter,
    aten.scatter_reduce.two: _scatter_reduce,
}
