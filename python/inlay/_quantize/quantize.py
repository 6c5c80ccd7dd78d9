# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entry point `inlay.quantize`, and the search for the layers that stay wide for a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ..errors import ArgumentTypeError, ArgumentValueError
from .calibration import (
    ErrorSum,
    Example,
    ModelError,
    check_evaluation,
    copy_model,
    read_calibration,
    read_example,
    relative_error,
    visit_calls,
)
from .layers import Holder, Layer, find_layers, narrow_layers, weight_of
from .norms import fold_batch_norms
from .recipes import Form, Recipe, import_torchao, quantize_dynamic, quantize_weights
from .report import QuantizationReport, WideReason
from .static import new_observer, quantize_static

_DEFAULT_BLOCK = 32  # of int4-weights


class QuantizedModel(NamedTuple):
    """The result of `inlay.quantize`.

    model: a copy of the float model, which `inlay.compile` takes. report: the errors, bytes and reasons.
    """

    model: nn.Module
    report: QuantizationReport


def quantize(
    model: nn.Module,
    recipe: Recipe,
    calibration: Iterable[Any] | None = None,
    *,
    example_inputs: Any = None,
    budget: float | None = None,
    block_size: int | None = None,
    keep_wide: Sequence[str] = (),
) -> QuantizedModel:
    """Returns a quantized copy of a float model, which `inlay.compile` takes, and a report.

    model: in evaluation mode. It is not changed.
    recipe: what becomes codes.
    calibration: the inputs of several calls: a tensor, a tuple of arguments, or a dict of keyword arguments for each.
        `Recipe.INT8_STATIC` chooses scales by them. All recipes measure errors with them.
    example_inputs: the inputs of one call, in place of `calibration` for recipes that only measure errors.
    budget: the largest relative error of the results of the model for the calibration data. Layers stay wide until it
        is met.
    block_size: the elements of a row that share a scale (default: 32 for `Recipe.INT4_WEIGHTS`, else a whole row).
    keep_wide: names or globs of layers that stay wide.

    Layers stay wide if the recipe has no form for them. The report gives the reason for each.
    Raises ArgumentTypeError or ArgumentValueError for wrong arguments, weights with NaNs or infinities, a model without
    a layer that the recipe can quantize, and a budget that no choice of layers meets. Raises Error if the package
    `torchao` is missing.

        quantized = inlay.quantize(model, inlay.Recipe.INT8_DYNAMIC, [(x,) for x in samples], budget=0.01)
        print(quantized.report)
        compiled = inlay.compile(quantized.model, (x,))
    """
    block_size = _check_arguments(model, recipe, budget, block_size)
    examples = _read_examples(recipe, calibration, example_inputs, budget)
    import_torchao()
    holder = Holder(copy_model(model))
    exact = ModelError(holder.model, examples) if examples else None
    report = QuantizationReport(recipe, budget)
    if recipe is Recipe.INT8_STATIC:
        example = examples[0] if example_inputs is None else read_example(example_inputs, "example_inputs")
        report.notes += fold_batch_norms(holder.model, example)
    layers = find_layers(holder, recipe, block_size, keep_wide)
    report.layers = [layer.report for layer in layers]
    weights = {id(layer.weight) for layer in layers}
    report.other_bytes = sum(
        parameter.numel() * parameter.element_size()
        for parameter in holder.parameters()
        if id(parameter) not in weights
    )
    _check_any(model, recipe, layers)
    _quantize_layers(holder, layers, examples)
    _check_any(model, recipe, layers)
    if exact is not None:
        _measure_layers(holder, layers, examples)
        if budget is not None:
            _meet_budget(holder, layers, exact, budget)
    for layer in narrow_layers(layers):
        layer.use_narrow(True)
    report.error = exact.of(holder.model) if exact is not None else None
    _own_parameters(holder.model, model)
    return QuantizedModel(holder.model, report)


