# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results that a graph may have: computed in double precision, with a bound of the error of each element.

Every step is computed in float64, and its result is rounded to the dtype that it has in PyTorch. The bound comes from
further runs that add random rounding errors to operands and results of steps, as stochastic arithmetic does [1]. The
distance of these runs shows the condition of the graph: the bound of `a - b` is large only where `a` and `b` cancel. An
element of integers or booleans, or one that is NaN or infinite, has to be equal if all runs agree on it. It is
undecided otherwise.

[1] J. Vignes: A stochastic arithmetic for reliable scientific computation. Mathematics and Computers in Simulation,
1993.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .graph import EAGER, WIDE, Graph, Precision

RUNS = 5  # with random errors
ULPS = 4.0  # the largest error of an operand and of a result of a step with several roundings
MARGIN = 8.0  # times the largest distance of the runs
_FLUSHED = (torch.float32, torch.bfloat16)  # targets may count their subnormal numbers as 0
_LEAST = 2.0**-126
_SEVERAL = (Precision.COMPUTED, Precision.SUMMED)


def ulp(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns the distance of neighboring numbers of `dtype` at each element of a float64 tensor."""
    info = torch.finfo(dtype)
    finite = torch.where(tensor.isfinite(), tensor.abs(), info.max).clamp(info.tiny, info.max)
    return torch.ldexp(torch.full_like(finite, info.eps), torch.frexp(finite).exponent - 1)


def round_to(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(dtype).double()


class Errors:
    """Adds no errors: rounds results to their dtypes."""

    def operand(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return tensor

    def result(self, tensor: torch.Tensor, dtype: torch.dtype, precision: Precision) -> torch.Tensor:
        return round_to(tensor, dtype)


class RandomErrors(Errors):
    """Adds random errors of some units in the last place. 0 stays 0."""

    def __init__(self, seed: int):
        self._generator = torch.Generator().manual_seed(seed)

    def _disturb(self, tensor, dtype, ulps):
        noise = torch.rand(tensor.shape, generator=self._generator, dtype=torch.float64) * 2 - 1
        moved = round_to(tensor + ulps * noise * ulp(tensor, dtype), dtype)
        return torch.where(tensor.isfinite() & (tensor != 0), moved, tensor)

    def operand(self, tensor, dtype):
        return self._disturb(tensor, dtype, ULPS)

    def result(self, tensor, dtype, precision):
        rounded = round_to(tensor, dtype)
        if precision is Precision.EXACT:
            return rounded
        if precision in _SEVERAL:
            return self._disturb(rounded, dtype, ULPS)
        return torch.where(rounded == tensor, rounded, self._disturb(rounded, dtype, 1.0))


class Flushing(Errors):
    """Replaces subnormal numbers by 0."""

    def operand(self, tensor, dtype):
        return torch.where(tensor.abs() < _LEAST, 0.0 * tensor, tensor) if dtype in _FLUSHED else tensor

    def result(self, tensor, dtype, precision):
        return self.operand(round_to(tensor, dtype), dtype)


class Reordered(Errors):
    """Makes sums infinite if the sum of the magnitudes of the terms is: a sum in another order may overflow."""


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def native(graph: Graph, values: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """Returns all values of a graph as PyTorch computes them. values: copies of the inputs, which steps may write."""
    scope = dict(zip((each.name for each in graph.inputs), values, strict=True))
    for step in graph.steps:
        result = eval(step.text.format(*step.operands), EAGER | scope)
        if step.name is not None:
            scope[step.name] = result
    return scope


def wide(graph: Graph, values: list[torch.Tensor], dtypes: dict[str, torch.dtype], errors: Errors):
    """Returns all values of a graph with floats in float64. dtypes: the dtypes of the values in PyTorch."""

    def is_float(name):
        return dtypes[name].is_floating_point

    scope = {
        each.name: errors.operand(value.double(), value.dtype) if is_float(each.name) and isinstance(errors, Flushing)
        else value.double() if is_float(each.name) else value.clone()
        for each, value in zip(graph.inputs, values, strict=True)
    }  # fmt: skip
    for step in graph.steps:
        operands = {name: scope[name] for name in step.operands}
        if step.precision in _SEVERAL and step.name is not None:
            operands = {
                name: errors.operand(value, dtypes[name]) if is_float(name) else value
                for name, value in operands.items()
            }
        known = {_storage(value) for value in scope.values() if value.numel()}
        result = eval(step.text.format(*step.operands), WIDE | operands)
        if isinstance(errors, Reordered) and step.precision is Precision.SUMMED and is_float(step.name):
            sizes = {name: value.abs() if is_float(name) else value for name, value in operands.items()}
            most = round_to(eval(step.text.format(*step.operands), WIDE | sizes).double(), dtypes[step.name])
            result = torch.where(most.isinf(), most, result)
        if step.name is None:
            written = scope[step.operands[0]]
            if written.is_floating_point():
                written.copy_(errors.result(written, dtypes[step.operands[0]], step.precision))
        elif is_float(step.name) and _storage(result) not in known:
            scope[step.name] = errors.result(result.double(), dtypes[step.name], step.precision)
        else:
            scope[step.name] = result
    return scope


@dataclass(frozen=True)
class Expected:
    """The tensor that PyTorch computes, and which others are right.

    center, slack: float64 tensors, so that a finite float is right if it is in center ± slack. slack is None for
    integers and booleans.
    decided: the elements to compare.
    """

    tensor: torch.Tensor
    center: torch.Tensor
    slack: torch.Tensor | None
    decided: torch.Tensor

    def fault(self, got: object) -> str | None:
        """Returns what is wrong with a result, or None."""
        want = self.tensor
        if not isinstance(got, torch.Tensor) or (got.dtype, got.shape) != (want.dtype, want.shape):
            return f"expected {want.dtype}{list(want.shape)}, but got {describe(got)}"
        if self.slack is None:
            wrong = (got != self.center) & self.decided
        else:
            close = (got.double() - self.center).abs() <= self.slack
            same = (got.double() == self.center) | (got.isnan() & self.center.isnan())
            wrong = ~torch.where(self.center.isfinite(), close, same) & self.decided
        if not bool(wrong.any()):
            return None
        at = int(wrong.flatten().int().argmax())
        slack = "" if self.slack is None else f" ± {self.slack.flatten()[at].item():.3g}"
        return (
            f"{int(wrong.sum())} of {wrong.numel()} elements of {want.dtype}{list(want.shape)} are wrong: element {at} "
            f"is {got.flatten()[at].item()!r}, expected {self.center.flatten()[at].item()!r}{slack} "
            f"(PyTorch: {want.flatten()[at].item()!r})"
        )


def describe(value: object) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__


def expected(graph: Graph, values: list[torch.Tensor] | None = None) -> dict[str, Expected]:
    """Returns what is expected of each result, and of each argument after the call.

    values: the inputs, if they differ from those of the graph.
    """
    values = [each.tensor for each in graph.inputs] if values is None else values
    with torch.no_grad():
        eager = native(graph, [value.clone() for value in values])
        dtypes = {name: value.dtype for name, value in eager.items()}
        torch.set_default_dtype(torch.float64)
        try:
            kinds = [Errors(), Flushing(), Reordered(), *(RandomErrors(graph.seed * RUNS + run) for run in range(RUNS))]
            runs = [wide(graph, values, dtypes, errors) for errors in kinds]
        finally:
            torch.set_default_dtype(torch.float32)
    names = dict.fromkeys([*graph.results, *(each.name for each in graph.arguments())])
    return {name: _summarize(eager[name], [run[name] for run in runs]) for name in names}


def _summarize(tensor: torch.Tensor, runs: list[torch.Tensor]) -> Expected:
    center, others = runs[0], [*runs[1:], tensor]
    if not tensor.is_floating_point():
        same = [run == center for run in others]
        return Expected(tensor, center, None, torch.stack(same).all(0))
    spread, decided = torch.zeros_like(center), torch.ones_like(center, dtype=torch.bool)
    for run in others:
        run = run.double()
        finite = center.isfinite() & run.isfinite()
        spread = torch.where(finite, torch.maximum(spread, (run - center).abs()), spread)
        decided &= finite | (run == center) | (run.isnan() & center.isnan())
    return Expected(tensor, center, MARGIN * spread + 2 * ulp(center, tensor.dtype), decided)
