# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports convolution, normalization, products and attention."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from .layout import pad
from .windows import conv_sides, transposed_sides


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Attention": _handle_attention,
        "BatchNormalization": _handle_batch_norm,
        "Conv": _handle_conv,
        "ConvTranspose": _handle_conv_transpose,
        "Einsum": _handle_einsum,
        "Gemm": _handle_gemm,
        "GroupNormalization": _handle_group_norm,
        "InstanceNormalization": _handle_instance_norm,
        "LayerNormalization": _handle_layer_norm,
        "LogSoftmax": functools.partial(_handle_softmax, "log_softmax.int"),
        "LpNormalization": _handle_lp_norm,
        "MatMul": _handle_matmul,
        "RMSNormalization": _handle_rms_norm,
        "Softmax": functools.partial(_handle_softmax, "softmax.int"),
    }


# -- Convolution ------------------------------------------------------------------------------------------------------


def _handle_conv(call: NodeCall) -> NodeResult:
    x, weight = call[0], call[1]
    kernel = shape_of(weight)[2:]
    count = len(kernel)
    stride, dilation = call.attribute("strides", [1] * count), call.attribute("dilations", [1] * count)
    sides = conv_sides(call, shape_of(x)[2:], kernel, stride, dilation)
    padding = [low for low, _ in sides]
    if any(low != high for low, high in sides):
        x, padding = pad(call, x, [(0, 0), (0, 0), *sides], 0.0), [0] * count
    groups = call.attribute("group", 1)
    return call.aten("convolution", x, weight, call.get(2), stride, padding, dilation, False, [0] * count, groups)


def _handle_conv_transpose(call: NodeCall) -> NodeResult:
    x, weight = call[0], call[1]
    kernel = shape_of(weight)[2:]
    count = len(kernel)
    stride, dilation = call.attribute("strides", [1] * count), call.attribute("dilations", [1] * count)
    more = call.attribute("output_padding", [0] * count)
    sides = transposed_sides(call, shape_of(x)[2:], kernel, stride, dilation, more)
    padding = [max(0, min(pair)) for pair in sides]
    groups = call.attribute("group", 1)
    result = call.aten("convolution", x, weight, call.get(2), stride, padding, dilation, True, more, groups)
    # The convolution removes the same number of elements on both sides. The rest is removed here.
    rest = [(both - low, both - high) for both, (low, high) in zip(padding, sides, strict=True)]
    if any(number > 0 for pair in rest for number in pair):
        raise call.unsupported("negative pads are not supported")
    return pad(call, result, [(0, 0), (0, 0), *rest], 0.0)


# -- Products ---------------------------------------------------------------------------------------------------------


def _handle_matmul(call: NodeCall) -> NodeResult:
    return call.aten("matmul", call[0], call[1])


def _handle_gemm(call: NodeCall) -> NodeResult:
    alpha, beta = call.attribute("alpha", 1.0), call.attribute("beta", 1.0)
    lhs = call.aten("t", call[0]) if call.attribute("transA", 0) else call[0]
    transposed, bias = call.attribute("transB", 0), call.get(2)
    outputs = shape_of(call[1])[0 if transposed else 1]
    if transposed and alpha == beta == 1 and (bias is None or shape_of(bias) == (outputs,)):
        return call.aten("linear", lhs, call[1], bias)
    rhs = call.aten("t", call[1]) if transposed else call[1]
    factors = {"alpha": alpha, "beta": beta}
    if not dtype_of(lhs).is_floating_point:
        if any(factor != int(factor) for factor in factors.values()):
            raise call.unsupported(
                "a product of integers with an alpha or beta that is not an integer is not supported"
            )
        factors = {name: int(factor) for name, factor in factors.items()}
    if bias is not None:
        return call.aten("addmm", bias, lhs, rhs, **factors)
    product = call.aten("mm", lhs, rhs)
    return product if alpha == 1 else call.aten("mul.Scalar", product, factors["alpha"])


def _handle_einsum(call: NodeCall) -> NodeResult:
    return call.aten("einsum", call.attribute("equation"), call.inputs)


# -- Normalization ----------------------------------------------------------------------------------------------------


def _handle_batch_norm(call: NodeCall) -> NodeResult:
    if call.attribute("training_mode", 0):
        raise call.unsupported("training is not supported")
    x, scale, bias, mean, variance = (call[number] for number in range(5))
    eps = call.attribute("epsilon", 1e-5)
    return call.aten("batch_norm", x, scale, bias, mean, variance, False, 0.0, eps, False)


def _handle_instance_norm(call: NodeCall) -> NodeResult:
    channels = shape_of(call[0])[1]
    return call.aten("group_norm", call[0], channels, call[1], call[2], call.attribute("epsilon", 1e-5), False)


def _handle_group_norm(call: NodeCall) -> NodeResult:
    x, groups = call[0], call.attribute("num_groups")
    channels = shape_of(x)[1]
    scale, bias = (_per_channel(call, call[number], channels) for number in (1, 2))
    return call.aten("group_norm", x, groups, scale, bias, call.attribute("epsilon", 1e-5), False)


