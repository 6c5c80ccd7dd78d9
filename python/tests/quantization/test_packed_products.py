# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares products of few rows with packed weights on Vulkan with PyTorch."""

import inlay
import pytest
import torch
from test_dequantize import Linear, Matmul, Weight, draw, error_bound, pack
from torch import nn

i8, f16, bf16, f32 = torch.int8, torch.float16, torch.bfloat16, torch.float32


def compile_and_run(model, x):
    """Returns the result on Vulkan and the number of kernels of a call."""
    compiled = inlay.compile(model, (x,), targets=("vulkan", "host"), require_full_compilation=True)
    (segment,) = compiled.profile(x).report["segments"]
    return compiled(x), len(segment["kernels"])


def check_linear(weight, floats, x, bias=None):
    """Compares a linear layer and its relu with PyTorch, and checks that they are one kernel.

    floats: the weight in float32.
    """
    got, kernels = compile_and_run(nn.Sequential(Linear(weight, bias), nn.ReLU()), x)
    wanted = nn.functional.linear(x.double(), floats.double(), None if bias is None else bias.double()).relu()
    bound = error_bound(x, floats.T)
    if x.dtype != f32:  # the result is rounded, and weights may be
        bound += torch.finfo(x.dtype).eps * (wanted + x.double().abs() @ floats.double().abs().T)
    assert ((got.double() - wanted).abs() <= bound).all()
    assert kernels == 1


# Rows that end at multiples of 16 bytes, of 4 bytes and of neither; blocks that divide a load, that loads divide, and
# others; one scale for a row, for several rows and for all.
FORMATS = {
    "u4-32": ("u4", (45, 512), (1, 32), {"offsets": i8}),
    "i4-128-f16": ("i4", (45, 1024), (1, 128), {"scales": f16}),
    "u4-minima": ("u4", (9, 256), (1, 16), {"offsets": f16, "scales": f16, "minima": True}),
    "i4-words": ("i4", (20, 264), (2, 8), {"scales": bf16, "offsets": f32}),
    "u4-96": ("u4", (12, 288), (1, 96), {"offsets": f32}),
    "i4-odd": ("i4", (9, 77), (1, 16), {"offsets": i8}),
    "u4-short-blocks": ("u4", (10, 96), (3, 7), {"offsets": i8}),
    "i8-row": ("i8", (33, 208), (1, -1), {}),
    "i8-all": ("i8", (9, 144), (-1, -1), {"offsets": f32}),
    "u8-16": ("u8", (17, 96), (1, 16), {"offsets": i8, "scales": bf16}),
    "u2-32": ("u2", (12, 320), (1, 32), {"offsets": i8}),
    "i2-row-minima": ("i2", (9, 4096), (1, -1), {"offsets": f32, "minima": True}),
}


@pytest.mark.parametrize(("rows", "dtype"), [(1, f32), (3, f16), (8, bf16)], ids=["1-f32", "3-f16", "8-bf16"])
@pytest.mark.parametrize("name", FORMATS)
def test_few_rows_times_packed_weights_are_one_kernel(name, rows, dtype):
    code, shape, block, more = FORMATS[name]
    weight, floats = (Weight(code, shape, block, dtype=kind, **more) for kind in (dtype, f32))
    x = torch.randn(rows, shape[1], generator=draw(rows)).to(dtype)
    check_linear(weight, floats(), x, torch.randn(shape[0], generator=draw(1)).to(dtype))


@pytest.mark.parametrize("code", ["i2", "u2", "i4", "u4", "i8", "u8"])
def test_extreme_codes_zero_points_and_scales(code):
    weight = Weight(code, (4, 128), (1, 32), offsets=i8)
    bits = int(code[1])
    low = -(2 ** (bits - 1)) if code[0] == "i" else 0
    ends = torch.tensor([low, low + 2**bits - 1])
    weight.codes = pack(ends.repeat(4, 64), code)
    weight.offsets = ends.repeat(4, 2).to(torch.uint8).view(torch.int8)
    weight.scales[1, 2] = 0.0
    weight.scales[2, 1] = float("nan")
    x = torch.randn(1, 128, generator=draw(0))
    got, _ = compile_and_run(Linear(weight), x)
    wanted, bound = x.double() @ weight().double().T, error_bound(x, weight().T)
    assert got.isnan().equal(wanted.isnan()) and got.isnan().sum() == 1
    assert ((got.double() - wanted).abs() <= bound)[~wanted.isnan()].all()


class Nested(nn.Module):
    """A weight whose scales and minima are codes of 8 bits with scales of their own, as in super-blocks."""

    def __init__(self):
        super().__init__()
        self.scales = Weight("u8", (24, 16), (1, 8), scales=f16)
        self.minima = Weight("i8", (24, 16), (1, 8), scales=f16)
        codes = Weight("u4", (24, 512), (1, 32))
        self.register_buffer("codes", codes.codes)

    def forward(self):
        return torch.ops.inlay.dequantize(
            self.codes, self.scales(), self.minima(), "u4", [1, 32], None, True, torch.float32
        )


def test_scales_of_scales_are_read_in_the_kernel_of_the_product():
    weight = Nested()
    check_linear(weight, weight(), torch.randn(2, 512, generator=draw(4)))


@pytest.mark.parametrize(("code", "kernels"), [("i8", 2), ("u4", 3)])
def test_matrices_with_rows_over_the_sum(code, kernels):
    weight = Weight(code, (256, 48), (32, 1), offsets=i8)
    x = torch.randn(2, 256, generator=draw(6))
    got, found = compile_and_run(Matmul(weight), x)
    wanted = (x.double() @ weight().double()).relu() + 1
    assert ((got.double() - wanted).abs() <= error_bound(x, weight())).all()
    assert found <= kernels


def test_weights_with_other_readers_are_also_floats():
    class Model(nn.Module):
        def __init__(self, weight):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            floats = self.weight()
            return nn.functional.linear(x, floats), floats.exp().sum(1)

    model, x = Model(Weight("i4", (16, 256), (1, 32))), torch.randn(1, 256, generator=draw(7))
    compiled = inlay.compile(model, (x,), targets=("vulkan", "host"), require_full_compilation=True)
    for got, wanted in zip(compiled(x), model(x), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-3)


def test_the_device_has_no_floats_of_packed_weights():
    memory = {
        kind: inlay.compile(
            model, (torch.randn(1, 1024),), targets=("vulkan", "host"), require_full_compilation=True
        ).memory(torch.randn(1, 1024))["total"]["peak"]
        for kind, model in {"packed": Linear(Weight("u4", (1024, 1024), (1, 32), offsets=i8))}.items()
    }
    assert memory["packed"] < 1024 * 1024
