# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the layers of a model that a recipe can quantize, and puts quantized layers in their places."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from .recipes import Recipe, WeightFormat, form_of
from .report import LayerReport, Wide, WideReason
from .static import STATIC_CLASSES

_CLASSES: dict[Recipe, tuple[type[nn.Module], ...]] = {
    Recipe.INT8_WEIGHTS: (nn.Linear, nn.Embedding),
    Recipe.INT4_WEIGHTS: (nn.Linear, nn.Embedding),
    Recipe.INT8_DYNAMIC: (nn.Linear, nn.Embedding),
    Recipe.INT8_STATIC: (*STATIC_CLASSES, nn.Embedding),
}


@dataclass
class Layer:
    """A weight with the modules that have it. `narrow` are their quantized copies, which take the places of `modules`.

    places: of each module, the modules that contain it with the names of their attributes.
    """

    weight: nn.Parameter
    modules: list[nn.Module]
    places: list[list[tuple[nn.Module, str]]]
    format: WeightFormat
    report: LayerReport
    narrow: list[nn.Module] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.report.names[0]

    def use_narrow(self, narrow: bool) -> None:
        """Puts the quantized modules into the model, or the float ones."""
        for module, places in zip(self.narrow if narrow else self.modules, self.places, strict=True):
            for parent, attribute in places:
                parent._modules[attribute] = module

    def keep_wide(self, reason: WideReason, text: str) -> None:
        """Decides that the layer stays wide."""
        self.use_narrow(False)
        self.narrow = []
        self.report.wide = Wide(reason, text)
        self.report.form = self.report.code = self.report.block = None
        self.report.bytes_after = self.report.bytes_before


