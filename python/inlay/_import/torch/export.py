# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports modules by torch.export, with example arguments in the forms that `inlay.compile` takes.

`_compile/export.py` writes a model to files, and `program.py` imports the exported program.
"""

from __future__ import annotations

import os
import pathlib
import re
import threading
import traceback
import warnings
from typing import Any, NamedTuple

import torch
from torch._dynamo.exc import UserError
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils import _pytree as pytree

from ... import errors
from ..._program.imported import ChangedObjects
from ...errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from ..examples import ExampleInputs, Input, ShapeProfile, make_examples, split_shared_dims
from ..types import DynamicShapes, Inputs
from .capture.arguments import naming_keywords, returning_changes, with_counters
from .capture.attributes import Changes, restoring_attributes
from .capture.caches import register_caches
from .capture.reads import Reads, StateError, recording_reads
from .quiet import no_export_output

# Folders of PyTorch, this package and Python's standard library.
_OWN_FOLDERS = tuple(str(pathlib.Path(path).parent) + os.sep for path in (torch.__file__, errors.__file__) if path)
_STANDARD_LIBRARY = str(pathlib.Path(os.__file__).parent) + os.sep

# What torch.export says about the function that needs an element as a Python value.
_CAUSE = re.compile(r"^Caused by: \((?P<file>\S+):(?P<line>\d+) in (?P<function>\w+)\)", re.MULTILINE)

# torch.export and its decompositions change state of the process.
EXPORT_LOCK = threading.RLock()


def export_program(
    model: torch.nn.Module | torch.export.ExportedProgram,
    inputs: Inputs | None,
    dynamic_shapes: DynamicShapes | None = None,
) -> torch.export.ExportedProgram:
    """Returns the ExportedProgram of a module and example arguments as for `compile`, or the given ExportedProgram."""
    if isinstance(model, torch.export.ExportedProgram):
        if dynamic_shapes is not None:
            raise ArgumentValueError(
                "expected no dynamic_shapes for a torch.export.ExportedProgram, whose dims are fixed"
            )
        return model
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(
            f"expected a torch.nn.Module, a torch.export.ExportedProgram or an ONNX model, but got {kind_of(model)}"
        )
    if inputs is None:
        raise ArgumentTypeError(
            "missing inputs: expected example arguments to export the module with, e.g. (torch.ones(1, 3),)"
        )
    return export_model(model, inputs, dynamic_shapes).program


class ExportedModule(NamedTuple):
    """An exported program.

    shape_profiles: what the user asked for about dims beyond what the program keeps, by (number of an input, dim).
    changed: the arguments that forward changes. reads: the Python values that forward reads.
    """

    program: torch.export.ExportedProgram
    shape_profiles: dict[tuple[int, int], ShapeProfile]
    changed: ChangedObjects
    reads: Reads


def export_model(
    model: torch.nn.Module, inputs: Inputs, dynamic_shapes: DynamicShapes | None, may_split_dims: bool = False
) -> ExportedModule:
    """Exports a module by torch.export, from the arguments that the user gave.

    may_split_dims: as for `export_module`.
    """
    register_caches()
    args, kwargs = split_inputs(inputs)
    with EXPORT_LOCK, naming_keywords(model, kwargs):
        return export_module(model, make_examples(model, args, kwargs, dynamic_shapes), may_split_dims)


def export_module(model: torch.nn.Module, examples: ExampleInputs, may_split_dims: bool = False) -> ExportedModule:
    """Exports a module by torch.export.

    may_split_dims: True if torch.export may treat dims that have one name as separate dims. The ShapeProfiles tie them
    together.
    """
    examples = with_counters(model, examples)
    (args, kwargs), shapes = _copy_repeated((examples.args, examples.kwargs)), examples.dynamic_shapes
    if torch.is_autocast_enabled("cpu"):
        raise UnsupportedError(
            "torch.autocast is on, but torch.export can't record an autocast around a model: turn it on inside of the "
            "model's forward, or compile the model outside of the autocast"
        )
    try:
        with (
            EXPORT_LOCK,
            no_export_output(),
            recording_reads(model) as reads,
            restoring_attributes(model, reads) as changes,
            returning_changes(model) as changed,
        ):
            exported = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
    except Error:
        raise
    except Exception as error:
        unproven = "Not all values of" in str(error) and "must always be equal" not in str(error)
        split_examples = split_shared_dims(model, examples) if may_split_dims and unproven else None
        if split_examples is not None:
            return export_module(model, split_examples)
        raise _export_error(error)(
            f"torch.export can't export the model with these inputs: {type(error).__name__}: {_explain(error)}"
            f"{_traced_call(error)}{_user_line(error)}"
        ) from error
    _check_unchanged(changes)
    return ExportedModule(exported, examples.shape_profiles, changed, reads)


def _copy_repeated(examples: Any) -> Any:
    """Returns the examples with copies of repeated tensors. torch.export would make one input of a tensor that
    occurs twice."""
    seen: set[int] = set()

    def copy_repeated(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or id(leaf) not in seen:
            seen.add(id(leaf))
            return leaf
        return leaf.clone()

    return pytree.tree_map(copy_repeated, examples)


def _check_unchanged(changes: Changes) -> None:
    """Raises UnsupportedError or warns if a model's forward sets attributes in a way that torch.export does not
    record."""
    if changes.buffers:
        raise StateError(f"{changes.buffers[0]}, but expected buffers to keep their dims and dtypes")
    if changes.state:
        raise StateError(
            f"the model's forward reads and changes {', '.join(changes.state)}, which a compiled model can't repeat: "
            "put values that change from call to call in buffers"
        )
    if changes.attributes:
        warnings.warn(
            f"inlay: the model's forward sets {', '.join(map(repr, changes.attributes))}: a compiled model keeps the "
            "values that they had when it was compiled; put values that change from call to call in buffers",
            stacklevel=6,
        )


def _explain(error: Exception) -> str:
    """Returns the first line of an exception of torch.export, and the items that it lists."""
    first, *rest = (str(error).strip() or "no message").splitlines()
    listed = [line.strip(" -") for line in rest if line.lstrip().startswith("- ")]
    return " ".join([first.partition(" For more information")[0], *listed])


def _traced_call(error: Exception) -> str:
    """Returns the operator whose trace raised an exception, or the function of PyTorch that reads elements, as the end
    of a sentence. Empty if the message names it or if it is not known."""
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for name in ("self", "func", "op"):
            value = frame.f_locals.get(name)
            found = value if isinstance(value, torch._ops.OpOverload) else found
    if found is not None:
        return "" if str(found) in str(error) else f" while it traced {found}"
    cause = _CAUSE.search(str(error))
    if cause is None or not (pathlib.Path(torch.__file__).parent / cause["file"]).exists():
        return ""  # `_user_line` has the line of a user's function
    return f" while it ran {cause['function']} at torch/{cause['file']}:{cause['line']}"


def _user_line(error: BaseException | None) -> str:
    """Returns the line of the model that raised an exception, as the end of a sentence. Empty if it is not known."""
    found = None
    while error is not None and found is None:
        for frame, line in traceback.walk_tb(error.__traceback__):
            if _is_of_user(frame.f_code.co_filename):
                found = f" (in {frame.f_code.co_name} at {frame.f_code.co_filename}:{line})"
        error = error.__cause__ or error.__context__
    return found or ""


def _is_of_user(file: str) -> bool:
    """Returns true for a file of the user or of a package with models."""
    is_standard = file.startswith(_STANDARD_LIBRARY) and "-packages" not in file
    return os.path.isabs(file) and not is_standard and not file.startswith(_OWN_FOLDERS)


class CallArguments(NamedTuple):
    """The positional and the keyword arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def split_inputs(inputs: Inputs) -> CallArguments:
    """Returns the arguments of a call for example arguments in the forms that `compile` takes."""
    if isinstance(inputs, dict):
        return CallArguments((), inputs)
    if isinstance(inputs, (tuple, list)):
        return CallArguments(tuple(inputs), {})
    if isinstance(inputs, (torch.Tensor, Input)):
        return CallArguments((inputs,), {})
    raise ArgumentTypeError(f"expected inputs to be a tuple, a list, a dict or a tensor, but got {kind_of(inputs)}")


def _export_error(error: Exception) -> type[Error]:
    """Returns the class of the exception that stands for an exception of torch.export."""
    if isinstance(error, UserError):
        return ArgumentValueError
    if isinstance(error, TypeError):
        return ArgumentTypeError
    return ArgumentValueError if isinstance(error, (ValueError, ConstraintViolationError)) else Error


def kind_of(value: object) -> str:
    """Returns the class of a value for messages, or "the class X" for a class."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
