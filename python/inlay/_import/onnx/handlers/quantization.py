# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports quantization, and products and convolutions of integers.

Codes of 8 bits become those of `inlay::quantize` and `inlay::dequantize`. Products and sums of integers are computed
with floating-point numbers that hold them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from onnx import TensorProto

from ...._dialect.quantized import BITS
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..structure import Factor
from ..tensors import DTYPES, FLOATS8, NARROW_TYPES, mark_narrow, narrow_type
from ..tensors import dtype_of as element_dtype
from .casts import to_float8
from .convolution import conv


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "ConvInteger": _handle_conv_integer,
        "DequantizeLinear": handle_dequantize,
        "MatMulInteger": _handle_matmul_integer,
        "QLinearConv": _handle_qlinear_conv,
        "QLinearMatMul": _handle_qlinear_matmul,
        "QuantizeLinear": handle_quantize,
    }


# -- Quantization -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantized:
    """The type of quantized elements. number: a TensorProto.DataType."""

    number: int

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of tensors of these elements."""
        return element_dtype(self.number, "the result")

    def limits(self) -> tuple[int, int]:
        """Returns the lowest and the highest integer."""
        if self.number in NARROW_TYPES:
            return NARROW_TYPES[self.number].limits()
        info = torch.iinfo(self.dtype)
        return info.min, info.max


def quantized_type(node: torch.fx.Node) -> Quantized:
    """Returns the type of the elements of an FX node."""
    narrow = narrow_type(node)
    if narrow is not None:
        return Quantized(narrow.number)
    return Quantized(next(number for number, dtype in DTYPES.items() if dtype == dtype_of(node)))


def quantize(
    call: NodeCall, x: torch.fx.Node, scale: torch.fx.Node, zero: torch.fx.Node | None, kind: Quantized
) -> torch.fx.Node:
    """Returns float numbers as quantized ones. `scale` and `zero` broadcast to `x`."""
    steps = call.aten("div.Tensor", x, scale)
    return round_to(call, steps, zero, kind)


def round_to(call: NodeCall, steps: torch.fx.Node, zero: torch.fx.Node | None, kind: Quantized) -> torch.fx.Node:
    """Returns the nearest integers plus the zero point, limited to the type."""
    layout = _layout(call, steps, None)
    if layout and (zero is None or math.prod(shape_of(zero)) == 1) and _can_quantize(steps, steps, zero, kind):
        scale = call.constant(torch.ones(layout.blocks, dtype=torch.float32))
        return _to_codes(call, steps, scale, zero, kind, layout)
    result = call.cast(call.aten("round", steps), torch.float32)
    if zero is not None:
        result = call.aten("add.Tensor", result, call.cast(zero, torch.float32))
    result = call.cast(call.aten("clamp", result, *kind.limits()), torch.int32)
    return mark_narrow(call.cast(result, kind.dtype), kind.number)


def dequantize(call: NodeCall, x: torch.fx.Node, scale: torch.fx.Node, zero: torch.fx.Node | None) -> torch.fx.Node:
    """Returns quantized numbers as float32 ones. `scale` and `zero` broadcast to `x`."""
    return call.aten("mul.Tensor", centered(call, x, zero), call.cast(scale, torch.float32))


def centered(
    call: NodeCall, x: torch.fx.Node, zero: torch.fx.Node | None, dtype: torch.dtype = torch.float32
) -> torch.fx.Node:
    """Returns quantized numbers without their zero point as floating-point numbers."""
    if dtype_of(x) in FLOATS8:
        return call.cast(x, dtype)
    if zero is None:
        return call.cast(x, dtype)
    if dtype_of(x) == torch.int32:
        return call.cast(call.aten("sub.Tensor", x, zero), dtype)
    return call.aten("sub.Tensor", call.cast(x, dtype), call.cast(zero, dtype))


def _spread(
    call: NodeCall, x: torch.fx.Node, vector: torch.fx.Node | None, axis: int, block: int
) -> torch.fx.Node | None:
    """Returns scales or zero points so that they broadcast to `x`.

    vector: one element, one per element of the dim `axis`, or one per block of `block` elements of this dim.
    """
    if vector is None or (math.prod(shape_of(vector)) == 1 and not block):
        return vector if vector is None else call.reshape(vector, [])
    shape = shape_of(x)
    axis = call.axis(axis, len(shape))
    if not block:
        return call.reshape(vector, [size if dim == axis else 1 for dim, size in enumerate(shape)])
    given = list(shape_of(vector))
    apart = call.reshape(vector, [*given[: axis + 1], 1, *given[axis + 1 :]])
    wide = call.aten("expand", apart, [*given[: axis + 1], block, *given[axis + 1 :]])
    joined = call.reshape(wide, [*given[:axis], given[axis] * block, *given[axis + 1 :]])
    size = shape[axis]
    return joined if given[axis] * block == size else call.aten("slice.Tensor", joined, axis, 0, size)


def handle_quantize(call: NodeCall) -> NodeResult:
    """Handles QuantizeLinear."""
    x, zero = call[0], call.get(2)
    axis, block = call.attribute("axis", 1), call.attribute("block_size", 0)
    wanted = call.attribute("output_dtype", 0)
    default = quantized_type(zero).number if zero is not None else TensorProto.UINT8
    kind = Quantized(wanted or default)
    saturates = bool(call.attribute("saturate", 1))
    # The specification divides numbers of the type of the scale, unless it is given.
    precision = call.attribute("precision", 0)
    computed = DTYPES[precision] if precision else dtype_of(call[1])
    if dtype_of(call[1]) == torch.float8_e8m0fnu and not precision:
        computed = dtype_of(x) if dtype_of(x).is_floating_point else torch.float32
    layout = _layout(call, x, call[1], axis, block)
    if layout and computed == torch.float32 and _can_quantize(x, call[1], zero, kind):
        return _to_codes(call, x, call[1], zero, kind, layout)
    scale = _spread(call, x, call.cast(call[1], computed), axis, block)
    zero = _spread(call, x, zero, axis, block)
    assert scale is not None
    steps = call.aten("div.Tensor", call.cast(x, computed), scale)
    if kind.dtype in FLOATS8:
        if zero is not None:
            steps = call.aten("add.Tensor", steps, call.cast(zero, dtype_of(steps)))
        return to_float8(call, steps, kind.dtype, saturates)
    return round_to(call, steps, zero, kind)


_PACKED: dict[int, str] = {
    TensorProto.INT8: "i8",
    TensorProto.UINT8: "u8",
    TensorProto.INT4: "i4",
    TensorProto.UINT4: "u4",
    TensorProto.INT2: "i2",
    TensorProto.UINT2: "u2",
}  # TensorProto.DataType -> the dialect's type of a code
_SCALES = (torch.float32, torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Layout:
    """The blocks of a tensor that share a scale. block: sizes of a block, -1 for a whole dim. blocks: their numbers."""

    block: list[int]
    blocks: list[int]


def _layout(
    call: NodeCall, x: torch.fx.Node, scale: torch.fx.Node | None, axis: int = 0, length: int = 0
) -> Layout | None:
    """Returns the layout of scales as QuantizeLinear has them; None for a tensor without dims.

    scale: None for one scale. length: of a block along `axis`; 0 for none.
    """
    shape = shape_of(x)
    block, blocks = [-1] * len(shape), [1] * len(shape)
    if not shape:
        return None
    if scale is not None and length:
        axis = call.axis(axis, len(shape))
        block = [length if dim == axis else 1 for dim in range(len(shape))]
        blocks = list(shape_of(scale))
    elif scale is not None and math.prod(shape_of(scale)) != 1:
        axis = call.axis(axis, len(shape))
        block[axis], blocks[axis] = 1, shape[axis]
    return Layout(block, blocks)


def _can_quantize(x: torch.fx.Node, scale: torch.fx.Node, zero: torch.fx.Node | None, kind: Quantized) -> bool:
    """Returns true if `inlay::quantize` computes these codes."""
    is_byte = kind.number in (TensorProto.INT8, TensorProto.UINT8)
    is_float32 = dtype_of(x) == dtype_of(scale) == torch.float32
    return is_byte and is_float32 and (zero is None or dtype_of(zero) == kind.dtype)


def _to_codes(
    call: NodeCall,
    x: torch.fx.Node,
    scale: torch.fx.Node,
    zero: torch.fx.Node | None,
    kind: Quantized,
    layout: Layout,
) -> torch.fx.Node:
    """Returns the codes of 8 bits for float32 numbers."""
    offsets = zero and call.reshape(_bytes(call, zero), layout.blocks)
    scales = call.reshape(scale, layout.blocks)
    codes = call.quantize(x, scales, offsets, _PACKED[kind.number], layout.block, kind.limits())
    return mark_narrow(codes if kind.dtype == torch.int8 else call.aten("view.dtype", codes, kind.dtype), kind.number)


def _bytes(call: NodeCall, x: torch.fx.Node) -> torch.fx.Node:
    """Returns integers of 8 bits as int8 with the same bits."""
    return x if dtype_of(x) == torch.int8 else call.aten("view.dtype", x, torch.int8)


def _is_packed(call: NodeCall, dtype: torch.dtype, axis: int, length: int) -> bool:
    """Returns true if a DequantizeLinear becomes a call of `inlay::dequantize`: of codes of 8 bits that are no weights,
    and of weights that stay packed because they are only multiplied.

    Other uses would dequantize all of the weights at each call. axis, length: see `_layout`.
    """
    x, zero = call[0], call.get(2)
    if not shape_of(x) or 0 in shape_of(x) or dtype not in _SCALES or dtype_of(call[1]) not in _SCALES:
        return False
    if dtype_of(x) not in (torch.int8, torch.uint8) or (zero is not None and dtype_of(zero) != dtype_of(x)):
        return False
    if not call.is_constant(x):
        return quantized_type(x).number in (TensorProto.INT8, TensorProto.UINT8)
    is_known = all(call.is_constant(node) for node in (call[1], zero) if node is not None)
    return is_known and _reads_codes(call, axis, length)


_KERNEL_RANKS = (3, 4)  # of the weights of convolutions that read codes


def _reads_codes(call: NodeCall, axis: int, length: int) -> bool:
    """Returns true if what uses the floats of a DequantizeLinear reads codes instead: a product with a matrix, and a
    convolution with codes of 8 bits that have one scale or one for each output channel."""
    rank = len(shape_of(call[0]))
    match call.factor():
        case Factor.MATRIX:
            return rank == 2
        case Factor.KERNEL:
            has_one_scale = math.prod(shape_of(call[1])) == 1
            is_byte = quantized_type(call[0]).number in (TensorProto.INT8, TensorProto.UINT8)
            return rank in _KERNEL_RANKS and is_byte and not length and (has_one_scale or call.axis(axis, rank) == 0)
        case None:
            return False


def _keep_packed(call: NodeCall, dtype: torch.dtype, axis: int, length: int) -> torch.fx.Node:
    """Returns the floats of a DequantizeLinear with `inlay::dequantize`. length: of a block; 0 for none."""
    x, scale, zero = call[0], call[1], call.get(2)
    shape, code = shape_of(x), _PACKED[quantized_type(x).number]
    layout = _layout(call, x, scale, axis, length)
    assert layout is not None
    codes = pack(call, _bytes(call, x), BITS[code])
    offsets = zero and call.reshape(_bytes(call, zero), layout.blocks)
    size = shape[-1] if shape[-1] * BITS[code] % 8 else None
    return call.dequantize(codes, call.reshape(scale, layout.blocks), offsets, code, layout.block, dtype, size)


def pack(call: NodeCall, x: torch.fx.Node, bits: int) -> torch.fx.Node:
    """Returns bytes with the lowest bits of integers of a byte, packed along the last dim from the lowest bits on."""
    if bits == 8:
        return x
    per_byte, shape = 8 // bits, shape_of(x)
    if shape[-1] % per_byte:
        x = call.aten("constant_pad_nd", x, [0, -shape[-1] % per_byte])
    low = call.aten("bitwise_and.Scalar", x, (1 << bits) - 1)
    parts = [call.aten("slice.Tensor", low, -1, place, None, per_byte) for place in range(per_byte)]
    result = parts[0]
    for place, part in enumerate(parts[1:], 1):
        shifted = call.aten("bitwise_left_shift.Tensor_Scalar", part, bits * place)
        result = call.aten("bitwise_or.Tensor", result, shifted)
    return result


def handle_dequantize(call: NodeCall) -> NodeResult:
    """Handles DequantizeLinear."""
    x = call[0]
    axis, block = call.attribute("axis", 1), call.attribute("block_size", 0)
    wanted = call.attribute("output_dtype", 0)
    dtype = DTYPES[wanted] if wanted else dtype_of(call[1])
    if _is_packed(call, dtype, axis, block):
        return _keep_packed(call, dtype, axis, block)
    scale, zero = (_spread(call, x, vector, axis, block) for vector in (call[1], call.get(2)))
    assert scale is not None
    return call.cast(dequantize(call, x, scale, zero), dtype)


# -- Products ---------------------------------------------------------------------------------------------------------

_EXACT = 2**24  # float32 holds all integers up to this


def exact_dtype(*factors: torch.fx.Node, count: int) -> torch.dtype:
    """Returns a dtype that holds each sum of `count` products of quantized numbers without their zero points."""
    largest = count * math.prod(2 ** torch.iinfo(dtype_of(factor)).bits - 1 for factor in factors)
    return torch.float32 if largest < _EXACT else torch.float64


def _factor(call: NodeCall, x: torch.fx.Node, zero: torch.fx.Node | None, dtype: torch.dtype) -> torch.fx.Node:
    """Returns quantized numbers without their zero point as floating-point numbers, which `inlay::dequantize` computes
    if it can. `zero` broadcasts to `x`."""
    shape = shape_of(x)
    if dtype_of(x) not in (torch.int8, torch.uint8) or not shape or 0 in shape:
        return centered(call, x, zero, dtype)
    if quantized_type(x).number not in (TensorProto.INT8, TensorProto.UINT8):
        return centered(call, x, zero, dtype)
    blocks = [1] * len(shape)
    if zero is not None:
        given = shape_of(zero)
        if dtype_of(zero) != dtype_of(x) or len(given) > len(shape):
            return centered(call, x, zero, dtype)
        blocks = [*blocks[len(given) :], *given]
    block = [-1 if count == 1 else 1 for count in blocks]
    offsets = zero and call.reshape(_bytes(call, zero), blocks)
    code = "i8" if dtype_of(x) == torch.int8 else "u8"
    ones = call.constant(torch.ones(blocks, dtype=torch.float32))
    return call.dequantize(_bytes(call, x), ones, offsets, code, block, dtype)


def matmul_exact(
    call: NodeCall,
    lhs: torch.fx.Node,
    rhs: torch.fx.Node,
    lhs_zero: torch.fx.Node | None,
    rhs_zero: torch.fx.Node | None,
) -> torch.fx.Node:
    """Returns the exact product of quantized matrices. Zero points are one per row of `lhs` and column of `rhs`."""
    dtype = exact_dtype(lhs, rhs, count=shape_of(lhs)[-1])
    if lhs_zero is not None and len(shape_of(lhs_zero)) == 1 and shape_of(lhs_zero) != (1,):
        lhs_zero = call.reshape(lhs_zero, [-1, 1])
    return call.aten("matmul", _factor(call, lhs, lhs_zero, dtype), _factor(call, rhs, rhs_zero, dtype))


def to_int32(call: NodeCall, x: torch.fx.Node) -> torch.fx.Node:
    """Returns exact integers as int32, whose lowest bits remain if they are too large."""
    return call.cast(call.cast(x, torch.int64) if dtype_of(x) == torch.float64 else x, torch.int32)


def _handle_matmul_integer(call: NodeCall) -> NodeResult:
    return to_int32(call, matmul_exact(call, call[0], call[1], call.get(2), call.get(3)))


def _per_row(call: NodeCall, vector: torch.fx.Node) -> torch.fx.Node:
    """Returns one number, or one per row of a matrix."""
    return call.reshape(vector, [-1, 1]) if len(shape_of(vector)) == 1 else vector


def _handle_qlinear_matmul(call: NodeCall) -> NodeResult:
    lhs, lhs_scale, lhs_zero, rhs, rhs_scale, rhs_zero, scale, zero = (call[number] for number in range(8))
    if len(shape_of(lhs)) > 1:
        lhs_scale, lhs_zero, scale, zero = (_per_row(call, x) for x in (lhs_scale, lhs_zero, scale, zero))
    product = call.cast(matmul_exact(call, lhs, rhs, lhs_zero, rhs_zero), torch.float32)
    factor = multiplier(call, [lhs_scale, rhs_scale], scale)
    return round_to(call, call.aten("mul.Tensor", product, factor), zero, quantized_type(zero))


def multiplier(call: NodeCall, scales: Sequence[torch.fx.Node], result: torch.fx.Node) -> torch.fx.Node:
    """Returns the factor of exact products that gives multiples of the scale of the result."""
    first, second = (call.cast(scale, torch.float32) for scale in scales)
    return call.aten("div.Tensor", call.aten("mul.Tensor", first, second), call.cast(result, torch.float32))


def _conv_exact(
    call: NodeCall,
    x: torch.fx.Node,
    weight: torch.fx.Node,
    zero: torch.fx.Node | None,
    weight_zero: torch.fx.Node | None,
) -> torch.fx.Node:
    """Returns the exact convolution of quantized tensors. Zero points are one, or one per output of the weight."""
    dtype = exact_dtype(x, weight, count=math.prod(shape_of(weight)[1:]))
    if weight_zero is not None and math.prod(shape_of(weight_zero)) > 1:
        weight_zero = call.reshape(weight_zero, [-1, *[1] * (len(shape_of(weight)) - 1)])
    # Kernels for integers have one group. Other weights are floats that are computed once.
    factor = _factor if call.attribute("group", 1) == 1 else centered
    return conv(call, factor(call, x, zero, dtype), factor(call, weight, weight_zero, dtype), None)


def _handle_conv_integer(call: NodeCall) -> NodeResult:
    return to_int32(call, _conv_exact(call, call[0], call[1], call.get(2), call.get(3)))


def _handle_qlinear_conv(call: NodeCall) -> NodeResult:
    x, x_scale, x_zero, weight, weight_scale, weight_zero, scale, zero = (call[number] for number in range(8))
    total, bias = _conv_exact(call, x, weight, x_zero, weight_zero), call.get(8)
    spatial = [1] * (len(shape_of(x)) - 2)
    if bias is not None:
        total = call.aten("add.Tensor", total, call.reshape(call.cast(bias, dtype_of(total)), [-1, *spatial]))
    if math.prod(shape_of(weight_scale)) > 1:
        weight_scale = call.reshape(weight_scale, [-1, *spatial])
    factor = multiplier(call, [x_scale, weight_scale], scale)
    steps = call.aten("mul.Tensor", call.cast(total, torch.float32), factor)
    return round_to(call, steps, zero, quantized_type(zero))