def _check_arguments(model: object, recipe: object, budget: float | None, block_size: int | None) -> int | None:
    """Checks the arguments. Returns the size of blocks; None for whole rows."""
    if not isinstance(model, nn.Module):
        raise ArgumentTypeError(
            f"expected a torch.nn.Module with floats, but got {type(model).__name__}"
            + ("; its method module() returns one" if isinstance(model, torch.export.ExportedProgram) else "")
        )
    if not isinstance(recipe, Recipe):
        known = ", ".join(f"Recipe.{known.name}" for known in Recipe)
        raise ArgumentTypeError(f"expected recipe to be one of {known}, but got {recipe!r}")
    check_evaluation(model)
    if budget is not None:
        if isinstance(budget, bool) or not isinstance(budget, (int, float)):
            raise ArgumentTypeError(f"expected budget to be a number, but got {type(budget).__name__}")
        if not (budget > 0 and math.isfinite(budget)):
            raise ArgumentValueError(f"expected budget to be a positive number such as 0.01, but got {budget}")
    if block_size is None:
        return _DEFAULT_BLOCK if recipe is Recipe.INT4_WEIGHTS else None
    if recipe not in (Recipe.INT8_WEIGHTS, Recipe.INT4_WEIGHTS):
        raise ArgumentValueError(f"expected no block_size for {recipe.value}, which has one scale for each row")
    if isinstance(block_size, bool) or not isinstance(block_size, int):
        raise ArgumentTypeError(f"expected block_size to be an int, but got {type(block_size).__name__}")
    if block_size < 2:
        raise ArgumentValueError(f"expected block_size to be at least 2, but got {block_size}")
    return block_size


def _read_examples(recipe: Recipe, calibration: Any, example_inputs: Any, budget: float | None) -> list[Example]:
    """Returns the inputs of calls; an empty list if there are none and the recipe needs none."""
    if calibration is not None:
        return read_calibration(calibration)
    if recipe is Recipe.INT8_STATIC or budget is not None:
        what = f"the recipe {recipe.value}" if recipe is Recipe.INT8_STATIC else "a budget"
        raise ArgumentValueError(f"expected calibration for {what}: a list with the inputs of several calls")
    return [] if example_inputs is None else [read_example(example_inputs, "example_inputs")]


def _own_parameters(made: nn.Module, model: nn.Module) -> None:
    """Copies the parameters of `made` that are those of `model`, so that later changes of one keep the other."""
    shared = {id(parameter) for parameter in model.parameters()}
    copies: dict[int, nn.Parameter] = {}
    for module in made.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None and id(parameter) in shared:
                if id(parameter) not in copies:
                    copies[id(parameter)] = nn.Parameter(parameter.detach().clone(), parameter.requires_grad)
                module._parameters[name] = copies[id(parameter)]


def _check_any(model: nn.Module, recipe: Recipe, layers: list[Layer]) -> None:
    """Raises an error if no layer is left to quantize."""
    if any(True for _ in narrow_layers(layers)):
        return
    reasons = [f"'{layer.name}': {layer.report.wide.text}" for layer in layers if layer.report.wide]
    more = f" and {len(reasons) - 3} others" if len(reasons) > 3 else ""
    text = "; ".join(reasons[:3]) + more if reasons else "it has no weights with two dims or more"
    raise ArgumentValueError(f"{type(model).__name__} has no layer that {recipe.value} can quantize: {text}")


