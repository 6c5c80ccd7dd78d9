# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SmoothQuant: moves outliers of activations into the weights of linear layers.

The method is that of Xiao et al., "SmoothQuant: Accurate and Efficient Post-Training Quantization for Large Language
Models", https://arxiv.org/abs/2211.10438.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from .._rewrite.replacing import replace_modules
from ..errors import ArgumentTypeError, ArgumentValueError
from .calibration import check_evaluation, read_calibration, visit_calls
from .layers import has_hooks, weight_of


class SmoothedLinear(nn.Module):
    """A linear layer that first multiplies each channel of its input by a constant.

    linear: has weights that are divided by the constants. inverse: the constants. Layers that read the same tensor
    share them, so that the products are the same in a graph.
    """

    inverse: Tensor

    def __init__(self, linear: nn.Module, inverse: Tensor):
        super().__init__()
        self.linear: Any = linear
        self.register_buffer("inverse", inverse)

    @property
    def weight(self) -> Tensor:
        """The floats of the weight before the division. Models may read them or their dtype."""
        return weight_of(self.linear) * self.inverse

    @property
    def bias(self) -> Tensor | None:
        """The bias of the linear layer."""
        bias: Tensor | None = self.linear.bias
        return bias

    @property
    def in_features(self) -> int:
        """The size of inputs."""
        return len(self.inverse)

    @property
    def out_features(self) -> int:
        """The size of results."""
        size: int = self.linear.out_features
        return size

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.linear(input * self.inverse)
        return result


def smooth(
    model: nn.Module,
    calibration: Iterable[Any],
    *,
    strength: float = 0.5,
    selector: str | Callable[[nn.Module, str], bool] | None = None,
) -> int:
    """Makes the inputs of linear layers easier to quantize, by SmoothQuant. Returns the number of changed layers.

    Replaces linear layers in `model` by layers that divide each channel of the input by a factor and multiply the
    weights by it. The results of the model are the same up to rounding. Call `inlay.quantize` for the model afterwards.

    model: in evaluation mode.
    calibration: the inputs of several calls, as for `inlay.quantize`.
    strength: from 0 to 1. The factor is `largest_input**strength / largest_weight**(1 - strength)` for the largest
        absolute values of the channel. 0.5 divides the outliers equally.
    selector: a glob or a predicate of the layers to change, as for `inlay.replace_modules`; None for all.

    Layers stay as they are if their weight is that of another module too, if they have hooks, or if no calibration data
    reaches them. Inputs of float16 never become larger, so that they do not overflow.
    Raises ArgumentTypeError or ArgumentValueError for wrong arguments, and if there is no layer to change.

        inlay.quantization.smooth(model, samples)
        quantized = inlay.quantize(model, inlay.Recipe.INT8_DYNAMIC, samples)
    """
    if not isinstance(model, nn.Module):
        raise ArgumentTypeError(f"expected a torch.nn.Module, but got {type(model).__name__}")
    if isinstance(strength, bool) or not isinstance(strength, (int, float)) or not 0 <= strength <= 1:
        raise ArgumentValueError(f"expected strength to be a number from 0 to 1, but got {strength!r}")
    check_evaluation(model)
    layers = {path: module for path, module in model.named_modules() if path and _can_change(model, module)}
    inverses = _inverses(model, layers, calibration, strength)

    def replace(module: nn.Module, path: str) -> nn.Module | None:
        inverse = inverses.get(id(module))
        return None if inverse is None else SmoothedLinear(_divide(module, inverse), inverse)

    count = replace_modules(model, nn.Linear if selector is None else selector, replace)
    if count == 0:
        raise ArgumentValueError(
            f"expected {type(model).__name__} to contain linear layers without hooks that calibration reaches and "
            "whose weights no other module has, but there are none to change"
        )
    return count


def _can_change(model: nn.Module, module: nn.Module) -> bool:
    """Returns true for a linear layer with a plain weight of its own and without hooks."""
    if (
        type(module) is not nn.Linear
        or has_hooks(module)
        or "weight" not in module._parameters
        or type(module.weight.data) is not Tensor
    ):
        return False
    owners = [owner for owner in model.modules() if any(own is module.weight for own in owner._parameters.values())]
    return len(owners) == 1


def _inverses(model: nn.Module, layers: dict[str, nn.Module], calibration: Any, strength: float) -> dict[int, Tensor]:
    """Returns the constants of the layers that data reaches, by the id of the module."""
    names = {id(module): path for path, module in layers.items()}
    largest: dict[int, Tensor] = {}
    reads: dict[int, list[tuple[int, int]]] = {}  # of each layer, the example and the id of each input
    inputs: list[Tensor] = []  # keeps the ids unique

    def observe(module: nn.Module, input: Tensor, _: Tensor, number: int) -> None:
        values = input.detach().abs().flatten(0, -2).float() if input.dim() > 1 else input.detach().abs()[None].float()
        if not values.numel():
            return
        if not torch.isfinite(values).all():
            name = names[id(module)]
            raise ArgumentValueError(f"calibration[{number}]: expected finite numbers in the input of '{name}'")
        most = values.amax(0)
        key = id(module)
        largest[key] = torch.maximum(largest[key], most) if key in largest else most
        reads.setdefault(key, []).append((number, id(input)))
        inputs.append(input)

    visit_calls(model, layers.values(), read_calibration(calibration), observe)
    by_id = {id(module): module for module in layers.values()}
    groups: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for key in largest:
        groups.setdefault(tuple(reads[key]), []).append(key)
    return {key: inverse for keys in groups.values() for key, inverse in _shared(keys, by_id, largest, strength)}


def _shared(
    keys: list[int], modules: dict[int, nn.Module], largest: dict[int, Tensor], strength: float
) -> list[tuple[int, Tensor]]:
    """Returns the constants of layers that read the same tensors, which are one tensor."""
    weights: list[Any] = [modules[key].weight for key in keys]
    of_weights = torch.stack([weight.detach().abs().float().amax(0) for weight in weights]).amax(0)
    factors = largest[keys[0]] ** strength / of_weights ** (1 - strength)
    usable = torch.isfinite(factors) & (factors > 0)
    inverse = torch.where(usable, 1 / factors, 1.0).to(weights[0].dtype)
    if inverse.dtype is torch.float16:
        inverse = inverse.clamp(max=1)  # Other inputs may be larger than those of calibration.
    # Neither the constant nor a divided weight may overflow.
    fits = torch.isfinite(inverse) & (of_weights / inverse.float() <= torch.finfo(inverse.dtype).max)
    inverse = torch.where(fits, inverse, 1.0)
    return [(key, inverse) for key in keys]


def _divide(module: Any, inverse: Tensor) -> nn.Module:
    """Returns a copy of a linear layer whose weights are divided by the constants of their channels."""
    made: nn.Linear = copy.deepcopy(module)
    with torch.no_grad():
        made.weight.div_(inverse)
    return made
