# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that decompositions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

# Operator -> function that computes it by other calls. A function may return NotImplemented to keep the call, or to use
# the decomposition in PyTorch's table.
Decompositions: TypeAlias = "dict[torch._ops.OperatorBase, Callable[..., Any]]"

CODES = {torch.int8: "i8", torch.uint8: "u8"}  # dtype of codes -> their type in the dialect


def widen(x: torch.Tensor) -> torch.Tensor:
    """Returns 16-bit floats as float32. PyTorch computes in float32 where there is more than one rounding."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def is_static(x: torch.Tensor) -> bool:
    """Returns true if all dims of the tensor are known."""
    return all(isinstance(size, int) for size in x.shape)


def as_codes(x: torch.Tensor) -> torch.Tensor:
    """Returns a tensor of 8 bits as int8."""
    return x if x.dtype == torch.int8 else x.view(torch.int8)
