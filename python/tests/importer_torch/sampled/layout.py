# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move or replace elements."""

from torch.utils import _pytree as pytree

from .entry import Sampled, always


def _is_empty(sample):
    results = pytree.tree_leaves(sample.function(*sample.args, **sample.kwargs))
    return any(tensor.numel() == 0 for tensor in results)


_SKIP = {"a result without elements": _is_empty}

# Neutral ops, which run on the target of their neighbors.
_NEUTRAL = """
as_strided chunk column_stack diagonal diagonal_copy dsplit expand expand_as flatten hsplit hstack linalg.diagonal
movedim nn.functional.pixel_shuffle nn.functional.pixel_unshuffle nn.functional.unfold permute repeat repeat_interleave
reshape roll rot90 select slice split split_with_sizes squeeze stack tile transpose unbind unflatten unfold unsqueeze
view vsplit vstack
"""

# Ops that run on Vulkan without neighbors.
_OTHERS = "cat constant_pad_nd diagonal_scatter flip fliplr flipud slice_scatter"

OPS = [Sampled(name, host={"joins its neighbors": always}, skip=_SKIP) for name in _NEUTRAL.split()]
OPS += [Sampled(name, skip=_SKIP) for name in _OTHERS.split()]
OPS += [Sampled("nn.functional.pad", mode, skip=_SKIP) for mode in ("constant", "reflect", "replicate", "circular")]
