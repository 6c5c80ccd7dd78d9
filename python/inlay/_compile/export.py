# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model for the command-line tools: the graph as text, and the weights in a second file.

`_import/torch/export.py` calls torch.export.
"""

from __future__ import annotations

import pathlib

from .._import.types import DynamicShapes, Inputs, Model
from .._paths import StrPath
from .model import import_model


def export(
    model: Model, inputs: Inputs | None, path: StrPath, dynamic_shapes: DynamicShapes | None = None
) -> pathlib.Path:
    """Writes a model as `path.mlir` and `path.safetensors` for the command-line tools.

    model, inputs, dynamic_shapes: as for `inlay.compile`.
    path: the path of the files, with or without the suffix ".mlir".
    Returns the path of the .mlir file.
    Raises the errors of `inlay.parse` and `inlay.compile` for a model that Inlay can't import, and OSError if a file
    can't be written.

        inlay.export(model, (x,), "model.mlir")
    """
    from safetensors.torch import save_file

    text_path = pathlib.Path(path)
    text_path = text_path if text_path.suffix == ".mlir" else text_path.with_name(text_path.name + ".mlir")
    weights_path = text_path.with_suffix(".safetensors")
    attributes = {"inlay.weights": weights_path.name}
    imported = import_model(model, inputs, dynamic_shapes, attributes=attributes, portable=True).program
    # safetensors can't save tensors that share memory, so they are copied.
    save_file({key: tensor.clone() for key, tensor in imported.weights.items()}, str(weights_path))
    text_path.write_text(imported.text, encoding="utf-8")
    return text_path
