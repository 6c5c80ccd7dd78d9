# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointwise calls, with PyTorch's type promotion made explicit."""

import math

import torch

from .. import ops


def handlers():
    """ATen name -> handler."""
    found = {name: _handle_pointwise for op in ops.table().values() if op.pointwise for name in op.aten}
    return {
        **found,
        "pow.Scalar": _handle_pointwise,
        "gelu": _handle_gelu,
        "clamp": _handle_clamp,
        "hardtanh": _handle_clamp,
        "leaky_relu": _handle_leaky_relu,
        "_to_copy": _handle_cast,
        "to.dtype": _handle_cast,
    }


def _is_computable(op, dtype):
    return dtype.is_floating_point or (op.integers and dtype != torch.bool)


def _handle_pointwise(walker, call):
    op = ops.find(call.name) or ops.find(call.base)
    if not _is_computable(op, call.dtype):
        return None
    values = list(call.args.values())
    operands = [
        _operand(walker, value, call.dtype, argument.name) for argument, value in zip(op.operands, values, strict=False)
    ]
    alpha = call.get("alpha", 1)
    if alpha != 1:
        operands[1] = walker.op(
            "mul",
            [operands[1], walker.scalar(alpha, call.dtype)],
            shape=operands[1].shape,
            dtype=call.dtype,
            suffix="alpha",
        )
    return walker.op(op.name, operands, shape=call.shape, dtype=call.dtype)


def _operand(walker, value, dtype, name):
    if isinstance(value, torch.fx.Node):
        return walker.cast(walker.tensor(value), dtype, f"{name}_cast")
    return walker.scalar(value, dtype)


def _handle_gelu(walker, call):
    if call["approximate"] == "none":
        return _handle_pointwise(walker, call)
    # 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks & Gimpel, arXiv:1606.08415.
    x = walker.tensor(call["self"])

    def step(name, lhs, rhs, suffix):
        operands = [lhs] if rhs is None else [lhs, walker.scalar(rhs, x.dtype) if isinstance(rhs, float) else rhs]
        return walker.op(name, operands, shape=call.shape, dtype=call.dtype, suffix=suffix)

    cube = step("mul", step("mul", x, x, "square"), x, "cube")
    inner = step("add", step("mul", cube, 0.044715, "cubic"), x, "inner")
    tanh = step("tanh", step("mul", inner, math.sqrt(2 / math.pi), "scaled"), None, "tanh")
    return step("mul", step("mul", x, 0.5, "half"), step("add", tanh, 1.0, "shifted"), None)


def _handle_clamp(walker, call):
    low, high = (call.get(f"min{end}"), call.get(f"max{end}")) if (end := _ending(call)) is not None else (None, None)
    numbers = [bound for bound in (low, high) if bound is not None]
    if not numbers or any(isinstance(bound, torch.fx.Node) for bound in numbers) or call.dtype == torch.bool:
        return None
    value = walker.cast(walker.tensor(call["self"]), call.dtype)
    if low is not None:
        value = walker.op(
            "maximum",
            [value, walker.scalar(low, call.dtype)],
            shape=call.shape,
            dtype=call.dtype,
            suffix=None if high is None else "min",
        )
    if high is not None:
        value = walker.op("minimum", [value, walker.scalar(high, call.dtype)], shape=call.shape, dtype=call.dtype)
    return value


def _ending(call):
    return {"clamp": "", "hardtanh": "_val"}.get(call.name)


def _handle_leaky_relu(walker, call):
    slope = call["negative_slope"]
    if not 0 < slope <= 1:
        return None
    x = walker.tensor(call["self"])
    scaled = walker.op("mul", [x, walker.scalar(slope, x.dtype)], shape=x.shape, dtype=x.dtype, suffix="scaled")
    return walker.op("maximum", [x, scaled], shape=x.shape, dtype=x.dtype)


def _handle_cast(walker, call):
    return walker.cast(walker.tensor(call["self"]), call.dtype, suffix=None)
