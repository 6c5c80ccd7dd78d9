# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patterns in Python that run at the compiler's speed.

    @inlay.rewrite.pattern("fuse_linear_relu", benefit=2)
    def fuse(op, x, w, b):
        return op.relu(op.add(op.matmul(x, w), b))

    @fuse.to
    def _(op, x, w, b):
        return op("my.linear_relu", x, w, b)

    @fuse.where
    def _(m):
        m.x.dtype("f32", "f16")

Each function runs once, on symbols, and leaves a pattern in PDL: `fuse.pdl`, which `inlay-opt --inlay-rewrite` reads.
"""

from .tracing import Pattern, pattern

__all__ = ["Pattern", "pattern"]
