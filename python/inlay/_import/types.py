# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of what is imported: models, example inputs and their dynamic shapes."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import torch

from .._paths import StrPath
from .examples import Input


class ModelProto(Protocol):
    """The part of an onnx.ModelProto that is used."""

    def SerializeToString(self) -> bytes: ...


Model: TypeAlias = torch.nn.Module | torch.export.ExportedProgram | StrPath | ModelProto  # paths are ONNX models'

# Example arguments: one tensor (or inlay.Input), positional ones, or keyword ones.
Inputs: TypeAlias = torch.Tensor | Input | tuple[Any, ...] | list[Any] | dict[str, Any]
DynamicShapes: TypeAlias = dict[str, Any] | tuple[Any, ...] | list[Any] | torch.export.ShapesCollection
