# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models with activations of integers, as PyTorch exports them when quantized, with PyTorch."""

import importlib

import inlay
import pytest
import torch
from torch import nn

HOST = ("host", "torch")
LIMITS = {torch.int8: (-128, 127), torch.int16: (-32768, 32767), torch.uint8: (0, 255)}


@pytest.fixture(autouse=True, scope="module")
def _operators():
    importlib.import_module("torch.ao.quantization.fx._decomposed")  # registers the operators


class PerTensor(nn.Module):
    """Quantizes with one scale. Returns the codes and their floats."""

    def __init__(self, dtype, scale, zero):
        super().__init__()
        self.arguments = (scale, zero, *LIMITS[dtype], dtype)

    def forward(self, x):
        codes = torch.ops.quantized_decomposed.quantize_per_tensor(x, *self.arguments)
        return codes, torch.ops.quantized_decomposed.dequantize_per_tensor(codes, *self.arguments)


class PerTensorOfTensors(nn.Module):
    """Quantizes with a scale and a zero point that are tensors. Returns the codes and their floats."""

    def __init__(self, dtype):
        super().__init__()
        self.limits = (*LIMITS[dtype], dtype)

    def forward(self, x, scale, zero):
        ops = torch.ops.quantized_decomposed
        codes = ops.quantize_per_tensor.tensor(x, scale, zero, *self.limits)
        return codes, ops.dequantize_per_tensor.tensor(codes, scale, zero, *self.limits)


class PerChannel(nn.Module):
    """Quantizes with a scale per element of a dim. Returns the codes and their floats."""

    def __init__(self, dtype, axis, count):
        super().__init__()
        self.arguments = (axis, *LIMITS[dtype], dtype)
        self.register_buffer("scales", torch.linspace(0.1, 0.7, count))
        self.register_buffer("zeros", torch.arange(count) * 7)

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        codes = ops.quantize_per_channel(x, self.scales, self.zeros, *self.arguments)
        return codes, ops.dequantize_per_channel(codes, self.scales, self.zeros, *self.arguments)


