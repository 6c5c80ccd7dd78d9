# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of the options of `inlay.compile`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import torch

from .._import.types import DynamicShapes
from .._paths import StrPath

Target: TypeAlias = Literal["vulkan", "host", "torch"]
Strategy: TypeAlias = Literal["levels", "cost", "in-order", "torch-tensorrt"]

OutOfRange: TypeAlias = Literal["error", "torch"]

OpName: TypeAlias = str | torch._ops.OpOverload[..., Any] | torch._ops.OpOverloadPacket[..., Any]
OpNames: TypeAlias = OpName | Iterable[OpName]
ModuleName: TypeAlias = str | type[torch.nn.Module]
ModuleNames: TypeAlias = ModuleName | Iterable[ModuleName]


class Synonyms(TypedDict, total=False):
    """Second names of keywords of `inlay.compile`."""

    forced_fallback_ops: OpNames


class CompileOptions(Synonyms, total=False):
    """The keywords of `inlay.compile`, for functions that forward them."""

    targets: Target | Sequence[Target]
    enabled: bool
    min_block_size: int
    torch_executed_ops: OpNames
    torch_executed_modules: ModuleNames
    torch_executed_locations: str | Iterable[str]
    allow_ops: OpNames
    exempt_ops: OpNames
    require_full_compilation: bool
    strategy: Strategy
    cost_model: StrPath | None
    tuning: StrPath | None
    host_cpu: str | Iterable[str]
    dynamic_shapes: DynamicShapes | None
    states: str | Iterable[str]
    out_of_range: OutOfRange
    max_loop_iterations: int
    recovery: bool
    placement: StrPath | None
    save_placement: StrPath | None
    cache: object
