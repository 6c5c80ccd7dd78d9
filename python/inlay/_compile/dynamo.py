# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend of `torch.compile(model, backend="inlay", options={...})`.

The options are those of `inlay.compile`. Each graph that PyTorch captures is compiled separately. The parameters of the
model are arguments of the graph, so they may change between calls. Dims that PyTorch makes symbolic are symbols of the
compiled graph. In training the backward graphs are compiled too. If Inlay can't import a graph, PyTorch runs it and
there is a warning. A name in an option that matches nothing in a graph is also a warning, because it may match in
another graph of the model.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, cast

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func  # type: ignore[attr-defined]  # imported there from elsewhere
from torch._subclasses.fake_tensor import unset_fake_temporarily

from .._dialect.calls import no_autocast
from .._import.torch.decompose import decompositions_for_tracing
from .._import.torch.effects import drop_effect_tokens
from .._import.torch.guards import find_carriers, read_conditions, read_symbols
from .._import.torch.program import import_graph, size_input, tensor_input
from .._import.torch.strides import dense_order
from .._program.compiled import CompiledModule
from .._program.imported import ImportedProgram, ProgramInput
from .._program.sizes import InexpressibleError, Symbols
from ..errors import ArgumentValueError, CompileError, Error, SizesError, UnsupportedError
from .imported import compile_imported
from .options import Options

_UNKNOWN_NAME = re.compile(r"'([^']*)' in (torch_executed_\w+|allow_ops|exempt_ops) matches no.*")


