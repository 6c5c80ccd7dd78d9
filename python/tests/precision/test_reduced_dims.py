# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounds the errors of reductions over dims of all kinds, for numbers that expose lost digits."""

import inlay
import pytest
import torch
from torch.nn import functional

UNIT = 2.0**-24  # The largest relative error of one rounding in float32.
TARGETS = {"host": ("host",), "vulkan": ("vulkan", "host")}

# Shape and reduced dims: whole tensors, rows, columns, a dim in the middle, and several dims with short rows.
SHAPES = {
    "whole": ((100_000,), (0,)),
    "rows": ((33, 3000), (1,)),
    "many rows": ((4096, 256), (1,)),
    "columns": ((5000, 40), (0,)),
    "middle": ((8, 700, 9), (1,)),
    "channels": ((16, 3, 30, 31), (0, 2, 3)),
}
DATA = {
    "0.1": lambda shape: torch.full(shape, 0.1),
    "random": lambda shape: torch.rand(shape) + 1,
    "100 + 0.01 u": lambda shape: torch.rand(shape) * 0.01 + 100,
    "10000 + 0.1 u": lambda shape: torch.rand(shape) * 0.1 + 1e4,
    "denormal": lambda shape: torch.full(shape, 2.0**-130),
}
# The bound of each reduction in roundings, relative to the result.
REDUCTIONS = {
    "sum": (torch.sum, 8),
    "mean": (torch.mean, 8),
    "var": (torch.var, 14),
    "std": (torch.std, 8),
    "vector_norm": (torch.linalg.vector_norm, 6),
    "logsumexp": (torch.logsumexp, 6),
}


class Reductions(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return tuple(function(x, dim=self.dims) for function, _ in REDUCTIONS.values())


def compile_for(shape, targets):
    """Returns the reductions of a shape and their compiled form."""
    size, dims = SHAPES[shape]
    model = Reductions(dims)
    return model, inlay.compile(model, (torch.rand(size),), targets=targets)


def measure(shape, data, model, compiled):
    """Yields each reduction that has a meaning for the data, and its error in roundings."""
    torch.manual_seed(0)
    x = DATA[data](SHAPES[shape][0])
    got = compiled(x)
    for name, result, exact in zip(REDUCTIONS, got, model(x.double()), strict=True):
        if data in ("0.1", "denormal") and name in ("var", "std"):
            continue  # The exact result is 0, and the deviation of the mean is a rounding error.
        if data == "denormal" and name != "logsumexp":
            assert torch.isfinite(result).all()  # Devices may flush the numbers to 0.
            continue
        yield name, ((result.double() - exact) / exact).abs().max().item() / UNIT


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_reductions_stay_within_their_bounds(shape, targets):
    model, compiled = compile_for(shape, TARGETS[targets])
    for data in DATA:
        for name, error in measure(shape, data, model, compiled):
            assert error <= REDUCTIONS[name][1], (data, name)


class Norms(torch.nn.Module):
    def forward(self, x):
        return functional.layer_norm(x, x.shape[1:]), functional.batch_norm(x, None, None, training=True)


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize(("offset", "spread"), [(0, 1), (1e3, 1), (1e4, 0.1)])
def test_norms_lose_only_the_rounding_of_the_mean(offset, spread, targets):
    torch.manual_seed(0)
    x = torch.randn(64, 3000) * spread + offset
    compiled = inlay.compile(Norms(), (x,), targets=TARGETS[targets])
    for got, exact in zip(compiled(x), Norms()(x.double()), strict=True):
        assert (got.double() - exact).abs().max().item() <= UNIT * (40 + 4 * offset / spread)


class RunningSum(torch.nn.Module):
    def forward(self, x):
        return torch.cumsum(x, 1)


@pytest.mark.parametrize("targets", TARGETS)
def test_running_sums_are_rounded_once(targets):
    torch.manual_seed(0)
    x = torch.randn(3, 1500)  # the sums are often much smaller than their terms
    compiled = inlay.compile(RunningSum(), (x,), targets=TARGETS[targets])
    exact = torch.cumsum(x.double(), 1)
    assert ((compiled(x).double() - exact) / exact).abs().max().item() <= 1.01 * UNIT


@pytest.mark.parametrize("targets", TARGETS)
def test_running_sums_of_infinities(targets):
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[1.0, 3e38, 3e38, 2.0], [inf, 1.0, -inf, 1.0], [-0.0, 2.0**-126, nan, 1.0], [1e38, inf, 1, 2]])
    compiled = inlay.compile(RunningSum(), (x,), targets=TARGETS[targets])
    wanted = [[1.0, 3e38, inf, inf], [inf, inf, nan, nan], [0.0, 2.0**-126, nan, nan], [1e38, inf, inf, inf]]
    torch.testing.assert_close(compiled(x), torch.tensor(wanted), rtol=0, atol=0, equal_nan=True)


class RunningProduct(torch.nn.Module):
    def forward(self, x):
        return torch.cumprod(x, 1)


# Each row has neighbors whose sum or product overflows, while no result does.
HUGE_TERMS = {
    torch.float32: [[-3e38, 3e38, 3e38, -3e38, 1.0, -1e38], [0.0, -3e38, 3e38, 3e38, -3e38, 1.0]],
    torch.float64: [[-1.5e308, 1.5e308, 1.5e308, -1.5e308, 1e307, -1e308], [0.0, -1e308, 1e308, 1e308, -1e308, 1e307]],
}
HUGE_FACTORS = {
    torch.float32: [[1e-30, 1e30, 1e30, 1e-30, 3.0, -2.0], [0.0, 1e30, 1e30, 5.0, -1e38, 1e38]],
    torch.float64: [[1e-200, 1e200, 1e200, 1e-300, 3.0, -2.0], [0.0, 1e200, 1e200, 5.0, -1e308, 1e308]],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("targets", TARGETS)
def test_running_sums_and_products_whose_neighbors_overflow(targets, dtype):
    roundings = 0 if dtype == torch.float32 else 16  # sums of float64 have no compensation
    for model, rows, unit in ((RunningSum(), HUGE_TERMS, roundings), (RunningProduct(), HUGE_FACTORS, 4)):
        x = torch.tensor(rows[dtype], dtype=dtype)
        want = model(x)
        assert want.isfinite().all()
        x[1, -1] = want[1, -1] = torch.nan  # does not reach the results before it
        compiled = inlay.compile(model, (x,), targets=TARGETS[targets])
        torch.testing.assert_close(compiled(x), want, rtol=unit * torch.finfo(dtype).eps, atol=0, equal_nan=True)


@pytest.mark.parametrize("targets", TARGETS)
def test_running_products_reach_all_powers_of_two(targets):
    for dtype, count in ((torch.float32, 160), (torch.float64, 1090)):
        x = torch.stack([torch.full((count,), 2.0, dtype=dtype), torch.full((count,), -0.5, dtype=dtype)])
        compiled = inlay.compile(RunningProduct(), (x,), targets=TARGETS[targets])
        smallest = 2.0**-126 if targets == "vulkan" else 0  # devices may replace subnormal numbers
        torch.testing.assert_close(compiled(x), torch.cumprod(x, 1), rtol=0, atol=smallest)
