# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of quantization: simulated, and to integers as in exported models."""

from __future__ import annotations

from typing import Any

import torch

from . import choices
from .affine import decompositions_of_affine
from .common import CODES, SHORT_FLOATS, Decompositions, dequantize_codes, quantize_to_codes, widen

aten = torch.ops.aten


def _quantize(
    x: torch.Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the values that `x` has after quantization, and true where it is inside the range of the quantized
    type."""
    wide = widen(x)
    inverse = 1.0 / scale
    level = torch.round(wide * inverse) + zero_point
    inside = torch.logical_and(level >= quant_min, level <= quant_max)
    # PyTorch converts the level to an integer, and a NaN becomes the smallest.
    level = torch.where(torch.isnan(level), float(quant_min), torch.clamp(level, quant_min, quant_max))
    return ((level - zero_point) * scale).to(x.dtype), inside


def _per_tensor(x: torch.Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Any:
    if x.dtype != torch.float32:
        return NotImplemented
    return _quantize(x, scale, zero_point, quant_min, quant_max)


def _per_channel(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, axis: int, quant_min: int, quant_max: int
) -> Any:
    if x.dtype != torch.float32:
        return NotImplemented
    shape = [-1 if dim == axis % x.dim() else 1 for dim in range(x.dim())]
    return _quantize(x, scale.reshape(shape), zero_point.to(x.dtype).reshape(shape), quant_min, quant_max)


DECOMPOSITIONS: Decompositions = {
    aten.fake_quantize_per_tensor_affine_cachemask.default: _per_tensor,
    aten.fake_quantize_per_channel_affine_cachemask.default: _per_channel,
}


# -- PyTorch's quantized_decomposed -----------------------------------------------------------------------------------


def decompositions_to_integers() -> Decompositions:
    """Returns decompositions of the operators that exported quantized models call.

    Operators that are not registered are left out, because then no graph has them. Codes of 8 bits become those of
    `inlay::quantize` and `inlay::dequantize`. PyTorch runs the calls with limits out of the range of the dtype, so that
    it raises its own errors.
    """
    ops = torch.ops.quantized_decomposed
    if not hasattr(ops, "quantize_per_tensor"):
        return decompositions_of_affine()
    return decompositions_of_affine() | {
        ops.choose_qparams.tensor: choices.choose,
        ops.choose_qparams_per_token.default: choices.choose_per_token,
        ops.choose_qparams_per_token_asymmetric.default: choices.choose_per_token_asymmetric,
        ops.choose_qparams_symmetric.tensor: choices.choose_symmetric,
        ops.dequantize_per_channel_group.default: _to_floats_per_group,
        ops.dequantize_per_channel.default: _to_floats_per_channel,
        ops.dequantize_per_tensor.default: _to_floats,
        ops.dequantize_per_tensor.tensor: _to_floats,
        ops.dequantize_per_token.default: _to_floats_per_token,
        ops.quantize_per_channel.default: _to_integers_per_channel,
        ops.quantize_per_tensor.default: _to_integers,
        ops.quantize_per_tensor.tensor: _to_integers,
        ops.quantize_per_token.default: _to_integers_per_token,
    }


_INTEGERS = (*CODES, torch.int16)


def _to_integers(
    x: torch.Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int, dtype: torch.dtype
) -> Any:
    """Quantizes with one scale and zero point: numbers, or tensors of one element."""
    if not _fits(dtype, quant_min, quant_max) or widen(x).dtype != torch.float32:
        return NotImplemented
    # PyTorch inverts the scale as float64. For scales of float32, float32 gives the same after rounding.
    inverse = _scalar(1.0 / (widen(scale) if isinstance(scale, torch.Tensor) else scale))
    if dtype in CODES and x.dim() > 0:
        return quantize_to_codes(
            x, _one(inverse, x), _one(zero_point, x), _block(None, x), (quant_min, quant_max), dtype
        )
    if dtype == torch.uint8:
        return NotImplemented
    return _quantize_to_integers(widen(x), inverse, _scalar(zero_point), quant_min, quant_max, dtype)


def _to_integers_per_channel(
    x: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> Any:
    if (
        not _fits(dtype, quant_min, quant_max)
        or widen(x).dtype != torch.float32
        or not _is_float32(scales, zero_points)
    ):
        return NotImplemented
    inverse, zero_point = _along(axis, x, 1.0 / scales), _along(axis, x, zero_points).float()
    if dtype in CODES:
        return quantize_to_codes(x, inverse, zero_point, _block(axis, x), (quant_min, quant_max), dtype)
    return _quantize_to_integers(widen(x), inverse, zero_point, quant_min, quant_max, dtype)


def _fits(dtype: torch.dtype, quant_min: int, quant_max: int) -> bool:
    """Returns true for a type of `_INTEGERS` and limits in its range."""
    return dtype in _INTEGERS and torch.iinfo(dtype).min <= quant_min <= quant_max <= torch.iinfo(dtype).max


def _quantize_to_integers(
    x: torch.Tensor, inverse: Any, zero_point: Any, quant_min: int, quant_max: int, dtype: torch.dtype
) -> torch.Tensor:
    """Returns the integers of float32 numbers: the nearest multiples of the scale, ties to even, within the limits.

    inverse: one divided by the scale.
    """
    level = torch.round(x * inverse) + zero_point
    return torch.clamp(level, quant_min, quant_max).to(dtype)


def _to_floats(
    x: torch.Tensor,
    scale: Any,
    zero_point: Any,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> Any:
    if x.dtype != dtype or not _fits(dtype, quant_min, quant_max):
        return NotImplemented
    if dtype in CODES and x.dim() > 0 and out_dtype in (None, *SHORT_FLOATS):
        return dequantize_codes(x, _one(scale, x), _one(zero_point, x), _block(None, x), out_dtype or torch.float32)
    if x.dtype != torch.int16 or out_dtype not in (None, torch.float32):
        return NotImplemented
    return (x.float() - _scalar(zero_point)) * _scalar(scale)


def _to_floats_per_channel(
    x: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> Any:
    if x.dtype != dtype or not _fits(dtype, quant_min, quant_max) or not _is_float32(scales, zero_points):
        return NotImplemented
    if dtype in CODES and out_dtype in (None, *SHORT_FLOATS):
        zeros = None if zero_points is None else _along(axis, x, zero_points).float()
        return dequantize_codes(x, _along(axis, x, scales), zeros, _block(axis, x), out_dtype or torch.float32)
    if x.dtype != torch.int16 or out_dtype not in (None, torch.float32):
        return NotImplemented
    level = x.float()
    if zero_points is not None:
        level = level - _along(axis, x, zero_points).float()
    return level * _along(axis, x, scales)


def _to_floats_per_group(
    x: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor | None,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    group_size: int,
    output_dtype: torch.dtype,
) -> Any:
    """Dequantizes a matrix with a scale for each `group_size` elements of a row."""
    if x.dtype not in CODES or x.dim() != 2 or output_dtype not in SHORT_FLOATS or group_size <= 1:
        return NotImplemented
    if not _is_float32(scales, zero_points) or 0 in x.shape:
        return NotImplemented
    rows, columns = x.shape
    length = columns if group_size > columns and scales.shape[-1] == 1 else group_size
    if columns % length:
        return NotImplemented
    groups = [rows, columns // length]
    zeros = None if zero_points is None else zero_points.reshape(groups).float()
    return dequantize_codes(x, scales.reshape(groups), zeros, [1, length], output_dtype)


def _to_integers_per_token(
    x: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> Any:
    """Quantizes with a scale for each vector along the last dim.

    PyTorch rounds the sum of the level and the zero point, in the dtype to which both promote.
    """
    if not _fits(dtype, quant_min, quant_max) or not _is_per_token(x, scales, zero_points):
        return NotImplemented
    level = (x * (1.0 / scales) + zero_points).round()
    return level.clamp(quant_min, quant_max).to(dtype)


def _to_floats_per_token(
    x: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
    output_dtype: torch.dtype,
) -> Any:
    if not _is_per_token(x, scales, zero_points):
        return NotImplemented
    if x.dtype in CODES and _is_float32(scales, zero_points) and output_dtype in SHORT_FLOATS:
        block = [1] * (x.dim() - 1) + [-1]
        return dequantize_codes(x, scales, zero_points.float(), block, output_dtype)
    return ((x - zero_points) * scales).to(output_dtype)


def _is_per_token(x: torch.Tensor, scales: torch.Tensor, zero_points: torch.Tensor) -> bool:
    """Returns true if there is a scale and a zero point for each vector along the last dim, as PyTorch chooses them."""
    wanted = (*x.shape[:-1], 1)
    return x.dim() > 0 and tuple(scales.shape) == wanted and tuple(zero_points.shape) == wanted


def _is_float32(scales: Any, zero_points: Any) -> bool:
    """Returns true if PyTorch computes with these scales and zero points in float32. Zero points may be None.

    A difference of codes and zero points of 8 or 16 bits would wrap.
    """
    kinds = (torch.int32, torch.int64, torch.float32)
    return bool(scales.dtype == torch.float32 and (zero_points is None or zero_points.dtype in kinds))


def _scalar(value: Any) -> Any:
    """Returns a number, or the element of a tensor as a float32 tensor without dims."""
    return value.reshape(()).float() if isinstance(value, torch.Tensor) else value


def _one(value: Any, x: torch.Tensor) -> torch.Tensor:
    """Returns a number or a tensor of one element as a float32 tensor with as many dims as `x`."""
    dims = [1] * x.dim()
    if isinstance(value, torch.Tensor):
        return value.reshape(dims).float()
    return torch.full(dims, float(value), dtype=torch.float32)


def _along(axis: int, x: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """Returns `vector`, which has an element per element of the dim `axis` of `x`, so that it broadcasts to `x`."""
    return vector.reshape([-1 if dim == axis % x.dim() else 1 for dim in range(x.dim())])


def _block(axis: int | None, x: torch.Tensor) -> list[int]:
    """Returns the sizes of the blocks of `x` that share a scale: all of it, or each element of the dim `axis`."""
    return [1 if axis is not None and dim == axis % x.dim() else -1 for dim in range(x.dim())]
