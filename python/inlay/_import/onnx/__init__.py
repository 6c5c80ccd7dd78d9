# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ONNX models. Each node becomes ATen calls, which the importer of torch.export programs takes.

`domains` lists the domains of ops. `files` reads a model and its external data, `checking` checks it and fixes its
dims, `tensors` reads initializers, `graph` builds the FX graph, and `naming` names its calls. The modules in `handlers`
handle ONNX ops by topic. `program` combines these steps. This file doesn't import the package `onnx`, which only ONNX
models need.
"""

from __future__ import annotations

import os
from typing import Any

from ..._paths import StrPath
from ..._program.imported import ImportedModel
from ...errors import UnsupportedError
from ..types import DynamicShapes, Inputs, ModelProto


def is_onnx(model: object) -> bool:
    """Returns true if `model` is the path of an ONNX model or an onnx.ModelProto."""
    kind = type(model)
    return isinstance(model, (str, os.PathLike)) or (kind.__name__ == "ModelProto" and "onnx" in kind.__module__)


def import_onnx(
    model: StrPath | ModelProto,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
    **options: Any,
) -> ImportedModel:
    """Imports an ONNX model and returns the text of its graph with its weights.

    model: a path, or an onnx.ModelProto.
    inputs: example arguments that fix symbolic dims: a tuple or list by position, a dict by name, or one tensor. None
        if the model has no symbolic dims.
    dynamic_shapes: the dims that may differ from call to call, as for `inlay.compile` (default: None).
    options: the other arguments of `program.import_model`.
    Raises UnsupportedError if the package `onnx` is missing or if the model has parts that Inlay can't import, and
    ArgumentValueError for an invalid model.
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise UnsupportedError('an ONNX model needs the package "onnx": pip install inlay[onnx]') from error
    from .program import import_model

    return import_model(model, inputs, dynamic_shapes=dynamic_shapes, **options)
