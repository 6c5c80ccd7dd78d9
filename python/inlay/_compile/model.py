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
from .._program.imported import ImportedProgram
from .._program.signature import Signature


def import_model(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
    **options: Any,
) -> tuple[torch.export.ExportedProgram, ImportedProgram]:
    """(ExportedProgram, ImportedProgram) of a module and example arguments, an ExportedProgram, or an ONNX model.

    options: as for `import_program`.
    """
    with EXPORT_LOCK:
        if is_onnx(model):
            return import_onnx(model, inputs, dynamic_shapes, **options)
        if not isinstance(model, torch.nn.Module) or inputs is None:
            exported, profiles = export_program(model, inputs, dynamic_shapes), None
        else:
            examples = prepare_examples(model, inputs, dynamic_shapes)
            exported, profiles = export_module(model, examples, may_untie=True)
        with no_autocast():
            return exported, import_program(exported, profiles=profiles, **options)


def make_signature(model: object, exported: Any, imported: ImportedProgram) -> Signature:
    """What calls of a compiled model look like."""
    signature = exported.module_call_graph[0].signature if exported.module_call_graph else None
    names = getattr(signature, "forward_arg_names", None)
    defaults, spec = _defaults(model, names), exported.call_spec.in_spec
    return Signature(imported.inputs, spec, names, defaults, imported.symbols, imported.conditions)


def _defaults(model, names):
    """Name -> default of the arguments of a module that are not among `names`."""
    if not isinstance(model, torch.nn.Module):
        return {}
    parameters = inspect.signature(model.forward).parameters.items()
    known = set(names or ())
    return {name: one.default for name, one in parameters if name not in known and one.default is not one.empty}
