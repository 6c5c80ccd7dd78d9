# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares addcmul with PyTorch where a product overflows, but its sum does not."""

import inlay
import pytest
import torch


class Model(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x, a, b):
        return torch.addcmul(x, a, b, value=self.value)


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids="-".join)
@pytest.mark.parametrize("value", [1, -0.5])
def test_products_that_overflow(value, targets):
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([1.7e38, -3e38, -3e38, -3e38, 3e38, 1.0, inf, nan, -inf, 2.0**-149, -0.0])
    a = torch.tensor([1.7e38, 2e38, -2e38, 3e38, 3e38, 2.0, 1.0, 1.0, 3e38, 2.0**-100, 1.0])
    b = torch.tensor([-2.15, 2.5, 2.5, 1.0, 1.0, 3.0, -3.0, 1.0, 3e38, 2.0**-49, -0.0]) / value
    model = Model(value)
    want = model(x.double(), a.double(), b.double()).float()
    compiled = inlay.compile(model, (x, a, b), targets=targets)
    torch.testing.assert_close(compiled(x, a, b), want, rtol=2e-7, atol=2.0**-126, equal_nan=True)


def test_products_of_mixed_dtypes_are_those_of_the_wider_one():
    f64 = torch.float64
    for x, a, b in [
        (torch.zeros(2, dtype=f64), torch.full((2,), 1e30), torch.full((2,), 1e30)),
        (torch.tensor(1.0, dtype=f64), torch.full((2,), 3e38), torch.full((2,), 10.0)),
        (torch.ones(2), torch.full((1,), 3e38), torch.full((2, 1), 1e300, dtype=f64)),
    ]:
        compiled = inlay.compile(Model(1), (x, a, b), targets=("host",))
        torch.testing.assert_close(compiled(x, a, b), Model(1)(x, a, b), rtol=1e-6, atol=0)


def test_a_number_that_is_known_only_at_a_call():
    class Scaled(torch.nn.Module):
        def forward(self, x, a, b, scale):
            return torch.addcmul(x, a, b, value=scale.item())

    inputs = torch.ones(2), torch.full((2,), 2.0), torch.full((2,), 3.0), torch.tensor(0.5)
    compiled = inlay.compile(Scaled(), inputs, targets=("host", "torch"))
    torch.testing.assert_close(compiled(*inputs), torch.full((2,), 4.0))
