# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the dialect can express tensors.

`_program/signature.py` checks the arguments of a call.
"""

from __future__ import annotations

import torch

from ..._dialect.text import element_type
from ..._program.sizes import InexpressibleError, Symbols
from ...errors import UnsupportedError


def check_dims(fake: torch.Tensor, subject: str, symbols: Symbols) -> None:
    """Raises UnsupportedError, naming `subject`, if `symbols` can't express a dim of the tensor."""
    for dim, size in enumerate(fake.shape):
        try:
            symbols.size(size)
        except InexpressibleError as error:
            raise UnsupportedError(f"dim {dim} of {subject} {error}") from None


def check_static(fake: torch.Tensor, subject: str) -> None:
    """Raises UnsupportedError, naming `subject`, unless the tensor has static dims and a dtype of the dialect."""
    check_expressible(fake, subject, Symbols())


def check_expressible(fake: torch.Tensor, subject: str, symbols: Symbols) -> None:
    """Raises UnsupportedError, naming `subject`, unless the tensor is strided and the dialect has its dtype and its
    dims."""
    check_dims(fake, subject, symbols)
    if fake.layout != torch.strided:
        raise UnsupportedError(f"{subject} has layout {fake.layout}, but expected torch.strided")
    element_type(fake.dtype, subject)
