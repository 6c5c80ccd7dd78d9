# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rearranges the blocks of GGUF's quantized types as codes, scales and offsets of `inlay.dequantize`.

The layouts of blocks are those of ggml (MIT license): https://github.com/ggml-org/ggml, src/ggml-quants.c. A block has
its scale, its codes and perhaps a minimum. A super-block, in the types with a K, has 256 codes. It has codes for the
scales and minima of its blocks of 16 or 32, and one f16 scale for each of these two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from .._dialect.quantized import BITS
from .._packed.modules import PackedWeight
from ..errors import UnsupportedError
from .file import GgufTensor

_SUPER_BLOCK = 256
_CHUNK_BYTES = 1 << 22  # of a file that are rearranged at a time


@dataclass(frozen=True)
class _Parts:
    """The numbers in some blocks. Each array has a row per block.

    codes: one number per element, of 8 bits. scales, offsets: f16. In super-blocks these are codes, which the f16 in
    `super_scales` and `super_offsets` multiply.
    """

    codes: np.ndarray
    scales: np.ndarray
    offsets: np.ndarray | None = None
    super_scales: np.ndarray | None = None
    super_offsets: np.ndarray | None = None


@dataclass(frozen=True)
class Format:
    """A type of quantized tensors.

    code: the type of the codes. block: number of codes per scale. size, bytes: codes and bytes of a block of the file.
    split: takes blocks apart. scale_code: the type of the codes for scales of super-blocks, None for f16 scales.
    """

    code: str
    block: int
    size: int
    bytes: int
    split: Callable[[np.ndarray], _Parts]
    scale_code: str | None = None


def _halves(blocks: np.ndarray, byte: int) -> np.ndarray:
    """Returns the f16 at a byte of each block, as bits."""
    return np.ascontiguousarray(blocks[:, byte : byte + 2]).view(np.uint16)


def _bits(data: np.ndarray, bits: int, run: int) -> np.ndarray:
    """Returns numbers of `bits` bits. Each run of bytes has the lowest bits of all of its bytes first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8).reshape(1, 1, -1, 1)
    numbers = data.reshape(len(data), data.shape[1] // run, 1, run) >> shifts & np.uint8((1 << bits) - 1)
    return numbers.reshape(len(data), data.shape[1] * 8 // bits)


def _negated(halves: np.ndarray) -> np.ndarray:
    return halves ^ np.uint16(0x8000)


def _split_q4_0(blocks: np.ndarray) -> _Parts:
    return _Parts(_bits(blocks[:, 2:], 4, 16) - np.uint8(8), _halves(blocks, 0))


def _split_q4_1(blocks: np.ndarray) -> _Parts:
    return _Parts(_bits(blocks[:, 4:], 4, 16), _halves(blocks, 0), _halves(blocks, 2))


def _fifth_bits(data: np.ndarray) -> np.ndarray:
    """Returns 16 for each bit that is set, and 0 for the others."""
    return np.unpackbits(data, axis=1, bitorder="little") << np.uint8(4)


def _split_q5_0(blocks: np.ndarray) -> _Parts:
    codes = _bits(blocks[:, 6:], 4, 16) | _fifth_bits(blocks[:, 2:6])
    return _Parts(codes - np.uint8(16), _halves(blocks, 0))


def _split_q5_1(blocks: np.ndarray) -> _Parts:
    codes = _bits(blocks[:, 8:], 4, 16) | _fifth_bits(blocks[:, 4:8])
    return _Parts(codes, _halves(blocks, 0), _halves(blocks, 2))


def _split_q8_0(blocks: np.ndarray) -> _Parts:
    return _Parts(blocks[:, 2:], _halves(blocks, 0))


def _split_q2_k(blocks: np.ndarray) -> _Parts:
    scales = blocks[:, :16]
    return _Parts(
        _bits(blocks[:, 16:80], 2, 32),
        scales & np.uint8(15),
        scales >> np.uint8(4),
        _halves(blocks, 80),
        _negated(_halves(blocks, 82)),
    )


def _split_q3_k(blocks: np.ndarray) -> _Parts:
    high = _bits(blocks[:, :32], 1, 32)
    low = _bits(blocks[:, 32:96], 2, 32)
    scales = _bits(blocks[:, 96:104], 4, 8) | _bits(blocks[:, 104:108], 2, 4) << np.uint8(4)
    # If the high bit is clear, the code is lower by 4.
    codes = low + (high << np.uint8(2)) - np.uint8(4)
    return _Parts(codes, scales - np.uint8(32), super_scales=_halves(blocks, 108))


def _scales_of_k(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the 8 scales and 8 minima of 6 bits in 12 bytes of each block of Q4_K and Q5_K."""
    scales, minima, rest = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]

    def join(first: np.ndarray, low: np.ndarray) -> np.ndarray:
        return np.concatenate([first & np.uint8(63), low | (first >> np.uint8(6)) << np.uint8(4)], axis=1)

    return join(scales, rest & np.uint8(15)), join(minima, rest >> np.uint8(4))


def _split_q4_k(blocks: np.ndarray) -> _Parts:
    scales, minima = _scales_of_k(blocks)
    return _Parts(_bits(blocks[:, 16:], 4, 32), scales, minima, _halves(blocks, 0), _negated(_halves(blocks, 2)))


