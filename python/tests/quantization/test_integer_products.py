# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares products and convolutions of quantized tensors with exact sums, and PT2E models with PyTorch."""

import importlib

import inlay
import pytest
import torch
from torch import nn

HOST = ("host", "torch")
ops = torch.ops.quantized_decomposed
TARGETS = pytest.mark.parametrize("targets", [HOST, ("vulkan", *HOST)], ids="-".join)


@pytest.fixture(autouse=True, scope="module")
def _operators():
    importlib.import_module("torch.ao.quantization.fx._decomposed")  # registers the operators


def kernels_of(compiled):
    """Returns the kinds of all kernels of a program but those that make a scale or a zero point, in order."""
    kernels = [kernel for segment in compiled.report["segments"] for kernel in segment["kernels"]]
    return [kernel["kind"] for kernel in kernels if not all(".full" in op for op in kernel["ops"])]


def draw(shape, dtype, seed=0):
    """Returns codes with all values of their type."""
    info = torch.iinfo(dtype)
    return torch.randint(info.min, info.max + 1, shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


class Layer(nn.Module):
    """A layer with an input and a weight of 8 bits, a bias, relu, and a quantized result if `result` is a dtype."""

    def __init__(self, layer, weight, *, zero=0, result=None, kind=torch.uint8):
        super().__init__()
        self.layer, self.zero, self.result, self.kind = layer, zero, result, kind
        self.register_buffer("weight", weight)
        generator = torch.Generator().manual_seed(weight.numel())
        self.register_buffer("scales", torch.rand(weight.shape[0], generator=generator) / 100 + 0.001)
        self.register_buffer("zeros", torch.randint(-3, 4, (weight.shape[0],), generator=generator))
        self.register_buffer("bias", torch.randn(weight.shape[0], generator=generator))

    def forward(self, codes):
        limits = (torch.iinfo(self.kind).min, torch.iinfo(self.kind).max, self.kind)
        x = ops.dequantize_per_tensor(codes, 0.02, self.zero, *limits)
        weight = ops.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -128, 127, torch.int8)
        x = self.layer(x, weight, self.bias.to(x.dtype)).relu()
        if self.result is None:
            return x
        return ops.quantize_per_tensor(
            x, 0.05, 3, torch.iinfo(self.result).min, torch.iinfo(self.result).max, self.result
        )

    def expect(self, codes):
        """Returns the floats of the result before they are quantized, from exact sums."""
        x = (codes.double() - self.zero) * torch.tensor(0.02).double()
        dims = [-1] + [1] * (self.weight.dim() - 1)
        weight = (self.weight.double() - self.zeros.reshape(dims)) * self.scales.double().reshape(dims)
        return self.layer(x, weight, self.bias.double()).relu()


def conv(**options):
    dims = len(options.pop("dims", "yx"))
    function = {1: nn.functional.conv1d, 2: nn.functional.conv2d}[dims]
    return lambda x, weight, bias: function(x, weight, bias, **options)


i8, u8 = torch.int8, torch.uint8
CASES = {
    "linear": (Layer(nn.functional.linear, draw((33, 47), i8)), (5, 47)),
    "linear of one row": (Layer(nn.functional.linear, draw((130, 64), i8), zero=128), (1, 64)),
    "linear of a batch": (Layer(nn.functional.linear, draw((16, 33), i8), zero=7), (2, 9, 33)),
    "linear of int8": (Layer(nn.functional.linear, draw((33, 47), i8), zero=-5, kind=i8), (5, 47)),
    "conv": (Layer(conv(padding=1), draw((20, 7, 3, 3), i8), zero=121), (2, 7, 9, 11)),
    "conv with strides": (Layer(conv(stride=(2, 3), padding=(2, 0)), draw((9, 5, 3, 2), i8), zero=3), (1, 5, 12, 13)),
    "conv with dilation": (Layer(conv(dilation=2, padding=2), draw((8, 6, 3, 3), i8), zero=255), (1, 6, 10, 9)),
    "conv of one dim": (Layer(conv(dims="x", padding=1), draw((12, 9, 3), i8), zero=9, kind=i8), (2, 9, 31)),
    "conv of groups": (Layer(conv(groups=2), draw((24, 3, 3, 3), i8), zero=9), (1, 6, 9, 9)),
    "pointwise conv": (Layer(conv(), draw((17, 24, 1, 1), i8), zero=1), (1, 24, 7, 9)),
}


