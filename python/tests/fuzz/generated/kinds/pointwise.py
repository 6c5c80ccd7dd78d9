# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointwise operators, comparisons, selections and casts."""

import torch

from ..draft import Refused
from ..graph import FLOATS, INTEGERS, NAMES, Precision

_EXACT = """
    neg abs ceil floor trunc round sign relu positive signbit isnan isinf isfinite logical_not nan_to_num frac
    isposinf isneginf
"""
_COMPUTED = """
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal tanh sigmoid erf erfc atan asinh sinh cosh lgamma acos
    asin square logit acosh atanh
"""
_ACTIVATIONS = """
    gelu silu softplus leaky_relu elu mish logsigmoid hardtanh hardswish hardsigmoid relu6 softsign selu celu
    tanhshrink hardshrink softshrink
"""
_ANGLES = ["sin", "cos", "tan"]
_LARGEST_ANGLE = 1000


def exact_unary(draft):
    name = draft.choose.choice(_EXACT.split())
    precision = Precision.ROUNDED if name == "frac" else Precision.EXACT
    draft.add(name, f"torch.{name}({{0}})", draft.number(), precision=precision)


def computed_unary(draft):
    name = draft.choose.choice(_COMPUTED.split())
    draft.add(name, f"torch.{name}({{0}})", draft.float(), precision=Precision.COMPUTED)


def angle(draft):
    name, x = draft.choose.choice(_ANGLES), draft.float()
    if bool((draft.values[x].double().abs() > _LARGEST_ANGLE).any()):
        raise Refused
    draft.add(name, f"torch.{name}({{0}})", x, precision=Precision.COMPUTED)


def activation(draft):
    name = draft.choose.choice(_ACTIVATIONS.split())
    approximate = ", approximate='tanh'" if name == "gelu" and draft.choose.random() < 0.5 else ""
    draft.add(name, f"F.{name}({{0}}{approximate})", draft.float(), precision=Precision.COMPUTED)


def clamp(draft):
    low, high = draft.choose.choice([("-1", "2"), ("None", "1"), ("0", "None"), ("1", "-1")])
    draft.add("clamp", f"torch.clamp({{0}}, {low}, {high})", draft.number())


def float_binary(draft):
    x = draft.float()
    name = draft.choose.choice(["add", "sub", "mul"] * 3 + ["maximum", "minimum", "fmax", "fmin", "copysign"])
    precision = Precision.ROUNDED if name in ("add", "sub", "mul") else Precision.EXACT
    _binary(draft, name, x, precision)


def computed_binary(draft):
    name = draft.choose.choice(["div", "div", "pow", "atan2", "logaddexp", "hypot", "xlogy"])
    _binary(draft, name, draft.float(), Precision.COMPUTED)


def remainder(draft):
    name, x = draft.choose.choice(["fmod", "remainder", "floor_divide"]), draft.number()
    y = draft.like(x)
    if not draft.values[y].dtype.is_floating_point and not bool(draft.values[y].all()):
        raise Refused
    # PyTorch computes these with several roundings; the sign of a zero and the side of a jump depend on them.
    draft.add(name, f"torch.{name}({{0}}, {{1}})", x, y, precision=Precision.COMPUTED)


def _binary(draft, name, x, precision):
    y = draft.like(x)
    if draft.choose.random() < 0.4:
        x, y = y, x
    draft.add(name, f"torch.{name}({{0}}, {{1}})", x, y, precision=precision)


def integer_binary(draft):
    names = ["add", "sub", "mul", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"]
    _binary(draft, draft.choose.choice(names), draft.integer(), Precision.EXACT)


def integer_unary(draft):
    name = draft.choose.choice(["neg", "abs", "bitwise_not", "sign", "square"])
    draft.add(name, f"torch.{name}({{0}})", draft.integer())


def shift(draft):
    x = draft.integer()
    least = min(torch.iinfo(draft.values[x].dtype).bits, 32) - 1
    sign = draft.choose.choice(["<<", ">>"])
    draft.add("shift", f"{{0}} {sign} ({{1}} & {least})", x, draft.like(x))


def scalar(draft):
    x = draft.number()
    number = draft.choose.choice(["2", "-1", "0", "1"] if draft.values[x].dtype in INTEGERS else ["0.5", "-2.5", "3"])
    sign = draft.choose.choice("+-*")
    draft.add("scalar", f"{{0}} {sign} {number}", x, precision=Precision.ROUNDED)


def mixed(draft):
    """Operands of several dtypes, which PyTorch promotes."""
    x = draft.number()
    y = draft.like(x, draft.choose.choice([*FLOATS, *INTEGERS]))
    sign = draft.choose.choice("+-*")
    draft.add("promotion", f"{{0}} {sign} {{1}}", x, y, precision=Precision.ROUNDED)


def compare(draft):
    x = draft.number()
    name = draft.choose.choice(["eq", "ne", "lt", "le", "gt", "ge"])
    draft.add(name, f"torch.{name}({{0}}, {{1}})", x, draft.like(x))


def logical(draft):
    name = draft.choose.choice(["logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"])
    x = draft.boolean(draft.shape())
    draft.add(name, f"torch.{name}({{0}}, {{1}})", x, draft.boolean(draft.values[x].shape))


def where(draft):
    x = draft.any()
    mask = draft.boolean(draft.values[x].shape)
    if draft.choose.random() < 0.3:
        draft.add("masked_fill", "{0}.masked_fill({1}, 1)", x, mask)
    else:
        draft.add("where", "torch.where({0}, {1}, {2})", mask, x, draft.like(x))


def ternary(draft):
    x = draft.float()
    name = draft.choose.choice(["lerp", "addcmul", "addcdiv"])
    draft.add(name, f"torch.{name}({{0}}, {{1}}, {{2}})", x, draft.like(x), draft.like(x), precision=Precision.COMPUTED)


def cast(draft):
    x = draft.any()
    before, after = draft.values[x], draft.choose.choice([*FLOATS, *FLOATS, *INTEGERS, torch.bool])
    if after == before.dtype:
        raise Refused
    if after in INTEGERS and before.is_floating_point():
        # The result is undefined for NaN and for numbers beyond the range.
        limits = torch.iinfo(after)
        inside = (before.double().trunc() >= limits.min) & (before.double().abs() <= min(limits.max, 2**62))
        if not bool(inside.all()):
            raise Refused
    draft.add("cast", f"{{0}}.to({NAMES[after]})", x, precision=Precision.ROUNDED)


KINDS = [
    (exact_unary, 4), (computed_unary, 5), (angle, 1), (activation, 3), (clamp, 1), (float_binary, 6),
    (computed_binary, 2), (remainder, 1), (integer_binary, 2), (integer_unary, 1), (shift, 1), (scalar, 3), (mixed, 1),
    (compare, 2), (logical, 1), (where, 2), (ternary, 1), (cast, 3),
]  # fmt: skip