def _split_q5_k(blocks: np.ndarray) -> _Parts:
    scales, minima = _scales_of_k(blocks)
    codes = _bits(blocks[:, 48:], 4, 32) | _bits(blocks[:, 16:48], 1, 32) << np.uint8(4)
    return _Parts(codes, scales, minima, _halves(blocks, 0), _negated(_halves(blocks, 2)))


def _split_q6_k(blocks: np.ndarray) -> _Parts:
    codes = _bits(blocks[:, :128], 4, 64) | _bits(blocks[:, 128:192], 2, 32) << np.uint8(4)
    return _Parts(codes - np.uint8(32), blocks[:, 192:208], super_scales=_halves(blocks, 208))


# Codes of 5 and 6 bits are stored in 8, those of 3 bits in 4.
FORMATS = {
    "Q4_0": Format("i4", 32, 32, 18, _split_q4_0),
    "Q4_1": Format("u4", 32, 32, 20, _split_q4_1),
    "Q5_0": Format("i8", 32, 32, 22, _split_q5_0),
    "Q5_1": Format("u8", 32, 32, 24, _split_q5_1),
    "Q8_0": Format("i8", 32, 32, 34, _split_q8_0),
    "Q2_K": Format("u2", 16, _SUPER_BLOCK, 84, _split_q2_k, "u4"),
    "Q3_K": Format("i4", 16, _SUPER_BLOCK, 110, _split_q3_k, "i8"),
    "Q4_K": Format("u4", 32, _SUPER_BLOCK, 144, _split_q4_k, "u8"),
    "Q5_K": Format("u8", 32, _SUPER_BLOCK, 176, _split_q5_k, "u8"),
    "Q6_K": Format("i8", 16, _SUPER_BLOCK, 210, _split_q6_k, "i8"),
}

FLOATS = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def _packed(numbers: np.ndarray, code: str) -> np.ndarray:
    """Returns bytes with the lowest bits of numbers, the first one in the lowest bits of a byte."""
    per_byte = 8 // BITS[code]
    if per_byte == 1:
        return numbers
    numbers = numbers & np.uint8((1 << BITS[code]) - 1)
    result = numbers[:, ::per_byte].copy()
    for place in range(1, per_byte):
        result |= numbers[:, place::per_byte] << np.uint8(BITS[code] * place)
    return result


def _stored(parts: _Parts, form: Format) -> list[np.ndarray | None]:
    """Returns the arrays of a `PackedWeight`: codes, scales, offsets, super-scales, super-offsets."""
    scales, offsets = parts.scales, parts.offsets
    if form.scale_code:
        scales = _packed(scales, form.scale_code)
        offsets = None if offsets is None else _packed(offsets, form.scale_code)
    return [_packed(parts.codes, form.code), scales, offsets, parts.super_scales, parts.super_offsets]


def pack(tensor: GgufTensor) -> PackedWeight:
    """Returns the codes, scales and offsets of a quantized tensor. Rearranges a few rows at a time to limit memory.

    Raises `UnsupportedError` for a type that is not in `FORMATS`.
    """
    form = FORMATS.get(tensor.kind)
    if form is None:
        raise UnsupportedError(
            f"tensor '{tensor.name}': expected one of the types {', '.join(FORMATS)}, but got {tensor.kind}"
        )
    rows, row_bytes = tensor.data.shape
    blocks = row_bytes // form.bytes
    empty = _stored(form.split(np.empty((0, form.bytes), np.uint8)), form)
    arrays = [None if part is None else np.empty((rows, blocks * part.shape[1]), part.dtype) for part in empty]
    step = max(1, _CHUNK_BYTES // max(1, row_bytes))
    for begin in range(0, rows, step):
        data = tensor.data[begin : begin + step]
        parts = _stored(form.split(data.reshape(len(data) * blocks, form.bytes)), form)
        for array, part in zip(arrays, parts, strict=True):
            if array is not None and part is not None:
                array[begin : begin + step] = part.reshape(len(data), array.shape[1])

    def shaped(array: np.ndarray | None) -> torch.Tensor | None:
        if array is None:
            return None
        dtype = torch.float16 if array.dtype == np.uint16 else torch.int8
        return torch.from_numpy(array).view(dtype).reshape(*tensor.shape[:-1], array.shape[1])

    codes, scales, offsets, super_scales, super_offsets = map(shaped, arrays)
    assert codes is not None and scales is not None
    if form.scale_code is None:
        return PackedWeight(codes, scales, offsets, form.code, form.block)

    def nested(numbers: torch.Tensor, factors: torch.Tensor | None) -> PackedWeight:
        assert factors is not None and form.scale_code is not None
        return PackedWeight(numbers, factors, None, form.scale_code, _SUPER_BLOCK // form.block)

    minima = None if offsets is None else nested(offsets, super_offsets)
    return PackedWeight(codes, nested(scales, super_scales), minima, form.code, form.block)


def read_floats(tensor: GgufTensor) -> torch.Tensor:
    """Returns the floats of a tensor as f32: a copy of a float tensor, or all of a dequantized one."""
    if tensor.kind not in FLOATS:
        return pack(tensor).floats()
    data = torch.from_numpy(tensor.data.copy()).view(FLOATS[tensor.kind])
    return data.reshape(tensor.shape).float()
