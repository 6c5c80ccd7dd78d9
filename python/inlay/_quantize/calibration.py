# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a model for calibration data, and measures errors."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from ..errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError


@dataclass(frozen=True)
class Example:
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def copy(self) -> Example:
        """Returns a copy, which a call may change."""
        leaves = pytree.tree_leaves((self.args, self.kwargs))
        # copy.deepcopy refuses results of autograd.
        graph = {id(leaf): leaf.detach().clone() for leaf in leaves if isinstance(leaf, Tensor) and not leaf.is_leaf}
        return Example(*copy.deepcopy((self.args, self.kwargs), graph))


def read_example(inputs: Any, what: str) -> Example:
    """Returns the arguments of a call: one tensor, positional arguments, or keyword arguments."""
    if isinstance(inputs, Tensor):
        return Example((inputs,), {})
    if isinstance(inputs, (tuple, list)):
        return Example(tuple(inputs), {})
    if isinstance(inputs, dict):
        return Example((), dict(inputs))
    kind = type(inputs).__name__
    raise ArgumentTypeError(f"expected {what} to be a tensor, a tuple, a list or a dict of arguments, but got {kind}")


def read_calibration(calibration: Any) -> list[Example]:
    """Returns the arguments of all calls of calibration data."""
    if isinstance(calibration, (Tensor, dict, str)) or not isinstance(calibration, Iterable):
        raise ArgumentTypeError(
            "expected calibration to be a list with the inputs of each call, such as [(x,), (y,)], "
            f"but got {type(calibration).__name__}"
        )
    examples = [read_example(inputs, f"calibration[{number}]") for number, inputs in enumerate(calibration)]
    if not examples:
        raise ArgumentValueError("expected calibration to have the inputs of at least one call, but it is empty")
    return examples


def check_evaluation(model: nn.Module) -> None:
    """Checks that a model is in evaluation mode."""
    for name, module in model.named_modules():
        if module.training:
            name = name or type(model).__name__
            raise ArgumentValueError(
                f"expected a model in evaluation mode, but '{name}' is in training; call model.eval()"
            )


def copy_model(model: nn.Module) -> nn.Module:
    """Returns a copy of a model with the same parameters."""
    try:
        return copy.deepcopy(model, {id(parameter): parameter for parameter in model.parameters()})
    except Exception as error:
        raise UnsupportedError(f"copy.deepcopy can't copy {type(model).__name__}: {error}") from error


@contextmanager
def _without_fast_path() -> Iterator[None]:
    """Switches off PyTorch's fused kernels for encoders, which read the weights of layers and do not call them."""
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)


def run(model: nn.Module, example: Example, number: int) -> list[Tensor]:
    """Returns the floating-point results of a call. number: of the example, for messages.

    The call gets copies of the model and of the inputs, so that it changes neither.
    """
    made = copy_model(model)
    try:
        inputs = example.copy()
    except Exception as error:
        raise UnsupportedError(f"copy.deepcopy can't copy the inputs calibration[{number}]: {error}") from error
    try:
        with torch.no_grad(), _without_fast_path():
            results = made(*inputs.args, **inputs.kwargs)
    except Error:
        raise
    except Exception as error:
        raise ArgumentValueError(f"the model does not run with the inputs calibration[{number}]: {error}") from error
    return [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, Tensor) and leaf.is_floating_point()]


class ErrorSum:
    """Adds up the differences of tensors from floats."""

    def __init__(self) -> None:
        self._difference = self._norm = 0.0
        self.has_data = False

    def add(self, value: Tensor, floats: Tensor) -> None:
        """Adds a tensor. Infinities and NaNs must be at the same places, and count as equal."""
        self.has_data = True
        wide, exact = value.detach().double(), floats.detach().double()
        if wide.shape != exact.shape:
            self._difference = math.inf
            return
        same = (wide == exact) | (wide.isnan() & exact.isnan())
        difference = torch.where(same, 0.0, wide - exact)
        difference = torch.where(difference.isnan(), math.inf, difference)
        self._difference += float(difference.square().sum())
        self._norm += float(torch.where(exact.isfinite(), exact, 0.0).square().sum())

    @property
    def relative(self) -> float:
        """The norm of the differences divided by the norm of the floats."""
        if self._difference == 0:
            return 0.0
        return math.sqrt(self._difference / self._norm) if self._norm else math.inf


def relative_error(value: Tensor, floats: Tensor) -> float:
    """Returns the norm of the difference of two tensors divided by the norm of the second one."""
    total = ErrorSum()
    total.add(value, floats)
    return total.relative


class ModelError:
    """Measures the error of a model for calibration data: the largest one of its results."""

    def __init__(self, model: nn.Module, examples: list[Example]):
        self._examples = examples
        self._floats = [run(model, example, number) for number, example in enumerate(examples)]
        if not any(self._floats):
            raise ArgumentValueError("expected the model to return tensors of floats, but it returns none")

    def of(self, model: nn.Module) -> float:
        """Returns the error of another model for the same data."""
        sums: list[ErrorSum] = []
        for number, (example, floats) in enumerate(zip(self._examples, self._floats, strict=True)):
            results = run(model, example, number)
            if len(results) != len(floats):
                return math.inf
            sums += [ErrorSum() for _ in range(len(floats) - len(sums))]
            for total, result, exact in zip(sums, results, floats, strict=False):
                total.add(result, exact)
        return max(total.relative for total in sums)


def visit_calls(
    model: nn.Module,
    modules: Iterable[nn.Module],
    examples: list[Example],
    visit: Callable[[nn.Module, Tensor, Tensor, int], None],
) -> None:
    """Runs a model and calls `visit` for each call of one of `modules`, with its input, its result and the number of
    the example."""
    current = 0

    def hook_of(module: nn.Module) -> Callable[..., None]:
        # The call is that of a copy of the module.
        def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Tensor) -> None:
            visit(module, args[0] if args else kwargs["input"], result, current)

        return hook

    hooks = [module.register_forward_hook(hook_of(module), with_kwargs=True) for module in modules]
    try:
        for number, example in enumerate(examples):
            current = number
            run(model, example, number)
    finally:
        for handle in hooks:
            handle.remove()
