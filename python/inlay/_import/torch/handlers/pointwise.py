# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports pointwise calls and makes PyTorch's type promotion explicit."""

from __future__ import annotations

import math
from typing import Any

import torch

from ...._dialect import ops
from ..call import Call
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    found = {name: _handle_pointwise for op in ops.table().values() if op.pointwise for name in op.aten}
    return {
        **found,
        **{name: _handle_division for op in ("floor_div", "trunc_div") for name in ops.table()[op].aten},
        **dict.fromkeys(ops.table()["where"].aten, _handle_where),
        **dict.fromkeys(("masked_fill.Scalar", "masked_fill.Tensor"), _handle_masked_fill),
        **dict.fromkeys(("isinf", "isnan", "signbit"), _handle_float_predicate),
        **dict.fromkeys(("clamp", "clamp.Tensor", "clamp_min", "clamp_max", "hardtanh"), _handle_clamp),
        **dict.fromkeys(("clamp_min.Tensor", "clamp_max.Tensor"), _handle_clamp),
        **dict.fromkeys(("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar"), _handle_pow),
        **dict.fromkeys(("rsub.Tensor", "rsub.Scalar"), _handle_rsub),
        "gelu": _handle_gelu,
        "leaky_relu": _handle_leaky_relu,
        "elu": _handle_elu,
        "round.decimals": _handle_round_decimals,
        "_to_copy": _handle_cast,
        "to.dtype": _handle_cast,
    }


class Composer:
    """Writes one call as several pointwise ops. Operands that are numbers become constants of the dtype `dtype`."""

    def __init__(self, walker: Walker, dtype: torch.dtype) -> None:
        self._walker, self._dtype = walker, dtype
        self._count = 0

    def __call__(self, name: str, *operands: Value | float, last: bool = False) -> Value:
        """Writes the pointwise op `name`. last: True for the op whose label is that of the call."""
        values = [
            operand if isinstance(operand, Value) else self._walker.scalar(operand, self._dtype) for operand in operands
        ]
        dtype = torch.bool if ops.table()[name].result == "boolean" else self._dtype
        shape = self._walker.broadcast(*(value.shape for value in values))
        self._count += 1
        suffix = None if last else f"{name}{self._count}"
        return self._walker.op(name, values, shape=shape, dtype=dtype, suffix=suffix)


def _is_computable(op: ops.Op, dtype: torch.dtype) -> bool:
    """Returns true if the pointwise op is defined on elements of `dtype`."""
    kind = "floats" if dtype.is_floating_point else "booleans" if dtype == torch.bool else "integers"
    return kind in op.elements


def _handle_pointwise(walker: Walker, call: Call) -> HandlerResult:
    op = ops.find(call.name) or ops.find(call.base)
    assert op is not None
    return _emit(walker, call, op, call.operand_type if op.result == "boolean" else call.dtype)


def _emit(walker: Walker, call: Call, op: ops.Op, dtype: torch.dtype) -> Value | None:
    """Writes `op` on the call's first arguments, all cast to `dtype`. Returns None if `op` is not defined on that
    dtype."""
    if not _is_computable(op, dtype):
        return None
    operands = [
        _operand(walker, value, dtype, argument.name)
        for argument, value in zip(op.operands, call.args.values(), strict=False)
    ]
    alpha = call.get("alpha", 1)
    if alpha != 1:
        operands[1] = walker.op(
            "mul", [operands[1], walker.scalar(alpha, dtype)], shape=operands[1].shape, dtype=dtype, suffix="alpha"
        )
    return walker.op(op.name, operands, shape=call.shape, dtype=call.dtype)


def _operand(walker: Walker, value: Any, dtype: torch.dtype, name: str) -> Value:
    """Returns an argument of the call, a node or a number, as a Value of `dtype`. name: the argument's, for the
    label."""
    if isinstance(value, torch.fx.Node):
        return walker.cast(walker.tensor(value), dtype, f"{name}_cast")
    return walker.scalar(value, dtype)


def _handle_division(walker: Walker, call: Call) -> HandlerResult:
    names = {"floor": "floor_div", "trunc": "trunc_div", None: "div"}
    mode = call.args.get("rounding_mode", "floor" if call.base == "floor_divide" else None)
    if mode == "trunc" and call.dtype in (torch.float16, torch.bfloat16):
        # PyTorch rounds the quotient to the short type before it truncates.
        lhs, rhs = (_operand(walker, call[name], call.dtype, name) for name in ("self", "other"))
        compose = Composer(walker, call.dtype)
        return compose("trunc", compose("div", lhs, rhs), last=True)
    return _emit(walker, call, ops.table()[names[mode]], call.dtype)


def _handle_rsub(walker: Walker, call: Call) -> HandlerResult:
    swapped = Composer(walker, call.dtype)
    lhs, rhs = (_operand(walker, call[name], call.dtype, name) for name in ("other", "self"))
    if (alpha := call.get("alpha", 1)) != 1:
        rhs = swapped("mul", rhs, alpha)
    return swapped("sub", lhs, rhs, last=True)


def _handle_float_predicate(walker: Walker, call: Call) -> HandlerResult:
    dtype = call.operand_type
    if dtype.is_floating_point or (call.base == "signbit" and dtype != torch.bool):
        return _handle_pointwise(walker, call)
    return walker.splat(False, call.shape, torch.bool)


