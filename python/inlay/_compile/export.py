# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model for the command-line tools: the graph as text, the weights beside it."""

import pathlib

from .._import.types import DynamicShapes, Inputs, Model
from .._paths import StrPath
from .model import import_model


def export(
    model: Model, inputs: Inputs | None, path: StrPath, dynamic_shapes: DynamicShapes | None = None
) -> pathlib.Path:
    """Writes `path.mlir` and `path.safetensors` for a module (or ExportedProgram, or ONNX model) and example arguments.

    model, inputs, dynamic_shapes: as for `inlay.compile`.
    path: where to write; an ending ".mlir" may be given. Returns the path of the .mlir file.
    Raises UnsupportedError for what Inlay can't import, OSError if a file can't be written.
    """
    from safetensors.torch import save_file

    text_path = pathlib.Path(path)
    text_path = text_path if text_path.suffix == ".mlir" else text_path.with_name(text_path.name + ".mlir")
    weights_path = text_path.with_suffix(".safetensors")
    attributes = {"inlay.weights": weights_path.name}
    imported = import_model(model, inputs, dynamic_shapes, attributes=attributes, portable=True).program
    # Tensors that share memory can't be in one file.
    save_file({key: tensor.clone() for key, tensor in imported.weights.items()}, str(weights_path))
    text_path.write_text(imported.text, encoding="utf-8")
    return text_path