def _per_channel(call: NodeCall, vector: torch.fx.Node, channels: int) -> torch.fx.Node:
    """Returns a vector with one element per channel. Before version 21, `vector` has one element per group."""
    (count,) = shape_of(vector)
    if call.version >= 21 or count == channels:
        return vector
    spread = call.aten("expand", call.reshape(vector, (count, 1)), [count, channels // count])
    return call.reshape(spread, (channels,))


class _NormalizedDims(NamedTuple):
    """The sizes of the normalized dims, and the vectors expanded to them."""

    dims: list[int]
    vectors: list[torch.fx.Node | None]


def _normalized(call: NodeCall, x: torch.fx.Node, vectors: Sequence[torch.fx.Node | None]) -> _NormalizedDims:
    """Returns the dims that the node normalizes. vectors: its scale and bias, which broadcast to them."""
    shape = shape_of(x)
    dims = list(shape[call.axis(call.attribute("axis", -1), len(shape)) :])
    fitted = [
        vector
        if vector is None or list(shape_of(vector)) == dims
        else call.aten("expand", call.reshape(vector, shape_of(vector)[-len(dims) :]), dims)
        for vector in vectors
    ]
    return _NormalizedDims(dims, fitted)


def _handle_layer_norm(call: NodeCall) -> NodeResult:
    x, eps = call[0], call.attribute("epsilon", 1e-5)
    dims, (scale, bias) = _normalized(call, x, (call[1], call.get(2)))
    normalized = call.aten("layer_norm", x, dims, scale, bias, eps, False)
    if call.is_wanted(1) or call.is_wanted(2):
        wide = call.cast(x, torch.float32 if call.attribute("stash_type", 1) == 1 else dtype_of(x))
        axes = list(range(len(shape_of(x)) - len(dims), len(shape_of(x))))
        mean = call.aten("mean.dim", wide, axes, True)
        centered = call.aten("sub.Tensor", wide, mean)
        variance = call.aten("mean.dim", call.aten("mul.Tensor", centered, centered), axes, True)
        return [normalized, mean, call.aten("rsqrt", call.aten("add.Scalar", variance, eps))]
    return [normalized, None, None]


def _handle_rms_norm(call: NodeCall) -> NodeResult:
    dims, (scale,) = _normalized(call, call[0], (call[1],))
    return call.aten("rms_norm", call[0], dims, scale, call.attribute("epsilon", 1e-5))


def _handle_lp_norm(call: NodeCall) -> NodeResult:
    x, order = call[0], call.attribute("p", 2)
    dim = call.axis(call.attribute("axis", -1), len(shape_of(x)))
    norm = call.aten("linalg_vector_norm", x, order, [dim], True)
    # A vector of zeros stays unchanged.
    is_zero = call.aten("eq.Scalar", norm, 0)
    one = call.constant(torch.ones((), dtype=dtype_of(x)))
    return call.aten("div.Tensor", x, call.aten("where.self", is_zero, one, norm))


def _handle_softmax(name: str, call: NodeCall) -> NodeResult:
    return call.aten(name, call[0], call.axis(call.attribute("axis", -1), len(shape_of(call[0]))))


# -- Attention --------------------------------------------------------------------------------------------------------


def _handle_attention(call: NodeCall) -> NodeResult:
    query, key, value = (call[number] for number in range(3))
    if call.get(4) is not None or call.get(5) is not None or call.get(6) is not None:
        raise call.unsupported("keys and values of earlier calls are not supported")
    if call.attribute("softcap", 0.0):
        raise call.unsupported("softcap is not supported")
    flat = len(shape_of(query)) == 3
    heads, kv_heads = call.attribute("q_num_heads"), call.attribute("kv_num_heads")
    if flat:
        if not heads or not kv_heads:
            raise ArgumentValueError(f"{call.place}: expected q_num_heads and kv_num_heads for inputs of 3 dims")
        query, key, value = (
            _split_heads(call, x, count) for x, count in ((query, heads), (key, kv_heads), (value, kv_heads))
        )
    is_causal = bool(call.attribute("is_causal", 0))
    mask = call.get(3)
    if is_causal and mask is not None:
        mask, is_causal = _causal(call, mask, shape_of(query)[-2], shape_of(key)[-2]), False
    scale = call.attribute("scale") or 1 / math.sqrt(shape_of(query)[-1])
    grouped = shape_of(query)[1] != shape_of(key)[1]
    result = call.aten(
        "scaled_dot_product_attention", query, key, value, mask, 0.0, is_causal, scale=scale, enable_gqa=grouped
    )
    if flat:
        batch, heads, length, width = shape_of(result)
        result = call.reshape(call.aten("permute", result, [0, 2, 1, 3]), (batch, length, heads * width))
    return result


def _split_heads(call: NodeCall, x: torch.fx.Node, heads: int) -> torch.fx.Node:
    """Returns `x`, batch x length x (heads * width), as batch x heads x length x width."""
    batch, length, width = shape_of(x)
    return call.aten("permute", call.reshape(x, (batch, length, heads, width // heads)), [0, 2, 1, 3])


def _causal(call: NodeCall, mask: torch.fx.Node, queries: int, keys: int) -> torch.fx.Node:
    """Returns the mask with all keys behind their query masked too."""
    allowed = torch.ones(queries, keys, dtype=torch.bool).tril()
    if dtype_of(mask) == torch.bool:
        return call.aten("logical_and", mask, call.constant(allowed))
    barred = torch.zeros(queries, keys, dtype=dtype_of(mask)).masked_fill(~allowed, -math.inf)
    return call.aten("add.Tensor", mask, call.constant(barred))
