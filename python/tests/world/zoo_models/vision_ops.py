# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports torchvision beside a build of PyTorch for the CPU.

The package torchvision of PyPI is built for CUDA. Its library of operators can't be loaded beside a PyTorch without
CUDA, and the import fails because these operators are missing. This module defines those that the import and the
detection models need.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from types import ModuleType

import torch

_LIBRARY = torch.library.Library("torchvision", "FRAGMENT")


@functools.cache
def import_torchvision() -> ModuleType | None:
    """Returns the module torchvision, or None if it is not installed. Its non-maximum suppression runs in Python."""
    if importlib.util.find_spec("torchvision") is None:
        return None
    for name in ("nms", "qnms"):
        _LIBRARY.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _LIBRARY.impl("nms", _suppress, "CPU")
    torchvision = importlib.import_module("torchvision")
    torchvision.extension._has_ops = lambda: True
    return torchvision


def _suppress(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Returns the numbers of the boxes, by descending score, that overlap no better box more than the threshold.

    boxes: (n, 4), the corners (x1, y1, x2, y2). scores: (n,).
    """
    order = scores.argsort(descending=True, stable=True)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = []
    while order.numel():
        best, rest = order[0], order[1:]
        kept.append(best)
        low = torch.maximum(boxes[best, :2], boxes[rest, :2])
        high = torch.minimum(boxes[best, 2:], boxes[rest, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        order = rest[shared / (areas[best] + areas[rest] - shared) <= iou_threshold]
    return torch.stack(kept) if kept else order
