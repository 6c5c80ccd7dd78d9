# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares `dequantize` and products with dequantized weights with PyTorch, on each target."""

import importlib
import subprocess

import inlay
import pytest
import torch
from conftest import BUILD
from inlay._dialect.quantized import BITS
from torch import nn

HOST, TORCH = ("host", "torch"), ("torch",)


def draw(seed):
    """Returns a generator of random numbers."""
    return torch.Generator().manual_seed(seed)


def pack(numbers, code):
    """Returns int8 bytes with the lowest bits of integers, packed along the last dim as `dequantize` expects."""
    bits = BITS[code]
    per_byte = 8 // bits
    groups = nn.functional.pad(numbers.to(torch.int16) & (1 << bits) - 1, (0, -numbers.shape[-1] % per_byte))
    groups = groups.unflatten(-1, (-1, per_byte))
    return sum(groups[..., place] << bits * place for place in range(per_byte)).to(torch.uint8).view(torch.int8)


class Weight(nn.Module):
    """A packed weight of `shape` with random codes, scales and offsets.

    offsets: dtype of the offsets; None for none. kind: the dtype of the scales.
    """

    def __init__(self, code, shape, block, *, offsets=None, minima=False, scales=torch.float32, dtype=torch.float32):
        super().__init__()
        bits, generator = BITS[code], draw(sum(shape) + len(code))
        low = -(2 ** (bits - 1)) if code[0] == "i" else 0
        numbers = torch.randint(low, low + 2**bits, shape, generator=generator)
        blocks = [1 if length == -1 else -(-size // length) for size, length in zip(shape, block, strict=True)]
        self.code, self.block, self.minima, self.dtype = code, list(block), minima, dtype
        self.size = shape[-1] if shape[-1] * bits % 8 else None
        self.register_buffer("codes", pack(numbers, code))
        self.register_buffer("scales", (torch.rand(blocks, generator=generator) / 8 + 0.01).to(scales))
        self.register_buffer("offsets", None)
        if offsets == torch.int8:
            self.offsets = (
                torch.randint(low, low + 2**bits, blocks, generator=generator).to(torch.uint8).view(torch.int8)
            )
        elif offsets is not None:
            self.offsets = torch.randn(blocks, generator=generator).to(offsets)

    def forward(self):
        return torch.ops.inlay.dequantize(
            self.codes, self.scales, self.offsets, self.code, self.block, self.size, self.minima, self.dtype
        )


class Read(nn.Module):
    """The floats of a weight, plus an input of one element."""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return self.weight() + x


class Linear(nn.Module):
    """A product with the transposed weight."""

    def __init__(self, weight, bias=None):
        super().__init__()
        self.weight = weight
        self.bias = None if bias is None else nn.Parameter(bias)

    def forward(self, x):
        return nn.functional.linear(x, self.weight(), self.bias)


class Matmul(Linear):
    """A product with the weight, and what follows it."""

    def forward(self, x):
        return nn.functional.relu(x @ self.weight()) + 1


i8, f16, bf16, f32 = torch.int8, torch.float16, torch.bfloat16, torch.float32
FORMATS = {
    "i8-per-tensor": ("i8", (5, 7), (-1, -1), {}),
    "u8-per-row": ("u8", (5, 33), (1, -1), {"offsets": i8}),
    "i8-per-column-f16": ("i8", (6, 4), (-1, 1), {"scales": f16, "dtype": f16}),
    "u4-blocks": ("u4", (3, 64), (1, 32), {"offsets": i8}),
    "i4-odd": ("i4", (3, 37), (1, 16), {"scales": bf16, "offsets": f32}),
    "u4-minima": ("u4", (4, 48), (1, 16), {"offsets": f16, "scales": f16, "minima": True}),
    "u2-blocks-of-rows": ("u2", (7, 10), (3, 4), {"offsets": i8}),
    "i2-vector": ("i2", (9,), (4,), {"offsets": i8}),
    "i4-cube": ("i4", (2, 3, 6), (1, -1, 2), {"dtype": bf16}),
    "u4-one": ("u4", (1, 1), (1, 1), {"offsets": i8}),
}


@pytest.mark.parametrize("targets", [HOST, TORCH], ids=["host", "torch"])
@pytest.mark.parametrize("name", FORMATS)
def test_codes_become_the_floats_of_pytorch(name, targets):
    code, shape, block, more = FORMATS[name]
    model = Read(Weight(code, shape, block, **more))
    zero = torch.zeros((), dtype=model.weight().dtype)
    got = inlay.compile(model, (zero,), targets=targets)(zero)
    assert torch.equal(got, model(zero))


# Block sizes for which the kernels take each of their paths, with rows that end inside of a group of codes.
PRODUCTS = {
    "u4-32": ("u4", 96, 32, {"offsets": i8}),
    "i4-16-tail": ("i4", 77, 16, {"scales": f16}),
    "u4-row": ("u4", 101, -1, {"offsets": f32, "minima": True}),
    "u4-24-odd": ("u4", 77, 24, {"offsets": i8}),
    "i8-row": ("i8", 130, -1, {}),
    "u8-16": ("u8", 70, 16, {"offsets": i8, "scales": bf16}),
    "u2-32": ("u2", 70, 32, {"offsets": i8}),
}


def error_bound(x, floats):
    """Returns the largest error of sums of products in float32, in any order.

    floats: a row for each element of a row of `x`.
    """
    return len(floats) * 2**-23 * (x.double().abs() @ floats.double().abs()) + 1e-6


@pytest.mark.parametrize("rows", [1, 3, 70])
@pytest.mark.parametrize("name", PRODUCTS)
def test_rows_times_weights_equal_pytorch(name, rows):
    code, width, length, more = PRODUCTS[name]
    weight = Weight(code, (45, width), (1, length), **more)
    floats, x = weight(), torch.randn(rows, width, generator=draw(rows))
    bias = torch.randn(45, generator=draw(1))
    compiled = inlay.compile(Linear(weight, bias), (x,), targets=HOST, require_full_compilation=True)
    wanted = torch.nn.functional.linear(x.double(), floats.double(), bias.double())
    assert ((compiled(x).double() - wanted).abs() <= error_bound(x, floats.T)).all()


def kernel_kinds(compiled):
    """Returns the kinds of the host kernels of a program."""
    return [kernel["kind"] for segment in compiled.report["segments"] for kernel in segment["kernels"]]


@pytest.mark.parametrize("dtype", [f16, bf16], ids=str)
@pytest.mark.parametrize("rows", [1, 4, 70])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_in_16_bits_read_codes_and_round_the_weight(name, rows, dtype):
    code, width, length, more = PRODUCTS[name]
    weight = Weight(code, (45, width), (1, length), dtype=dtype, **more)
    floats, x = weight(), torch.randn(rows, width, generator=draw(rows)).to(dtype)
    compiled = inlay.compile(Linear(weight), (x,), targets=HOST, require_full_compilation=True)
    assert "quantized_product" in kernel_kinds(compiled)
    got, wanted = compiled(x), x.double() @ floats.double().T
    step = torch.finfo(dtype).eps
    bound = error_bound(x, floats.T) + step * wanted.abs()
    if weight.minima:  # A sum that is rounded once may be rounded to the next number of 16 bits.
        bound += step * (x.double().abs() @ floats.double().abs().T)
    assert got.dtype == dtype and ((got.double() - wanted).abs() <= bound).all()


@pytest.mark.parametrize("rows", [1, 9])
@pytest.mark.parametrize("name", PRODUCTS)
def test_rows_times_weights_with_rows_over_the_sum_equal_pytorch(name, rows):
    code, width, length, more = PRODUCTS[name]
    weight = Weight(code, (width, 45), (length, 1), **more)
    floats, x = weight(), torch.randn(2, rows, width, generator=draw(rows))
    compiled = inlay.compile(Matmul(weight), (x,), targets=HOST, require_full_compilation=True)
    wanted = (x.double() @ floats.double()).relu() + 1
    assert ((compiled(x).double() - wanted).abs() <= error_bound(x, floats)).all()


def test_vulkan_multiplies_with_packed_weights():
    weight = Weight("u4", (20, 70), (1, 32), offsets=i8)
    x = torch.randn(3, 70, generator=draw(0))
    compiled = inlay.compile(Linear(weight), (x,), targets=("vulkan", "host"), require_full_compilation=True)
    wanted = x.double() @ weight().double().T
    assert ((compiled(x).double() - wanted).abs() <= error_bound(x, weight().T)).all()


def test_the_report_has_the_bytes_of_weights_by_type(tmp_path):
    model = Linear(Weight("u4", (256, 512), (1, 32), offsets=i8))
    compiled = inlay.compile(model, (torch.randn(1, 512),), targets=HOST)
    assert compiled.report["summary"]["weights"] == {"f32": 256 * 16 * 4, "i8": 256 * 16, "u4": 256 * 256}
    assert "weights: 16.0 KiB f32, 4.0 KiB i8, 64.0 KiB u4" in str(compiled.report)
    compiled.save(tmp_path / "program.inlay")
    command = [BUILD / "bin" / "inlay-run", "--describe", tmp_path / "program.inlay"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "weights: 16.0 KiB f32, 4.0 KiB i8, 64.0 KiB u4\n" in done.stdout


def test_saved_weights_stay_packed_and_can_be_replaced(tmp_path):
    model, other = (Linear(Weight("u4", (256, 512), (1, 32), offsets=kind)) for kind in (i8, i8))
    other.weight.codes.bitwise_not_()
    x = torch.randn(1, 512, generator=draw(0))
    compiled = inlay.compile(model, (x,), targets=HOST)
    compiled.save(tmp_path / "program.inlay")
    assert (tmp_path / "program.inlay").stat().st_size < 256 * 512  # as floats, the weights take four times as much
    loaded = inlay.load(tmp_path / "program.inlay")
    assert torch.equal(loaded(x), compiled(x))
    compiled.load_state_dict(other.state_dict())
    floats = other.weight()
    assert ((compiled(x).double() - x.double() @ floats.double().T).abs() <= error_bound(x, floats.T)).all()


class Decomposed(nn.Module):
    """A product with weights as PyTorch's quantization of exported models writes them."""

    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.randint(-128, 128, (16, 64), generator=draw(2), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(16, generator=draw(3)) / 8)
        self.register_buffer("zeros", torch.randint(-9, 9, (16,), generator=draw(4)))

    def forward(self, x):
        ops, limits = torch.ops.quantized_decomposed, (-128, 127, torch.int8)
        weight = ops.dequantize_per_channel(self.codes, self.scales, self.zeros, 0, *limits)
        return nn.functional.linear(x, weight) + ops.dequantize_per_tensor(self.codes[0, :16], 0.5, 3, *limits)


def test_dequantization_of_pytorch_stays_packed():
    importlib.import_module("torch.ao.quantization.fx._decomposed")  # registers the operators
    model, x = Decomposed(), torch.randn(2, 64, generator=draw(5))
    compiled = inlay.compile(model, (x,), targets=HOST, require_full_compilation=True)
    weight = (model.codes.double() - model.zeros.double()[:, None]) * model.scales.double()[:, None]
    wanted = x.double() @ weight.T + (model.codes[0, :16].double() - 3) * 0.5
    assert ((compiled(x).double() - wanted).abs() <= error_bound(x, weight.T) + 1e-4).all()
    assert sum(op["name"] == "inlay.dequantize" for op in compiled.report["ops"]) == 2


class Called(nn.Module):
    """A call of an operator of quantized_decomposed on two inputs."""

    def __init__(self, scale, zero):
        super().__init__()
        self.register_buffer("scale", scale)
        self.register_buffer("zero", zero)

    def forward(self, codes):
        limits = (-128, 127, torch.int8)
        return torch.ops.quantized_decomposed.dequantize_per_tensor.tensor(codes, self.scale, self.zero, *limits)


@pytest.mark.parametrize("codes", [(), (5,), (2, 3)], ids=str)
@pytest.mark.parametrize("dims", [(), (1,), (1, 1)], ids=str)
def test_scales_of_one_element_may_have_dims(codes, dims):
    importlib.import_module("torch.ao.quantization.fx._decomposed")  # registers the operators
    model = Called(torch.full(dims, 0.5), torch.full(dims, 3))
    x = torch.randint(-128, 128, codes, generator=draw(1), dtype=torch.int8)
    expected = model(x).reshape(codes)  # PyTorch adds dims of size 1
    torch.testing.assert_close(inlay.compile(model, (x,), targets=HOST)(x).reshape(codes), expected)


def test_many_sums_follow_a_product():
    class Sums(nn.Module):
        def __init__(self, weight):
            super().__init__()
            self.weight = weight

        def forward(self, x, *others):
            result = nn.functional.linear(x, self.weight())
            for other in others:
                result = result + other
            return result

    model = Sums(Weight("u4", (16, 32), (1, 32)))
    inputs = (torch.randn(2, 32, generator=draw(2)), *torch.randn(40, 2, 16, generator=draw(3)))
    compiled = inlay.compile(model, inputs, targets=("host",), require_full_compilation=True)
    torch.testing.assert_close(compiled(*inputs), model(*inputs), rtol=1e-5, atol=1e-4)
