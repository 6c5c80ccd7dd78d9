# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rearranges weights of the layouts of GPTQ and AWQ, which pack codes into int32, to packed weights.

Sources: the formats as AutoGPTQ (https://github.com/AutoGPTQ/AutoGPTQ) and AutoAWQ
(https://github.com/casper-hansen/AutoAWQ) define them. Both compute `(code - zero point) * scale`. K is the number of
inputs of a layer, N that of outputs, and G the number of groups of inputs that share a scale:

    tensor   GPTQ                        AWQ (gemm)
    qweight  [K * bits / 32, N], along K  [K, N * bits / 32], along N, interleaved
    qzeros   [G, N * bits / 32], along N  [G, N * bits / 32], along N, interleaved
    scales   [G, N]                      [G, N]
    g_idx    [K], the group of each input
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import torch
from torch import Tensor

from .._dialect.quantized import BITS, pack
from .._packed.modules import PackedWeight
from ..errors import ArgumentValueError, UnsupportedError

_WORD = 32  # bits
_AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # the output of each code in a word, from the lowest bits on


class Layout(enum.Enum):
    """The layout of the tensors of a checkpoint."""

    GPTQ_V1 = "gptq"  # zero points are one less than their meaning
    GPTQ_V2 = "gptq_v2"
    AWQ = "awq"


@dataclass(frozen=True)
class Format:
    """The format of the weights of a checkpoint.

    group: the inputs that share a scale; None for all inputs. reordered: `desc_act` of GPTQ. The inputs of a group need
    not be neighbors.
    """

    layout: Layout
    bits: int
    group: int | None
    reordered: bool = False


@dataclass(frozen=True)
class Source:
    """The tensors of one layer. name: of the layer, for messages. inputs, outputs: the sizes of the layer."""

    name: str
    inputs: int
    outputs: int
    qweight: Tensor
    qzeros: Tensor
    scales: Tensor
    g_idx: Tensor | None


@dataclass(frozen=True)
class Rearranged:
    """A packed weight. order: the input of each column; None if columns are in the order of the inputs."""

    weight: PackedWeight
    order: Tensor | None


def rearrange(source: Source, format: Format) -> Rearranged:
    """Returns the weight of a layer. Raises ArgumentValueError for tensors that do not fit the format."""
    inputs, outputs, bits = source.inputs, source.outputs, format.bits
    group = format.group or inputs
    groups = -(-inputs // group)
    is_awq = format.layout is Layout.AWQ
    per_word = _WORD // bits
    if (outputs if is_awq else inputs) % per_word or outputs % per_word:
        raise UnsupportedError(
            f"'{source.name}': expected sizes that are multiples of {per_word}, the codes in a word, but got "
            f"{inputs} inputs and {outputs} outputs"
        )
    words = [inputs, outputs // per_word] if is_awq else [inputs // per_word, outputs]
    _check(source, "qweight", source.qweight, words, (torch.int32,))
    _check(source, "qzeros", source.qzeros, [groups, outputs // per_word], (torch.int32,))
    _check(source, "scales", source.scales, [groups, outputs], (torch.float16, torch.bfloat16, torch.float32))
    _check_finite(source)
    if format.reordered and groups > 1 and source.g_idx is None:
        raise ArgumentValueError(
            f"expected a tensor '{source.name}.g_idx', because 'desc_act' of the config is true: it says which "
            f"of the {groups} groups each input belongs to"
        )
    zeros = _unpack(source.qzeros, bits)
    if is_awq:
        codes = _in_order(_unpack(source.qweight, bits)).t()
        zeros = _in_order(zeros)
    else:
        codes = _unpack(source.qweight.t(), bits)
        if format.layout is Layout.GPTQ_V1:
            zeros = zeros + 1 & (1 << bits) - 1
    order = None if source.g_idx is None else _order(source, group)
    if order is not None:
        codes = codes.index_select(1, order)
    return Rearranged(_packed(source.name, codes, source.scales.t(), zeros.t(), bits, group), order)


def _check(source: Source, part: str, tensor: Tensor, shape: list[int], dtypes: tuple[torch.dtype, ...]) -> None:
    if tensor.dtype not in dtypes or list(tensor.shape) != shape:
        kinds = " or ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
        raise ArgumentValueError(
            f"expected '{source.name}.{part}' to be {kinds} of shape {shape}, but got "
            f"{str(tensor.dtype).removeprefix('torch.')} of shape {list(tensor.shape)}"
        )


def _check_finite(source: Source) -> None:
    bad = (~torch.isfinite(source.scales)).nonzero()
    if len(bad):
        place = bad[0].tolist()
        value = float(source.scales[tuple(place)])
        raise ArgumentValueError(f"expected finite numbers in '{source.name}.scales', but got {value} at {place}")


def _unpack(words: Tensor, bits: int) -> Tensor:
    """Returns the codes in a matrix of words, along its last dim, from the lowest bits of each word on."""
    parts = [words >> shift & (1 << bits) - 1 for shift in range(0, _WORD, bits)]
    return torch.stack(parts, -1).flatten(-2).to(torch.uint8)


def _in_order(codes: Tensor) -> Tensor:
    """Returns the codes of AWQ in the order of outputs."""
    places = torch.tensor([_AWQ_ORDER.index(output) for output in range(len(_AWQ_ORDER))])
    ordered: Tensor = codes.unflatten(-1, (-1, len(_AWQ_ORDER)))[..., places].flatten(-2)
    return ordered


def _order(source: Source, group: int) -> Tensor | None:
    """Returns the order of inputs in which groups are blocks; None if they are already."""
    g_idx: Tensor = source.g_idx  # type: ignore[assignment]
    _check(source, "g_idx", g_idx, [source.inputs], (torch.int32, torch.int64))
    order = torch.argsort(g_idx, stable=True)
    wanted = torch.arange(source.inputs) // group
    if not torch.equal(g_idx[order].long(), wanted):
        raise UnsupportedError(
            f"'{source.name}.g_idx': expected each group to have {group} inputs, except for the last one; other groups "
            "have no packed form"
        )
    return None if torch.equal(order, torch.arange(source.inputs)) else order


def _packed(name: str, codes: Tensor, scales: Tensor, zeros: Tensor, bits: int, group: int) -> PackedWeight:
    """Returns a packed weight. codes: [N, K], uint8. zeros: [N, G], uint8. Symmetric codes become signed."""
    middle = 1 << bits - 1
    if bool((zeros == middle).all()):
        signed = (codes.to(torch.int16) - middle).to(torch.int8)
        return PackedWeight(_pack(signed, f"i{bits}", name), scales.contiguous(), None, f"i{bits}", group)
    words = _pack(codes.view(torch.int8), f"u{bits}", name)
    return PackedWeight(
        words, scales.contiguous(), zeros.contiguous().view(torch.int8), f"u{bits}", group, minima=False
    )


def _pack(codes: Tensor, code: str, name: str) -> Tensor:
    """Returns codes of 8 bits as codes of type `code`."""
    packed: Tensor = codes.contiguous() if BITS[code] == 8 else pack(codes, code, name)
    return packed
