# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports modules by torch.export, with example arguments as `inlay.compile` takes them."""

from __future__ import annotations

import threading
import warnings
from typing import Any, NamedTuple

import torch
from torch._dynamo.exc import UserError
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils import _pytree as pytree

from ...errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from ..examples import ShapeProfile, ExampleInputs, Input, make_examples, split_shared_dims
from ..types import DynamicShapes, Inputs
from .attributes import restoring_attributes
from .caches import register_caches

# torch.export and its decompositions change state of the whole process.
EXPORT_LOCK = threading.RLock()


def export_program(
    model: torch.nn.Module | torch.export.ExportedProgram,
    inputs: Inputs | None,
    dynamic_shapes: DynamicShapes | None = None,
) -> torch.export.ExportedProgram:
    """The ExportedProgram for a module and example arguments (as for `compile`), or the given one."""
    if isinstance(model, torch.export.ExportedProgram):
        if dynamic_shapes is not None:
            raise ArgumentValueError("dynamic_shapes says how to export, but the model is exported already")
        return model
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(
            f"expected a torch.nn.Module, a torch.export.ExportedProgram or an ONNX model, but got {kind_of(model)}"
        )
    if inputs is None:
        raise ArgumentTypeError("missing inputs: a module is exported with example arguments, e.g. (torch.ones(1, 3),)")
    return export_module(model, prepare_examples(model, inputs, dynamic_shapes)).program


def prepare_examples(model: torch.nn.Module, inputs: Inputs, dynamic_shapes: DynamicShapes | None) -> ExampleInputs:
    """Returns the examples to export a module with, from what the user gave for it."""
    register_caches()
    return make_examples(model, *split_inputs(inputs), dynamic_shapes)


class ExportedModule(NamedTuple):
    """A program, and what the user said of dims that it doesn't keep, by (number of an input, dim)."""

    program: torch.export.ExportedProgram
    shape_profiles: dict[tuple[int, int], ShapeProfile]


def export_module(model: torch.nn.Module, examples: ExampleInputs, may_split_dims: bool = False) -> ExportedModule:
    """Exports a module by torch.export.

    may_split_dims: True if dims that the user gave one name may be several for torch.export; shape_profiles tie them together.
    """
    (args, kwargs), shapes = _part_repeated((examples.args, examples.kwargs)), examples.dynamic_shapes
    if torch.is_autocast_enabled("cpu"):
        raise UnsupportedError(
            "torch.autocast is on, but torch.export can't record what is on around a model: turn it on inside of the "
            "model's forward, or compile outside of it"
        )
    try:
        with EXPORT_LOCK, restoring_attributes(model) as changes:
            exported = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
    except Exception as error:
        unproven = "Not all values of" in str(error) and "must always be equal" not in str(error)
        split_examples = split_shared_dims(model, examples) if may_split_dims and unproven else None
        if split_examples is not None:
            return export_module(model, split_examples)
        raise _export_error(error)(
            f"torch.export can't export the model with these inputs: {type(error).__name__}: {_explain(error)}"
        ) from error
    _check_unchanged(changes)
    return ExportedModule(exported, examples.shape_profiles)


def _part_repeated(examples):
    """The examples with copies of tensors that are there before: torch.export makes one input of those that are one."""
    seen = set()

    def part(leaf):
        if not isinstance(leaf, torch.Tensor) or id(leaf) not in seen:
            seen.add(id(leaf))
            return leaf
        return leaf.clone()

    return pytree.tree_map(part, examples)


def _check_unchanged(changes):
    """Says what torch.export doesn't record of what a model's forward sets; `changes`: see `restoring_attributes`."""
    if changes.buffers:
        raise UnsupportedError(f"{changes.buffers[0]}: the buffers of a compiled model keep their dims and dtypes")
    if changes.attributes:
        warnings.warn(
            f"inlay: the model's forward sets {', '.join(map(repr, changes.attributes))}: a compiled model keeps what "
            "these were when it was compiled; what is to change from call to call belongs in a buffer",
            stacklevel=6,
        )


def _explain(error):
    """The first line of an exception of torch.export's, and what it lists."""
    first, *rest = (str(error).strip() or "no message").splitlines()
    listed = [line.strip(" -") for line in rest if line.lstrip().startswith("- ")]
    return " ".join([first.partition(" For more information")[0], *listed])


class CallArguments(NamedTuple):
    """The positional and the keyword arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def split_inputs(inputs: Inputs) -> CallArguments:
    """Splits example arguments as `compile` takes them."""
    if isinstance(inputs, dict):
        return CallArguments((), inputs)
    if isinstance(inputs, (tuple, list)):
        return CallArguments(tuple(inputs), {})
    if isinstance(inputs, (torch.Tensor, Input)):
        return CallArguments((inputs,), {})
    raise ArgumentTypeError(f"expected inputs to be a tuple, a list, a dict or a tensor, but got {kind_of(inputs)}")


def _export_error(error):
    """Our exception that stands for one of torch.export's."""
    about_values = (ValueError, ConstraintViolationError)
    if isinstance(error, UserError):
        return ArgumentValueError
    for base, ours in ((TypeError, ArgumentTypeError), (about_values, ArgumentValueError)):
        if isinstance(error, base):
            return ours
    return Error


def kind_of(value):
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