def _quantize_layers(holder: Holder, layers: list[Layer], examples: list[Example]) -> None:
    """Makes the quantized modules."""
    observers: dict[int, Any] = {}
    names: dict[int, str] = {}
    for layer in narrow_layers(layers):
        if layer.report.form is Form.STATIC:
            names[id(layer.modules[0])] = layer.name

    def observe(module: nn.Module, input: Tensor, _: Tensor, number: int) -> None:
        if not torch.isfinite(input).all():
            name = names[id(module)]
            raise ArgumentValueError(f"calibration[{number}]: expected finite numbers in the input of '{name}'")
        if input.numel():
            observers.setdefault(id(module), new_observer())(input.detach().float())

    static = [layer.modules[0] for layer in narrow_layers(layers) if layer.report.form is Form.STATIC]
    if static:
        visit_calls(holder.model, static, examples, observe)
    for layer in narrow_layers(layers):
        module = layer.modules[0]
        if layer.report.form is Form.WEIGHTS:
            layer.narrow = quantize_weights(layer.modules, layer.format)
        elif layer.report.form is Form.DYNAMIC:
            layer.narrow = [quantize_dynamic(module)]
        elif id(module) in observers:
            layer.narrow = [quantize_static(module, observers[id(module)])]
        else:
            layer.keep_wide(WideReason.UNSEEN, "no data of calibration reaches it")
            continue
        floats = weight_of(layer.narrow[0])
        if not torch.isfinite(floats).all():
            dtype = str(layer.weight.dtype).removeprefix("torch.")
            layer.keep_wide(WideReason.RANGE, f"the floats of its codes are not finite in {dtype}")
            continue
        layer.report.weight_error = relative_error(floats, layer.weight)


def _measure_layers(holder: Holder, layers: list[Layer], examples: list[Example]) -> None:
    """Measures the error of the results of each layer, for its inputs in the float model."""
    narrow: dict[int, nn.Module] = {}
    totals: dict[int, ErrorSum] = {}
    for layer in narrow_layers(layers):
        total = ErrorSum()
        for module, made in zip(layer.modules, layer.narrow, strict=True):
            narrow[id(module)], totals[id(module)] = made, total

    def compare(module: nn.Module, input: Tensor, result: Tensor, _: int) -> None:
        totals[id(module)].add(narrow[id(module)](input), result)

    modules = [module for layer in narrow_layers(layers) for module in layer.modules]
    visit_calls(holder.model, modules, examples, compare)
    for layer in narrow_layers(layers):
        total = totals[id(layer.modules[0])]
        layer.report.error = total.relative if total.has_data else None


def _meet_budget(holder: Holder, layers: list[Layer], exact: ModelError, budget: float) -> None:
    """Keeps layers wide until the error of the model is within the budget.

    The layers are sorted by the square of their effect for each byte that they save. A binary search finds the least
    number of layers to keep wide from the start of this list. If that is all of them, layers become quantized by
    rising effect while the budget is met. The error of the choice is measured.
    """
    order = list(narrow_layers(layers))

    def measure(kept: int) -> float:
        for number, layer in enumerate(order):
            layer.use_narrow(number >= kept)
        return exact.of(holder.model)

    if measure(0) <= budget:
        return
    measure(len(order))
    for layer in order:
        layer.use_narrow(True)
        layer.report.effect = exact.of(holder.model)
        layer.use_narrow(False)
    order.sort(
        key=lambda layer: _effect(layer) ** 2 / (layer.report.bytes_before - layer.report.bytes_after), reverse=True
    )
    low, high = 0, len(order)  # `low` does not meet the budget.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if measure(middle) <= budget else (middle, high)
    if high == len(order):
        # The last layer alone is too much. Layers that save fewer bytes may still fit.
        order.sort(key=_effect, reverse=True)
        while high > 0 and measure(high - 1) <= budget:
            high -= 1
    if high == len(order):
        least = order[-1]
        raise ArgumentValueError(
            f"no choice of layers meets the budget of {budget:.3g}: the least error is {_effect(least):.3g}, if only "
            f"'{least.name}' is quantized"
        )
    for layer in order[:high]:
        layer.keep_wide(WideReason.BUDGET, f"alone, it makes an error of {_effect(layer):.3g}")


def _effect(layer: Layer) -> float:
    return math.inf if layer.report.effect is None else layer.report.effect
