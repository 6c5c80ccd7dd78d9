# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports dequantization of weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ...._dialect.text import ELEMENT_TYPES
from ...._program.sizes import Size
from ..call import Call
from ..decompose.quantization import is_float32
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by name."""
    return {
        "inlay::dequantize": _handle_dequantize,
        "quantized_decomposed::dequantize_per_channel": _handle_per_channel,
        "quantized_decomposed::dequantize_per_tensor": _handle_per_tensor,
        "quantized_decomposed::dequantize_per_tensor.tensor": _handle_per_tensor,
    }


def _handle_dequantize(walker: Walker, call: Call) -> HandlerResult:
    operands = [call["codes"], call["scales"], call["offsets"]]
    values = [node if node is None else walker.tensor(node) for node in operands]
    attributes = {
        "code": call["code"],
        "block": call["block"],
        "size": call["size"],
        "minima": call["minima"],
        "dtype": ELEMENT_TYPES[call.dtype],
    }
    present = {name: value for name, value in attributes.items() if value is not None}
    return walker.op("dequantize", values, present, shape=call.shape, dtype=call.dtype)


# -- PyTorch's quantized_decomposed -----------------------------------------------------------------------------------

_SHORT_FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def _handle_per_tensor(walker: Walker, call: Call) -> HandlerResult:
    codes, rank = walker.tensor(call["input"]), len(call.shape)
    if not _can_dequantize(codes, call):
        return None
    scale, zero = (_one_per_block(walker, call[name], [1] * rank) for name in ("scale", "zero_point"))
    return _dequantize(walker, call, [codes, scale, zero], [-1] * rank)


def _handle_per_channel(walker: Walker, call: Call) -> HandlerResult:
    codes, rank = walker.tensor(call["input"]), len(call.shape)
    nodes = (call["scales"], call["zero_points"])
    if not _can_dequantize(codes, call) or not is_float32(*(node and walker.tensor(node) for node in nodes)):
        return None
    axis = call["axis"] % rank
    block = [1 if dim == axis else -1 for dim in range(rank)]
    blocks = [size if dim == axis else 1 for dim, size in enumerate(codes.shape)]
    scale, zero = (None if node is None else _one_per_block(walker, node, blocks) for node in nodes)
    return _dequantize(walker, call, [codes, scale, zero], block)


def _can_dequantize(codes: Value, call: Call) -> bool:
    is_int8 = codes.dtype == torch.int8 and call["dtype"] == torch.int8
    return is_int8 and len(codes.shape) > 0 and call.dtype in _SHORT_FLOATS


def _one_per_block(walker: Walker, value: float | torch.fx.Node, blocks: Sequence[int | Size]) -> Value:
    """Returns scales or zero points with the dims `blocks`, as floats."""
    if not isinstance(value, torch.fx.Node):
        return walker.splat(value, tuple(blocks), torch.float32)
    found = walker.tensor(value)
    if found.dtype not in _SHORT_FLOATS:
        found = walker.cast(found, torch.float32, f"{value.name}.cast")
    return walker.reshape(found, list(blocks), f"{value.name}.blocks")


def _dequantize(walker: Walker, call: Call, operands: list[Value | None], block: list[int]) -> HandlerResult:
    attributes = {"code": "i8", "block": block, "dtype": ELEMENT_TYPES[call.dtype]}
    return walker.op("dequantize", operands, attributes, shape=call.shape, dtype=call.dtype)
