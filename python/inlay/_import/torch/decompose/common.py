# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that decompositions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch

# Operator -> function that computes it by other calls. A function may return NotImplemented to keep the call, or to use
# the decomposition in PyTorch's table.
Decompositions: TypeAlias = "dict[torch._ops.OperatorBase, Callable[..., Any]]"

CODES = {torch.int8: "i8", torch.uint8: "u8"}  # dtype of codes -> their type in the dialect
SHORT_FLOATS = (torch.float16, torch.bfloat16, torch.float32)  # dtypes of scales and of dequantized codes


def widen(x: torch.Tensor) -> torch.Tensor:
    """Returns 16-bit floats as float32. PyTorch computes in float32 where there is more than one rounding."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def is_static(x: torch.Tensor) -> bool:
    """Returns true if all dims of the tensor are known."""
    return all(isinstance(size, int) for size in x.shape)


def as_codes(x: torch.Tensor) -> torch.Tensor:
    """Returns a tensor of 8 bits as int8."""
    return x if x.dtype == torch.int8 else x.view(torch.int8)


def quantize_to_codes(
    x: torch.Tensor,
    inverse: torch.Tensor,
    offsets: torch.Tensor,
    block: Sequence[int],
    limits: tuple[int, int],
    dtype: torch.dtype,
) -> torch.Tensor:
    """Returns codes of 8 bits. inverse: one divided by the scales. offsets, block: as for `inlay::quantize`."""
    codes: torch.Tensor = torch.ops.inlay.quantize(x, inverse, offsets, CODES[dtype], block, *limits, True)
    return codes if dtype == torch.int8 else codes.view(dtype)


def dequantize_codes(
    x: torch.Tensor, scales: torch.Tensor, offsets: torch.Tensor | None, block: Sequence[int], dtype: torch.dtype
) -> torch.Tensor:
    """Returns codes of 8 bits as floats. scales, offsets, block: as for `inlay::dequantize`."""
    code = CODES[x.dtype]
    floats: torch.Tensor = torch.ops.inlay.dequantize(as_codes(x), scales, offsets, code, block, None, False, dtype)
    return floats
