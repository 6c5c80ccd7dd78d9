# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move elements, or replace some."""

from .entry import Sampled

_NAMES = """
as_strided block_diag cat chunk clone column_stack constant_pad_nd contiguous diag diag_embed diagonal diagonal_copy
diagonal_scatter dsplit dstack expand expand_as eye flatten flip fliplr flipud hsplit hstack linalg.diagonal meshgrid
movedim narrow new_full nn.functional.pixel_shuffle nn.functional.pixel_unshuffle nn.functional.unfold permute repeat
repeat_interleave reshape roll rot90 select select_scatter slice slice_scatter split split_with_sizes squeeze stack
tensor_split tile transpose tril triu unbind unflatten unfold unsqueeze view vsplit vstack
"""

_VARIANTS = {"meshgrid": "variadic_tensors"}

OPS = [Sampled(name, _VARIANTS.get(name, "")) for name in _NAMES.split()]
OPS += [Sampled("nn.functional.pad", mode) for mode in ("constant", "reflect", "replicate", "circular")]
