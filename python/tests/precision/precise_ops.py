# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops whose precision is measured, with their inputs, units of error and bounds."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional as F

Tensors = tuple[torch.Tensor, ...]


class Unit(enum.Enum):
    """The unit of an error."""

    ULP = "ULP"  # the distance of neighboring numbers at the exact result
    CONDITION = "cond."  # the effect of an error of one ULP in an operand, plus one ULP of the result
    TERMS = "terms"  # one rounding (half an ULP) of the sum of the magnitudes of all terms


@dataclass(frozen=True)
class Precise:
    """An op and the largest error that it may have.

    function: the op on tensors of any float dtype. bounds: units of error by target.
    size: float64 operands and exact result -> the number whose ULP is the unit, for Unit.TERMS.
    domain: the arguments that count, as (least, largest).
    """

    name: str
    function: Callable[..., torch.Tensor]
    bounds: dict[str, float]
    unit: Unit = Unit.ULP
    size: Callable[..., torch.Tensor] | None = None
    domain: tuple[float, float] = (-math.inf, math.inf)


def _same(host: float, vulkan: float | None = None) -> dict[str, float]:
    return {"host": host, "vulkan": host if vulkan is None else vulkan}


def _named(name, bounds, **more):
    return Precise(name, getattr(torch, name, None) or getattr(F, name), bounds, **more)


def _gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


# One rounding, exact results, and functions with guaranteed digits everywhere.
UNARY = [
    *(_named(name, _same(0)) for name in ("abs", "neg", "ceil", "floor", "round", "trunc", "sign", "relu")),
    _named("sqrt", _same(0.51, 3)),
    _named("reciprocal", _same(0.51, 3)),
    *(_named(name, _same(4)) for name in ("rsqrt", "log1p", "tanh")),
    *(_named(name, _same(5)) for name in ("erf", "atan", "asin", "acos", "asinh", "atanh")),
    _named("acosh", _same(8)),
    # Vulkan allows exp and exp2 an error that grows with the argument, and log an absolute error between 0.5 and 2.
    *(_named(name, _same(4), unit=Unit.CONDITION) for name in ("exp", "exp2", "expm1", "log", "log2", "log10")),
    *(_named(name, _same(6), unit=Unit.CONDITION) for name in ("sigmoid", "sinh", "cosh", "erfc")),
    _named("silu", _same(6), unit=Unit.CONDITION, domain=(-87.0, math.inf)),  # exp overflows beyond
    _named("gelu", _same(8), unit=Unit.TERMS, size=lambda x, exact: x),  # half of x + x erf(x / sqrt(2))
    Precise("gelu (tanh)", _gelu_tanh, _same(6), unit=Unit.CONDITION, domain=(-5.0, math.inf)),  # float64 cancels below
    *(_named(name, _same(4, 4096), unit=Unit.CONDITION, domain=(-math.pi, math.pi)) for name in ("sin", "cos", "tan")),
    _named("lgamma", _same(8), unit=Unit.CONDITION, domain=(1e-30, math.inf)),
]  # fmt: skip
BINARY = [
    *(_named(name, _same(0.51)) for name in ("add", "sub", "mul")),
    _named("div", _same(0.51, 3)),
    *(_named(name, _same(0)) for name in ("maximum", "minimum", "fmax", "fmin", "copysign")),
    _named("fmod", _same(0)),
    _named("atan2", _same(5)),
    _named("pow", _same(8, 32), unit=Unit.CONDITION),  # Vulkan computes exp2(y log2 x)
]


def _reduced(function, **options):
    return lambda x: function(x, dim=-1, **options)


def _conv(x, w):
    return F.conv1d(x[:, None], w[:4, None, :9])


def _attention(q, k):
    return F.scaled_dot_product_attention(q[None], k[None], k[None])[0]


def _attention_size(q, k, exact):
    scores = (q.abs() @ k.abs().T / math.sqrt(q.shape[-1])).amax()
    return k.abs().amax() * (1 + scores) + 0 * exact


def _deviation(x, exact):
    """Returns the size of a normalized element: the mean has a rounding error."""
    return exact.abs() + 1 + x.abs().amax(-1, keepdim=True) / x.std(-1, keepdim=True).clamp(min=1e-300)


def _terms(name, function, bounds, size):
    return Precise(name, function, bounds, Unit.TERMS, size)


