# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers the meanings of the graph ops `dequantize` and `quantize` as operators of PyTorch.

`inlay::pack` has no graph op. It rearranges weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..errors import ArgumentValueError

BITS = {"i2": 2, "u2": 2, "i4": 4, "u4": 4, "i8": 8, "u8": 8}  # type of a code -> its number of bits


def _unpack(codes: Tensor, code: str, size: int | None) -> Tensor:
    """Returns the codes in bytes as integers: the first one of each byte is in its lowest bits."""
    bits = BITS[code]
    if bits == 8:
        return codes.view(torch.int8 if code[0] == "i" else torch.uint8)
    shifts = torch.arange(0, 8, bits, dtype=torch.int16)
    numbers = codes.view(torch.uint8).to(torch.int16).unsqueeze(-1) >> shifts & (1 << bits) - 1
    if code[0] == "i":
        sign = 1 << bits - 1
        numbers = (numbers ^ sign) - sign
    return numbers.flatten(-2)[..., :size]


def _spread(values: Tensor, shape: Sequence[int], block: Sequence[int]) -> Tensor:
    """Returns the elements of `values`, one for each block, at all places of the blocks."""
    for dim, (size, length) in enumerate(zip(shape, block, strict=True)):
        places = torch.zeros(size, dtype=torch.int64) if length == -1 else torch.arange(size) // length
        values = values.index_select(dim, places)
    return values


@torch.library.custom_op("inlay::dequantize", mutates_args=())
def dequantize(
    codes: Tensor,
    scales: Tensor,
    offsets: Tensor | None,
    code: str,
    block: Sequence[int],
    size: int | None = None,
    minima: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Returns floats for packed codes, as `docs/reference/dialect-inlay.md` describes.

    codes: int8 or uint8, whose bits are the codes.
    """
    numbers = _unpack(codes, code, size).float()
    scale = _spread(scales.float(), numbers.shape, block)
    if offsets is None:
        return (numbers * scale).to(dtype)
    offset = _spread(_offsets(offsets, code), numbers.shape, block)
    return (numbers * scale + offset if minima else (numbers - offset) * scale).to(dtype)


def _offsets(offsets: Tensor, code: str) -> Tensor:
    """Returns offsets as floats. Integers have the sign of the codes."""
    if not offsets.is_floating_point():
        if offsets.dtype not in (torch.int8, torch.uint8):
            raise TypeError(f"expected offsets of floats, int8 or uint8, but got {offsets.dtype}")
        offsets = offsets.view(torch.int8 if code[0] == "i" else torch.uint8)
    return offsets.float()


@dequantize.register_fake
def _fake_dequantize(
    codes: Tensor,
    scales: Tensor,
    offsets: Tensor | None,
    code: str,
    block: Sequence[int],
    size: int | None = None,
    minima: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    last = codes.shape[-1] * (8 // BITS[code]) if size is None else size
    return codes.new_empty((*codes.shape[:-1], last), dtype=dtype)


@torch.library.custom_op("inlay::quantize", mutates_args=())
def quantize(
    input: Tensor,
    scales: Tensor,
    offsets: Tensor | None,
    code: str,
    block: Sequence[int],
    low: int,
    high: int,
    inverse: bool = False,
) -> Tensor:
    """Returns codes for floats, as `docs/reference/dialect-inlay.md` describes: int8 with their bits."""
    scale = _spread(scales.float(), input.shape, block)
    level = torch.round(input.float() * scale if inverse else input.float() / scale)
    if offsets is not None:
        level = level + _spread(_offsets(offsets, code), input.shape, block)
    level = torch.where(level > low, level, float(low))  # a NaN is not larger
    return torch.where(level < high, level, float(high)).to(torch.int32).to(torch.int8)


@quantize.register_fake
def _fake_quantize(input: Tensor, *_others: object, **_more: object) -> Tensor:
    return torch.empty_like(input, dtype=torch.int8, memory_format=torch.contiguous_format)


@torch.library.custom_op("inlay::pack", mutates_args=())
def pack(codes: Tensor, code: str, name: str) -> Tensor:
    """Returns codes of 8 bits as the bytes of codes of type `code`, packed along the last dim. codes: int8.

    Raises ArgumentValueError for a code that is out of the range of the type. name: of the weight, for the message.
    """
    bits = BITS[code]
    low = -(1 << bits - 1) if code[0] == "i" else 0
    high = low + (1 << bits) - 1
    if codes.numel() and (int(codes.amin()) < low or int(codes.amax()) > high):
        least, most = int(codes.amin()), int(codes.amax())
        raise ArgumentValueError(f"{name!r}: expected codes from {low} to {high}, but got codes from {least} to {most}")
    per_byte = 8 // bits
    parts = torch.nn.functional.pad(codes, (0, -codes.shape[-1] % per_byte)).unflatten(-1, (-1, per_byte))
    packed: Tensor = parts[..., 0] & (1 << bits) - 1
    for place in range(1, per_byte):
        packed = packed | (parts[..., place] & (1 << bits) - 1) << bits * place
    return packed.contiguous()


@pack.register_fake
def _fake_pack(codes: Tensor, code: str, name: str) -> Tensor:
    per_byte = 8 // BITS[code]
    return codes.new_empty((*codes.shape[:-1], -(-codes.shape[-1] // per_byte)))
