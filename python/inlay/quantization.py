# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantizes float models, and loads checkpoints of GPTQ and AWQ.

    quantized = inlay.quantize(model, inlay.Recipe.INT4_WEIGHTS, example_inputs=(x,))
    print(quantized.report)
    compiled = inlay.compile(quantized.model, (x,))

The algorithms are those of the package `torchao`. `load` needs `safetensors` and `transformers`.
"""

from ._checkpoints.load import load
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
    "load",
    "quantize",
    "smooth",
]
