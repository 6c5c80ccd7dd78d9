# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports a model of any kind: a PyTorch module, an ExportedProgram or an ONNX model.

`modules.py` imports a graph in memory.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch.utils import _pytree as pytree

from .._dialect.calls import no_autocast
from .._import.onnx import import_onnx, is_onnx
from .._import.torch.export import EXPORT_LOCK, export_model, export_program
from .._import.torch.program import import_program
from .._import.types import DynamicShapes, Inputs, Model, ModelProto
from .._paths import StrPath
from .._program.imported import CallConvention, ChangedObjects, ImportedModel
from ..errors import ArgumentValueError, UnsupportedError, did_you_mean
from .options import LOOP_ITERATIONS


def import_model(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
    max_loop_iterations: int = LOOP_ITERATIONS,
    states: Sequence[str] = (),
    **options: Any,
) -> ImportedModel:
    """Imports a PyTorch module with example arguments, an ExportedProgram, or an ONNX model.

    model, inputs, dynamic_shapes, max_loop_iterations, states: as for `inlay.compile`. options: as for
    `import_program`.
    """
    with EXPORT_LOCK:
        if is_onnx(model):
            if states:
                raise UnsupportedError("an ONNX model writes no arguments, so it has no states: leave out states")
            options["max_loop_iterations"] = max_loop_iterations
            return import_onnx(cast("StrPath | ModelProto", model), inputs, dynamic_shapes, **options)
        if not isinstance(model, torch.nn.Module) or inputs is None:
            program_or_module = cast("torch.export.ExportedProgram | torch.nn.Module", model)
            exported = export_program(program_or_module, inputs, dynamic_shapes)
            names, convention = split_states(convention_of(exported), states)
            with no_autocast():
                program = import_program(exported, states=names, **options)
            return ImportedModel(program, convention, exported.module)
        made = export_model(model, inputs, dynamic_shapes, may_split_dims=True)
        names, convention = split_states(convention_of(made.program, model, made.changed), states)
        with no_autocast():
            program = import_program(made.program, shape_profiles=made.shape_profiles, states=names, **options)
        written = {write.target for write in program.interface.writes if isinstance(write.target, str)}
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


def split_states(convention: CallConvention, names: Sequence[str]) -> tuple[dict[int, str], CallConvention]:
    """Returns names by the numbers of the flat arguments that are states, and the calling convention without them.

    The states of a list or dict have the names of the argument and of their positions or keys: "pair_0".

    names: arguments of the model. Raises ArgumentValueError for a name that is no argument, and UnsupportedError for a
    model that changes its arguments in another way than by writing tensors.
    """
    if not names:
        return {}, convention
    if convention.changed.paths:
        raise UnsupportedError("a model that changes lists or objects among its arguments can't have states")
    positional, keywords = convention.names
    known = [*positional, *keywords]
    for name in names:
        if name not in known:
            raise ArgumentValueError(
                f"states: the model has no argument {name!r} among the example inputs{did_you_mean(name, known)}"
            )
    states: dict[int, str] = {}
    passed: dict[str, Any] = {}
    first = 0
    for name, spec in zip(
        known, (child for part in convention.in_spec.children() for child in part.children()), strict=True
    ):
        value = pytree.tree_unflatten([0] * spec.num_leaves, spec)
        if name in names:
            paths = [path for path, _ in pytree.tree_flatten_with_path(value)[0]]
            parts = [[name, *(str(getattr(key, "key", getattr(key, "idx", key))) for key in path)] for path in paths]
            states.update((first + number, "_".join(part)) for number, part in enumerate(parts))
        else:
            passed[name] = value
        first += spec.num_leaves
    args = tuple(passed[name] for name in positional if name in passed)
    kwargs = {name: passed[name] for name in keywords if name in passed}
    return states, dataclasses.replace(
        convention, in_spec=pytree.tree_structure((args, kwargs)), argument_names=list(passed)
    )


def _defaults(model: torch.nn.Module, names: Sequence[str] | None) -> dict[str, Any]:
    """Returns the defaults of the arguments of a module that are not among `names`, by name."""
    parameters = inspect.signature(model.forward).parameters.items()
    known = set(names or ())
    return {
        name: parameter.default
        for name, parameter in parameters
        if name not in known and parameter.default is not parameter.empty
    }