def backend(
    graph_module: torch.fx.GraphModule,
    example_inputs: Sequence[torch.Tensor],
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compiles a captured graph and returns the function that runs it. `torch.compile` calls this function.

    options: the keywords of `inlay.compile`. mode: must be None.
    Raises ArgumentTypeError or ArgumentValueError for a wrong option.
    """
    if mode is not None:
        raise ArgumentValueError(f"mode={mode!r} is for the default backend of PyTorch: use options")
    checked = Options.make({} if options is None else options)
    compiler = functools.partial(_compile_graph, options=checked)
    compile_all = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, decompositions=decompositions_for_tracing())
    run: Callable[..., Any] = compile_all(graph_module, example_inputs)
    return run


def _compile_graph(
    graph_module: torch.fx.GraphModule, example_inputs: Sequence[torch.Tensor], options: Options
) -> Callable[..., Any]:
    """Compiles a forward or backward graph, or returns the graph itself if Inlay can't compile it."""
    run = compile_or_none(graph_module, options)
    return make_boxed_func(graph_module.forward if run is None else run)


def compile_or_none(
    graph_module: torch.fx.GraphModule,
    options: Options,
    made: Callable[[CompiledModule], None] = lambda compiled: None,
) -> Callable[..., Any] | None:
    """Returns the function that runs a graph, or None after a warning if Inlay can't compile it.

    made: called with the compiled graph.
    Raises CompileError if the options are wrong for every graph, or require that nothing falls back.
    """
    try:
        return _import_and_compile(graph_module, options, made)
    except Exception as error:  # whatever fails, PyTorch can run the graph
        if isinstance(error, CompileError) and (options.is_full or options.has_files):
            raise
        reason = error if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        warnings.warn(f"inlay: this graph runs in PyTorch: {reason}", stacklevel=2)
        return None


def _import_and_compile(
    graph_module: torch.fx.GraphModule, options: Options, made: Callable[[CompiledModule], None]
) -> Callable[..., Any]:
    """Returns the function that runs a graph. Sizes that the compiled graph does not accept run in PyTorch."""
    drop_effect_tokens(graph_module.graph)
    arguments: list[tuple[torch.fx.Node, ProgramInput]] = []
    parameters: dict[torch.fx.Node, torch.Tensor] = {}
    outputs: list[Any] = []
    placeholders = graph_module.graph.find_nodes(op="placeholder")
    _fix_sizes_of_random_states(placeholders)
    named = [(node.name, node.meta.get("val")) for node in placeholders]
    symbols = read_symbols(named)
    read_conditions(named, symbols)  # PyTorch checks them before each call
    carriers = find_carriers(named, symbols)
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            arguments.append((node, _input(node, symbols, carriers)))
        elif node.op == "get_attr":
            held: Any = functools.reduce(getattr, str(node.target).split("."), graph_module)
            if not isinstance(held, torch.fx.GraphModule):  # a branch or body of control flow
                parameters[node] = held
        elif node.op == "output":
            outputs = list(cast("Sequence[Any]", node.args[0]))
    only_calls = options.targets == ("torch",)
    with unset_fake_temporarily(), no_autocast():  # the values of constants are needed, not only their shapes
        imported = import_graph(graph_module.graph, arguments, outputs, parameters, only_calls, symbols)
    if not imported.interface.results:
        return graph_module.forward
    compiled = _compile_imported(imported, options)
    made(compiled)
    run = _with_strides(compiled.call_flat, outputs, symbols)
    if not symbols:
        return run

    def run_sized(*args: Any) -> Any:
        try:
            return run(*args)
        except SizesError:  # PyTorch guards less than the program accepts, such as a negative number
            return graph_module.forward(*args)

    return run_sized


def _fix_sizes_of_random_states(placeholders: Sequence[torch.fx.Node]) -> None:
    """Makes the sizes of the states of random numbers static, which recomputed activations draw again.

    PyTorch traces them as symbols. No argument of the program would determine such a symbol.
    """
    for node in placeholders:
        if node.users and all(user.target is torch.ops.higher_order.run_with_rng_state for user in node.users):
            node.meta["val"] = node.meta["val"].new_empty(torch.get_rng_state().shape)


def _with_strides(run: Callable[..., Any], outputs: Sequence[Any], symbols: Symbols) -> Callable[..., Any]:
    """Returns `run` with results that have the same strides as in PyTorch, because later code may depend on them.

    outputs: the nodes and plain values that the graph returns. Tensors whose elements have gaps or share memory stay
    contiguous.
    """
    fakes = [node.meta.get("val") if isinstance(node, torch.fx.Node) else None for node in outputs]
    found = {number: _find_strides(fake, symbols) for number, fake in enumerate(fakes)}
    wanted = {number: strides for number, strides in found.items() if strides is not None}
    if not wanted:
        return run

    def run_strided(*args: Any) -> Any:
        results = run(*args)
        for number, find in wanted.items():
            strides = find(results[number].shape)
            if results[number].stride() != strides:
                laid_out = torch.empty_strided(results[number].shape, strides, dtype=results[number].dtype)
                results[number] = laid_out.copy_(results[number])
        return results

    return run_strided


def _find_strides(fake: object, symbols: Symbols) -> Callable[[Sequence[int]], tuple[int, ...]] | None:
    """Returns a function from the dims of a result to its strides, or None if the result must be contiguous."""
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


def _lay_out(order: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides of a tensor without gaps. order: its dims from the outermost in memory to the innermost."""
    strides, step = [0] * len(order), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def _compile_imported(imported: ImportedProgram, options: Options) -> CompiledModule:
    """Compiles a graph. A name in an option that matches nothing is dropped with a warning."""
    while True:
        try:
            return compile_imported(imported, options)
        except CompileError as error:
            unknown = _UNKNOWN_NAME.search(str(error))
            if not unknown:
                raise
            warnings.warn(f"inlay: in one graph of the model {unknown[0]}", stacklevel=2)
            name, option = unknown[1], unknown[2]
            rest = tuple(other for other in getattr(options, option) if other != name)
            changes: dict[str, Any] = {option: rest}
            options = dataclasses.replace(options, **changes)


def _input(node: torch.fx.Node, symbols: Symbols, carriers: Container[str]) -> ProgramInput:
    """Returns the input of a program for a placeholder."""
    value: Any = node.meta.get("val")
    if symbols.can_express(value):
        return size_input(node.name, value, symbols, carriers)
    if value is None:
        return ProgramInput(node.name)
    if not isinstance(value, torch.Tensor):
        raise UnsupportedError(f"expected input {node.name!r} to be a tensor or a size, but got {value}")
    return tensor_input(node.name, value, symbols)
