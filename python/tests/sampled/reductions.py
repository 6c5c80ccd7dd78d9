# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions."""

import torch

from .entry import Sampled, dtype_in

OPS = [
    Sampled("amax", torch={"booleans": dtype_in(torch.bool)}),
    Sampled("mean"),
    Sampled("sum", host={"buffers of i1": dtype_in(torch.bool)}),
]
