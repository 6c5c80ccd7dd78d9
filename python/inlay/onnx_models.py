# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which models are ONNX's, told without the package `onnx`, which only they need."""

import os

from .errors import ArgumentTypeError, UnsupportedError


def is_onnx(model):
    """Whether a model is a path, which an ONNX model lies at, or an onnx.ModelProto."""
    kind = type(model)
    return isinstance(model, (str, os.PathLike)) or (kind.__name__ == "ModelProto" and "onnx" in kind.__module__)


def import_onnx(model, inputs=None, dynamic_shapes=None, **options):
    """(OnnxProgram, ImportedProgram), as `inlay.onnx.import_onnx`; UnsupportedError without the package `onnx`."""
    if dynamic_shapes is not None:
        raise ArgumentTypeError("dynamic_shapes says how to export, but an ONNX model is exported already")
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise UnsupportedError('an ONNX model needs the package "onnx": pip install inlay[onnx]') from error
    from .onnx import import_onnx

    return import_onnx(model, inputs, **options)
