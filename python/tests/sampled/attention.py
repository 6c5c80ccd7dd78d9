# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, and normalizations by statistics of the input itself."""

from .entry import Sampled

OPS = [
    Sampled("nn.functional.scaled_dot_product_attention"),
    Sampled("nn.functional.group_norm"),
    Sampled("nn.functional.instance_norm"),
    Sampled("nn.functional.layer_norm"),
    Sampled("nn.functional.rms_norm"),
    Sampled("native_layer_norm"),
    Sampled("native_group_norm"),
]
