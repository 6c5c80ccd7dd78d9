# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers ONNX's NonMaxSuppression."""

from __future__ import annotations

import torch
from torch import Tensor


def _corners(boxes: Tensor, is_centered: bool) -> tuple[Tensor, Tensor]:
    """Returns the lower and the upper corners of boxes.

    is_centered: True if boxes are centers and sizes. Otherwise, they are two opposite corners.
    """
    first, second = boxes[..., :2], boxes[..., 2:]
    if is_centered:
        return first - second / 2, first + second / 2
    return torch.minimum(first, second), torch.maximum(first, second)


def _select(low: Tensor, high: Tensor, scores: Tensor, count: int, overlap: float, least: float) -> list[int]:
    """Returns the numbers of the boxes of one class to keep, by descending scores.

    low, high: the corners of the boxes. count: the number of boxes to keep at most. overlap: the limit for the
    intersection over the union of two boxes. least: the limit for scores.
    """
    order = (scores > least).nonzero().reshape(-1)
    order = order[scores[order].argsort(descending=True, stable=True)]
    areas = (high - low).prod(-1)
    kept: list[int] = []
    while len(order) and len(kept) < count:
        best, order = order[0], order[1:]
        kept.append(int(best))
        sides = torch.minimum(high[order], high[best]) - torch.maximum(low[order], low[best])
        shared = sides.clamp(min=0).prod(-1)
        union = areas[order] + areas[best] - shared
        overlaps = (shared > 0) & (union > 0) & (shared / union > overlap)
        order = order[~overlaps]
    return kept


@torch.library.custom_op("inlay_onnx::non_max_suppression", mutates_args=())
def non_max_suppression(
    boxes: Tensor, scores: Tensor, count: Tensor, overlap: Tensor, least: Tensor, is_centered: bool
) -> Tensor:
    """Returns the boxes to keep as rows: the number of the batch, of the class and of the box.

    boxes: [batch, box, 4]. scores: [batch, class, box]. count, overlap, least: see `_select`, one element each.
    is_centered: see `_corners`.
    """
    limit, ratio, threshold = int(count.reshape(())), float(overlap.reshape(())), float(least.reshape(()))
    rows: list[list[int]] = []
    low, high = _corners(boxes, is_centered)
    for batch in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            kept = _select(low[batch], high[batch], scores[batch, kind], limit, ratio, threshold)
            rows += [[batch, kind, box] for box in kept]
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 3)


@non_max_suppression.register_fake
def _(boxes: Tensor, scores: Tensor, count: Tensor, overlap: Tensor, least: Tensor, is_centered: bool) -> Tensor:
    return boxes.new_empty((torch.library.get_ctx().new_dynamic_size(), 3), dtype=torch.int64)
