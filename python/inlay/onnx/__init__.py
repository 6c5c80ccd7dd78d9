# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ONNX models. `inlay.compile("model.onnx")` also imports and compiles them.

`python -m inlay.onnx model.onnx -o model.mlir` writes a model as text for the command-line tools. ONNX models need the
package `onnx`.
"""

from .._import.onnx import import_onnx, is_onnx

__all__ = ["import_onnx", "is_onnx"]
