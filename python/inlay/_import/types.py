# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of what can be imported: models, example inputs and their dynamic shapes."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import torch

from .._paths import StrPath
from .examples import Input


class ModelProto(Protocol):
    """The part of onnx.ModelProto that the importer uses. This package must not import `onnx`."""

    def SerializeToString(self) -> bytes: ...


# A path is that of an ONNX model.
Model: TypeAlias = torch.nn.Module | torch.export.ExportedProgram | StrPath | ModelProto

# Example arguments: one tensor or inlay.Input, positional arguments, or keyword arguments.
Inputs: TypeAlias = torch.Tensor | Input | tuple[Any, ...] | list[Any] | dict[str, Any]
DynamicShapes: TypeAlias = dict[str, Any] | tuple[Any, ...] | list[Any] | torch.export.ShapesCollection
