# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, pooling and resampling."""

from .entry import Sampled

_NAMES = """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d conv1d conv2d conv3d
conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d upsample_bilinear upsample_nearest
"""

_MODES = ("nearest", "nearest-exact", "linear", "bilinear", "bicubic")

OPS = [Sampled(f"nn.functional.{name}") for name in _NAMES.split()]
OPS += [Sampled("nn.functional.interpolate", mode) for mode in _MODES]
