# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an architecture compiled by Inlay and compares its results with PyTorch's."""

from __future__ import annotations

import collections
import contextlib
import copy
import enum
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast
from unittest import mock

import inlay
import torch
from inlay._compile import dynamo
from torch.utils import _pytree as pytree
from workers import Outcome, Verdict
from zoo_models.model import SEED, Instance

_SHARE = 2e-5  # of the largest element, which the results may differ from those in float64
_FACTOR = 8  # times the error of PyTorch in float32, which the results may differ in any case
_MOST_SHARE = 1e-2  # of the largest element, which the results never differ
_PLAIN_SHARE = 2e-4  # of the largest element, if the model does not run in float64
_CALL = re.compile(r"\b\w+::\w+(?:\.\w+)*")
_TINY = torch.finfo(torch.float32).tiny  # devices may flush smaller numbers to zero
_FALLBACK = "inlay: this graph runs in PyTorch: "


class Route(enum.Enum):
    """The function that compiles a model."""

    COMPILE = "compile"  # inlay.compile
    DYNAMO = "dynamo"  # torch.compile


def run_model(make: Callable[[], Instance], route: Route, targets: Sequence[str]) -> Outcome:
    """Compiles an architecture and compares its results for two calls with those of PyTorch."""
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            instance = make()
            calls = [instance.inputs, _varied(instance.inputs)]
            references = _references(instance.module, calls)
            fresh = copy.deepcopy(instance.module)  # a call may change the model
            wanted = [_call(fresh, inputs) for inputs in calls]
    except Exception as error:
        return Outcome(Verdict.RAISED, f"in PyTorch: {_describe(error)}")
    graphs: list[inlay.CompiledModule] = []
    try:
        with warnings.catch_warnings(record=True) as caught, torch.no_grad():
            warnings.simplefilter("always")
            run = _compile(instance, route, targets, graphs)
            found = [_call(run, inputs) for inputs in calls]
    except inlay.UnsupportedError as error:
        return Outcome(Verdict.REFUSED, _describe(error))
    except inlay.Error as error:
        return Outcome(Verdict.FAILED, _describe(error))
    except Exception as error:
        return Outcome(Verdict.RAISED, _describe(error))
    finally:
        torch._dynamo.reset()
    ops, calls = collections.Counter[str](), collections.Counter[str]()
    for graph in graphs:
        ops.update(graph.report.ops_by_target())
        calls.update(_calls(graph.report))
    facts = (tuple(ops.items()), _count(graphs), tuple(calls.items()))
    for got, want, reference in zip(found, wanted, references, strict=True):
        if problem := _find_difference(got, want, reference):
            return Outcome(Verdict.WRONG, problem, *facts)
    fallbacks = [str(one.message) for one in caught if str(one.message).startswith(_FALLBACK)]
    if fallbacks:
        return Outcome(Verdict.REFUSED, _shorten(fallbacks[0].removeprefix(_FALLBACK)), *facts)
    return Outcome(Verdict.PASSED, "", *facts)


def _describe(error: Exception) -> str:
    return _shorten(f"{type(error).__name__}: {error}")


def _shorten(text: str) -> str:
    return " ".join(text.split())[:240]


def _compile(
    instance: Instance, route: Route, targets: Sequence[str], graphs: list[inlay.CompiledModule]
) -> Callable[..., Any]:
    """Returns the compiled model. Adds the compiled graphs to `graphs`, at the latest when the model is called."""
    if route is Route.COMPILE:
        compiled = inlay.compile(instance.module, copy.deepcopy(instance.inputs), targets=cast("Any", tuple(targets)))
        graphs.append(compiled)
        return compiled
    run = torch.compile(instance.module, backend="inlay", options={"targets": tuple(targets)})

    def collecting(*args: Any, **kwargs: Any) -> Any:
        with _collected(graphs):
            return run(*args, **kwargs)

    return collecting


@contextlib.contextmanager
def _collected(graphs: list[inlay.CompiledModule]) -> Iterator[None]:
    """Adds the graphs that `torch.compile` compiles to `graphs`, as long as the context is open."""
    original = dynamo.compile_imported

    def compile_imported(*args: Any) -> Any:
        graphs.append(original(*args))
        return graphs[-1]

    with mock.patch.object(dynamo, "compile_imported", compile_imported):
        yield


def _count(graphs: Sequence[inlay.CompiledModule]) -> int:
    """Returns the number of graphs. A model that was compiled in parts has several."""
    return sum(len(graph.report.get("graphs", [None])) for graph in graphs)


