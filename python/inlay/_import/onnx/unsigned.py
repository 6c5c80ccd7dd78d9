# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops on unsigned integers of 16 to 64 bits, for which PyTorch has few kernels.

They are computed with int64 numbers. Those of 16 and 32 bits keep their values. Those of 64 bits keep their bits, or
their order if the op compares elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx
import torch

from .call import Handler, NodeCall, NodeResult, dtype_of
from .domains import DEFAULT, op_of
from .values import Value

NARROW = (torch.uint16, torch.uint32)
_LOWEST = torch.iinfo(torch.int64).min

# Ops for which two's complement makes no difference between signed and unsigned integers.
_BITS = {
    "Add",
    "BitwiseAnd",
    "BitwiseNot",
    "BitwiseOr",
    "BitwiseXor",
    "Compress",
    "Concat",
    "ConstantOfShape",
    "CumProd",
    "CumSum",
    "DepthToSpace",
    "Equal",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "MatMul",
    "Mul",
    "NonZero",
    "OneHot",
    "Pad",
    "Pow",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Reshape",
    "ReverseSequence",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sub",
    "Sum",
    "TensorScatter",
    "Tile",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Where",
}
# Ops that compare elements.
_ORDER = {
    "ArgMax",
    "ArgMin",
    "Clip",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Min",
    "ReduceMax",
    "ReduceMin",
    "TopK",
    "Unique",
}
_SCATTERS = {"ScatterElements", "ScatterND"}
# Ops that are computed with the values of elements, which int64 holds for integers of up to 32 bits.
_VALUES = {"Abs", "BitShift", "Div", "Einsum", "Gemm", "Mean", "Mod", "Sign"}
_VALUES |= {f"Reduce{name}" for name in ("L1", "L2", "LogSum", "LogSumExp", "Mean")}
_ADAPTED = _BITS | _ORDER | _SCATTERS | _VALUES


def adapt(call: NodeCall, handler: Handler) -> NodeResult:
    """Returns the result of a handler for a node. Operands that are unsigned integers become int64 numbers."""
    op = op_of(call.proto)
    types = _unsigned_types(call) if op.domain == DEFAULT and op.name in _ADAPTED else {}
    if not types:
        return handler(call)
    if op.name == "Pow" and not _is_integer_power(call):
        return handler(call)
    wide = torch.uint64 in types.values()
    if wide and op.name in _LONG:
        return _LONG[op.name](call)
    is_ordered = wide and (op.name in _ORDER or _scatters_extremes(call))
    if wide and not is_ordered and op.name not in _BITS | _SCATTERS:
        raise call.unsupported("uint64 is not supported")
    names = _formal_types(call.schema.inputs, len(call.inputs))
    for number, value in enumerate(call.inputs):
        if isinstance(value, torch.fx.Node) and names[number] in types:
            call.set_input(number, _to_int64(call, value, is_ordered))
    made = handler(call)
    results = [made] if isinstance(made, torch.fx.Node) else list(made)
    result_names = _formal_types(call.schema.outputs, len(results))
    return [
        _from_int64(call, value, types[name], is_ordered)
        if isinstance(value, torch.fx.Node) and name in types
        else value
        for value, name in zip(results, result_names, strict=True)
    ]


def _is_integer_power(call: NodeCall) -> bool:
    """Returns true if the base is an unsigned integer and the exponent is an integer."""
    return _dtype(call[0]) in (*NARROW, torch.uint64) and not dtype_of(call[1]).is_floating_point


def _unsigned_types(call: NodeCall) -> dict[str, torch.dtype]:
    """Returns the names of types in the specification of an op that stand for unsigned integers of 16 to 64 bits."""
    found = {}
    inputs: Sequence[Value] = call.inputs
    if not any(_dtype(value) in (*NARROW, torch.uint64) for value in inputs):
        return {}
    for name, value in zip(_formal_types(call.schema.inputs, len(inputs)), inputs, strict=True):
        dtype = _dtype(value)
        if dtype in (*NARROW, torch.uint64):
            found[name] = dtype
    return found


def _dtype(value: Value) -> torch.dtype | None:
    """Returns the dtype of a value; None if it is no tensor."""
    return value.meta["val"].dtype if isinstance(value, torch.fx.Node) else None


