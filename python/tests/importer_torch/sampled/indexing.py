# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that read or write elements at indices, and operators that sort."""

import torch

from .entry import Sampled, dtype_in

# PyTorch combines booleans as numbers here.
_NO_SUMS = {"booleans": dtype_in(torch.bool)}


def _has_ties(sample):
    return sample.args[0].unique().numel() < sample.args[0].numel()


_TIES = {"which of equal elements is chosen": _has_ties}
_LONG = {"the dim is too long": lambda sample: max(sample.args[0].shape, default=1) > 4096}

OPS = [
    Sampled("nn.functional.embedding", skip={"max_norm writes the table": lambda sample: "max_norm" in sample.kwargs}),
    *(Sampled(name) for name in ("index_select", "index_copy", "index_fill", "gather")),
    Sampled("index_put", torch=_NO_SUMS),
    Sampled("index_add", torch=_NO_SUMS),
    *(Sampled("index_reduce", kind) for kind in ("prod", "amin", "amax")),
    Sampled("scatter", torch=_NO_SUMS),
    Sampled("scatter_add", torch=_NO_SUMS),
    *(Sampled("scatter_reduce", kind, torch=_NO_SUMS) for kind in ("sum", "prod", "amin", "amax")),
    Sampled("sort", torch=_LONG),
    Sampled("argsort"),
    Sampled("msort", torch=_LONG),
    Sampled("topk", skip=_TIES),
    Sampled(
        "histc",
        torch={
            "the elements say how far it goes": lambda sample: (
                sample.kwargs.get("min", 0) == sample.kwargs.get("max", 0)
            )
        },
    ),
    Sampled("kthvalue", skip=_TIES),
]