def check(model, *inputs, targets=HOST):
    """Compares all results with PyTorch's, bit by bit."""
    compiled = inlay.compile(model, inputs, targets=targets, require_full_compilation=True)
    for found, expected in zip(compiled(*inputs), model(*inputs), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


def numbers(*shape):
    """Returns numbers with ties of the scale 0.5, and some outside of the range of all codes."""
    spread = torch.randint(-700, 700, shape, generator=torch.Generator().manual_seed(1)) / 4
    spread.view(-1)[:3] = torch.tensor([torch.inf, -torch.inf, -0.0])[: spread.numel()]
    return spread


TARGETS = pytest.mark.parametrize("targets", [HOST, ("vulkan", *HOST)], ids="-".join)
DTYPES = pytest.mark.parametrize("dtype", list(LIMITS), ids=str)


@TARGETS
@DTYPES
@pytest.mark.parametrize("zero", [0, 5])
def test_one_scale(dtype, zero, targets):
    check(PerTensor(dtype, 0.5, zero), numbers(3, 5, 7), targets=targets)


@pytest.mark.parametrize("shape", [(0, 3), (3,)], ids=str)
def test_small_tensors(shape):
    check(PerTensor(torch.uint8, 0.3, 128), torch.linspace(-100, 100, 3).expand(shape).clone())


@DTYPES
@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("dims", [(), (1,)], ids=str)
def test_scale_that_is_a_tensor(dtype, kind, dims):
    check(PerTensorOfTensors(dtype), numbers(4, 6), torch.full(dims, 0.3, dtype=kind), torch.full(dims, 9))


def test_scale_of_float64_is_inverted_before_it_is_rounded():
    scale = torch.tensor(1 + 2 / 7000, dtype=torch.float64)
    x = (torch.arange(-255, 255) / 2 * scale).float()
    assert (torch.round(x * scale.reciprocal().float()) != torch.round(x * scale.float().reciprocal())).any()
    check(PerTensorOfTensors(torch.int8), x, scale, torch.tensor(0))


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
def test_scale_of_16_bits_is_inverted_with_more(kind):
    x = torch.linspace(-90, 90, 4001)
    check(PerTensorOfTensors(torch.int8), x, torch.tensor(1.3, dtype=kind), torch.tensor(0))


@TARGETS
@DTYPES
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scale_per_channel(dtype, axis, targets):
    x = numbers(2, 3, 4)
    check(PerChannel(dtype, axis, x.shape[axis]), x, targets=targets)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
def test_short_floats_are_quantized_as_float32(kind):
    check(PerTensor(torch.uint8, 0.5, 128), numbers(3, 50).to(kind))


class Floats(nn.Module):
    """Dequantizes codes."""

    def __init__(self, zeros, limits, kind):
        super().__init__()
        self.register_buffer("zeros", zeros)
        self.arguments = (0, *limits, kind)

    def forward(self, codes):
        return torch.ops.quantized_decomposed.dequantize_per_channel(codes, torch.ones(2), self.zeros, *self.arguments)


@DTYPES
def test_zero_points_of_the_type_of_codes_wrap_as_in_pytorch(dtype):
    low, high = LIMITS[dtype]
    codes = torch.tensor([[low, high]] * 2, dtype=dtype)
    model = Floats(torch.tensor([1, 15], dtype=dtype), LIMITS[dtype], dtype)
    assert (model(codes) != codes.float() - torch.tensor([[1.0], [15]])).any()
    assert torch.equal(inlay.compile(model, (codes,), targets=HOST)(codes), model(codes))


class Called(nn.Module):
    """Calls an operator of `quantized_decomposed` with a scale of 0.5 and a zero point of 3."""

    def __init__(self, name, limits, dtype):
        super().__init__()
        self.call, self.arguments = getattr(torch.ops.quantized_decomposed, name), (0.5, 3, *limits, dtype)

    def forward(self, x):
        return self.call(x, *self.arguments)


@pytest.mark.parametrize(
    "name, kind, limits, dtype",
    [
        ("quantize_per_tensor", torch.float32, (-128, 127), torch.uint8),
        ("quantize_per_tensor", torch.float32, (0, 256), torch.uint8),
        ("quantize_per_tensor", torch.float32, (-129, 127), torch.int8),
        ("dequantize_per_tensor", torch.int8, (0, 255), torch.uint8),
        ("dequantize_per_tensor", torch.uint8, (-128, 127), torch.int8),
        ("dequantize_per_tensor", torch.int16, (-128, 127), torch.int8),
    ],
    ids=str,
)
def test_calls_that_pytorch_refuses_fail(name, kind, limits, dtype):
    model, x = Called(name, limits, dtype), torch.ones(2, 2, dtype=kind)
    with pytest.raises(AssertionError):
        model(x)
    with pytest.raises((inlay.Error, AssertionError)):
        inlay.compile(model, (x,), targets=HOST)(x)


class StaticInt8(nn.Module):
    """A network with activations of uint8 and weights of int8, as the static quantization of PyTorch exports one."""

    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(2)
        self.register_buffer("kernel", torch.randint(-127, 128, (8, 3, 3, 3), generator=generator, dtype=torch.int8))
        self.register_buffer("weight", torch.randint(-127, 128, (5, 8), generator=generator, dtype=torch.int8))
        self.register_buffer("bias", torch.randn(8, generator=generator))
        self.register_buffer("scales", torch.rand(8, generator=generator) / 100 + 0.001)

    def forward(self, x):
        ops, signed = torch.ops.quantized_decomposed, (-127, 127, torch.int8)
        kernel = ops.dequantize_per_channel(self.kernel, self.scales, None, 0, *signed)
        x = self.quantized(x, 0.03, 121)
        x = self.quantized(nn.functional.conv2d(x, kernel, self.bias, padding=1).relu(), 0.05, 0)
        x = self.quantized(x.mean((2, 3)), 0.02, 0)
        weight = ops.dequantize_per_tensor(self.weight, 0.01, 0, *signed)
        return self.quantized(nn.functional.linear(x, weight), 0.05, 128)

    @staticmethod
    def quantized(x, scale, zero):
        """Returns the numbers after quantization to uint8."""
        ops, limits = torch.ops.quantized_decomposed, (scale, zero, 0, 255, torch.uint8)
        return ops.dequantize_per_tensor(ops.quantize_per_tensor(x, *limits), *limits)


@TARGETS
def test_static_quantization_leaves_no_call_of_pytorch(targets):
    model, x = StaticInt8(), torch.randn(2, 3, 9, 9, generator=torch.Generator().manual_seed(3))
    compiled = inlay.compile(model, (x,), targets=targets, require_full_compilation=True)
    # A sum that is rounded otherwise may give the next level.
    torch.testing.assert_close(compiled(x), model(x), rtol=0, atol=0.0501)


def test_another_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        check(PerTensor(torch.int8, 0.1, 3), torch.linspace(-20, 20, 101, dtype=torch.float32))
    finally:
        torch.set_default_dtype(torch.float32)


# -- Scales that are chosen at each call ------------------------------------------------------------------------------


class Dynamic(nn.Module):
    """Chooses a scale for a tensor. Returns it, the zero point, the codes and their floats."""

    def __init__(self, name, dtype):
        super().__init__()
        self.choose, self.limits = getattr(torch.ops.quantized_decomposed, name).tensor, (*LIMITS[dtype], dtype)

    def forward(self, x):
        ops, (low, high, dtype) = torch.ops.quantized_decomposed, self.limits
        scale, zero = self.choose(x, low, high, 2.0**-12, dtype)
        codes = ops.quantize_per_tensor.tensor(x, scale, zero, *self.limits)
        return scale, zero, codes, ops.dequantize_per_tensor.tensor(codes, scale, zero, *self.limits)


class PerToken(nn.Module):
    """Chooses a scale for each row. Returns the scales, the zero points, the codes and their floats."""

    def __init__(self, name, dtype, out_dtype=torch.float32):
        super().__init__()
        self.choose = getattr(torch.ops.quantized_decomposed, name).default
        self.limits, self.out_dtype = (*LIMITS[dtype], dtype), out_dtype

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        scales, zeros = self.choose(x, torch.int8)
        codes = ops.quantize_per_token(x, scales, zeros, *self.limits)
        return scales, zeros, codes, ops.dequantize_per_token(codes, scales, zeros, *self.limits, self.out_dtype)


def ranges(count, kind=torch.float32):
    """Returns rows of different ranges: some without negative or without positive numbers, and one of zeros."""
    rows = torch.randn(count, 3, 33, generator=torch.Generator().manual_seed(count))
    rows *= torch.exp2(torch.arange(count) % 11 - 6.0).reshape(-1, 1, 1)
    rows[0], rows[1], rows[2] = rows[0].abs(), -rows[1].abs(), 0
    return rows.to(kind)


@TARGETS
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8], ids=str)
@pytest.mark.parametrize("name", ["choose_qparams", "choose_qparams_symmetric"])
def test_scale_of_the_range_of_a_tensor(name, dtype, targets):
    model, x = Dynamic(name, dtype), ranges(9)
    compiled = inlay.compile(model, (x[3],), targets=targets, require_full_compilation=True)
    for row in x:
        for found, expected in zip(compiled(row), model(row), strict=True):
            assert found.dtype == expected.dtype and torch.equal(found, expected)