@pytest.mark.parametrize("case", CASES)
def test_results_equal_those_of_exact_sums(case):
    model, shape = CASES[case]
    codes = draw(shape, model.kind, 1)
    compiled = inlay.compile(model, (codes,), targets=HOST)
    assert kernels_of(compiled) == ["integer_product"]
    # One rounding of the sum, of the scale, of their product and of the addition of the bias.
    torch.testing.assert_close(compiled(codes).double(), model.expect(codes), rtol=2**-21, atol=2**-21)


@pytest.mark.parametrize("dtype", [i8, u8], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_result_is_quantized_in_the_kernel(case, dtype):
    layer, shape = CASES[case]
    model = Layer(layer.layer, layer.weight, zero=layer.zero, kind=layer.kind, result=dtype)
    codes = draw(shape, model.kind, 2)
    compiled = inlay.compile(model, (codes,), targets=HOST)
    assert kernels_of(compiled) == ["integer_product"]
    found, floats = compiled(codes), model.expect(codes)
    assert found.dtype == dtype
    levels = (floats * (1 / torch.tensor(0.05)).double() + 3).clamp(torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    # A level is a half away from its number, or more by the error of the number.
    assert (found.double() - levels).abs().max() <= 0.5 + 1e-3


def test_vulkan_computes_the_same_levels():
    layer, shape = CASES["conv"]
    model = Layer(layer.layer, layer.weight, zero=layer.zero, result=u8)
    codes = draw(shape, u8, 3)
    host, device = (inlay.compile(model, (codes,), targets=targets)(codes) for targets in (HOST, ("vulkan", *HOST)))
    assert (host.int() - device.int()).abs().max() <= 1
    assert (host != device).float().mean() < 0.01


class Depthwise(Layer):
    def __init__(self):
        super().__init__(conv(groups=16, padding=1), draw((16, 1, 3, 3), i8), zero=9)


def test_depthwise_convolutions_stay_products_of_floats():
    model, codes = Depthwise(), draw((1, 16, 9, 9), u8)
    compiled = inlay.compile(model, (codes,), targets=HOST)
    assert "integer_product" not in kernels_of(compiled)
    torch.testing.assert_close(compiled(codes).double(), model.expect(codes), rtol=1e-5, atol=1e-5)


def test_rows_of_any_number():
    model = CASES["linear"][0]
    rows = torch.export.Dim("rows", min=1, max=500)
    compiled = inlay.compile(model, (draw((5, 47), u8),), targets=HOST, dynamic_shapes=({0: rows},))
    assert kernels_of(compiled) == ["integer_product"]
    for count in (1, 5, 49, 400):
        codes = draw((count, 47), u8, count)
        torch.testing.assert_close(compiled(codes).double(), model.expect(codes), rtol=2**-21, atol=2**-21)


# -- PT2E -------------------------------------------------------------------------------------------------------------


class Network(nn.Module):
    """A small network with a residual connection, whose last layer is too small for a product of integers."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 16, 3, padding=1)
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        x = self.first(x).relu()
        x = (x + self.second(x)).relu()
        return self.last(x.mean((2, 3)))


class Encoder(nn.Module):
    """A layer of a small transformer."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(32, 32) for _ in range(4))
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)
        self.norm, self.other = nn.LayerNorm(32), nn.LayerNorm(32)

    def forward(self, x):
        y = self.norm(x)
        query, key, value = (
            layer(y).unflatten(-1, (4, 8)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        scores = torch.softmax(query @ key.transpose(-1, -2) / 8**0.5, -1)
        x = x + self.out((scores @ value).transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.other(x))))


def quantized(model, *inputs):
    """Returns the model after static quantization by PT2E, with weights per channel."""
    pytest.importorskip("torchao")
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export(model.eval(), inputs).module(), quantizer)
    for _ in range(3):
        prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), inputs)


@TARGETS
@pytest.mark.parametrize(
    ("model", "shape", "products"),
    [(Network, (2, 3, 12, 12), 2), (Encoder, (2, 16, 32), 6)],
    ids=["network", "encoder"],
)
def test_static_quantization_of_models(model, shape, products, targets):
    torch.manual_seed(5)
    model, x = model(), torch.randn(shape, generator=torch.Generator().manual_seed(6))
    program = quantized(model, x)
    compiled = inlay.compile(program, targets=targets, require_full_compilation=True)
    plain = inlay.compile(model, (x,), targets=targets)
    assert len(compiled.report["segments"]) <= len(plain.report["segments"])
    if targets == HOST:
        assert kernels_of(compiled).count("integer_product") == products
    expected = program.module()(x)
    # A number at the middle of two levels may get the other one.
    torch.testing.assert_close(compiled(x), expected, rtol=0, atol=0.05 * float(expected.abs().max()))
    assert (compiled(x) - expected).abs().mean() < 0.003 * expected.abs().max()
