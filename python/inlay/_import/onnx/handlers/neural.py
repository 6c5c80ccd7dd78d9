# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports matrix products and softmax."""

from __future__ import annotations

import functools

import torch

from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Einsum": _handle_einsum,
        "Gemm": gemm,
        "LogSoftmax": functools.partial(_handle_softmax, "log_softmax.int"),
        "MatMul": _handle_matmul,
        "Softmax": functools.partial(_handle_softmax, "softmax.int"),
    }


def _handle_matmul(call: NodeCall) -> NodeResult:
    weight = _transposed_weight(call, call[1])
    return call.aten("matmul", call[0], call[1]) if weight is None else call.aten("linear", call[0], weight)


def _transposed_weight(call: NodeCall, x: torch.fx.Node) -> torch.fx.Node | None:
    """Returns the constant of which `x` is the transpose; None for other values.

    A layer takes the constant itself, so that the transpose takes no memory.
    """
    if x.target is not torch.ops.aten.permute.default or x.args[1:] != ([1, 0],):
        return None
    (source,) = x.all_input_nodes
    return source if call.is_constant(source) and dtype_of(source).is_floating_point else None


def gemm(call: NodeCall) -> torch.fx.Node:
    """Adds the product of a Gemm node."""
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


def _handle_softmax(name: str, call: NodeCall) -> NodeResult:
    return call.aten(name, call[0], call.axis(call.attribute("axis", -1), len(shape_of(call[0]))))
