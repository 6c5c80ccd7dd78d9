# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, and normalizations by statistics of the input."""

from .entry import Sampled

_WRITES = {
    "running statistics are written": lambda sample: any(
        sample.kwargs.get(f"running_{x}") is not None for x in ("mean", "var")
    )
}

OPS = [
    Sampled(
        "nn.functional.scaled_dot_product_attention",
        skip={"dropout": lambda sample: sample.kwargs.get("dropout_p", 0) > 0},
    ),
    Sampled("nn.functional.group_norm"),
    Sampled("nn.functional.instance_norm", skip=_WRITES),
    Sampled("nn.functional.layer_norm"),
    Sampled("nn.functional.rms_norm"),
]
