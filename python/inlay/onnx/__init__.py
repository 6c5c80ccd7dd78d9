# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ONNX models. `inlay.compile` takes them directly: `inlay.compile("model.onnx")`.

`python -m inlay.onnx model.onnx -o model.mlir` writes the text that the command-line tools read. ONNX models need the
package `onnx`.
"""

from .._import.onnx import import_onnx, is_onnx

__all__ = ["import_onnx", "is_onnx"]
