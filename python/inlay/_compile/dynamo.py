# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(model, backend="inlay", options={...})`; the options are those of `inlay.compile`.

Each graph that PyTorch captures is compiled by itself, with the model's parameters as its arguments, so that they may
change between calls. Dims that PyTorch makes symbolic are symbols of the compiled graph. A graph that Inlay can't
import runs in PyTorch, with a warning. In training the backward graphs are compiled as well. A name in an option that
matches nothing in a graph is a warning, since the model may have other graphs.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._subclasses.fake_tensor import unset_fake_temporarily

from .._dialect.calls import no_autocast
from .._import.torch.decompose import decompositions_for_tracing
from .._import.torch.guards import read_symbols
from .._import.torch.program import import_graph, tensor_input
from .._import.torch.strides import dense_order
from .._program.imported import ProgramInput
from .._program.sizes import InexpressibleError
from ..errors import ArgumentValueError, CompileError, UnsupportedError
from .driver import compile_imported
from .options import Options

_UNKNOWN_NAME = re.compile(r"'([^']*)' in (torch_executed_\w+|allow_ops|exempt_ops) matches no.*")


def backend(
    graph_module: torch.fx.GraphModule,
    example_inputs: Sequence[torch.Tensor],
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """What `torch.compile` calls with each captured graph; returns the function to call instead."""
    if mode is not None:
        raise ArgumentValueError(f"mode={mode!r} is for PyTorch's own backend: use options")
    checked = Options.make({} if options is None else options)
    compiler = functools.partial(_compile_graph, options=checked)
    return aot_autograd(fw_compiler=compiler, bw_compiler=compiler, decompositions=decompositions_for_tracing())(
        graph_module, example_inputs
    )


def _compile_graph(graph_module, example_inputs, options):
    try:
        run = _import_and_compile(graph_module, options)
    except UnsupportedError as error:
        warnings.warn(f"inlay: this graph runs in PyTorch: {error}", stacklevel=2)
        return make_boxed_func(graph_module.forward)
    return make_boxed_func(run)


def _import_and_compile(graph_module, options):
    arguments, parameters, outputs = [], {}, []
    placeholders = graph_module.graph.find_nodes(op="placeholder")
    symbols = read_symbols([(node.name, node.meta.get("val")) for node in placeholders])
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            arguments.append((node, _input(node, symbols)))
        elif node.op == "get_attr":
            held = functools.reduce(getattr, node.target.split("."), graph_module)
            if not isinstance(held, torch.fx.GraphModule):  # a branch or body of control flow
                parameters[node] = held
        elif node.op == "output":
            outputs = list(node.args[0])
    only_calls = options.targets == ("torch",)
    with unset_fake_temporarily(), no_autocast():  # constants are computed, not just their shapes
        imported = import_graph(graph_module.graph, arguments, outputs, parameters, only_calls, symbols)
    if not imported.interface.results:
        return graph_module.forward
    return _with_strides(_compile_imported(imported, options).call_flat, outputs, symbols)


def _with_strides(run, outputs, symbols):
    """`run` with results that lie in memory as those of PyTorch: what follows the graph may depend on it.

    outputs: the graph's nodes and plain values. Tensors with gaps or with shared places stay contiguous.
    """
    fakes = [node.meta.get("val") if isinstance(node, torch.fx.Node) else None for node in outputs]
    found = {number: _find_strides(fake, symbols) for number, fake in enumerate(fakes)}
    wanted = {number: strides for number, strides in found.items() if strides is not None}
    if not wanted:
        return run

    def run_strided(*args):
        results = run(*args)
        for number, find in wanted.items():
            strides = find(results[number].shape)
            if results[number].stride() != strides:
                laid_out = torch.empty_strided(results[number].shape, strides, dtype=results[number].dtype)
                results[number] = laid_out.copy_(results[number])
        return results

    return run_strided


def _find_strides(fake, symbols):
    """A function from a result's dims to its strides; None where it is contiguous, or stays so."""
    if not isinstance(fake, torch.Tensor) or fake.layout != torch.strided:
        return None
    if all(isinstance(number, int) for number in (*fake.shape, *fake.stride())):
        strides = fake.stride()
        is_dense = not fake.is_contiguous() and torch.empty_like(fake).stride() == strides
        return (lambda shape: strides) if is_dense else None
    try:
        order = dense_order(fake, symbols)
    except InexpressibleError:
        return None
    return None if order is None or order == sorted(order) else functools.partial(_lay_out, order)


def _lay_out(order, shape):
    """The strides of a tensor without gaps; order: its dims from the outermost in memory to the innermost."""
    strides, step = [0] * len(order), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def _compile_imported(imported, options):
    """As `compile_imported`, but a name that matches nothing may be meant for another graph of the model."""
    while True:
        try:
            return compile_imported(imported, options)
        except CompileError as error:
            unknown = _UNKNOWN_NAME.search(str(error))
            if not unknown:
                raise
            warnings.warn(f"inlay: in one graph of the model {unknown[0]}", stacklevel=2)
            name, option = unknown[1], unknown[2]
            rest = tuple(one for one in getattr(options, option) if one != name)
            options = dataclasses.replace(options, **{option: rest})


def _input(node, symbols):
    value = node.meta.get("val")
    if symbols.can_express(value):
        return ProgramInput(node.name, value=symbols.size(value))
    if not isinstance(value, torch.Tensor):
        raise UnsupportedError(f"input {node.name!r} is {value}, but expected a tensor or a size")
    return tensor_input(node.name, value, symbols)
