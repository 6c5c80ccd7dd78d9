# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports pointwise ops and casts."""

from __future__ import annotations

import functools
import math

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of

# ONNX op -> ATen call of the same operands.
_SAME = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Add": "add.Tensor",
    "And": "logical_and",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseAnd": "bitwise_and.Tensor",
    "BitwiseNot": "bitwise_not",
    "BitwiseOr": "bitwise_or.Tensor",
    "BitwiseXor": "bitwise_xor.Tensor",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Equal": "eq.Tensor",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Greater": "gt.Tensor",
    "GreaterOrEqual": "ge.Tensor",
    "HardSwish": "hardswish",
    "IsNaN": "isnan",
    "Less": "lt.Tensor",
    "LessOrEqual": "le.Tensor",
    "Log": "log",
    "Mish": "mish",
    "Mul": "mul.Tensor",
    "Neg": "neg",
    "Not": "logical_not",
    "Or": "logical_or",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sgn",
    "Sin": "sin",
    "Sinh": "sinh",
    "Softplus": "softplus",
    "Sqrt": "sqrt",
    "Sub": "sub.Tensor",
    "Tan": "tan",
    "Tanh": "tanh",
    "Where": "where.self",
    "Xor": "logical_xor",
}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        **{op: functools.partial(_handle_same, name) for op, name in _SAME.items()},
        "BitShift": _handle_bit_shift,
        "Celu": _handle_celu,
        "Clip": _handle_clip,
        "Det": functools.partial(_handle_same, "linalg_det"),
        "Div": _handle_div,
        "Dropout": _handle_dropout,
        "Elu": _handle_elu,
        "Gelu": _handle_gelu,
        "HardSigmoid": _handle_hard_sigmoid,
        "Identity": _handle_identity,
        "IsInf": _handle_is_inf,
        "LeakyRelu": _handle_leaky_relu,
        "Max": functools.partial(_handle_chain, "maximum"),
        "Mean": _handle_mean,
        "Min": functools.partial(_handle_chain, "minimum"),
        "Mod": _handle_mod,
        "PRelu": _handle_prelu,
        "Pow": _handle_pow,
        "Selu": _handle_selu,
        "Softsign": _handle_softsign,
        "Sum": functools.partial(_handle_chain, "add.Tensor"),
        "Swish": _handle_swish,
        "ThresholdedRelu": _handle_thresholded_relu,
    }


def _handle_same(name: str, call: NodeCall) -> NodeResult:
    return call.aten(name, *call.inputs)


def _handle_identity(call: NodeCall) -> NodeResult:
    return [call.value(0)]


def _handle_chain(name: str, call: NodeCall) -> torch.fx.Node:
    result = call[0]
    for number in range(1, len(call.inputs)):
        result = call.aten(name, result, call[number])
    return result


def _handle_mean(call: NodeCall) -> NodeResult:
    return call.aten("div.Tensor", _handle_chain("add.Tensor", call), len(call.inputs))


def _handle_div(call: NodeCall) -> NodeResult:
    if dtype_of(call[0]).is_floating_point:
        return call.aten("div.Tensor", call[0], call[1])
    return call.aten("div.Tensor_mode", call[0], call[1], rounding_mode="trunc")


