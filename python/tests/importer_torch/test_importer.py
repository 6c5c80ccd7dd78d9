# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the import: the ops of each call, valid text, and the results of the ops. Nothing is compiled."""

import re

import inlay
import inlay_models as models
import pytest
import torch
from conftest import export_program, verify
from inlay import ops
from inlay._import.torch.program import import_program
from inlay._program.outputs import InputOutput, ResultOutput, ValueOutput, WeightsOutput
from torch import nn
from torch.nn import functional as F

aten = torch.ops.aten


class Call(nn.Module):
    """A module around a function. `parts` are its submodules."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args, **kwargs):
        parts = dict(self.named_children())
        return self.function(*args, **kwargs, **parts)


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def ints(*shape):
    return torch.arange(-3, -3 + torch.Size(shape).numel()).reshape(shape)


SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 1e-30])

UNARY = [op for op in ops.table().values() if "floats" in op.elements and len(op.operands) == 1]


@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.name)
def test_unary(imports, op):
    function = getattr(aten, op.aten[0]).default
    made, _ = imports(Call(function), x(2, 3))
    assert made == [op.name]
    imports(Call(function), SPECIAL)
    # A function without integer form is computed in the promoted type, or by PyTorch.
    if op.name not in ("silu", "gelu", "round"):
        imports(Call(function), ints(2, 3))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_roots_by_powers(imports, dtype):
    special = SPECIAL[:-1].to(dtype)
    imports(Call(lambda a: (a**0.5, a**-0.5, a**2, a**3, a**-1, a**1.5)), special)


BINARY = [
    op
    for op in ops.table().values()
    if "floats" in op.elements and len(op.operands) == 2 and op.name not in ("trunc_div", "atan2")
]


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_binary(imports, op):
    packet = getattr(aten, op.aten[0].partition(".")[0])
    call = Call(lambda a, b: packet(a, b))
    assert imports(call, x(2, 1, 3), x(4, 1))[0] == [op.name]
    assert imports(call, x(2, 3).double(), x(3).double())[0] == [op.name]
    # Type promotion casts the operands to the type of the result.
    assert imports(call, x(2, 3), ints(3))[0] == ["cast", op.name]
    assert imports(call, x(2, 3), x(3).double())[0] == ["cast", op.name]
    imports(call, ints(2, 3), ints(3).abs())
    imports(call, ints(2, 3), ints(3).int().abs())


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum", "eq", "logical_or", "bitwise_xor"])
def test_booleans(imports, name):
    assert imports(Call(getattr(torch, name)), ints(2, 3) > 0, ints(3) > 0)[0] == [name]


@pytest.mark.parametrize(
    "function, made",
    [
        (lambda a: a + 2, ["add"]),
        (lambda a: 2 - a, ["sub"]),
        (lambda a: a * float("inf"), ["mul"]),
        (lambda a: a.reciprocal(), ["reciprocal"]),
        (lambda a: 1 / a, ["reciprocal", "mul"]),
        (lambda a: a**2, ["pow"]),
        (lambda a: 2.0**a, ["pow"]),
        (lambda a: torch.add(a, a, alpha=3), ["mul", "add"]),
        (lambda a: torch.sub(a, 2, alpha=0.5), ["mul", "sub"]),
        (lambda a: a.clamp(-0.5, 0.5), ["maximum", "minimum"]),
        (lambda a: a.clamp(max=0.5), ["minimum"]),
        (lambda a: F.relu6(a * 9), ["mul", "maximum", "minimum"]),
        (lambda a: F.leaky_relu(a, 0.1), ["mul", "maximum"]),
        (lambda a: F.hardswish(a), ["add", "maximum", "minimum", "mul", "div"]),
        (lambda a: F.gelu(a, approximate="tanh"), ["mul"] * 3 + ["add", "mul", "sigmoid", "mul"]),
        (lambda a: F.dropout(a, 0.5, training=False).clone().detach().contiguous() + a, ["add"]),
        (lambda a: a.to(torch.int32), ["cast"]),
        (lambda a: a.to(torch.float32) + a, ["add"]),
        (lambda a: (a > 0).to(torch.float16), ["gt", "cast"]),
    ],
)
def test_pointwise_forms(imports, function, made):
    assert sorted(imports(Call(function), x(3, 4))[0]) == sorted(made)


def test_integers_keep_their_type(imports):
    assert imports(Call(lambda a: a * 2 + 1), ints(2, 3))[0] == ["mul", "add"]
    assert imports(Call(lambda a: a / 2), ints(2, 3))[0] == ["cast", "div"]
    assert imports(Call(lambda a: a**2), ints(2, 3))[0] == ["mul"]
    assert imports(Call(lambda a: torch.div(a, 2, rounding_mode="floor")), ints(2, 3))[0] == ["floor_div"]


@pytest.mark.parametrize(
    "function, made",
    [
        (lambda a: a.view(6, 4), ["reshape"]),
        (lambda a: a.reshape(-1), ["reshape"]),
        (lambda a: a.flatten(1), ["reshape"]),
        (lambda a: a.unsqueeze(1).squeeze(1).unsqueeze(-1), ["reshape"] * 3),
        (lambda a: a.view(2, 3, 4), []),
        (lambda a: a.permute(2, 0, 1), ["permute"]),
        (lambda a: a.transpose(-1, 0), ["permute"]),
        (lambda a: a[0].t(), ["slice", "reshape", "permute"]),
        (lambda a: a[:, :1].expand(-1, 5, -1), ["slice", "expand"]),
        (lambda a: a.expand(3, 2, 3, 4), ["expand"]),
        (lambda a: a.repeat(2, 1, 3), ["reshape", "expand", "reshape"]),
        (lambda a: a[:, 1:, ::2], ["slice", "slice"]),
        (lambda a: a[:, -2:], ["slice"]),
        (lambda a: a[..., 2], ["slice", "reshape"]),
        (lambda a: a[-1], ["slice", "reshape"]),
        (lambda a: a.narrow(2, 1, 2), ["slice"]),
        (lambda a: a.chunk(2, 2)[1], ["slice", "slice"]),
        (lambda a: a.split([1, 2], 1), ["slice", "slice"]),
        (lambda a: torch.cat([a, a], 1), ["cat"]),
        (lambda a: torch.cat([a, ints(1, 3, 4)]), ["cast", "cat"]),
        (lambda a: torch.stack([a, a], -1), ["reshape", "reshape", "cat"]),
        (lambda a: a.unbind(0), ["slice", "reshape", "slice", "reshape"]),
        (lambda a: a.view(torch.int32), ["aten::view.dtype"]),
    ],
)
def test_layout(imports, function, made):
    got = imports(Call(function), x(2, 3, 4))[0]
    assert sorted(got) == sorted(made) or (not made and not got)


@pytest.mark.parametrize(
    "function, made",
    [
        (lambda a: a.mean(), ["mean"]),
        (lambda a: a.mean([0, -1], keepdim=True), ["mean"]),
        (lambda a: a.sum(1), ["sum"]),
        (lambda a: a.sum(), ["sum"]),
        (lambda a: a.sum(1, dtype=torch.float64), ["cast", "sum"]),
        (lambda a: a.amax(1), ["amax"]),
        (lambda a: a.amax((0, 2), keepdim=True), ["amax"]),
        (lambda a: a.softmax(-1), ["softmax"]),
        (lambda a: a.softmax(0, dtype=torch.float64), ["cast", "softmax"]),
        (lambda a: a.log_softmax(1), ["amax", "sub", "exp", "sum", "log", "sub"]),
        (lambda a: a.var(1), ["mean", "sub", "mean", "sub", "add", "mul", "sum", "mul"]),
        (lambda a: a.std(), ["mean", "sub", "mean", "sub", "add", "mul", "sum", "mul", "sqrt"]),
        (lambda a: a.argmax(1), ["argmax"]),
        (lambda a: a.max(1).values, ["amax", "argmax"]),
        (lambda a: a.sort(1), ["argsort", "gather"]),
        (lambda a: a.cumsum(1), ["cumsum"]),
    ],
)
def test_reductions(imports, function, made):
    assert imports(Call(function), x(2, 3, 4))[0] == made


def test_reductions_of_integers(imports):
    assert imports(Call(lambda a: a.sum(1)), ints(2, 3))[0] == ["sum"]
    assert imports(Call(lambda a: a.sum(1)), ints(2, 3).int())[0] == ["cast", "sum"]
    assert imports(Call(lambda a: (a > 0).sum()), ints(2, 3))[0] == ["gt", "cast", "sum"]


@pytest.mark.parametrize(
    "function, shapes, made",
    [
        (torch.matmul, [(2, 3), (3, 4)], ["matmul"]),
        (torch.matmul, [(5, 2, 3), (3, 4)], ["matmul"]),
        (torch.matmul, [(5, 1, 2, 3), (6, 3, 4)], ["matmul"]),
        (torch.matmul, [(3,), (3, 4)], ["reshape", "matmul", "reshape"]),
        (torch.matmul, [(5, 2, 3), (3,)], ["reshape", "matmul", "reshape"]),
        (torch.matmul, [(3,), (3,)], ["reshape", "reshape", "matmul", "reshape"]),
        (torch.mm, [(2, 3), (3, 4)], ["matmul"]),
        (torch.bmm, [(5, 2, 3), (5, 3, 4)], ["matmul"]),
        (torch.addmm, [(4,), (2, 3), (3, 4)], ["permute", "linear"]),
        (lambda b, m, n: torch.addmm(b, m, n.t()), [(4,), (2, 3), (4, 3)], ["permute", "linear"]),
        (lambda b, m, n: torch.addmm(b, m, n, beta=2, alpha=3), [(2, 4), (2, 3), (3, 4)], None),
        (lambda b, m, n: torch.addmm(b, m, n, beta=0), [(2, 4), (2, 3), (3, 4)], ["permute", "linear"]),
        (lambda a, b: torch.einsum("bij,bkj->bik", a, b), [(2, 3, 4), (2, 5, 4)], None),
        (torch.baddbmm, [(5, 2, 4), (5, 2, 3), (5, 3, 4)], None),
    ],
)
def test_products(imports, function, shapes, made):
    got, _ = imports(Call(function), *(x(*shape) for shape in shapes))
    assert made is None or sorted(got) == sorted(made)
    assert not any("::" in name for name in got)


@pytest.mark.parametrize(
    "module, shape, made",
    [
        (nn.Linear(4, 5), (3, 4), ["linear"]),
        (nn.Linear(4, 5, bias=False), (2, 3, 4), ["linear"]),
        (nn.Linear(4, 5), (4,), ["linear"]),
        (nn.Conv1d(3, 4, 3, 2, 1), (2, 3, 9), ["conv"]),
        (nn.Conv2d(4, 6, 3, 1, "same", groups=2, bias=False), (2, 4, 7, 7), ["conv"]),
        (nn.Conv2d(4, 6, (1, 3), (2, 1), (0, 2), dilation=(1, 2)), (2, 4, 7, 9), ["conv"]),
        (nn.Conv2d(4, 6, 3), (4, 7, 9), ["reshape", "conv", "reshape"]),
        (nn.Conv3d(2, 3, 2), (1, 2, 4, 4, 4), ["conv"]),
        (nn.ConvTranspose2d(4, 6, 3), (1, 4, 5, 5), ["conv_transpose"]),
        (nn.MaxPool2d(3, 2, 1), (1, 2, 9, 9), ["max_pool"]),
        (nn.MaxPool2d(3, ceil_mode=True, dilation=2), (1, 2, 9, 9), ["max_pool"]),
        (nn.MaxPool2d(2, return_indices=True), (1, 2, 8, 8), None),
        (nn.MaxPool2d(2), (2, 8, 8), ["reshape", "max_pool", "reshape"]),
        (nn.MaxPool1d(2), (1, 2, 8), None),
        (nn.AvgPool2d(3, 2, 1), (1, 2, 9, 9), ["avg_pool"]),
        (nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), (1, 2, 8, 8), ["avg_pool"]),
        (nn.AvgPool2d(3, divisor_override=4), (1, 2, 9, 9), ["aten::avg_pool2d"]),
        (nn.AvgPool1d(2), (1, 2, 8), None),
        (nn.AdaptiveAvgPool2d(1), (1, 2, 7, 7), ["mean"]),
        (nn.AdaptiveAvgPool2d((2, 4)), (1, 2, 8, 8), ["avg_pool"]),
        (nn.AdaptiveAvgPool2d(3), (1, 2, 8, 8), ["pad", "index", "sum", "div"]),
        (nn.LayerNorm(4), (2, 3, 4), ["layer_norm"]),
        (nn.LayerNorm((3, 4), elementwise_affine=False), (2, 3, 4), ["layer_norm"]),
        (nn.GroupNorm(2, 4), (2, 4, 5), None),
        (nn.BatchNorm1d(4).eval(), (2, 4), ["batch_norm"]),
        (nn.BatchNorm2d(4, affine=False).eval(), (2, 4, 3, 3), ["batch_norm"]),
        (nn.SiLU(), (3,), ["silu"]),
        (nn.Softmax(1), (2, 3), ["softmax"]),
    ],
    ids=lambda value: str(value) if isinstance(value, nn.Module) else "",
)
def test_layers(imports, module, shape, made):
    for buffer in module.buffers():
        if buffer.is_floating_point():
            buffer.uniform_(0.5, 1.5)
    got, _ = imports(module.eval(), x(*shape), tolerance=1e-4)
    assert made is None or got == made
    if made is None:
        assert not any("::" in name for name in got)


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, q, mask=None):
        return F.scaled_dot_product_attention(q, q, q, mask, **self.options)


@pytest.mark.parametrize("mask", [None, torch.randn(5, 5), torch.ones(5, 5).tril() > 0, torch.arange(5)[None] > 9])
def test_attention_is_one_op(imports, mask):
    made, _ = imports(Attention(), x(2, 3, 5, 4), *([] if mask is None else [mask]))
    assert made == ["scaled_dot_product_attention"]


def test_causal_attention_needs_no_mask(imports):
    made, text = imports(Attention(is_causal=True, scale=0.3), x(2, 3, 5, 4))
    assert made == ["scaled_dot_product_attention"] and "is_causal" in text and "scale 3.000000e-01" in text


def test_rows_that_a_mask_empties_are_zeros(imports):
    mask = torch.zeros(5, 5)
    mask[2] = float("-inf")
    made, _ = imports(Attention(), x(2, 3, 5, 4), mask)
    assert made == ["scaled_dot_product_attention"]


def test_attention_that_drops_out_is_left_to_pytorch(imports):
    exported = export_program(Attention(dropout_p=0.5), (x(2, 3, 5, 4),))
    assert 'inlay.opaque "aten::scaled_dot_product_attention"' in verify(import_program(exported).text)


def test_window_larger_than_the_image_is_clipped(imports):
    """The pooler of EfficientNet has such a window, which takes seconds if it is walked as a whole."""
    made, text = imports(nn.AvgPool2d(1280, padding=1, ceil_mode=True), x(1, 2, 7, 6))
    assert made == ["avg_pool"] and "kernel [9, 8]" in text


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligned", [True, False])
def test_bicubic_sampling_is_one_gather(imports, padding, aligned):
    model = Call(lambda a, grid: F.grid_sample(a, grid, "bicubic", padding, aligned))
    made, _ = imports(model, x(2, 3, 5, 4), x(2, 3, 6, 2) * 2)
    assert made.count("gather") == 1 and len(made) < 120


def test_calls_without_an_op_are_opaque(imports):
    made, text = imports(Call(lambda a: torch.linalg.qr(torch.special.i0(a))), x(3, 4))
    assert made == ["aten::i0", "aten::linalg_qr"]
    assert 'inlay.opaque "aten::linalg_qr"' in text
    assert 'inlay.reason = "no op of the dialect for aten::linalg_qr on float32"' in text
    made, text = imports(Call(lambda a: a.as_strided((300, 300), (1, 1))), x(600))
    assert "aliases [0]" in text


def test_only_the_results_that_are_used_are_made(imports):
    made, text = imports(Call(lambda a: torch.linalg.qr(a)[1]), x(3, 4))
    assert made == ["aten::linalg_qr"] and "-> tensor<3x4xf32>" in text and "results" in text


def test_embedding_shares_its_table(imports):
    embed = Call(lambda i, table: table(i), table=nn.Embedding(7, 4))
    made, text = imports(embed, torch.tensor([[1, 6, 0]]))
    assert made == ["embedding"] and 'dense_resource<"table.weight">' in text.replace(
        "<table.weight>", '<"table.weight">'
    )


@pytest.mark.parametrize(
    ("function", "made"),
    [
        (lambda a, i: a[i], ["index"]),
        (lambda a, i: a[:, i], ["index"]),
        (lambda a, i: a[i, :, i], ["index"]),
        (lambda a, i: a.index_select(1, i), ["index_select"]),
        (lambda a, i: a.index_put((i,), a[0, 0]), ["slice", "reshape", "slice", "reshape", "index_put"]),
        (lambda a, i: a.index_add(0, i, a[:2]), ["slice", "index_put"]),
        (lambda a, i: a.index_reduce(0, i, a[:2], "amax"), ["slice", "reshape", "expand", "scatter"]),
        (lambda a, i: a.flip(1), ["flip"]),
        (lambda a, i: a.roll(1, 0), ["index_select"]),
        (lambda a, i: F.pad(a, (1, -1, 0, 2), value=2.0), ["slice", "pad"]),
        (lambda a, i: F.pad(a, (1, 2), mode="reflect"), ["index"]),
        (lambda a, i: a.diagonal(1, 0, 2), ["permute", "reshape", "slice"]),
        (lambda a, i: a.diagonal_scatter(a[:, :, 0].diagonal().expand(5, 3), 1, 0, 2), None),
        (lambda a, i: a.unfold(1, 3, 1), ["index_select", "reshape", "permute"]),
        (lambda a, i: a.unfold(1, 2, 2), ["slice", "reshape", "permute"]),
        (lambda a, i: a.as_strided((2, 2), (1, 2), 3), ["reshape", "index_select", "reshape"]),
        (lambda a, i: F.interpolate(a, scale_factor=2.0), ["reshape", "expand", "reshape"]),
        (lambda a, i: F.interpolate(a, size=7), ["index"]),
        (lambda a, i: F.rms_norm(a, (4,)), ["rms_norm"]),
        (lambda a, i: F.group_norm(a, 5), ["group_norm"]),
        (lambda a, i: F.instance_norm(a), None),
        (lambda a, i: F.adaptive_avg_pool1d(a, 3), None),
        (lambda a, i: a.topk(2).values, ["argsort", "slice", "gather"]),
    ],
)
def test_indexing_and_layout(imports, function, made):
    got, _ = imports(Call(function), x(3, 5, 4), torch.tensor([2, 0]))
    assert made is None or got == made
    assert not any("::" in name for name in got)


def test_constants_are_folded(imports):
    def function(a):
        positions = torch.arange(4).unsqueeze(0) * 2
        mask = torch.full((3, 4), float("-inf")).triu(1)
        return a + positions + mask + torch.zeros_like(a) + torch.full_like(a, 2)

    made, text = imports(Call(function), x(3, 4))
    assert made == ["cast"] * made.count("cast") + ["add"] * 4 or made.count("add") == 4
    assert "0xFF800000" in text


def test_random_calls_are_not_folded(imports):
    exported = export_program(Call(lambda a: a + torch.rand(3)), (x(3),))
    assert 'inlay.opaque "aten::rand"' in verify(import_program(exported).text)


def test_small_constants_are_printed_and_parameters_are_not(imports):
    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(1.5))

        def forward(self, a):
            return a * self.scale + torch.tensor([0.1, float("nan"), -0.0])

    _, text = imports(Small(), x(3))
    assert "dense_resource<scale> : tensor<f32>" in text
    assert "1.000000e-01, 0x7FC00000, -0.000000e+00" in text


def test_weights_are_shared_not_copied():
    model = models.encoder()[0]
    program = import_program(export_program(model, models.encoder()[1]))
    held = {tensor.data_ptr() for tensor in model.parameters()}
    assert {tensor.data_ptr() for tensor in program.weights.values()} == held


class Odd(nn.Module):
    """A model with results that are not results of an op."""

    def __init__(self):
        super().__init__()
        self.register_buffer("held", torch.ones(2))

    def forward(self, a, flag):
        b = a + 1
        return {"a": a, "copy": a.clone(), "b": b, "again": b, "held": self.held, "flag": flag, "none": None}


def test_results_that_are_arguments_or_constants(imports):
    imports(Odd(), x(3), 5)


def test_tied_weights_are_kept_once():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3, bias=False)
            self.second.weight = self.first.weight

        def forward(self, a):
            return self.second(self.first(a))

    program = import_program(export_program(Tied(), (x(2, 3),)))
    assert len(program.weights) == 2


def test_results_are_made_once():
    program = import_program(export_program(Odd(), (x(3), 5)))
    outputs = program.interface.outputs
    kinds = [InputOutput, InputOutput, ResultOutput, ResultOutput, WeightsOutput, ValueOutput, ValueOutput]
    assert [type(output) for output in outputs] == kinds
    assert [output.copied for output in outputs][:4] == [False, True, False, True]
    assert len(program.interface.results) == 1


def test_locations_hold_names_modules_and_lines():
    class Inner(nn.Module):
        def forward(self, a):
            return a.relu()

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(Inner(), Inner())

        def forward(self, a):
            return self.layers(a)

    exported = export_program(Outer(), (x(3),))
    text = verify(import_program(exported).text)
    outer, inner = (f"{cls.__module__}.{cls.__qualname__}" for cls in (Outer, Inner))
    sequential = "torch.nn.modules.container.Sequential"
    stack = f'[["", "{outer}"], ["layers", "{sequential}"], ["layers.1", "{inner}"]]'
    assert f"fused<{{inlay.module = {stack}}}>" in text
    assert 'loc("relu_1"(' in text and 'test_importer.py":' in text
    assert 'loc("a")' in text
    portable = import_program(exported, portable=True).text
    assert '("test_importer.py":' in portable


@pytest.mark.parametrize("name", models.ALL)
def test_models(imports, name):
    model, inputs = models.ALL[name]() if name != "resnet18" else models.resnet18(image=64)
    made, _ = imports(model, *inputs, tolerance=1e-4)
    assert not any("::" in call for call in made)
    assert {"resnet18": 69, "encoder": 44, "dependencies": 7}[name] == len(made)


def test_export_writes_text_and_weights(tmp_path):
    from safetensors.torch import load_file

    model, inputs = models.encoder()
    path = inlay.export(model, inputs, tmp_path / "encoder")
    assert path == tmp_path / "encoder.mlir"
    text = path.read_text()
    assert 'inlay.weights = "encoder.safetensors"' in text and str(tmp_path) not in text
    verify(text)
    weights = load_file(tmp_path / "encoder.safetensors")
    assert torch.equal(weights["layers.0.qkv.weight"], model.layers[0].qkv.weight)


# -- Errors of the import ---------------------------------------------------------------------------------------------


def refused(model, inputs, match, **options):
    with pytest.raises(inlay.UnsupportedError, match=match) as info:
        import_program(export_program(model, inputs, **options))
    assert isinstance(info.value, (inlay.Error, NotImplementedError, RuntimeError))


def test_empty_tensors(imports):
    assert imports(Call(lambda a: a + 1), torch.ones(0, 3))[0] == ["add"]
    assert imports(Call(lambda a: a.sum(0)), torch.ones(0, 3))[0] == ["sum"]
    assert imports(Call(torch.conv1d), torch.ones(1, 0, 3), torch.ones(2, 0, 1))[0] == ["aten::convolution"]


@pytest.mark.parametrize(
    "function, inputs, match",
    [
        (lambda a: torch.special.i0(a), (torch.ones(3, dtype=torch.uint8),), "has dtype uint8"),
        (lambda a: torch.complex(a, a).sqrt().abs(), (x(3),), "'complex_1' has dtype complex64"),
        (lambda a: a * a[0].item(), (x(3),), "a number that is known only at a call"),
        (
            lambda a: a[a > 0].sum(),
            (x(3),),
            r"dim 0 of the result of node 'index' depends on data \(test_imp",
        ),
        (
            lambda a: torch.cond(a.sum() > 0, lambda b: (b + 1, 1), lambda b: (b - 1, 2), (a,))[0],
            (x(3),),
            r"'cond' is control flow \(cond\) that PyTorch runs: result 1 has type .*, but expected a tensor",
        ),
    ],
)
def test_what_only_pytorch_can_run_says_why(function, inputs, match):
    program = import_program(export_program(Call(function), inputs))
    verify(program.text)
    assert re.search(match, program.reasons[0])
    with pytest.raises(inlay.UnsupportedError, match=f"only the target 'torch', which is not listed, .*{match}"):
        inlay.compile(Call(function), inputs, targets=("vulkan", "host"))
