# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules whose weights are packed codes."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._dialect import quantized  # registers `inlay::dequantize`


class PackedWeight(nn.Module):
    """A weight of f32 as codes, scales and offsets in blocks along the last dim. A call returns its floats.

    codes: int8, whose bits are the codes. scales: floats, one per block, or packed, as in super-blocks. offsets: if
    `minima`, like the scales, and added to the product of code and scale; else int8, whose bits are zero points of the
    type of the codes in 8 bits. code: the type of the codes. block: the size of a block; the last one may be smaller.
    """

    dtype = torch.float32
    codes: Tensor
    scales: Any
    offsets: Any

    def __init__(
        self,
        codes: Tensor,
        scales: Tensor | PackedWeight,
        offsets: Tensor | PackedWeight | None,
        code: str,
        block: int,
        minima: bool = True,
    ):
        super().__init__()
        self.code, self.block, self.minima = code, block, minima and offsets is not None
        self.register_buffer("codes", codes)
        for name, value in {"scales": scales, "offsets": offsets}.items():
            if isinstance(value, PackedWeight):
                self.add_module(name, value)
            else:
                self.register_buffer(name, value)

    @property
    def shape(self) -> torch.Size:
        """The shape of the floats."""
        rows, row_bytes = self.codes.shape[:-1], self.codes.shape[-1]
        return torch.Size((*rows, row_bytes * 8 // quantized.BITS[self.code]))

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Keeps the dtypes of all parts if a module is moved or cast."""

        def move(part: Tensor) -> Tensor:
            moved: Tensor = fn(part)
            return moved if moved.dtype == part.dtype else part.to(moved.device)

        apply: Any = super()._apply
        return apply(move, recurse)

    def select(self, rows: Tensor) -> PackedWeight:
        """Returns a weight with copies of some rows. rows: int64, their numbers."""

        def copy(part: Any) -> Any:
            if isinstance(part, PackedWeight):
                return part.select(rows)
            return None if part is None else part.index_select(0, rows)

        parts = copy(self.codes), copy(self.scales), copy(self.offsets)
        return PackedWeight(*parts, self.code, self.block, self.minima)

    def floats(self, rows: Tensor | None = None) -> Tensor:
        """Returns the floats of all rows, or of `rows`, whose shape takes the place of the first dim."""

        def take(part: Any) -> Any:
            if isinstance(part, PackedWeight):
                return part.floats(rows)
            return part if part is None or rows is None else functional.embedding(rows, part)

        codes, scales, offsets = take(self.codes), take(self.scales), take(self.offsets)
        block = [1] * (codes.dim() - 1) + [self.block]
        result: Tensor = torch.ops.inlay.dequantize(codes, scales, offsets, self.code, block, None, self.minima)
        return result

    def forward(self, rows: Tensor | None = None) -> Tensor:
        return self.floats(rows)


class PackedLinear(nn.Linear):
    """A linear layer whose attribute `weight` is a `PackedWeight`."""

    weight: Any

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight.floats(), self.bias)


class PackedEmbedding(nn.Embedding):
    """An embedding whose attribute `weight` is a `PackedWeight`. It dequantizes only the rows that it reads."""

    weight: Any

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.weight.floats(input)
        return result


@cache
def _packed_class(kind: Any) -> type[nn.Module]:
    """Returns the class for a class that is derived from `nn.Embedding`, such as one that scales its result.

    It keeps its own `forward`, and the embedding that it calls is the packed one.
    """

    def reduce(self: nn.Module) -> tuple[Any, ...]:
        return _new_packed, (kind,), self.__getstate__()

    return type(f"Packed{kind.__name__}", (kind, PackedEmbedding), {"__reduce__": reduce})


def _new_packed(kind: Any) -> nn.Module:
    """Returns an empty module, which pickle fills."""
    packed = _packed_class(kind)
    return packed.__new__(packed)


def pack_module(module: nn.Module, weight: PackedWeight) -> bool:
    """Makes `weight` the weight of a linear layer or an embedding. Returns false for other modules."""
    kind: Any = type(module)
    if kind is nn.Linear:
        packed: type[nn.Module] = PackedLinear
    elif kind is nn.Embedding:
        packed = PackedEmbedding
    elif isinstance(module, nn.Embedding):
        packed = _packed_class(kind)
    else:
        return False
    if isinstance(module, nn.Embedding) and module.max_norm is not None:
        return False
    del module.weight
    module.add_module("weight", weight)
    module.__class__ = packed
    return True
