# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a model in parts. PyTorch captures its graphs, and Python runs the code between them."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func  # type: ignore[attr-defined]  # imported there from elsewhere
from torch.utils import _pytree as pytree

from .._import.examples import Input
from .._import.torch.capture.attributes import keeping_state
from .._import.torch.capture.reads import StateError
from .._import.torch.decompose import decompositions_for_tracing
from .._import.torch.export import split_inputs
from .._import.torch.quiet import no_capture_log
from .._import.types import Inputs
from .._program.compiled import CompiledModule
from .._program.partial import PartialModule
from ..errors import Error
from .dynamo import compile_or_none
from .options import Options


def compile_in_parts(model: object, inputs: Inputs | None, options: Options, reason: Error) -> PartialModule | None:
    """Compiles a model that torch.export can't capture as one graph. Warns about it.

    reason: why the model is no single graph.
    Returns None if the model or the options don't allow parts, or if the model fails in PyTorch too.
    """
    if not isinstance(model, torch.nn.Module) or not _allows_parts(model, inputs, options, reason):
        return None
    assert inputs is not None
    graphs: list[CompiledModule] = []
    failures: list[Error] = []
    run = torch.compile(model, backend=_make_backend(options, graphs, failures))
    partial = PartialModule(model, functools.partial(_run, run), graphs)
    args, kwargs = copy.deepcopy(split_inputs(inputs))
    try:
        with keeping_state(model), no_capture_log():
            partial(*args, **kwargs)
    except Exception:  # the model fails in PyTorch too, so `reason` says what is wrong
        return None
    if failures:
        raise failures[0]
    if not graphs:
        return None
    warnings.warn(
        f"inlay: {reason}; the model is compiled as {len(graphs)} graph{'s' * (len(graphs) != 1)}, and Python runs the "
        "code between them",
        stacklevel=3,
    )
    return partial


def _allows_parts(model: torch.nn.Module, inputs: Inputs | None, options: Options, reason: Error) -> bool:
    """Returns true if PyTorch may run code between graphs, and if `reason` is a limit of torch.export."""
    is_limit = isinstance(reason, StateError) or reason.__cause__ is not None
    has_ranges = options.dynamic_shapes is not None or any(
        isinstance(leaf, Input) for leaf in pytree.tree_leaves(inputs)
    )
    is_possible = inputs is not None and not isinstance(model, torch.jit.ScriptModule)
    has_files = options.placement or options.save_placement
    wants_whole = options.is_full or options.states or has_files or "torch" not in options.targets
    return is_limit and is_possible and not has_ranges and not wants_whole


def _run(run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Runs the model. PyTorch runs what it fails to capture. Ints in attributes become sizes if they change."""
    with torch._dynamo.config.patch(suppress_errors=True, allow_unspec_int_on_nn_module=True):
        return run(*args, **kwargs)


def _make_backend(options: Options, graphs: list[CompiledModule], failures: list[Error]) -> Callable[..., Any]:
    """Returns the backend for `torch.compile`. It adds what it compiles to `graphs`, and errors to `failures`."""

    def compile_graph(graph_module: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        try:
            run = compile_or_none(graph_module, options, graphs.append)
        except Error as error:
            failures.append(error)
            raise
        return make_boxed_func(graph_module.forward if run is None else run)

    backend: Callable[..., Any] = aot_autograd(
        fw_compiler=compile_graph, bw_compiler=compile_graph, decompositions=decompositions_for_tracing()
    )
    return backend
