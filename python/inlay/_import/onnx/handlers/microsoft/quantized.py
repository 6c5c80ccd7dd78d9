# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports quantized ops of the domain com.microsoft: float functions between dequantization and quantization."""

from __future__ import annotations

import functools
import math

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..pooling import average_pool
from ..quantization import (
    dequantize,
    handle_dequantize,
    handle_quantize,
    matmul_exact,
    multiplier,
    quantize,
    quantized_type,
    round_to,
)


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "DequantizeLinear": handle_dequantize,
        "DynamicQuantizeMatMul": _handle_dynamic_matmul,
        "MatMulIntegerToFloat": _handle_matmul_to_float,
        "MatMulNBits": _handle_matmul_bits,
        "QGemm": _handle_gemm,
        "QLinearAdd": functools.partial(_handle_binary, "add.Tensor"),
        "QLinearAveragePool": _handle_average_pool,
        "QLinearConcat": _handle_concat,
        "QLinearGlobalAveragePool": _handle_global_average_pool,
        "QLinearLeakyRelu": _handle_leaky_relu,
        "QLinearMul": functools.partial(_handle_binary, "mul.Tensor"),
        "QLinearReduceMean": _handle_reduce_mean,
        "QLinearSigmoid": _handle_sigmoid,
        "QLinearSoftmax": _handle_softmax,
        "QLinearWhere": _handle_where,
        "QuantizeLinear": handle_quantize,
    }


# -- Functions of quantized tensors -----------------------------------------------------------------------------------


def _take(call: NodeCall, number: int) -> torch.fx.Node:
    """Returns the float numbers of the input `number`, with its scale and zero point in the next two inputs."""
    scale, zero = (_scalar(call, call.get(place)) for place in (number + 1, number + 2))
    if scale is None:
        raise ArgumentValueError(f"{call.place}: input {number + 1}, a scale, is missing")
    return dequantize(call, call[number], scale, zero)


def _scalar(call: NodeCall, value: torch.fx.Node | None) -> torch.fx.Node | None:
    """Returns a tensor with one element without dims."""
    if value is not None and shape_of(value) and math.prod(shape_of(value)) != 1:
        raise call.unsupported("only one scale and zero point for a tensor are supported")
    return value if value is None or not shape_of(value) else call.reshape(value, [])


def _give(call: NodeCall, x: torch.fx.Node, number: int) -> torch.fx.Node:
    """Returns quantized numbers for `x`, with the scale and zero point of the inputs from `number` on."""
    scale, zero = _scalar(call, call[number]), _scalar(call, call.get(number + 1))
    assert scale is not None
    return quantize(call, x, scale, zero, quantized_type(call[0] if zero is None else zero))


def _handle_binary(name: str, call: NodeCall) -> NodeResult:
    return _give(call, call.aten(name, _take(call, 0), _take(call, 3)), 6)


def _handle_sigmoid(call: NodeCall) -> NodeResult:
    return _give(call, call.aten("sigmoid", _take(call, 0)), 3)


def _handle_leaky_relu(call: NodeCall) -> NodeResult:
    return _give(call, call.aten("leaky_relu", _take(call, 0), call.attribute("alpha", 0.01)), 3)


def _handle_softmax(call: NodeCall) -> NodeResult:
    rank = len(shape_of(call[0]))
    axis = call.axis(call.attribute("axis", -1), rank)
    if call.attribute("opset") < 13 and axis != rank - 1:  # the dims from the axis on are one
        x = _take(call, 0)
        flat = call.reshape(x, [math.prod(shape_of(x)[:axis]), math.prod(shape_of(x)[axis:])])
        return _give(call, call.reshape(call.aten("softmax.int", flat, 1), shape_of(x)), 3)
    return _give(call, call.aten("softmax.int", _take(call, 0), axis), 3)


def _handle_where(call: NodeCall) -> NodeResult:
    return _give(call, call.aten("where.self", call.cast(call[0], torch.bool), _take(call, 1), _take(call, 4)), 7)


def _handle_reduce_mean(call: NodeCall) -> NodeResult:
    axes = call.axes(call.attribute("axes"), len(shape_of(call[0])))
    return _give(call, call.aten("mean.dim", _take(call, 0), axes, bool(call.attribute("keepdims", 1))), 3)


def _handle_concat(call: NodeCall) -> NodeResult:
    parts = [_take(call, number) for number in range(2, len(call.inputs), 3)]
    dim = call.axis(call.attribute("axis"), len(shape_of(parts[0])))
    scale, zero = _scalar(call, call[0]), _scalar(call, call[1])
    assert scale is not None
    return quantize(call, call.aten("cat", parts, dim), scale, zero, quantized_type(call[1]))


def _handle_global_average_pool(call: NodeCall) -> NodeResult:
    rank = len(shape_of(call[0]))
    dims = list(range(1, rank - 1) if call.attribute("channels_last", 0) else range(2, rank))
    return _give(call, call.aten("mean.dim", _take(call, 0), dims, True), 3)


def _handle_average_pool(call: NodeCall) -> NodeResult:
    if call.attribute("channels_last", 0):
        raise call.unsupported("channels in the last dim are not supported")
    return _give(call, average_pool(call, _take(call, 0)), 3)


# -- Products ---------------------------------------------------------------------------------------------------------


