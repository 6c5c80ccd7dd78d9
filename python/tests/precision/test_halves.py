# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares roundings to float16 with PyTorch, in results and inside of kernels."""

import inlay
import pytest
import torch


class Result(torch.nn.Module):
    def forward(self, x):
        return x.half()


class InnerResult(torch.nn.Module):
    def forward(self, x):
        return x.half().float() * 2


@pytest.mark.parametrize("targets", [("host",), ("vulkan",)], ids="-".join)
@pytest.mark.parametrize("model", [Result(), InnerResult()], ids=["result", "inner"])
def test_all_halves_and_the_middles_between_them(model, targets):
    halves = torch.arange(-(2**15), 2**15).to(torch.int16).view(torch.float16).float()
    middles = (halves[1:] + halves[:-1]) / 2
    above, below = (torch.nextafter(middles, torch.tensor(bound)) for bound in (1e30, -1e30))
    torch.manual_seed(0)
    others = torch.randint(-(2**31), 2**31, (100_000,)).to(torch.int32).view(torch.float32)
    ends = torch.tensor([65519.99, 65520.0, -65520.0, 65536.0, 1e30, -3.4e38, 2.0**-25, 2.0**-126])
    x = torch.cat([halves, middles, above, below, others, ends])
    x[(x.abs() < 2.0**-126) & (x != 0)] = 2.0**-126  # devices may replace subnormal numbers
    compiled = inlay.compile(model, (x,), targets=targets)
    torch.testing.assert_close(compiled(x), model(x), rtol=0, atol=0, equal_nan=True)


class Convolution(torch.nn.Module):
    def forward(self, x, weight):
        return torch.nn.functional.conv1d(x, weight, groups=4).float() * 2


@pytest.mark.parametrize("targets", [("host",), ("vulkan",)], ids="-".join)
def test_convolutions_inside_of_a_kernel_are_rounded(targets):
    torch.manual_seed(0)
    x, weight = torch.randn(2, 4, 40).half(), torch.randn(4, 1, 4).half()
    compiled = inlay.compile(Convolution(), (x, weight), targets=targets)
    want = torch.nn.functional.conv1d(x.double(), weight.double(), groups=4).half().float() * 2
    torch.testing.assert_close(compiled(x, weight), want, rtol=0, atol=0)
