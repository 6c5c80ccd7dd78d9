# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that read or write elements at indices, and operators that sort."""

import torch

from .entry import Sampled, always, dtype_in

# Vulkan does not support buffers of booleans yet.
_BOOL = {"buffers of i1": dtype_in(torch.bool)}

# PyTorch combines booleans as numbers here.
_NO_SUMS = {"booleans": dtype_in(torch.bool)}

# Layout ops run on the host with ops that Vulkan lacks.
_BFLOAT16 = {"bf16": dtype_in(torch.bfloat16)}


def _has_ties(sample):
    return sample.args[0].unique().numel() < sample.args[0].numel()


_TIES = {"which of equal elements is chosen": _has_ties}
_LONG = {"the dim is too long": lambda sample: max(sample.args[0].shape, default=1) > 4096}

OPS = [
    Sampled("nn.functional.embedding", skip={"max_norm writes the table": lambda sample: "max_norm" in sample.kwargs}),
    *(Sampled(name, host=_BOOL) for name in ("index_select", "index_copy", "index_fill", "gather")),
    Sampled("index_put", host=_BOOL, torch=_NO_SUMS),
    Sampled("index_add", host=_BOOL, torch=_NO_SUMS),
    *(Sampled("index_reduce", kind, host=_BFLOAT16) for kind in ("prod", "amin", "amax")),
    Sampled("scatter", host=_BOOL, torch=_NO_SUMS),
    Sampled("scatter_add", host=_BOOL, torch=_NO_SUMS),
    *(Sampled("scatter_reduce", kind, torch=_NO_SUMS) for kind in ("sum", "prod", "amin", "amax")),
    Sampled("sort", host=_BOOL, torch=_LONG),
    Sampled("argsort", host=_BOOL),
    Sampled("msort", host=_BOOL, torch=_LONG),
    Sampled("topk", host=_BOOL, skip=_TIES),
    Sampled(
        "histc",
        host={"buffers of i1": always},
        torch={
            "the elements say how far it goes": lambda sample: (
                sample.kwargs.get("min", 0) == sample.kwargs.get("max", 0)
            )
        },
    ),
    Sampled("kthvalue", host=_BOOL, skip=_TIES),
]
