# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the dialect can hold of tensors."""

import torch

from ..._dialect.text import element_type
from ..._program.sizes import InexpressibleError, Symbols
from ...errors import UnsupportedError


def check_dims(fake, what, symbols):
    """Raises unless the tensor has dims that can be said with these Symbols."""
    for dim, size in enumerate(fake.shape):
        try:
            symbols.size(size)
        except InexpressibleError as error:
            raise UnsupportedError(f"dim {dim} of {what} {error}") from None


def check_static(fake, what):
    """Raises unless the tensor has static dims and a dtype that the dialect can hold."""
    check_expressible(fake, what, Symbols())


def check_expressible(fake, what, symbols):
    """Raises unless the tensor has dims that can be said with these Symbols and a dtype that the dialect can hold."""
    check_dims(fake, what, symbols)
    if fake.layout != torch.strided:
        raise UnsupportedError(f"{what} has layout {fake.layout}, but expected torch.strided")
    element_type(fake.dtype, what)