def _handle_where(walker: Walker, call: Call) -> HandlerResult:
    names = ("self", "other") if "self" in call.args else ("input", "other")
    condition = walker.cast(walker.tensor(call["condition"]), torch.bool, "condition_cast")
    chosen = [_operand(walker, call[name], call.dtype, name) for name in names]
    return walker.op("where", [condition, *chosen], shape=call.shape, dtype=call.dtype)


def _handle_masked_fill(walker: Walker, call: Call) -> HandlerResult:
    operands = [walker.tensor(call["mask"]), _operand(walker, call["value"], call.dtype, "value")]
    return walker.op("where", [*operands, walker.tensor(call["self"])], shape=call.shape, dtype=call.dtype)


def _handle_pow(walker: Walker, call: Call) -> HandlerResult:
    exponent = call["exponent"]
    if call.dtype == torch.bool:
        return None
    if exponent in (0.5, -0.5) and call.dtype.is_floating_point and call.dtype != torch.float16:
        # PyTorch computes a root here. The root of -0 or -inf differs from its power.
        root = Composer(walker, call.dtype)
        return root(
            "sqrt" if exponent > 0 else "rsqrt", walker.cast(walker.tensor(call["self"]), call.dtype), last=True
        )
    if call.dtype.is_floating_point or not isinstance(exponent, int) or not 1 <= exponent < 64:
        return _handle_pointwise(walker, call)
    # Exponentiation by squaring.
    square, power, compose = walker.cast(walker.tensor(call["self"]), call.dtype), None, Composer(walker, call.dtype)
    while exponent:
        last = exponent == 1
        if exponent & 1:
            power = square if power is None else compose("mul", power, square, last=last)
        exponent >>= 1
        if exponent:
            square = compose("mul", square, square, last=exponent == 1 and power is None)
    return power


def _handle_round_decimals(walker: Walker, call: Call) -> HandlerResult:
    decimals = call["decimals"]
    if not call.dtype.is_floating_point:
        return None
    compose, x, factor = Composer(walker, call.dtype), walker.tensor(call["self"]), float(10 ** abs(decimals))
    there, back = ("mul", "div") if decimals >= 0 else ("div", "mul")
    return compose(back, compose("round", compose(there, x, factor)), factor, last=True)


def _handle_gelu(walker: Walker, call: Call) -> HandlerResult:
    if call["approximate"] == "none":
        return _handle_pointwise(walker, call)
    # 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), Hendrycks & Gimpel, arXiv:1606.08415. The equal
    # x sigmoid(2 u) keeps its digits where tanh(u) is close to -1. The host target finds exactly this form
    # (lib/Target/Host/LibraryCalls/Activations.cpp) and computes it in PostOps.inc.
    x = walker.tensor(call["self"])

    def step(name: str, lhs: Value, rhs: Value | float | None, suffix: str | None) -> Value:
        operands = [lhs] if rhs is None else [lhs, walker.scalar(rhs, x.dtype) if isinstance(rhs, float) else rhs]
        return walker.op(name, operands, shape=call.shape, dtype=call.dtype, suffix=suffix)

    cube = step("mul", step("mul", x, x, "square"), x, "cube")
    inner = step("add", step("mul", cube, 0.044715, "cubic"), x, "inner")
    sigmoid = step("sigmoid", step("mul", inner, 2 * math.sqrt(2 / math.pi), "scaled"), None, "sigmoid")
    return step("mul", x, sigmoid, None)


def _handle_clamp(walker: Walker, call: Call) -> HandlerResult:
    low, high = _bounds(call)
    if low is None and high is None:
        return None
    value = walker.cast(walker.tensor(call["self"]), call.dtype)
    for name, bound, last in (("maximum", low, high is None), ("minimum", high, True)):
        if bound is not None:
            operands = [value, _operand(walker, bound, call.dtype, name)]
            shape = walker.broadcast(*(operand.shape for operand in operands))
            value = walker.op(name, operands, shape=shape, dtype=call.dtype, suffix=None if last else "min")
    return value


def _bounds(call: Call) -> list[Any]:
    """Returns the lower and the upper bound of a clamp: numbers, nodes or None."""
    names = ("min_val", "max_val") if call.base == "hardtanh" else ("min", "max")
    return [call.get(name) for name in names]


def _handle_leaky_relu(walker: Walker, call: Call) -> HandlerResult:
    slope, x = call["negative_slope"], walker.tensor(call["self"])
    compose = Composer(walker, x.dtype)
    scaled = compose("mul", x, slope)
    if 0 < slope <= 1:
        return compose("maximum", x, scaled, last=True)
    return compose("where", compose("gt", x, 0), x, scaled, last=True)


def _handle_elu(walker: Walker, call: Call) -> HandlerResult:
    compose, x = Composer(walker, call.dtype), walker.tensor(call["self"])
    below, above = x, x
    if call["input_scale"] != 1:
        below = compose("mul", x, call["input_scale"])
    below = compose("mul", compose("expm1", below), call["alpha"] * call["scale"])
    if call["scale"] != 1:
        above = compose("mul", x, call["scale"])
    return compose("where", compose("gt", x, 0), above, below, last=True)


def _handle_cast(walker: Walker, call: Call) -> HandlerResult:
    return walker.cast(walker.tensor(call["self"]), call.dtype, suffix=None)
