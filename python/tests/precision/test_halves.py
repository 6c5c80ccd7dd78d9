# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares roundings to float16 and bfloat16 with PyTorch, in results and inside of kernels."""

import inlay
import pytest
import torch

HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}


class Result(torch.nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, x):
        return x.to(self.dtype)


class InnerResult(Result):
    def forward(self, x):
        return x.to(self.dtype).float() * 2


class Widened(torch.nn.Module):
    def forward(self, x):
        return x.float()


def all_numbers(dtype):
    return torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)


@pytest.mark.parametrize("targets", [("host",), ("vulkan",)], ids="-".join)
@pytest.mark.parametrize("kind", [Result, InnerResult])
@pytest.mark.parametrize("dtype", HALVES.values(), ids=HALVES)
def test_all_numbers_and_the_middles_between_them(kind, targets, dtype):
    numbers = all_numbers(dtype).float()
    middles = ((numbers[1:].double() + numbers[:-1].double()) / 2).float()
    above, below = (torch.nextafter(middles, torch.tensor(bound)) for bound in (torch.inf, -torch.inf))
    torch.manual_seed(0)
    others = torch.randint(-(2**31), 2**31, (100_000,)).to(torch.int32).view(torch.float32)
    # NaN with all payloads of one bit and both signs.
    payloads = torch.cat([torch.tensor(0x7F800000) + 2 ** torch.arange(23), -(2 ** torch.arange(23))])
    ends = torch.tensor([65519.99, 65520.0, -65520.0, 65536.0, 1e30, -3.4e38, 3.3961775e38, 2.0**-25, 2.0**-126])
    x = torch.cat([numbers, middles, above, below, others, payloads.to(torch.int32).view(torch.float32), ends])
    x[(x.abs() < 2.0**-126) & (x != 0)] = 2.0**-126  # devices may replace subnormal numbers
    model = kind(dtype)
    compiled = inlay.compile(model, (x,), targets=targets)
    torch.testing.assert_close(compiled(x), model(x), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("targets", [("host",), ("vulkan",)], ids="-".join)
@pytest.mark.parametrize("dtype", HALVES.values(), ids=HALVES)
def test_all_numbers_are_widened_exactly(targets, dtype):
    x = all_numbers(dtype)
    compiled = inlay.compile(Widened(), (x,), targets=targets)
    torch.testing.assert_close(compiled(x), x.float(), rtol=0, atol=0, equal_nan=True)


class Flipped(torch.nn.Module):
    def forward(self, x):
        return x.flip(0)


@pytest.mark.parametrize("targets", [("host",), ("vulkan",)], ids="-".join)
@pytest.mark.parametrize("dtype", HALVES.values(), ids=HALVES)
def test_copies_keep_all_bits(targets, dtype):
    x = all_numbers(dtype)
    compiled = inlay.compile(Flipped(), (x,), targets=targets)
    assert torch.equal(compiled(x).view(torch.int16), x.flip(0).view(torch.int16))


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
