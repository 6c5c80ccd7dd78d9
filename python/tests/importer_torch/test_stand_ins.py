# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of values that the dialect can't hold and that others replace: uint8 by int8, complex numbers by pairs."""

import inlay
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

TARGETS = [("host", "torch"), ("vulkan", "host", "torch")]
on_each_target = pytest.mark.parametrize("targets", TARGETS, ids=lambda targets: targets[0])


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def check(function, args, targets, exact=True):
    """Compares a compiled function with PyTorch, and returns its report."""
    torch.manual_seed(0)
    model = Function(function)
    compiled = inlay.compile(model, args, targets=targets)
    tolerance = {"rtol": 0, "atol": 0} if exact else {}
    for ours, theirs in zip(pytree.tree_leaves(compiled(*args)), pytree.tree_leaves(model(*args)), strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True, **tolerance)
    return compiled.report


def fallbacks(report):
    return [op["name"] for op in report["ops"] if op["target"] == "torch"]


def image(*shape):
    """Returns random bytes with both ends of the range."""
    torch.manual_seed(1)
    values = torch.randint(0, 256, shape, dtype=torch.uint8)
    values.view(-1)[:2] = torch.tensor([0, 255], dtype=torch.uint8)
    return values


BYTES = {
    "normalize": lambda x, y: (x.permute(1, 0).to(torch.float32) / 255 - 0.5).unsqueeze(0),
    "arithmetic": lambda x, y: (x + y, x - y, x * y, -x, x // (y | 1), x % (y | 1), x / 2, x * 1.5, x**2),
    "comparisons": lambda x, y: (x > y, x == 3, x <= 200, torch.maximum(x, y), x.clamp(10, 200)),
    "reductions": lambda x, y: (x.sum(), x.max(), x.amin(1), x.argmax(1), x.max(1).values, x.float().mean()),
    "tests": lambda x, y: (x.any(), (x > 250).all(), torch.any(x, 1), torch.all(x, (0, 1), keepdim=True)),
    "moves": lambda x, y: (x[1], x[:, 1:3], x.flip(0), torch.cat([x, y]), x[torch.tensor([2, 0])], x.split(2, 1)),
    "casts": lambda x, y: (x.long(), x.to(torch.int8), x.bool(), x.half(), (x * 1.1).clamp(0, 255).to(torch.uint8)),
    "bits": lambda x, y: (x >> 2, x << 3, ~x, x ^ y, x & 15),
    "fills": lambda x, y: (
        torch.where(x > y, x, y),
        x.masked_fill(x > 9, 200),
        nn.functional.pad(x, (1, 1), value=255),
    ),
    "sorts": lambda x, y: (x.sort(1)[0], x.topk(2, 1)[0]),
}


@on_each_target
@pytest.mark.parametrize("name", BYTES)
def test_bytes_are_computed_without_pytorch(name, targets):
    report = check(BYTES[name], (image(3, 5), image(3, 5).flip(0)), targets)
    assert not fallbacks(report)


@on_each_target
def test_bytes_go_to_and_from_pytorch(targets):
    report = check(lambda x: (torch.unique(x + 1), x + 1, x, x.clone(), x > -1), (image(3, 5),), targets)
    assert fallbacks(report)


@on_each_target
def test_a_view_of_an_argument_as_bytes_is_not_the_argument(targets):
    signed = image(4).view(torch.int8)
    check(lambda y: y.view(torch.uint8), (signed,), targets)
    check(lambda y: (y.view(torch.uint8), y, y.view(torch.uint8).view(torch.int8)), (signed,), targets)
    check(lambda x: (x.view(torch.int8), x), (image(4),), targets)


@on_each_target
def test_bytes_have_the_bits_of_an_argument(targets):
    def read(x, y):
        return x.char(), x, x.char().byte(), y.byte(), y, y + 1, (y + 1).byte()

    report = check(read, (image(3), torch.tensor([-128, -1, 127], dtype=torch.int8)), targets)
    assert not fallbacks(report)


def test_bytes_of_size_zero():
    check(lambda x: (x.float() / 255, x + 1), (torch.zeros(0, 3, dtype=torch.uint8),), ("host", "torch"))


def test_bytes_in_a_saved_program(tmp_path):
    model, x = Function(lambda x: (x + 250, x.float())), image(3, 5)
    inlay.compile(model, (x,), targets=("host",)).save(tmp_path / "model.inlay")
    for ours, theirs in zip(inlay.load(tmp_path / "model.inlay")(x), model(x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


@on_each_target
def test_views_of_bytes_keep_their_dtype(targets):
    def views(x, y):
        inputs = (x.view(torch.uint8), x.view(torch.uint8).view(torch.int8) * 2, y.view(torch.int8).view(torch.uint8))
        doubled = (x * 2).view(torch.uint8)
        return *inputs, x.view(torch.uint8).float(), doubled, doubled + 1, doubled.view(torch.int8), x.view(torch.int16)

    x = image(3, 8)
    check(views, (x.view(torch.int8), x), targets)


def test_weights_of_bytes():
    class Quantized(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", image(6, 4))

        def forward(self, index):
            return (self.table[index].float() - 128) * 0.1

    model, index = Quantized(), torch.tensor([5, 0, 3])
    compiled = inlay.compile(model, (index,), targets=("host",))
    torch.testing.assert_close(compiled(index), model(index))
    other = {"table": 255 - model.table}
    compiled.load_state_dict(other)
    model.load_state_dict(other)
    torch.testing.assert_close(compiled(index), model(index))


def test_an_argument_of_another_dtype_is_an_error():
    compiled = inlay.compile(Function(lambda x: x.float()), (image(3, 5),), targets=("host",))
    with pytest.raises(inlay.Error, match="expected dtype uint8"):
        compiled(torch.zeros(3, 5, dtype=torch.int8))


class Rotary(nn.Module):
    """Rotary embeddings as products of complex numbers."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(6.0), torch.tensor([1.0, 0.1, 0.01, 0.001]))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x):
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        turned = pairs * self.turns[: x.shape[1]].view(1, x.shape[1], 1, -1)
        return torch.view_as_real(turned).flatten(3).type_as(x)


@on_each_target
def test_rotary_embeddings_are_computed_without_pytorch(targets):
    report = check(Rotary(), (torch.randn(2, 5, 3, 8),), targets, exact=False)
    assert not fallbacks(report)


def test_checks_of_complex_dtypes_do_not_keep_calls_in_pytorch():
    def turn(a):
        turns = torch.polar(torch.ones_like(a), a).to(a.device)  # which adds aten::_assert_tensor_metadata
        return torch.view_as_real(turns * torch.complex(a, a))

    assert not fallbacks(check(turn, (torch.randn(3, 4),), ("host", "torch"), exact=False))


def test_products_of_complex_numbers_of_two_widths():
    places = torch.tensor([[1, 1, 0], [0, 1, 1]])

    def turn(a):
        turns = torch.polar(a.double().abs(), a.double()).gather(0, places)
        product = torch.complex(a, -a) * turns + torch.complex(a, a).to(torch.complex128)
        return torch.view_as_real(product), (torch.complex(a, a) * a.double()).imag

    assert not fallbacks(check(turn, (torch.randn(2, 3),), ("host", "torch"), exact=False))


def complex_arithmetic(a, b):
    z, w = torch.complex(a, b), torch.polar(a.abs(), b)
    y = (z * w + z - w).conj() * 3.0
    first, second = torch.cat([y, z]).split(5)
    return y.abs(), y.angle(), y.real, y.imag, torch.view_as_real(first * second), (2 * z + 1).abs()


@on_each_target
def test_complex_arithmetic(targets):
    inf, nan = float("inf"), float("nan")
    a, b = torch.tensor([0.0, inf, 1e30, -0.0, nan]), torch.tensor([0.0, 1.0, 1e30, -0.0, 2.0])
    for args in ((torch.randn(5), torch.randn(5)), (a, b)):
        assert not fallbacks(check(complex_arithmetic, args, targets, exact=False))


@on_each_target
def test_complex_values_of_a_fourier_transform_stay_in_pytorch(targets):
    report = check(lambda a: torch.fft.ifft(torch.fft.fft(a) * torch.complex(a, a)).real, (torch.randn(3, 4),), targets)
    assert fallbacks(report) == ["torch::calls"]


@on_each_target
def test_values_beside_the_program_keep_their_elements(targets):
    """Results that are views of memory that the program uses again."""

    def function(x, places):
        parts = torch.tensor_split(x * 2, places)
        return (*parts, torch.view_as_complex(x.view(-1, 2) * 3), x.exp().sin().cos() + 1)

    args = torch.randn(6, 4), torch.tensor([2, 3])
    check(function, args, targets, exact=False)


class Bounded(nn.Module):
    """Masks by lengths that it checks. The attributes give the bounds."""

    def __init__(self, most, least):
        super().__init__()
        self.most, self.least = most, least

    def forward(self, a, lengths):
        torch._check(lengths.max().item() <= self.most)
        torch._check(lengths.min().item() > self.least)
        return torch.where(torch.arange(a.shape[1]) < lengths[:, None], a, 0)


@on_each_target
@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8], ids=str)
def test_assertions_about_items_are_checked_without_pytorch(targets, dtype):
    a, model = torch.randn(3, 8), Bounded(8, 0)
    compiled = inlay.compile(model, (a, torch.tensor([1, 8, 5], dtype=dtype)), targets=targets)
    assert not fallbacks(compiled.report)
    for lengths in ([8, 8, 1], [3, 2, 1]):
        given = torch.tensor(lengths, dtype=dtype)
        assert torch.equal(compiled(a, given), model(a, given))
    for lengths, condition in (([9, 1, 1], "<= 8"), ([1, 0, 8], ">= 1")):
        with pytest.raises(inlay.Error, match=f"Runtime assertion failed .*{condition}"):
            compiled(a, torch.tensor(lengths, dtype=dtype))


@on_each_target
def test_assertions_about_bools_are_checked_without_pytorch(targets):
    class Positive(nn.Module):
        def forward(self, a, counts):
            torch._check((counts > 0).all().item())
            return a * 2

    a = torch.randn(4)
    compiled = inlay.compile(Positive(), (a, torch.tensor([1, 2])), targets=targets)
    assert not fallbacks(compiled.report)
    assert torch.equal(compiled(a, torch.tensor([3, 1])), a * 2)
    with pytest.raises(inlay.Error, match="Runtime assertion failed"):
        compiled(a, torch.tensor([1, 0]))


def test_bounds_of_items_beyond_the_dtype():
    a, lengths = torch.randn(2, 4), torch.tensor([1, 4], dtype=torch.int8)
    model = Bounded(1000, 0)
    compiled = inlay.compile(model, (a, lengths), targets=("host", "torch"))
    assert not fallbacks(compiled.report) and torch.equal(compiled(a, lengths), model(a, lengths))


def test_an_item_that_is_used_elsewhere_stays_in_pytorch():
    class Used(nn.Module):
        def forward(self, a, count):
            number = count.item()
            torch._check(number <= 3)
            return a * number

    a = torch.randn(4)
    compiled = inlay.compile(Used(), (a, torch.tensor(2)), targets=("host", "torch"))
    assert torch.equal(compiled(a, torch.tensor(3)), a * 3)
    with pytest.raises(inlay.Error, match="Runtime assertion failed"):
        compiled(a, torch.tensor(4))