@TARGETS
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8], ids=str)
@pytest.mark.parametrize("name", ["choose_qparams_per_token", "choose_qparams_per_token_asymmetric"])
def test_scale_per_token(name, dtype, targets):
    check(PerToken(name, dtype), ranges(40), targets=targets)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
def test_scales_of_short_floats(kind):
    check(Dynamic("choose_qparams", torch.uint8), ranges(9, kind))
    check(PerToken("choose_qparams_per_token", torch.int8, kind), ranges(9, kind))
    check(PerToken("choose_qparams_per_token_asymmetric", torch.int8, kind), ranges(9, kind))


class Groups(nn.Module):
    """The floats of a weight of 4 bits in groups, plus an input of one element."""

    def __init__(self, zeros):
        super().__init__()
        generator = torch.Generator().manual_seed(4)
        self.register_buffer("codes", torch.randint(-8, 8, (12, 64), generator=generator, dtype=torch.int8))
        self.register_buffer("scales", torch.rand(12, 4, generator=generator))
        self.register_buffer("zeros", torch.randint(-8, 8, (12, 4), generator=generator) if zeros else None)

    def forward(self, x):
        dequantize = torch.ops.quantized_decomposed.dequantize_per_channel_group
        return dequantize(self.codes, self.scales, self.zeros, -8, 7, torch.int8, 16, torch.float32) + x


@pytest.mark.parametrize("zeros", [False, True])
def test_scales_of_groups(zeros):
    model, x = Groups(zeros), torch.zeros(())
    compiled = inlay.compile(model, (x,), targets=HOST, require_full_compilation=True)
    assert torch.equal(compiled(x), model(x))
    assert compiled.report["summary"]["weights"]["i4"] == 12 * 64 // 2
