# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way in for ONNX models: each node is said as ATen calls, which the importer takes as it takes those of PyTorch.

`files` reads a model and its external data, `checking` checks it and fixes its dims, `tensors` reads initializers,
`graph` builds the FX graph, `naming` names its calls; a handler per ONNX op is in a file by topic, `pointwise`,
`reductions`, `layout`, `neural`, `pooling`, `resize`, `indexing`. `program` puts them together.

`python -m inlay.onnx model.onnx -o model.mlir` writes the text that the command-line tools take.
"""

from .program import OnnxProgram, import_onnx

__all__ = ["OnnxProgram", "import_onnx"]
