# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of functions whose direct formulas lose all digits for small or large arguments."""

import itertools
import math

import inlay
import pytest
import torch
from torch.nn import functional

HOST, BOTH = ("host",), ("vulkan", "host")
NEAR_ZERO = [torch.expm1, torch.log1p, torch.tanh, torch.sinh, torch.erf, functional.elu, torch.atan, torch.asinh]


class Each(torch.nn.Module):
    def __init__(self, functions):
        super().__init__()
        self.functions = functions

    def forward(self, *arguments):
        return tuple(function(*arguments) for function in self.functions)


def errors(got, expected):
    return ((got.double() - expected) / expected).abs().max().item()


@pytest.mark.parametrize(("targets", "dtype"), [(HOST, "float32"), (HOST, "float64"), (BOTH, "float32")])
def test_small_arguments_keep_their_digits(targets, dtype):
    sizes = torch.cat([torch.logspace(-12, 0, 200, dtype=torch.float64), torch.tensor([0.24999, 0.3, 0.49999, 0.5])])
    x = torch.cat([sizes, -0.9 * sizes]).to(getattr(torch, dtype))
    compiled = inlay.compile(Each(NEAR_ZERO), (x,), targets=targets)
    allowed = 2e-6 if dtype == "float32" else 1e-14
    for function, got in zip(NEAR_ZERO, compiled(x), strict=True):
        assert errors(got, function(x.double())) < allowed, function.__name__


@pytest.mark.parametrize("targets", [HOST, BOTH])
def test_a_softplus_of_little_isnt_nothing(targets):
    x = torch.linspace(-80, 20, 301)
    compiled = inlay.compile(Each([functional.softplus]), (x,), targets=targets)
    assert (
        errors(compiled(x)[0], torch.log1p(torch.exp(x.double()))) < 2e-5
    )  # for exp(-80), because its argument is rounded


def _gelu(x):
    return functional.gelu(x, approximate="tanh")


@pytest.mark.parametrize("targets", [HOST, BOTH])
def test_gelu_of_negative_numbers_keeps_its_digits(targets):
    x = torch.linspace(-5, -0.1, 200).reshape(1, 200)
    model = Each([_gelu, lambda x: _gelu(functional.linear(x, torch.eye(200)))])
    compiled = inlay.compile(model, (x,), targets=targets)
    for got in compiled(x):
        assert errors(got, _gelu(x.double())) < 2e-5


@pytest.mark.parametrize("targets", [HOST, BOTH])
def test_the_gradient_of_gelu_of_negative_numbers_keeps_its_digits(targets):
    def gradient(function, x):
        return torch.autograd.grad(function(x).sum(), x)[0]

    x = torch.linspace(-5, -2, 200).requires_grad_()
    wide = x.detach().double().requires_grad_()
    compiled = torch.compile(_gelu, backend="inlay", options={"targets": targets})
    assert errors(gradient(compiled, x), gradient(_gelu, wide)) < 2e-5


@pytest.mark.parametrize("targets", [HOST, BOTH])
def test_remainders_of_large_quotients(targets):
    pairs = [(a, b) for a in (0.0, 5.0, 7.5, 2.0**24 + 2, 1e10, 1e20, 3.4e38) for b in (0.75, 1.0, 3.0, 1e-30, 1e30)]
    pairs += [(-a, b) for a, b in pairs] + [(5.0, math.inf)]
    x, y = torch.tensor(pairs).T.contiguous()
    compiled = inlay.compile(Each([torch.fmod]), (x, y), targets=targets)
    expected = [math.fmod(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert compiled(x, y)[0].tolist() == torch.tensor(expected).tolist()


@pytest.mark.parametrize("targets", [HOST, BOTH])
def test_what_has_no_remainder(targets):
    x, y = torch.tensor([[1.0, math.inf, math.nan, 1.0, 0.0], [0.0, 2.0, 2.0, math.nan, 0.0]])
    compiled = inlay.compile(Each([torch.fmod, torch.remainder]), (x, y), targets=targets)
    assert all(result.isnan().all() for result in compiled(x, y))


@pytest.mark.parametrize("targets", [HOST, BOTH])
@pytest.mark.parametrize("terms", [4096, 30000, 60000, 65534, 65537, 1 << 20])
def test_long_sums_keep_their_digits(targets, terms):
    """A sum of 60000 terms of 0.1, added one after the other, would have an error of 6e-4."""
    x = torch.full((terms,), 0.1)
    functions = [
        lambda x: x.sum(),
        lambda x: x.mean(),
        lambda x: x.exp().sum(),
        lambda x: (x - x.mean()).sum() + x.sum(),
    ]
    compiled = inlay.compile(Each(functions), (x,), targets=targets)
    for number, (function, got) in enumerate(zip(functions, compiled(x), strict=True)):
        assert errors(got, function(x.double())) < 2e-6, number


def test_numbers_to_their_own_power():
    """llvmpipe gave 7274 for 5 ** 5, and 1 for (-1) ** -1, depending on the number of elements."""
    numbers = torch.tensor([5.0, -1.0, -3.0, 2.0, -2.0, 0.5, 3.0, -5.0, 4.0, 1.0, -7.0, 7.0, -4.0])
    arguments = tuple(numbers[torch.arange(count) % len(numbers)] for count in range(1, 71))
    compiled = inlay.compile(Powers(), arguments, targets=("vulkan",))
    for x, got in zip(arguments, compiled(*arguments), strict=True):
        assert errors(got, x.double() ** x.double()) < 1e-5, len(x)


class Powers(torch.nn.Module):
    def forward(self, *arguments):
        return tuple(x**x for x in arguments)


@pytest.mark.parametrize("targets", [HOST, BOTH])
def test_samples_at_no_place(targets):
    """Compares with PyTorch's kernels, whose results its own decomposition does not have."""
    grid = torch.tensor([[math.nan, 0.0], [0.0, math.nan], [math.inf, 0.0], [-math.inf, math.inf], [0.3, -0.2]])
    modes = itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"))
    functions = [
        lambda x, grid, mode=mode, padding=padding: functional.grid_sample(x, grid, mode, padding, False)
        for mode, padding in modes
    ]
    arguments = torch.arange(12.0).reshape(1, 1, 3, 4), grid.reshape(1, 1, 5, 2)
    compiled = inlay.compile(Each(functions), arguments, targets=targets)
    for function, got in zip(functions, compiled(*arguments), strict=True):
        torch.testing.assert_close(got, function(*arguments), equal_nan=True, rtol=1e-5, atol=1e-6)
