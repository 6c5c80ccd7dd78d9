# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantizes float models.

    quantized = inlay.quantize(model, inlay.Recipe.INT4_WEIGHTS, example_inputs=(x,))
    print(quantized.report)
    compiled = inlay.compile(quantized.model, (x,))

The algorithms are those of the package `torchao`.
"""

from ._quantize.quantize import QuantizedModel, quantize
from ._quantize.recipes import Form, Recipe
from ._quantize.report import LayerReport, QuantizationReport, Wide, WideReason
from ._quantize.smooth import smooth

__all__ = [
    "Form",
    "LayerReport",
    "QuantizationReport",
    "QuantizedModel",
    "Recipe",
    "Wide",
    "WideReason",
    "quantize",
    "smooth",
]