def _calls(report: inlay.Report) -> Iterator[str]:
    """Yields the calls of each op that runs in PyTorch, such as "aten::sort"."""
    for op in report["ops"]:
        if op["target"] == "torch" and op["segment"] is not None:
            is_group = op["name"] == "torch::calls"  # its reason names the calls
            yield from set(_CALL.findall(op["reason"]["text"])) if is_group else [op["name"]]


def _call(run: Callable[..., Any], inputs: dict[str, Any] | tuple[Any, ...]) -> Any:
    """Returns the result of a call with copies of the inputs."""
    torch.manual_seed(SEED)
    given = copy.deepcopy(inputs)
    return run(**given) if isinstance(given, dict) else run(*given)


def _varied(inputs: Any) -> Any:
    """Returns inputs with the same dims and other values: floats are scaled, and tokens are numbered differently."""

    def vary(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype not in (torch.float32, torch.int64):
            return value
        if value.dtype == torch.float32:
            return value * 0.75 if value.unique().numel() > 2 else value  # a mask has two values
        are_tokens = value.numel() > 0 and int(value.min()) >= _TOKENS.start and int(value.max()) < _TOKENS.stop
        return value + 1 if are_tokens else value

    return pytree.tree_map(vary, inputs)


_TOKENS = range(5, 80)  # those of `zoo_models` that have no special meaning


def _references(module: torch.nn.Module, calls: Sequence[Any]) -> list[Any]:
    """Returns the results in float64, or Nones for a model that does not run in float64."""
    try:
        wide = copy.deepcopy(module).double()
        return [_call(wide, pytree.tree_map_only(torch.Tensor, _widen, inputs)) for inputs in calls]
    except Exception:
        return [None] * len(calls)


def _widen(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype == torch.float32 else tensor


def _find_difference(got: Any, want: Any, reference: Any) -> str:
    """Returns where a result differs from PyTorch's by more than the tolerance, or the empty string.

    reference: the result in float64; None if there is none.
    """
    ours, theirs = dict(_leaves(got)), dict(_leaves(want))
    exact = dict(_leaves(reference)) if reference is not None else {}
    if ours.keys() != theirs.keys():
        return f"the result has other parts: {sorted(ours.keys() ^ theirs.keys())[:3]}"
    for path, value in theirs.items():
        if problem := _find_leaf_difference(ours[path], value, exact.get(path)):
            return f"{path or 'the result'} {problem}"
    return ""


def _find_leaf_difference(got: Any, want: Any, exact: Any) -> str:
    if not isinstance(want, torch.Tensor):
        return "" if got == want else f"is {got!r}, but expected {want!r}"
    if not isinstance(got, torch.Tensor) or (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"is {getattr(got, 'shape', got)}, but expected {want.shape} of {want.dtype}"
    if not want.is_floating_point():
        return "" if torch.equal(got, want) else f"differs in {int((got != want).sum())} of {want.numel()} elements"
    if not torch.equal(got.isfinite(), want.isfinite()) or not torch.equal(got.isnan(), want.isnan()):
        return "has NaNs or infinities at other places"
    finite = want.isfinite()
    if not finite.any():
        return ""
    numbers, theirs = got.double()[finite], want.double()[finite]
    scale = float(theirs.abs().max())
    # Masks by the lowest float32 can make NaNs in float64.
    if isinstance(exact, torch.Tensor) and exact.shape == want.shape and torch.equal(exact.isfinite(), finite):
        true = exact.double()[finite]
        error, allowed = float((numbers - true).abs().max()), _FACTOR * float((theirs - true).abs().max())
        allowed = min(allowed + _SHARE * scale, _MOST_SHARE * scale)
    else:
        error, allowed = float((numbers - theirs).abs().max()), _PLAIN_SHARE * scale
    if error <= max(allowed, _TINY):
        return ""
    return f"differs by {error:.1e}, but at most by {allowed:.1e} was expected; the largest element is {scale:.1e}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the tensors and plain values of a result with their paths."""
    if isinstance(value, torch.Tensor) or value is None or isinstance(value, (bool, int, float, str)):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            yield from _leaves(part, f"{path}[{number}]")
    elif type(value).__module__.partition(".")[0] in ("transformers", "diffusers"):
        for key, part in vars(value).items():
            if isinstance(part, (torch.Tensor, list, tuple)) or hasattr(part, "__dict__"):
                yield from _leaves(part, f"{path}.{key}")
