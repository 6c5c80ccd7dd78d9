# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a model to an `inlay.Module`, and from that, perhaps rewritten, to what is compiled."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .._graph.module import Module, parse
from .._import.types import DynamicShapes, Inputs, Model
from .._program.imported import ImportedProgram, Input, Output
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
    exported, imported = import_model(model, inputs, dynamic_shapes)
    module = parse(imported.text)
    module._imported = (exported, imported)
    return module


def import_rewritten(module: Module) -> tuple[Any, ImportedProgram]:
    """(what says how it is called, ImportedProgram) of a Module, as of a model that is imported."""
    inputs = [_interface(tensor, "input") for tensor in module.get_inputs()]
    results = [_interface(tensor, "output") for tensor in module.get_outputs()]
    text = module.text(locations=True)
    if module._imported is not None:
        exported, imported = module._imported
        if _calls_alike(imported, inputs, results):
            kept = [_keep_sizes(one[1:], known) for one, known in zip(results, imported.results, strict=True)]
            return exported, dataclasses.replace(imported, text=text, results=kept)
        weights, modules = imported.weights, imported.modules
    else:
        weights, modules = {}, set()
    for what, tensors in (("input", inputs), ("output", results)):
        for name, shape, _ in tensors:
            if -1 in shape:
                raise UnsupportedError(f"{what} {name!r} has sizes that aren't known: {_spell(shape)}")
    imported = ImportedProgram(
        text=text,
        weights=weights,
        inputs=[Input(*one) for one in inputs],
        outputs=[Output("result", number) for number in range(len(results))],
        results=[one[1:] for one in results],
        modules=modules,
    )
    outputs = 0 if len(results) == 1 else (0,) * len(results)
    spec = SimpleNamespace(
        in_spec=pytree.tree_structure(((0,) * len(inputs), {})), out_spec=pytree.tree_structure(outputs)
    )
    return SimpleNamespace(call_spec=spec, module_call_graph=[]), imported


def _interface(tensor, what):
    """(name, shape, dtype) of what comes in or goes out; a size that isn't known is -1."""
    if tensor.shape is None or not isinstance(tensor.dtype, torch.dtype):
        raise ArgumentValueError(f"expected {what} '{tensor.name}' to be a tensor, but got {tensor.type}")
    return tensor.name, tensor.shape, tensor.dtype


def _calls_alike(imported, inputs, results):
    """Whether what the network takes and gives is still what the model does, sizes of results aside."""
    given = [(_with_open_sizes(shape), dtype) for shape, dtype in imported.arguments]
    return given == [one[1:] for one in inputs] and len(imported.results) == len(results)


def _with_open_sizes(shape):
    return tuple(-1 if isinstance(size, Size) else size for size in shape)


def _keep_sizes(result, known):
    """(shape, dtype) of a result; sizes that aren't known are those it had."""
    if -1 not in result[0]:
        return result
    if _with_open_sizes(known[0]) != result[0]:
        raise UnsupportedError(f"an output has sizes that aren't known: {_spell(result[0])}")
    return known[0], result[1]


def _spell(shape):
    return "x".join("?" if size == -1 else str(size) for size in shape)
