# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports dequantization of weights."""

from __future__ import annotations

import torch

from ...._dialect.text import ELEMENT_TYPES
from ...._program.sizes import Size
from ..call import Call
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
    scale, zero = (_one_per_block(walker, call, call[name], 0) for name in ("scale", "zero_point"))
    return _dequantize(walker, call, scale, zero, [-1] * len(call.shape))


def _handle_per_channel(walker: Walker, call: Call) -> HandlerResult:
    rank, zeros = len(call.shape), call["zero_points"]
    axis = call["axis"] % max(rank, 1)
    block = [1 if dim == axis else -1 for dim in range(rank)]
    scale = _one_per_block(walker, call, call["scales"], axis)
    zero = None if zeros is None else _one_per_block(walker, call, zeros, axis)
    return _dequantize(walker, call, scale, zero, block)


def _one_per_block(walker: Walker, call: Call, value: float | torch.fx.Node, axis: int) -> Value:
    """Returns scales or zero points, one for each element of dim `axis`, as float32 with the rank of the result."""
    shape: list[int | Size] = [1] * len(call.shape)
    if not isinstance(value, torch.fx.Node):
        return walker.splat(value, tuple(shape), torch.float32)
    found = walker.tensor(value)
    if found.shape:
        (shape[axis],) = found.shape
    if found.dtype not in _SHORT_FLOATS:
        found = walker.cast(found, torch.float32, f"{value.name}.cast")
    return walker.reshape(found, shape, f"{value.name}.blocks")


def _dequantize(walker: Walker, call: Call, scale: Value, zero: Value | None, block: list[int]) -> HandlerResult:
    codes = walker.tensor(call["input"])
    if codes.dtype != torch.int8 or not codes.shape or call.dtype not in _SHORT_FLOATS:
        return None
    attributes = {"code": "i8", "block": block, "dtype": ELEMENT_TYPES[call.dtype]}
    return walker.op("dequantize", [codes, scale, zero], attributes, shape=call.shape, dtype=call.dtype)