# Rows of numbers (x), and for products a second matrix with rows of the same length (y).
ROWS = [
    _terms("sum", _reduced(torch.sum), _same(8), lambda x, exact: x.abs().sum(-1)),
    _terms("mean", _reduced(torch.mean), _same(8), lambda x, exact: x.abs().mean(-1)),
    _terms("var", _reduced(torch.var), _same(14), lambda x, exact: exact),
    _terms("std", _reduced(torch.std), _same(8), lambda x, exact: exact),
    _terms("vector_norm", _reduced(torch.linalg.vector_norm), _same(6), lambda x, exact: exact),
    _terms("logsumexp", _reduced(torch.logsumexp), _same(6), lambda x, exact: exact.abs() + x.abs().amax(-1)),
    _terms("amax", _reduced(torch.amax), _same(0), lambda x, exact: exact),
    _terms("cumsum", _reduced(torch.cumsum), _same(16), lambda x, exact: x.abs().cumsum(-1)),
    _terms("softmax", _reduced(torch.softmax), _same(16), lambda x, exact: exact * (1 + _below(x))),
    _terms("log_softmax", _reduced(torch.log_softmax), _same(16), lambda x, exact: exact.abs() + _below(x)),
    _terms("layer_norm", lambda x: F.layer_norm(x, x.shape[-1:]), _same(24), _deviation),
    _terms("rms_norm", lambda x: F.rms_norm(x, x.shape[-1:], eps=1e-30), _same(16), lambda x, exact: exact.abs()),
    _terms("avg_pool", lambda x: F.avg_pool1d(x, 8), _same(8), lambda x, exact: F.avg_pool1d(x.abs(), 8)),
]  # fmt: skip
PRODUCTS = [
    _terms("matmul", lambda x, y: x @ y.T, _same(16, 8), lambda x, y, exact: x.abs() @ y.abs().T),
    _terms("linear", lambda x, y: F.linear(x, y), _same(16, 8), lambda x, y, exact: x.abs() @ y.abs().T),
    _terms("conv", _conv, _same(16), lambda x, y, exact: _conv(x.abs(), y.abs())),
    _terms("attention", _attention, _same(1), _attention_size),
]


def _below(x):
    return x.amax(-1, keepdim=True) - x


FAMILIES = {"unary": UNARY, "binary": BINARY, "rows": ROWS, "products": PRODUCTS}


# -- Inputs -----------------------------------------------------------------------------------------------------------


def all_halves(dtype: torch.dtype) -> torch.Tensor:
    """Returns all numbers of a 16-bit dtype."""
    return torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)


def spread_floats(count: int, generator: torch.Generator) -> torch.Tensor:
    """Returns float32 numbers of all exponents and signs, subnormal numbers and special values among them."""
    bits = torch.randint(-(2**31), 2**31, (count,), generator=generator).to(torch.int32)
    exponents = torch.arange(256).repeat_interleave(8).to(torch.int32) << 23
    return torch.cat([bits, exponents, exponents | 1, exponents | 0x7FFFFF]).view(torch.float32)


def near(points: list[float], dtype: torch.dtype) -> torch.Tensor:
    """Returns numbers close to points, at distances of all exponents."""
    offsets = torch.logspace(-12, 0, 97, base=10, dtype=torch.float64)
    return torch.cat([point + sign * offsets for point in points for sign in (-1, 1)]).to(dtype)


_POINTS = [0.0, 1.0, -1.0, 2.0, -2.0, math.pi, -math.pi, math.pi / 2, 88.0, -88.0, 10.0, -10.0, 0.5, -0.5]


def numbers(dtype: torch.dtype) -> torch.Tensor:
    """Returns the arguments of functions of one number."""
    if dtype != torch.float32:
        return all_halves(dtype)
    generator = torch.Generator().manual_seed(0)
    ordinary = torch.randn(6000, generator=generator) * 4
    return torch.cat([spread_floats(10000, generator), near(_POINTS, dtype), ordinary])


def pairs(dtype: torch.dtype) -> Tensors:
    """Returns the arguments of functions of two numbers: those that cancel, extremes, and random ones."""
    generator = torch.Generator().manual_seed(1)
    x = numbers(dtype)
    other = x[torch.randperm(len(x), generator=generator)]
    close = torch.where(torch.rand(len(x), generator=generator) < 0.5, x, other).double() * (1 + 1e-3)
    return torch.cat([x, x]), torch.cat([other, close.to(dtype)])


def rows(dtype: torch.dtype) -> Tensors:
    """Returns rows of numbers that expose lost digits: equal, biased, with offsets, canceling and of all scales."""
    generator = torch.Generator().manual_seed(2)
    length, most = 3000, torch.finfo(dtype).max

    def uniform():
        return torch.rand(length, generator=generator, dtype=torch.float64)

    ordinary = torch.randn(length, generator=generator, dtype=torch.float64)
    digits = 1 / torch.finfo(dtype).eps
    made = [
        torch.full((length,), 0.1, dtype=torch.float64) + 1e-3 * ordinary,
        uniform() + 1,
        100 + ordinary,
        digits / 100 + digits / 10000 * uniform(),
        torch.cat([ordinary[: length // 2], -ordinary[: length // 2]]) + 1e-3 * uniform(),
        ordinary * 10 ** (4 * uniform() - 3),
        ordinary * min(1e15, most / 1e5),
        ordinary * 1e-3,
    ]
    return (torch.stack(made).to(dtype),)


def matrices(dtype: torch.dtype) -> Tensors:
    """Returns two matrices with rows of one length: offsets, cancellation and several scales."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(12, 1100, generator=generator, dtype=torch.float64)
    y = torch.randn(9, 1100, generator=generator, dtype=torch.float64)
    x[0] += 8
    y[0] += 8
    x[1, 550:], y[1, 550:] = x[1, :550], -y[1, :550]
    x[2] *= 1e-3
    x[3] = 0.1
    return x.to(dtype), y.to(dtype)


INPUTS: dict[str, Callable[[torch.dtype], Tensors]] = {
    "unary": lambda dtype: (numbers(dtype),),
    "binary": pairs,
    "rows": rows,
    "products": matrices,
}
