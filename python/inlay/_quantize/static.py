# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers with codes of 8 bits as input and weight, whose scales come from calibration.

The observers of torchao choose the scales. Products of such layers are products of integers in compiled programs.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .recipes import import_torchao

_CODES = (0, 255, torch.uint8)  # of inputs
_WEIGHT_CODES = (-128, 127, torch.int8)


class StaticLayer(nn.Module):
    """A layer whose input and weight are codes of 8 bits.

    codes: of the weight, int8. scales: f32, one for each output. input_scale, input_zero_point: one for all of the
    input. dtype: of the float weight.
    """

    dtype: torch.dtype
    codes: Tensor
    scales: Tensor
    input_scale: Tensor
    input_zero_point: Tensor

    @property
    def weight(self) -> Tensor:
        """The floats of the weight. Models may read them or their dtype."""
        scales, limits = self.scales, _WEIGHT_CODES
        floats: Tensor = torch.ops.quantized_decomposed.dequantize_per_channel(
            self.codes, scales, None, 0, *limits, out_dtype=self.dtype
        )
        return floats

    def quantize(self, input: Tensor) -> Tensor:
        """Returns the input after quantization, as floats."""
        ops, arguments = torch.ops.quantized_decomposed, (self.input_scale, self.input_zero_point, *_CODES)
        codes = ops.quantize_per_tensor.tensor(input, *arguments)
        floats: Tensor = ops.dequantize_per_tensor.tensor(codes, *arguments, out_dtype=input.dtype)
        return floats


class StaticLinear(StaticLayer, nn.Linear):  # type: ignore[override]
    """A linear layer whose input and weight are codes."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(self.quantize(input), self.weight, self.bias)


class _StaticConvolution(StaticLayer):
    bias: Any
    _conv_forward: Any

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self._conv_forward(self.quantize(input), self.weight, self.bias)
        return result


class StaticConv1d(_StaticConvolution, nn.Conv1d):  # type: ignore[override]
    """A convolution whose input and weight are codes."""


class StaticConv2d(_StaticConvolution, nn.Conv2d):  # type: ignore[override]
    """A convolution whose input and weight are codes."""


class StaticConv3d(_StaticConvolution, nn.Conv3d):  # type: ignore[override]
    """A convolution whose input and weight are codes."""


STATIC_CLASSES: dict[type[nn.Module], type[StaticLayer]] = {
    nn.Linear: StaticLinear,
    nn.Conv1d: StaticConv1d,
    nn.Conv2d: StaticConv2d,
    nn.Conv3d: StaticConv3d,
}


def new_observer() -> Any:
    """Returns an observer of inputs, which finds the range with the smallest error."""
    import_torchao()
    from torchao.quantization.pt2e.observer import HistogramObserver

    return HistogramObserver(dtype=torch.uint8, quant_min=0, quant_max=255)


def quantize_static(module: nn.Module, observer: Any) -> nn.Module:
    """Returns a layer with codes in place of a float layer. observer: has seen the inputs of `module`."""
    import_torchao()
    from torchao.quantization.pt2e.observer import PerChannelMinMaxObserver

    weight: Tensor = module.weight  # type: ignore[assignment]
    of_weight = PerChannelMinMaxObserver(
        ch_axis=0, dtype=torch.int8, quant_min=-128, quant_max=127, qscheme=torch.per_channel_symmetric
    )
    of_weight(weight.detach().float())
    scales, zeros = of_weight.calculate_qparams()
    codes = torch.ops.quantized_decomposed.quantize_per_channel(
        weight.detach().float(), scales, zeros, 0, *_WEIGHT_CODES
    )
    scale, zero_point = observer.calculate_qparams()
    made: Any = copy.deepcopy(module, {id(weight): None})
    made.__class__ = STATIC_CLASSES[type(module)]
    del made._parameters["weight"]
    made.dtype = weight.dtype
    made.register_buffer("codes", codes)
    made.register_buffer("scales", scales.float())
    made.register_buffer("input_scale", scale.float().reshape(1))
    made.register_buffer("input_zero_point", zero_point.to(torch.int64).reshape(1))
    return made  # type: ignore[no-any-return]
