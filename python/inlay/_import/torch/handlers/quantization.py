# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports quantization and dequantization."""

from __future__ import annotations

from ...._dialect.text import ELEMENT_TYPES
from ..call import Call
from ..explanations import dequantized_weight
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by name."""
    return {"inlay::dequantize": _handle_dequantize, "inlay::quantize": _handle_quantize}


def _handle_dequantize(walker: Walker, call: Call) -> HandlerResult:
    walker.quantized += dequantized_weight(call, walker.constants)
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


def _handle_quantize(walker: Walker, call: Call) -> HandlerResult:
    operands = [call["input"], call["scales"], call["offsets"]]
    values = [node if node is None else walker.tensor(node) for node in operands]
    attributes = {name: call[name] for name in ("code", "block", "low", "high", "inverse")}
    return walker.op("quantize", values, attributes, shape=call.shape, dtype=call.dtype)
