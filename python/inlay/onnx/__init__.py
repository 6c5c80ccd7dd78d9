# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way in for ONNX models: each node is said as ATen calls, which the importer takes as it takes those of PyTorch.

`files` reads a model and its external data, `checking` checks it and fixes its dims, `tensors` reads initializers,
`graph` builds the FX graph, `naming` names its calls; a handler per ONNX op is in a file by topic, `pointwise`,
`reductions`, `layout`, `neural`, `pooling`, `resize`, `recurrent`, `indexing`. `program` puts them together. This file
needs no package `onnx`, which only ONNX models need.

`python -m inlay.onnx model.onnx -o model.mlir` writes the text that the command-line tools take.
"""

import os

from ..errors import UnsupportedError


def is_onnx(model):
    """Whether a model is a path, which an ONNX model lies at, or an onnx.ModelProto."""
    kind = type(model)
    return isinstance(model, (str, os.PathLike)) or (kind.__name__ == "ModelProto" and "onnx" in kind.__module__)


def import_onnx(model, inputs=None, dynamic_shapes=None, **options):
    """(OnnxProgram, ImportedProgram) of a path or an onnx.ModelProto: see `program.import_model`.

    Raises UnsupportedError without the package `onnx`, besides what that raises.
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise UnsupportedError('an ONNX model needs the package "onnx": pip install inlay[onnx]') from error
    from .program import import_model

    return import_model(model, inputs, dynamic_shapes=dynamic_shapes, **options)
