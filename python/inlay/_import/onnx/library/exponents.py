# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers the cast to float8_e8m0, which only holds powers of two."""

from __future__ import annotations

import torch
from torch import Tensor

_NAN = 255
_LARGEST = 254


@torch.library.custom_op("inlay_onnx::to_exponents", mutates_args=())
def to_exponents(x: Tensor, saturates: bool, rounding: str) -> Tensor:
    """Returns the powers of two for numbers: the next one up or down, or the nearest one."""
    bits = x.contiguous().view(torch.int32).long() & 0x7FFFFFFF
    exponents, rest = bits >> 23, bits & 0x7FFFFF
    if rounding == "up":
        # The smallest power of two is 2**-127, which float32 holds without its leading bit.
        more = torch.where(exponents == 0, rest > 0x400000, rest > 0)
    elif rounding == "nearest":
        more = rest >= 0x400000
    else:
        more = torch.zeros_like(rest, dtype=torch.bool)
    rounded = exponents + more
    limit = _LARGEST if saturates else _NAN
    is_nan = x.isnan() | (x < 0)
    found = torch.where(is_nan, _NAN, rounded.clamp(0, limit))
    return found.to(torch.uint8).view(torch.float8_e8m0fnu)


@to_exponents.register_fake
def _fake_to_exponents(x: Tensor, saturates: bool, rounding: str) -> Tensor:
    return torch.empty_like(x, dtype=torch.float8_e8m0fnu)