def _handle_bit_shift(call: NodeCall) -> NodeResult:
    direction = call.attribute("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise ArgumentValueError(f"{call.place}: expected the direction LEFT or RIGHT, but got {direction!r}")
    return call.aten(f"bitwise_{direction.lower()}_shift.Tensor", call[0], call[1])


def _handle_mod(call: NodeCall) -> NodeResult:
    return call.aten("fmod.Tensor" if call.attribute("fmod", 0) else "remainder.Tensor", call[0], call[1])


def _handle_pow(call: NodeCall) -> NodeResult:
    base, exponent = call[0], call[1]
    dtype = dtype_of(base)
    # An integer to the power of a float is computed as a float.
    computed = dtype if dtype.is_floating_point or not dtype_of(exponent).is_floating_point else dtype_of(exponent)
    base = call.cast(base, computed)
    if call.is_known(1) and shape_of(exponent) in ((), (1,)) and len(shape_of(base)) >= len(shape_of(exponent)):
        power = call.number(1, "the exponent")
        if not computed.is_floating_point and power < 0:
            raise call.unsupported("integers to negative powers are not supported")
        result = call.aten("pow.Tensor_Scalar", base, power)
    else:
        result = call.aten("pow.Tensor_Tensor", base, call.cast(exponent, computed))
    return call.cast(result, dtype)


def _handle_clip(call: NodeCall) -> NodeResult:
    x, result = call[0], call[0]
    for number, name in ((1, "maximum"), (2, "minimum")):
        bound = call.get(number)
        if bound is None:
            continue
        if call.is_known(number):
            value = call.number(number, "the bound")
            result = call.aten("clamp_min" if number == 1 else "clamp_max", result, value)
        else:
            result = call.aten(name, result, bound)
    return call.cast(result, dtype_of(x))


def _handle_dropout(call: NodeCall) -> NodeResult:
    x = call[0]
    is_training = call.get(2) is not None and call.number(2, "training_mode")
    ratio = call.number(1, "ratio", 0.5) if is_training else 0
    if ratio == 0:
        return [x, call.aten("full", shape_of(x), True, dtype=torch.bool) if call.is_wanted(1) else None]
    call.ignore("seed")
    if not 0 < ratio < 1:
        raise ArgumentValueError(f"{call.place}: expected a ratio in [0, 1), but got {ratio}")
    kept = call.aten("ge.Scalar", call.aten("rand", list(shape_of(x)), dtype=torch.float32), ratio)
    scaled = call.aten("mul.Scalar", x, 1 / (1 - ratio))
    return [call.aten("where.self", kept, scaled, call.aten("zeros_like", x)), kept]


# -- Activations ------------------------------------------------------------------------------------------------------


def _handle_gelu(call: NodeCall) -> NodeResult:
    return call.aten("gelu", call[0], approximate=call.attribute("approximate", "none"))


def _handle_elu(call: NodeCall) -> NodeResult:
    return call.aten("elu", call[0], call.attribute("alpha", 1.0))


def _handle_selu(call: NodeCall) -> NodeResult:
    alpha = call.attribute("alpha", 1.67326319217681884765625)
    return call.aten("elu", call[0], alpha, call.attribute("gamma", 1.05070102214813232421875))


def _handle_celu(call: NodeCall) -> NodeResult:
    return call.aten("celu", call[0], call.attribute("alpha", 1.0))


def _handle_leaky_relu(call: NodeCall) -> NodeResult:
    return call.aten("leaky_relu", call[0], call.attribute("alpha", 0.01))


def _handle_prelu(call: NodeCall) -> NodeResult:
    x, slope = call[0], call[1]
    scaled = call.aten("mul.Tensor", x, slope)
    return call.aten("where.self", call.aten("lt.Scalar", x, 0), scaled, x)


def _handle_thresholded_relu(call: NodeCall) -> NodeResult:
    x = call[0]
    above = call.aten("gt.Scalar", x, call.attribute("alpha", 1.0))
    return call.aten("where.self", above, x, call.constant(torch.zeros((), dtype=dtype_of(x))))


def _handle_hard_sigmoid(call: NodeCall) -> NodeResult:
    x, alpha, beta = call[0], call.attribute("alpha", 0.2), call.attribute("beta", 0.5)
    if math.isclose(alpha, 1 / 6, rel_tol=1e-6) and beta == 0.5:
        return call.aten("hardsigmoid", x)
    scaled = call.aten("add.Scalar", call.aten("mul.Scalar", x, alpha), beta)
    return call.aten("clamp", scaled, 0.0, 1.0)


def _handle_softsign(call: NodeCall) -> NodeResult:
    x = call[0]
    return call.aten("div.Tensor", x, call.aten("add.Scalar", call.aten("abs", x), 1))


def _handle_swish(call: NodeCall) -> NodeResult:
    x, alpha = call[0], call.attribute("alpha", 1.0)
    if alpha == 1:
        return call.aten("silu", x)
    return call.aten("mul.Tensor", x, call.aten("sigmoid", call.aten("mul.Scalar", x, alpha)))


def _handle_is_inf(call: NodeCall) -> NodeResult:
    x = call[0]
    signs = [call.attribute("detect_negative", 1), call.attribute("detect_positive", 1)]
    if all(signs):
        return call.aten("isinf", x)
    if not any(signs):
        return call.aten("full", shape_of(x), False, dtype=torch.bool)
    return call.aten("eq.Scalar", x, math.inf if signs[1] else -math.inf)
