# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a model to an `inlay.Module`, and a module, which may have been rewritten, to an imported model."""

from __future__ import annotations

import dataclasses

import torch

from .._graph.module import Module, Tensor, parse
from .._import.types import DynamicShapes, Inputs, Model
from .._program.imported import (
    CallConvention,
    Dims,
    ImportedModel,
    ImportedProgram,
    ProgramInput,
    TensorType,
    program_dtype,
)
from .._program.sizes import Size
from ..errors import ArgumentValueError, UnsupportedError
from .model import import_model


def import_module(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
) -> Module:
    """Returns the graph module of a model.

    Its text refers to the weights of the model by name. `inlay.compile(module)` returns a compiled module that is
    called like the model, also after rewrites.

    model, inputs, dynamic_shapes: as for `inlay.compile`.
    Raises the errors of `inlay.compile` for a model that Inlay can't import.

        module = inlay.import_module(model, (x,))
        manager.rewrite(module)
        compiled = inlay.compile(module)
    """
    imported = import_model(model, inputs, dynamic_shapes)
    module = parse(imported.program.text)
    module._imported = imported
    return module


def import_rewritten(module: Module) -> ImportedModel:
    """Imports a graph module.

    The compiled module is called like the model that `module` was imported from if the types of the inputs and the
    number of outputs are still the same. Otherwise it is called like the function of `module`.
    """
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
    for argument in inputs:
        _check_known(f"input {argument.name!r}", argument.shape)
    for tensor, result in zip(module.get_outputs(), results, strict=True):
        _check_known(f"output {tensor.name!r}", result.shape)
    weights = module._imported.program.weights if module._imported is not None else {}
    program = ImportedProgram.of_function(text, weights, inputs, results)
    return ImportedModel(program, CallConvention.of_function(len(inputs), len(results)))


def _input(tensor: Tensor) -> ProgramInput:
    return ProgramInput(tensor.name, *_type_of(tensor, "input"))


def _type_of(tensor: Tensor, role: str) -> TensorType:
    """Returns the type of an input or output, with -1 for an unknown dim."""
    if tensor.shape is None or not isinstance(tensor.dtype, torch.dtype):
        raise ArgumentValueError(f"expected {role} '{tensor.name}' to be a tensor, but got {tensor.type}")
    return TensorType(tensor.shape, tensor.dtype)


def _calls_alike(program: ImportedProgram, inputs: list[ProgramInput], results: list[TensorType]) -> bool:
    """Returns true if the module has inputs of the same types and as many results as the model."""
    given = [TensorType(_with_open_sizes(shape), dtype) for shape, dtype in program.arguments]
    same = given == [(argument.shape, argument.dtype) for argument in inputs]
    return same and len(program.interface.results) == len(results)


def _with_open_sizes(shape: Dims) -> Dims:
    """Returns the dims with -1 in place of sizes that differ from call to call."""
    return tuple(-1 if isinstance(size, Size) else size for size in shape)


def _keep_sizes(result: TensorType, known: TensorType) -> TensorType:
    """Returns the type of a result, with the dims of `known` if the module does not know them."""
    if program_dtype(known.dtype) == result.dtype:
        result = TensorType(result.shape, known.dtype)
    if -1 not in result.shape:
        return result
    if _with_open_sizes(known.shape) != result.shape:
        raise UnsupportedError(f"expected known sizes of all outputs, but got {_spell(result.shape)}")
    return TensorType(known.shape, result.dtype)


def _check_known(name: str, shape: Dims) -> None:
    if -1 in shape:
        raise UnsupportedError(f"expected known sizes of {name}, but got {_spell(shape)}")


def _spell(shape: Dims) -> str:
    return "x".join("?" if size == -1 else str(size) for size in shape)
