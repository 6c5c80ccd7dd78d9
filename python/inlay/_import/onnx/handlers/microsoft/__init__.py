# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of the ops that ONNX Runtime adds in the domain "com.microsoft".

The facts come from the schemas and docs/ContribOperators.md of ONNX Runtime. The tests compare the ops with it.
"""

from . import activations, attention, fused, general, normalization, quantized, recurrent

TOPICS = (activations, attention, fused, general, normalization, quantized, recurrent)
