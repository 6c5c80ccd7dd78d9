# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointwise operators."""

import torch

from .entry import Sampled, always


def _far(limit):
    """Returns the predicate of samples with finite numbers beyond `limit`."""

    def about(sample):
        numbers = torch.nan_to_num(sample.args[0].double(), 0, 0, 0)
        return bool((numbers.abs() > limit).any())

    return about


def _divides_integers_by_zero(sample):
    lhs, rhs = sample.args[:2]
    whole = not any(torch.as_tensor(x).dtype.is_floating_point for x in (lhs, rhs))
    return whole and bool((torch.as_tensor(rhs) == 0).any())


# Devices guarantee no precision for angles beyond pi, and lose all digits for large angles.
_ANGLES = {"large angles": _far(1e3)}
_ZERO = {"PyTorch raises ZeroDivisionError": _divides_integers_by_zero}
_HOST = {"a library function": always}

_PLAIN = """
    abs acos acosh add addcdiv addcmul asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min copysign cosh deg2rad div/no_rounding_mode eq erf
    erfc exp exp2 expm1 float_power floor fmax fmin frac ge gt heaviside isclose isfinite isinf isnan isneginf isposinf
    ldexp le lerp log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor logit lt masked_fill
    max/binary maximum min/binary minimum mul nan_to_num ne neg nn.functional.celu nn.functional.elu
    nn.functional.gelu nn.functional.glu nn.functional.hardshrink nn.functional.hardsigmoid nn.functional.hardswish
    nn.functional.hardtanh nn.functional.leaky_relu nn.functional.logsigmoid nn.functional.mish nn.functional.mse_loss
    nn.functional.prelu nn.functional.relu nn.functional.relu6 nn.functional.selu nn.functional.silu
    nn.functional.smooth_l1_loss nn.functional.softplus nn.functional.softshrink nn.functional.softsign
    nn.functional.tanhshrink nn.functional.threshold pow rad2deg reciprocal round round/decimals_0 round/decimals_3
    round/decimals_neg_3 rsqrt rsub sgn sigmoid sign signbit sinh sqrt square sub tanh true_divide trunc where xlogy
    __radd__ __rand__ __rdiv__ __rmul__ __ror__ __rpow__ __rsub__ __rxor__
"""

_OTHERS = [
    Sampled("cos", skip=_ANGLES),
    Sampled("div", variant="floor_rounding", skip=_ZERO),
    Sampled("div", variant="trunc_rounding", skip=_ZERO),
    Sampled("floor_divide", skip=_ZERO),
    Sampled("fmod", skip=_ZERO),
    Sampled("lgamma", host=_HOST),
    Sampled("remainder", skip=_ZERO),
    Sampled("sin", skip=_ANGLES),
    Sampled("tan", skip=_ANGLES, tolerance=10),
]

_CASTS = [
    Sampled(name, specials=True)
    for name in ("bfloat16", "bool", "char", "double", "float", "half", "int", "long", "short")
]

OPS = [
    *(Sampled(name, variant) for name, _, variant in (word.partition("/") for word in _PLAIN.split())),
    *_OTHERS,
    *_CASTS,
]
