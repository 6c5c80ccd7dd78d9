# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a model to an `inlay.Module`, and from that, perhaps rewritten, to what is compiled."""

from __future__ import annotations

import dataclasses

import torch

from .._graph.module import Module, Tensor, parse
from .._import.types import DynamicShapes, Inputs, Model
from .._program.imported import CallConvention, Dims, ImportedModel, ImportedProgram, ProgramInput, TensorType
from .._program.sizes import Size
from ..errors import ArgumentValueError, UnsupportedError
from .model import import_model


def import_module(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
) -> Module:
    """A Module from a model and example arguments, or from an ExportedProgram.

    Weights stay where they are: the text only names them. `inlay.compile(module)` then calls it as the model itself.
    """
    imported = import_model(model, inputs, dynamic_shapes)
    module = parse(imported.program.text)
    module._imported = imported
    return module


def import_rewritten(module: Module) -> ImportedModel:
    """Imports a Module, which is called as the model that it was imported from if it still takes and gives the same."""
    inputs = [_input(tensor) for tensor in module.get_inputs()]
    results = [_type_of(tensor, "output") for tensor in module.get_outputs()]
    text = module.text(locations=True)
    if module._imported is not None:
        program = module._imported.program
        if _calls_alike(program, inputs, results):
            kept = [_keep_sizes(*pair) for pair in zip(results, program.interface.results, strict=True)]
            interface = dataclasses.replace(program.interface, results=kept)
            program = dataclasses.replace(program, text=text, interface=interface)
            return dataclasses.replace(module._imported, program=program)
    for one in inputs:
        _check_known(f"input {one.name!r}", one.shape)
    for tensor in module.get_outputs():
        _check_known(f"output {tensor.name!r}", tensor.shape)
    weights = module._imported.program.weights if module._imported is not None else {}
    program = ImportedProgram.of_function(text, weights, inputs, results)
    return ImportedModel(program, CallConvention.of_function(len(inputs), len(results)))


def _input(tensor: Tensor) -> ProgramInput:
    return ProgramInput(tensor.name, *_type_of(tensor, "input"))


def _type_of(tensor: Tensor, what: str) -> TensorType:
    """The type of what comes in or goes out; a size that isn't known is -1."""
    if tensor.shape is None or not isinstance(tensor.dtype, torch.dtype):
        raise ArgumentValueError(f"expected {what} '{tensor.name}' to be a tensor, but got {tensor.type}")
    return TensorType(tensor.shape, tensor.dtype)


def _calls_alike(program: ImportedProgram, inputs: list[ProgramInput], results: list[TensorType]) -> bool:
    """Returns true if the module takes and gives what the model does, sizes of results aside."""
    given = [TensorType(_with_open_sizes(shape), dtype) for shape, dtype in program.arguments]
    same = given == [TensorType(one.shape, one.dtype) for one in inputs]
    return same and len(program.interface.results) == len(results)


def _with_open_sizes(shape: Dims) -> Dims:
    return tuple(-1 if isinstance(size, Size) else size for size in shape)


def _keep_sizes(result: TensorType, known: TensorType) -> TensorType:
    """The type of a result; sizes that aren't known are those it had."""
    if -1 not in result.shape:
        return result
    if _with_open_sizes(known.shape) != result.shape:
        raise UnsupportedError(f"an output has sizes that aren't known: {_spell(result.shape)}")
    return TensorType(known.shape, result.dtype)


def _check_known(what: str, shape: Dims) -> None:
    if -1 in shape:
        raise UnsupportedError(f"{what} has sizes that aren't known: {_spell(shape)}")


def _spell(shape: Dims) -> str:
    return "x".join("?" if size == -1 else str(size) for size in shape)
