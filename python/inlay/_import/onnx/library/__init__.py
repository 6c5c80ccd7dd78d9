# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX ops that ATen lacks, as custom ops of PyTorch in the namespace `inlay_onnx`.

PyTorch runs these ops. An import of this package registers them. It doesn't need the package `onnx`, so a saved program
runs without it.
"""

from . import attention, boxes, columns, exponents, ngrams, recurrent, regions, resizing, signal, trees, unique

__all__ = [
    "attention",
    "boxes",
    "columns",
    "exponents",
    "ngrams",
    "recurrent",
    "regions",
    "resizing",
    "signal",
    "trees",
    "unique",
]
