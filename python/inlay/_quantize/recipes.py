# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways to quantize a layer, with the algorithms of torchao."""

from __future__ import annotations

import copy
import enum
import logging
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..errors import Error


class Recipe(enum.Enum):
    """Says what becomes codes in the linear layers, convolutions and embeddings of a model."""

    INT8_WEIGHTS = "int8-weights"  # weights of linear layers and embeddings, with a scale for each row or block
    INT4_WEIGHTS = "int4-weights"  # likewise with 4 bits, and scales and zero points for each block
    INT8_DYNAMIC = "int8-dynamic"  # also the inputs of linear layers, with scales that each call chooses
    INT8_STATIC = "int8-static"  # also the inputs of linear layers and convolutions, with scales from calibration


class Form(enum.Enum):
    """Says how one layer is quantized. A recipe may use several forms."""

    WEIGHTS = "weights"
    DYNAMIC = "dynamic"
    STATIC = "static"


_ACTIVATIONS = {Recipe.INT8_DYNAMIC: Form.DYNAMIC, Recipe.INT8_STATIC: Form.STATIC}


def form_of(recipe: Recipe, modules: list[nn.Module]) -> Form:
    """Returns the form of a layer. modules: those that share its weight."""
    if len(modules) > 1 or isinstance(modules[0], nn.Embedding):
        return Form.WEIGHTS
    return _ACTIVATIONS.get(recipe, Form.WEIGHTS)


@dataclass(frozen=True)
class WeightFormat:
    """The format of quantized weights.

    bits: of a code. block: the number of elements of a row that share a scale; None for all of them.
    """

    bits: int
    block: int | None

    @property
    def code(self) -> str:
        """The name of the type of the codes, as in reports."""
        return f"i{self.bits}"

    def count_bytes(self, weight: torch.Tensor) -> int:
        """Returns the bytes of the codes, scales and zero points of a weight in a compiled program."""
        rows, columns = weight.shape[0], weight[0].numel()
        blocks = rows * (1 if self.block is None else columns // self.block)
        return rows * -(-columns * self.bits // 8) + blocks * (weight.element_size() + 1)


def import_torchao() -> Any:
    """Returns the module `torchao.quantization`, or raises an error that says what to install."""
    for name in ("torchao", "torch.utils._pytree"):  # They warn about kernels for other processors.
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        import torchao.quantization as package
        from torch.ao.quantization.fx import _decomposed  # noqa: F401  # registers the operators
        from torchao.quantization.pt2e import observer  # noqa: F401
    except ImportError as error:
        raise Error(f"quantization needs the package torchao: pip install torchao==0.18.0 ({error})") from error
    return package


def quantize_weights(modules: list[nn.Module], format: WeightFormat) -> list[nn.Module]:
    """Returns copies of modules that share a weight, which share its codes."""
    ao = import_torchao()
    config = ao.IntxWeightOnlyConfig(
        weight_dtype=getattr(torch, f"int{format.bits}"),
        granularity=ao.PerAxis(0) if format.block is None else ao.PerGroup(format.block),
        mapping_type=ao.MappingType.SYMMETRIC if format.bits == 8 else ao.MappingType.ASYMMETRIC,
    )
    first = _apply(modules[0], config)
    copies = [first]
    for module in modules[1:]:
        other = _copy_wide(module)
        other.weight = first.weight
        copies.append(other)
    return copies


def quantize_dynamic(module: nn.Module) -> nn.Module:
    """Returns a copy of a linear layer that quantizes its input at each call, with a scale for each vector."""
    return _apply(module, import_torchao().Int8DynamicActivationInt8WeightConfig())


def _apply(module: nn.Module, config: Any) -> nn.Module:
    holder = nn.ModuleList([_copy_wide(module)])
    import_torchao().quantize_(holder, config, filter_fn=lambda inner, _: inner is holder[0])
    return holder[0]


def _copy_wide(module: nn.Module) -> nn.Module:
    """Returns a copy of a module with the same parameters."""
    return copy.deepcopy(module, {id(parameter): parameter for parameter in module.parameters()})
