# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports casts, also to types of 8 bits and less."""

from __future__ import annotations

import math

import torch
from onnx import TensorProto

from ..call import Handler, NodeCall, NodeResult, dtype_of
from ..tensors import FLOATS8, NARROW_TYPES, NarrowType, mark_narrow, narrow_type, type_number
from ..tensors import dtype_of as element_dtype

_INFINITE = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"BitCast": _handle_bit_cast, "Cast": _handle_cast, "CastLike": _handle_cast_like}


def _handle_cast(call: NodeCall) -> NodeResult:
    return _cast(call, call.attribute("to"))


def _handle_cast_like(call: NodeCall) -> NodeResult:
    narrow = narrow_type(call[1])
    return _cast(call, narrow.number if narrow is not None else type_number(dtype_of(call[1])))


def _cast(call: NodeCall, number: int) -> torch.fx.Node:
    """Returns the input with elements of a TensorProto.DataType."""
    x, dtype = call[0], element_dtype(number, f"the result of {call.place}")
    saturates, rounding = bool(call.attribute("saturate", 1)), call.attribute("round_mode", "up")
    if number in NARROW_TYPES:
        return _to_narrow(call, x, NARROW_TYPES[number])
    if dtype == torch.float8_e8m0fnu and dtype_of(x) != dtype:
        if rounding not in ("up", "down", "nearest"):
            raise call.unsupported(f"the rounding {rounding!r} is not supported")
        return call.library("to_exponents", call.cast(x, torch.float32), saturates, rounding)[0]
    if dtype in FLOATS8 and dtype_of(x) != dtype:
        return to_float8(call, x, dtype, saturates)
    if dtype_of(x) in FLOATS8 and dtype != torch.float32:
        x = call.cast(x, torch.float32)
    elif narrow_type(x) is not None and dtype_of(x) == dtype:
        return call.aten("clone", x)  # a node of another type than `x`
    return call.cast(x, dtype)


def _to_narrow(call: NodeCall, x: torch.fx.Node, kind: NarrowType) -> torch.fx.Node:
    """Returns the lowest bits of the integers of `x`."""
    if narrow_type(x) == kind:
        return x
    low, _ = kind.limits()
    if dtype_of(x) in FLOATS8:
        x = call.cast(x, torch.float32)
    moved = call.aten("sub.Scalar", call.cast(x, torch.int32), low)
    kept = call.aten("bitwise_and.Scalar", moved, 2**kind.bits - 1)
    return mark_narrow(call.cast(call.aten("add.Scalar", kept, low), kind.dtype), kind.number)


def to_float8(call: NodeCall, x: torch.fx.Node, dtype: torch.dtype, saturates: bool) -> torch.fx.Node:
    """Returns `x` with elements of 8 bits. saturates: True to limit numbers that are too large, also infinite ones."""
    if dtype_of(x) not in _INFINITE:
        x = call.cast(x, torch.float32)
    if saturates:
        highest = torch.finfo(dtype).max
        x = call.aten("clamp", x, -highest, highest)
    elif dtype == torch.float8_e4m3fn:
        # PyTorch limits numbers here. Those that round to more than the largest number, 448, are NaN instead.
        is_large = call.aten("gt.Scalar", call.aten("abs", x), 464)
        x = call.aten("masked_fill.Scalar", x, is_large, math.nan)
    return call.cast(x, dtype)


def _handle_bit_cast(call: NodeCall) -> NodeResult:
    x, number = call[0], call.attribute("to", TensorProto.UNDEFINED)
    dtype = element_dtype(number, f"the result of {call.place}")
    if number in NARROW_TYPES or narrow_type(x) is not None:
        raise call.unsupported("elements of less than 8 bits are not supported")
    return call.aten("view.dtype", x, dtype)