class Holder(nn.Module):
    """Contains the model, so that the model itself has a place too."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model


def name_in_model(path: str) -> str:
    """Returns the path of a module in the model for its path in the holder."""
    return path.removeprefix("model").removeprefix(".")


def find_layers(holder: Holder, recipe: Recipe, block_size: int | None, keep_wide: Sequence[str]) -> list[Layer]:
    """Returns the layers of all weights with at least two dims, also of those that must stay wide."""
    owners: dict[int, list[tuple[str, nn.Module, str]]] = {}  # id of a parameter -> path, module, attribute
    weights: dict[int, nn.Parameter] = {}
    for path, module in holder.named_modules():
        for attribute, parameter in module._parameters.items():
            if parameter is not None and parameter.dim() >= 2 and parameter.is_floating_point():
                owners.setdefault(id(parameter), []).append((name_in_model(path), module, attribute))
                weights[id(parameter)] = parameter
    places = _places(holder)
    layers = []
    for key, found in owners.items():
        weight = weights[key]
        wide = _class_reason(recipe, found)
        modules = [module for _, module, _ in found]
        form = None if wide else form_of(recipe, modules)
        format = _format(recipe, block_size)
        size = weight.numel() * weight.element_size()
        names = tuple(_label(holder, path) if wide is None else _join(path, name) for path, _, name in found)
        report = LayerReport(names, type(modules[0]).__name__, size, size, form, wide=wide)
        layer = Layer(weight, modules, [places[id(module)] for module in modules], format, report)
        layers.append(layer)
    _keep_named(layers, keep_wide)
    for layer in narrow_layers(layers):
        _check_floats(layer)
        _choose_format(layer)
    return layers


def _label(holder: Holder, path: str) -> str:
    return path or type(holder.model).__name__


def _join(path: str, attribute: str) -> str:
    return f"{path}.{attribute}" if path else attribute


def _places(holder: Holder) -> dict[int, list[tuple[nn.Module, str]]]:
    """Returns the modules that contain each module, by its id, with the names of their attributes."""
    places: dict[int, list[tuple[nn.Module, str]]] = {id(holder): []}
    for parent in holder.modules():
        for attribute, child in parent._modules.items():
            if child is not None:
                places.setdefault(id(child), []).append((parent, attribute))
    return places


def _class_reason(recipe: Recipe, found: list[tuple[str, nn.Module, str]]) -> Wide | None:
    """Returns the reason why a recipe cannot quantize a parameter because of the modules that own it."""
    for path, module, attribute in found:
        kind = type(module)
        known = kind in _CLASSES[recipe] and attribute == "weight"
        if known and getattr(module, "padding_mode", "zeros") == "zeros" and getattr(module, "max_norm", None) is None:
            continue
        if len(found) > 1:
            return Wide(WideReason.SHARED, f"'{_join(path, attribute)}' of {kind.__name__} has the same tensor")
        if kind in STATIC_CLASSES and recipe is not Recipe.INT8_STATIC:
            return Wide(WideReason.CLASS, f"{recipe.value} does not quantize {kind.__name__}; int8-static does")
        names = ", ".join(known.__name__ for known in _CLASSES[recipe])
        return Wide(WideReason.CLASS, f"{recipe.value} quantizes the weights of {names}, and of no derived class")
    return None


def _format(recipe: Recipe, block_size: int | None) -> WeightFormat:
    return WeightFormat(4 if recipe is Recipe.INT4_WEIGHTS else 8, block_size)


def _check_floats(layer: Layer) -> None:
    """Checks that a weight has data and only finite numbers."""
    weight, name = layer.weight.detach(), layer.name
    if weight.is_meta:
        raise ArgumentValueError(f"expected weight of '{name}' to have data, but it is on the device meta")
    if weight.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ArgumentTypeError(
            f"expected weight of '{name}' to be torch.float32, torch.float16 or torch.bfloat16, but got {weight.dtype}"
        )
    if type(layer.weight.data) is not Tensor:
        raise ArgumentTypeError(
            f"expected weight of '{name}' to be a plain tensor, but got {type(layer.weight.data).__name__}; "
            "is the model quantized already?"
        )
    bad = (~torch.isfinite(weight)).nonzero()
    if len(bad):
        place = bad[0].tolist()
        raise ArgumentValueError(
            f"expected finite numbers in weight of '{name}', but got {float(weight[tuple(place)])} at {place}"
            + (f" and at {len(bad) - 1} other places" if len(bad) > 1 else "")
        )


def _choose_format(layer: Layer) -> None:
    """Sets the codes of a layer, or decides that it stays wide."""
    weight, report = layer.weight, layer.report
    if weight.numel() == 0:
        layer.keep_wide(WideReason.SIZE, "it has no elements")
        return
    columns, block = weight[0].numel(), layer.format.block
    if block is not None and columns % block:
        layer.keep_wide(WideReason.BLOCK, f"its rows have {columns} elements, which blocks of {block} do not divide")
        return
    size = layer.format.count_bytes(weight)
    if size >= report.bytes_before:
        layer.keep_wide(
            WideReason.SIZE,
            f"its codes, scales and zero points have {size} bytes, and its floats {report.bytes_before}",
        )
        return
    report.bytes_after, report.code, report.block = size, layer.format.code, block


def _keep_named(layers: list[Layer], keep_wide: Sequence[str]) -> None:
    """Keeps the layers wide that the user names by globs."""
    if isinstance(keep_wide, str):
        raise ArgumentTypeError(f"expected keep_wide to be a sequence of names, but got the string {keep_wide!r}")
    if not isinstance(keep_wide, Iterable):
        raise ArgumentTypeError(f"expected keep_wide to be a sequence of names, but got {type(keep_wide).__name__}")
    names = [name for layer in layers for name in layer.report.names]
    for pattern in keep_wide:
        if not isinstance(pattern, str):
            raise ArgumentTypeError(f"expected keep_wide to have strings, but got {pattern!r}")
        found = [layer for layer in layers if any(fnmatch.fnmatchcase(name, pattern) for name in layer.report.names)]
        if not found:
            raise ArgumentValueError(
                f"no layer of the model fits '{pattern}' of keep_wide{did_you_mean(pattern, names)}"
            )
        for layer in found:
            if layer.report.wide is None:
                layer.keep_wide(WideReason.REQUEST, f"keep_wide has '{pattern}'")


def narrow_layers(layers: list[Layer]) -> Iterator[Layer]:
    """Yields the layers that do not stay wide."""
    return (layer for layer in layers if layer.report.wide is None)


def weight_of(module: nn.Module) -> Tensor:
    """Returns the floats of the weight of a layer, which may be quantized."""
    weight: Any = module.weight
    is_packed: bool = is_traceable_wrapper_subclass(weight)
    floats: Tensor = weight.dequantize() if is_packed else weight
    return floats


def has_hooks(*modules: nn.Module) -> bool:
    """Returns true if calls of the modules also call other functions."""
    return any(module._forward_hooks or module._forward_pre_hooks for module in modules)
