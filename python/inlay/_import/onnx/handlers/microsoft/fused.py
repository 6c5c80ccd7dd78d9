# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports convolutions and matrix products of the domain com.microsoft."""

from __future__ import annotations

import torch

from ...call import Handler, NodeCall, NodeResult, shape_of
from ..convolution import conv, conv_transpose
from ..neural import gemm
from .activations import activate


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "ConvTransposeWithDynamicPads": _handle_conv_transpose_with_dynamic_pads,
        "FusedConv": _handle_fused_conv,
        "FusedGemm": _handle_fused_gemm,
        "FusedMatMul": _handle_fused_matmul,
        "Inverse": _handle_inverse,
        "NhwcConv": _handle_nhwc_conv,
        "NhwcFusedConv": _handle_nhwc_conv,
        "TransposeMatMul": _handle_fused_matmul,
    }


def _handle_fused_conv(call: NodeCall) -> NodeResult:
    result, summand = conv(call, call[0], call[1], call.get(2)), call.get(3)
    if summand is not None:
        result = call.aten("add.Tensor", result, summand)
    return activate(call, result, call.attribute("activation_params", []))


def _handle_nhwc_conv(call: NodeCall) -> NodeResult:
    rank = len(shape_of(call[0]))
    to_last = [0, *range(2, rank), 1]
    x = call.aten("permute", call[0], [0, rank - 1, *range(1, rank - 1)])
    result, summand = call.aten("permute", conv(call, x, call[1], call.get(2)), to_last), call.get(3)
    if summand is not None:
        result = call.aten("add.Tensor", result, summand)
    return activate(call, result, call.attribute("activation_params", []))


def _handle_conv_transpose_with_dynamic_pads(call: NodeCall) -> NodeResult:
    return conv_transpose(call, call[0], call[1], call.get(3), call.ints(2, "pads"))


def _handle_fused_gemm(call: NodeCall) -> NodeResult:
    given = (call.attribute(f"activation_{name}") for name in ("alpha", "beta", "gamma"))
    return activate(call, gemm(call), [value for value in given if value is not None])


def _handle_fused_matmul(call: NodeCall) -> NodeResult:
    lhs, rhs = (
        _transposed(call, call[number], call.attribute(f"trans{side}", 0), call.attribute(f"transBatch{side}", 0))
        for number, side in enumerate("AB")
    )
    product, alpha = call.aten("matmul", lhs, rhs), call.attribute("alpha", 1.0)
    return product if alpha == 1 else call.aten("mul.Scalar", product, alpha)


def _transposed(call: NodeCall, x: torch.fx.Node, matrices: bool, batch: bool) -> torch.fx.Node:
    """Returns a factor transposed. batch: True to move the first dim behind the batch dims."""
    dims = list(range(len(shape_of(x))))
    if len(dims) < 2:
        return x
    if batch:
        dims = [*dims[1:-1], dims[0], dims[-1]]
    if matrices:
        dims = [*dims[:-2], dims[-1], dims[-2]]
    return x if dims == sorted(dims) else call.aten("permute", x, dims)


def _handle_inverse(call: NodeCall) -> NodeResult:
    return call.aten("linalg_inv", call[0])
