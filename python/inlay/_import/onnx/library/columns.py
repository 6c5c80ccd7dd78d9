# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers Col2Im, which sums overlapping blocks of an image of any rank."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


@torch.library.custom_op("inlay_onnx::col2im", mutates_args=())
def col2im(
    x: Tensor,
    image_shape: Tensor,
    block_shape: Tensor,
    known: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    strides: Sequence[int],
) -> Tensor:
    """Returns images of the sums of blocks.

    x: batch x (channels * elements of a block) x blocks. known: the channels and spatial sizes of the result that an
    import knows, else -1.
    """
    sizes, block, count = image_shape.tolist(), block_shape.tolist(), len(strides)
    padded = [size + pads[dim] + pads[dim + count] for dim, size in enumerate(sizes)]
    place = torch.zeros((), dtype=torch.int64)
    steps = [math.prod(padded[dim + 1 :]) for dim in range(count)]
    for dim, width in enumerate(block):  # the dims of `place` are those of a block
        place = place[..., None] + torch.arange(width) * dilations[dim] * steps[dim]
    for dim, width in enumerate(block):  # and then those of the blocks
        starts = torch.arange((padded[dim] - dilations[dim] * (width - 1) - 1) // strides[dim] + 1)
        place = place[..., None] + starts * strides[dim] * steps[dim]
    channels = x.shape[1] // math.prod(block)
    result = x.new_zeros(x.shape[0], channels, math.prod(padded))
    result.index_add_(2, place.reshape(-1), x.reshape(x.shape[0], channels, -1))
    result = result.reshape(x.shape[0], channels, *padded)
    for dim, size in enumerate(sizes):
        result = result.narrow(2 + dim, pads[dim], size)
    return result.contiguous()


@col2im.register_fake
def _fake_col2im(
    x: Tensor,
    image_shape: Tensor,
    block_shape: Tensor,
    known: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    strides: Sequence[int],
) -> Tensor:
    context = torch.library.get_ctx()
    sizes = [context.new_dynamic_size() if isinstance(size, int) and size < 0 else size for size in known]
    return x.new_empty([x.shape[0], *sizes])
