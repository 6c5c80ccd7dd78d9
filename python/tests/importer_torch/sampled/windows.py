# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, pooling and resampling."""

import torch

from .entry import Sampled, always, dtype_in

_LEFT = {
    "integers": dtype_in(torch.int64),
    "indices of the largest": lambda sample: sample.kwargs.get("return_indices", False),
    "a divisor of its own": lambda sample: len(sample.args) > 6 or "divisor_override" in sample.kwargs,
}
_UNBATCHED = {"an added dim joins its neighbours": always}

_POOLS = """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d
max_pool1d max_pool2d max_pool3d
"""
_OTHERS = "conv1d conv2d conv3d upsample_bilinear upsample_nearest"
_MODES = ("nearest", "nearest-exact", "linear", "bilinear", "bicubic")

OPS = [Sampled(f"nn.functional.{name}", torch=_LEFT, host=_UNBATCHED) for name in _POOLS.split()]
OPS += [Sampled(f"nn.functional.{name}") for name in _OTHERS.split()]
# PyTorch sums 16-bit floats in their own type.
OPS += [Sampled(f"nn.functional.conv_transpose{count}d", tolerance=30) for count in (1, 2, 3)]
OPS += [Sampled("nn.functional.interpolate", mode) for mode in _MODES]