def _product(
    call: NodeCall,
    factors: tuple[torch.fx.Node, torch.fx.Node],
    scales: tuple[torch.fx.Node, torch.fx.Node],
    zeros: tuple[torch.fx.Node | None, torch.fx.Node | None],
    bias: torch.fx.Node | None,
) -> torch.fx.Node:
    """Returns the product of quantized matrices as float numbers."""
    product = call.cast(matmul_exact(call, *factors, *zeros), torch.float32)
    lhs_scale = scales[0]
    if len(shape_of(lhs_scale)) == 1 and shape_of(lhs_scale) != (1,):
        lhs_scale = call.reshape(lhs_scale, [-1, 1])
    scale = call.aten("mul.Tensor", call.cast(lhs_scale, torch.float32), call.cast(scales[1], torch.float32))
    result = call.cast(call.aten("mul.Tensor", product, scale), dtype_of(scales[0]))
    return result if bias is None else call.aten("add.Tensor", result, bias)


def _handle_matmul_to_float(call: NodeCall) -> NodeResult:
    zeros = (call.get(4), call.get(5))
    return _product(call, (call[0], call[1]), (call[2], call[3]), zeros, call.get(6))


def _handle_dynamic_matmul(call: NodeCall) -> NodeResult:
    # As in DynamicQuantizeLinear: uint8, with zero in the range.
    x = call[0]
    highest = call.aten("clamp_min", call.aten("amax", x), 0)
    lowest = call.aten("clamp_max", call.aten("amin", x), 0)
    scale = call.aten("div.Scalar", call.aten("sub.Tensor", highest, lowest), 255)
    is_zero = call.aten("eq.Scalar", scale, 0)
    scale = call.aten("where.self", is_zero, call.constant(torch.ones(())), scale)
    steps = call.aten("div.Tensor", call.aten("neg", lowest), scale)
    zero = call.cast(call.aten("clamp", call.aten("round", steps), 0, 255), torch.uint8)
    quantized = quantize(call, x, scale, zero, quantized_type(zero))
    return _product(call, (quantized, call[1]), (scale, call[2]), (zero, call.get(3)), call.get(4))


def _handle_gemm(call: NodeCall) -> NodeResult:
    lhs = call.aten("t", call[0]) if call.attribute("transA", 0) else call[0]
    rhs = call.aten("t", call[3]) if call.attribute("transB", 0) else call[3]
    product = matmul_exact(call, lhs, rhs, _scalar(call, call[2]), call.get(5))
    alpha, summand = call.attribute("alpha", 1.0), call.get(6)
    if summand is not None:
        product = call.aten("add.Tensor", product, call.cast(summand, dtype_of(product)))
    product = call.cast(product, torch.float32)
    scale = call.aten("mul.Scalar", call.aten("mul.Tensor", call[1], call[4]), alpha)
    if call.get(7) is None:
        return call.aten("mul.Tensor", product, scale)
    factor = multiplier(call, [scale, call.constant(torch.ones(()))], call[7])
    zero = call.get(8)
    return round_to(call, call.aten("mul.Tensor", product, factor), zero, quantized_type(zero or call[0]))


# -- Weights of a few bits --------------------------------------------------------------------------------------------


def _handle_matmul_bits(call: NodeCall) -> NodeResult:
    x, bits, block = call[0], call.attribute("bits", 4), call.attribute("block_size")
    rows, columns = call.attribute("K"), call.attribute("N")
    call.ignore("accuracy_level")  # the lowest accuracy that is allowed
    if bits not in (2, 4, 8):
        raise call.unsupported(f"weights of {bits} bits are not supported")
    if call.get(4) is not None:
        raise call.unsupported("the input 'g_idx' is not supported")
    blocks, dtype = -(-rows // block), dtype_of(x)
    if math.prod(shape_of(call[1])) != columns * blocks * block * bits // 8:
        raise ArgumentValueError(f"{call.place}: expected {columns} x {blocks} blocks of {block} weights")
    zero, scale = call.get(3), call.reshape(call[2], [columns, blocks])
    offsets = None
    if zero is None:
        pass  # the middle of the codes, which are then signed
    elif dtype_of(zero) == torch.uint8:
        zero = _unpack(call, call.reshape(zero, [columns, -1]), bits)
        zero = call.aten("slice.Tensor", call.reshape(zero, [columns, -1]), 1, 0, blocks)
        offsets = call.aten("view.dtype", call.cast(zero, torch.uint8), torch.int8)
    else:
        offsets = call.cast(call.reshape(zero, [columns, blocks]), torch.float32)
    codes = call.aten("view.dtype", call.reshape(call[1], [columns, blocks * block * bits // 8]), torch.int8)
    if zero is None:
        signs = sum(1 << place for place in range(bits - 1, 8, bits))
        codes = call.aten("bitwise_xor.Scalar", codes, signs - 256)
    used = -(-rows * bits // 8)
    if used != shape_of(codes)[1]:  # the last block is not full
        codes = call.aten("slice.Tensor", codes, 1, 0, used)
    size = rows if rows * bits % 8 else None
    weight = call.dequantize(codes, scale, offsets, f"{'i' if zero is None else 'u'}{bits}", [1, block], dtype, size)
    return call.aten("linear", x, weight, call.get(5))


def _unpack(call: NodeCall, x: torch.fx.Node, bits: int) -> torch.fx.Node:
    """Returns the numbers of a few bits in bytes, from the lowest bits of each byte on, in a new last dim."""
    wide = call.cast(x, torch.int32)
    parts = [
        call.aten("bitwise_and.Scalar", call.aten("bitwise_right_shift.Tensor_Scalar", wide, shift), 2**bits - 1)
        for shift in range(0, 8, bits)
    ]
    return call.aten("stack", parts, -1)
