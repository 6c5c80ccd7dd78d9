# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers Unique of ONNX Runtime, which keeps the order of elements."""

from __future__ import annotations

import torch
from torch import Tensor


@torch.library.custom_op("inlay_onnx::unique_in_order", mutates_args=())
def unique_in_order(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the elements of a vector in the order of their first places, the number of each, and their counts."""
    values, numbers, counts = x.unique(return_inverse=True, return_counts=True)
    first = torch.full_like(counts, len(x)).scatter_reduce(0, numbers, torch.arange(len(x)), "amin")
    order = first.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order))
    return values[order], rank[numbers], counts[order]


@unique_in_order.register_fake
def _fake_unique_in_order(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    count = torch.library.get_ctx().new_dynamic_size()
    numbers = torch.empty_like(x, dtype=torch.int64)
    return x.new_empty(count), numbers, numbers.new_empty(count)
