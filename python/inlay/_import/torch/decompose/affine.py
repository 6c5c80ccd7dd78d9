# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of the affine quantization of torchao, whose scales are those of blocks of any shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .common import CODES, SHORT_FLOATS, Decompositions, as_codes, dequantize_codes, quantize_to_codes


def decompositions_of_affine() -> Decompositions:
    """Returns decompositions of torchao's operators; an empty table if they are not registered.

    torchao's own decompositions compute the calls that these leave. Scales are chosen by torchao's own, too.
    """
    ops = torch.ops.torchao
    if not hasattr(ops, "dequantize_affine"):
        return {}
    return {ops.dequantize_affine.default: _dequantize, ops.quantize_affine.default: _quantize}


class _Layout(NamedTuple):
    """block: the sizes of blocks, as for `inlay::dequantize`. counts: the number of blocks in each dim."""

    block: list[int]
    counts: list[Any]


def _layout(x: torch.Tensor, block_size: Sequence[Any]) -> _Layout | None:
    """Returns the layout of the scales of `x`; None for blocks that do not divide it."""
    if x.dim() == 0 or len(block_size) != x.dim():
        return None
    block: list[int] = []
    counts: list[Any] = []
    for size, length in zip(x.shape, block_size, strict=True):
        if statically_known_true(size == length):
            block.append(-1)
            counts.append(1)
        elif statically_known_true(length == 1):
            block.append(1)
            counts.append(size)
        elif isinstance(size, int) and isinstance(length, int) and length > 1 and size % length == 0:
            block.append(length)
            counts.append(size // length)
        else:
            return None
    return _Layout(block, counts)


def _quantize(
    x: torch.Tensor,
    block_size: Sequence[Any],
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    output_dtype: torch.dtype,
    quant_min: Any = None,
    quant_max: Any = None,
) -> Any:
    layout, limits = _layout(x, block_size), _limits(output_dtype, quant_min, quant_max)
    computed = torch.promote_types(x.dtype, scale.dtype)
    if layout is None or limits is None or computed != torch.float32 or zero_point is None:
        return NotImplemented
    if zero_point.dtype not in (torch.int8, torch.uint8, torch.int32, torch.int64, torch.float32):
        return NotImplemented
    # The scale is inverted in its own dtype.
    inverse, offsets = (1.0 / scale).reshape(layout.counts).float(), zero_point.reshape(layout.counts).float()
    return quantize_to_codes(x, inverse, offsets, layout.block, limits, output_dtype)


def _dequantize(
    x: torch.Tensor,
    block_size: Sequence[Any],
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    input_dtype: torch.dtype,
    quant_min: Any = None,
    quant_max: Any = None,
    output_dtype: torch.dtype = torch.float32,
) -> Any:
    layout = _layout(x, block_size)
    if layout is None or x.dtype not in CODES or scale.dtype not in SHORT_FLOATS or output_dtype not in SHORT_FLOATS:
        return NotImplemented
    if x.dtype != input_dtype or _limits(input_dtype, quant_min, quant_max) is None:
        return NotImplemented
    offsets = None
    if zero_point is not None:
        # torchao subtracts in the dtype of the result. It holds the difference of two codes.
        if zero_point.dtype == x.dtype:
            offsets = as_codes(zero_point)
        elif output_dtype == torch.float32 and zero_point.dtype not in (torch.float64, torch.bool):
            offsets = zero_point.float()
        else:
            return NotImplemented
        offsets = offsets.reshape(layout.counts)
    return dequantize_codes(x, scale.reshape(layout.counts), offsets, layout.block, output_dtype)


def _limits(dtype: torch.dtype, quant_min: Any, quant_max: Any) -> tuple[int, int] | None:
    """Returns the limits of codes; None for those that torchao refuses or that are no integers."""
    if dtype not in CODES:
        return None
    info = torch.iinfo(dtype)
    low, high = (info.min if quant_min is None else quant_min), (info.max if quant_max is None else quant_max)
    if low != int(low) or high != int(high) or not info.min <= low <= high <= info.max:
        return None
    return int(low), int(high)
