# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports a model of any kind: a PyTorch module, an ExportedProgram or an ONNX model.

`modules.py` imports a graph in memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, cast

import torch

from .._dialect.calls import no_autocast
from .._import.onnx import import_onnx, is_onnx
from .._import.torch.export import EXPORT_LOCK, export_model, export_program
from .._import.torch.program import import_program
from .._import.types import DynamicShapes, Inputs, Model, ModelProto
from .._paths import StrPath
from .._program.imported import CallConvention, ChangedObjects, ImportedModel
from .options import LOOP_ITERATIONS


def import_model(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
    max_loop_iterations: int = LOOP_ITERATIONS,
    **options: Any,
) -> ImportedModel:
    """Imports a PyTorch module with example arguments, an ExportedProgram, or an ONNX model.

    model, inputs, dynamic_shapes, max_loop_iterations: as for `inlay.compile`. options: as for `import_program`.
    """
    with EXPORT_LOCK:
        if is_onnx(model):
            options["max_loop_iterations"] = max_loop_iterations
            return import_onnx(cast("StrPath | ModelProto", model), inputs, dynamic_shapes, **options)
        if not isinstance(model, torch.nn.Module) or inputs is None:
            program_or_module = cast("torch.export.ExportedProgram | torch.nn.Module", model)
            exported = export_program(program_or_module, inputs, dynamic_shapes)
            with no_autocast():
                program = import_program(exported, **options)
            return ImportedModel(program, convention_of(exported), exported.module)
        made = export_model(model, inputs, dynamic_shapes, may_split_dims=True)
        with no_autocast():
            program = import_program(made.program, shape_profiles=made.shape_profiles, **options)
        written = {write.target for write in program.interface.writes if isinstance(write.target, str)}
        convention = convention_of(made.program, model, made.changed)
        return ImportedModel(program, convention, lambda: model, made.reads.watch(written))


def convention_of(
    exported: torch.export.ExportedProgram,
    model: torch.nn.Module | None = None,
    changed: ChangedObjects | None = None,
) -> CallConvention:
    """Returns the calling convention of an exported program.

    model: the module that it was exported from. changed: the arguments that the module changes.
    """
    signature = exported.module_call_graph[0].signature if exported.module_call_graph else None
    names = getattr(signature, "forward_arg_names", None)
    spec = exported.call_spec
    defaults = _defaults(model, names) if model is not None else {}
    return CallConvention(spec.in_spec, spec.out_spec, names, defaults, changed or ChangedObjects())


def _defaults(model: torch.nn.Module, names: Sequence[str] | None) -> dict[str, Any]:
    """Returns the defaults of the arguments of a module that are not among `names`, by name."""
    parameters = inspect.signature(model.forward).parameters.items()
    known = set(names or ())
    return {
        name: parameter.default
        for name, parameter in parameters
        if name not in known and parameter.default is not parameter.empty
    }