def _formal_types(formals: Sequence[onnx.defs.OpSchema.FormalParameter], count: int) -> list[str]:
    """Returns the names of the types of `count` operands or results. The last formal one may stand for several."""
    return [formals[min(number, len(formals) - 1)].type_str for number in range(count)]


def _scatters_extremes(call: NodeCall) -> bool:
    """Returns true if a node scatters minima or maxima."""
    return call.proto.op_type in _SCATTERS and call.attribute("reduction", "none") in ("max", "min")


def _to_int64(call: NodeCall, x: torch.fx.Node, is_ordered: bool) -> torch.fx.Node:
    """Returns unsigned integers as int64. is_ordered: True if those of 64 bits keep their order, not their bits."""
    if x.meta["val"].dtype in NARROW:
        return call.cast(x, torch.int64)
    if x.meta["val"].dtype != torch.uint64:
        return x
    bits = call.aten("view.dtype", x, torch.int64)
    return call.aten("bitwise_xor.Scalar", bits, _LOWEST) if is_ordered else bits


def _from_int64(call: NodeCall, x: torch.fx.Node, dtype: torch.dtype | None, is_ordered: bool) -> torch.fx.Node:
    """Reverses `_to_int64`. Numbers of 16 and 32 bits wrap around. dtype: None to return `x` itself."""
    if dtype is None:
        return x
    if dtype in NARROW:
        return call.cast(x, dtype)
    bits = call.aten("bitwise_xor.Scalar", x, _LOWEST) if is_ordered else x
    return call.aten("view.dtype", bits, dtype)


# -- 64 bits ----------------------------------------------------------------------------------------------------------


def _divide(call: NodeCall) -> tuple[torch.fx.Node, torch.fx.Node]:
    """Returns the quotient and the remainder of two tensors of uint64, as the bits of int64 numbers."""
    x, y = (call.aten("view.dtype", call[number], torch.int64) for number in (0, 1))
    ordered_x, ordered_y = (call.aten("bitwise_xor.Scalar", part, _LOWEST) for part in (x, y))
    # Half of x is positive, and the quotient by twice of y is too small by 1 at most.
    half = call.aten("bitwise_and.Scalar", call.aten("bitwise_right_shift.Tensor_Scalar", x, 1), ~_LOWEST)
    small = call.aten("clamp_min", y, 1)
    quotient = call.aten("div.Tensor_mode", half, small, rounding_mode="trunc")
    quotient = call.aten("mul.Scalar", quotient, 2)
    rest = call.aten("sub.Tensor", x, call.aten("mul.Tensor", quotient, y))
    ordered_rest = call.aten("bitwise_xor.Scalar", rest, _LOWEST)
    more = call.cast(call.aten("ge.Tensor", ordered_rest, ordered_y), torch.int64)
    # A divisor of 2**63 or more goes into x once or not at all.
    once = call.cast(call.aten("ge.Tensor", ordered_x, ordered_y), torch.int64)
    is_large = call.aten("lt.Scalar", y, 0)
    quotient = call.aten("where.self", is_large, once, call.aten("add.Tensor", quotient, more))
    return quotient, call.aten("sub.Tensor", x, call.aten("mul.Tensor", quotient, y))


def _divide_long(call: NodeCall) -> NodeResult:
    return call.aten("view.dtype", _divide(call)[0], torch.uint64)


def _mod_long(call: NodeCall) -> NodeResult:
    call.attribute("fmod", 0)  # both remainders are the same for numbers that aren't negative
    return call.aten("view.dtype", _divide(call)[1], torch.uint64)


def _shift_long(call: NodeCall) -> NodeResult:
    x, count = (call.aten("view.dtype", call[number], torch.int64) for number in (0, 1))
    if call.attribute("direction") == "LEFT":
        return call.aten("view.dtype", call.aten("bitwise_left_shift.Tensor", x, count), torch.uint64)
    ones = call.constant(torch.tensor(-1))
    signs = call.aten("bitwise_left_shift.Tensor", ones, call.aten("rsub.Scalar", count, 64))
    shifted = call.aten("bitwise_right_shift.Tensor", x, count)
    made = call.aten("bitwise_and.Tensor", shifted, call.aten("bitwise_not", signs))
    return call.aten("view.dtype", made, torch.uint64)


_LONG: dict[str, Callable[[NodeCall], NodeResult]] = {"BitShift": _shift_long, "Div": _divide_long, "Mod": _mod_long}
