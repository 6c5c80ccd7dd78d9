# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports a model of any kind: a module, an ExportedProgram or an ONNX model."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from .._dialect.calls import no_autocast
from .._import.onnx import import_onnx, is_onnx
from .._import.torch.export import EXPORT_LOCK, export_module, export_program, prepare_examples
from .._import.torch.program import import_program
from .._import.types import DynamicShapes, Inputs, Model
from .._program.imported import CallConvention, ImportedModel


def import_model(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
    **options: Any,
) -> ImportedModel:
    """Imports a module with example arguments, an ExportedProgram, or an ONNX model.

    options: as for `import_program`.
    """
    with EXPORT_LOCK:
        if is_onnx(model):
            return import_onnx(model, inputs, dynamic_shapes, **options)
        if not isinstance(model, torch.nn.Module) or inputs is None:
            exported, shape_profiles = export_program(model, inputs, dynamic_shapes), None
        else:
            exported, shape_profiles = export_module(
                model, prepare_examples(model, inputs, dynamic_shapes), may_split_dims=True
            )
        with no_autocast():
            program = import_program(exported, shape_profiles=shape_profiles, **options)
        if isinstance(model, torch.nn.Module):
            return ImportedModel(program, convention_of(exported, model), lambda: model)
        return ImportedModel(program, convention_of(exported), exported.module)


def convention_of(exported: torch.export.ExportedProgram, model: torch.nn.Module | None = None) -> CallConvention:
    """Returns how the exported program is called. model: the module that it was exported from, for its defaults."""
    signature = exported.module_call_graph[0].signature if exported.module_call_graph else None
    names = getattr(signature, "forward_arg_names", None)
    spec = exported.call_spec
    return CallConvention(spec.in_spec, spec.out_spec, names, _defaults(model, names) if model is not None else {})


def _defaults(model, names):
    """Name -> default of the arguments of a module that are not among `names`."""
    parameters = inspect.signature(model.forward).parameters.items()
    known = set(names or ())
    return {name: one.default for name, one in parameters if name not in known and one.default is not one.empty}
