# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models that torchao quantizes with PyTorch, on each target.

INLAY_FULL=1 also compares the floats of 10,000 random weights of each format with those of torchao.
"""

import os

import inlay
import pytest
import torch
from inlay._dialect.quantized import BITS
from torch import nn

torchao = pytest.importorskip("torchao")

from torchao.quantization import (  # noqa: E402  # after the test that torchao is there
    Float8WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8StaticActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxUnpackedToInt8Tensor,
    IntxWeightOnlyConfig,
    MappingType,
    PerAxis,
    PerGroup,
    PerTensor,
    quantize_,
)
from torchao.quantization.quant_primitives import _DTYPE_TO_QVALUE_BOUNDS  # noqa: E402

HOST = ("host", "torch")
TARGETS = pytest.mark.parametrize("targets", [HOST, ("vulkan", *HOST)], ids="-".join)
CASES = 10_000 if os.environ.get("INLAY_FULL") else 40


def intx(bits, granularity, **more):
    return IntxWeightOnlyConfig(weight_dtype=getattr(torch, f"int{bits}"), granularity=granularity, **more)


# Name -> config, and the type of the codes of a weight in the report.
CONFIGS = {
    "int8": (Int8WeightOnlyConfig(), "i8"),
    "int8-groups": (Int8WeightOnlyConfig(granularity=PerGroup(16)), "i8"),
    "int1-groups": (intx(1, PerGroup(16)), "i2"),
    "int2-groups": (intx(2, PerGroup(32)), "i2"),
    "int3-rows": (intx(3, PerAxis(0)), "i4"),
    "int4-groups": (intx(4, PerGroup(32)), "i4"),
    "int4-zero-points": (intx(4, PerGroup(16), mapping_type=MappingType.ASYMMETRIC), "i4"),
    "int6-groups": (intx(6, PerGroup(64)), "i8"),
    "dynamic-int8": (Int8DynamicActivationInt8WeightConfig(), "i8"),
    "dynamic-int8-zero-points": (Int8DynamicActivationInt8WeightConfig(act_mapping_type=MappingType.ASYMMETRIC), "i8"),
    "dynamic-int8-tensor": (Int8DynamicActivationInt8WeightConfig(granularity=[PerTensor(), PerTensor()]), "i8"),
    "static-int8": (Int8StaticActivationInt8WeightConfig(torch.full((1, 1), 0.03), granularity=PerTensor()), "i8"),
    "dynamic-int4": (
        Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32)),
        "i4",
    ),
    "dynamic-int8-rows": (
        Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int8, weight_granularity=PerAxis(0)),
        "i8",
    ),
}


def chain(config, dtype=torch.float32, seed=0):
    """Returns linear layers that torchao has quantized."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64, bias=False)).eval().to(dtype)
    quantize_(model, config)
    return model


def rows(count, dtype=torch.float32):
    return torch.randn(count, 64, generator=torch.Generator().manual_seed(1)).to(dtype)


def bytes_of(compiled):
    """Returns the bytes of the weights by type."""
    return compiled.report["summary"]["weights"]


VULKAN = ("int8", "int4-zero-points", "dynamic-int8-zero-points", "dynamic-int4")


@pytest.mark.parametrize(
    ("name", "targets"), [*((name, HOST) for name in CONFIGS), *((name, ("vulkan", *HOST)) for name in VULKAN)]
)
def test_weights_stay_packed(name, targets):
    config, code = CONFIGS[name]
    model, x = chain(config), rows(5)
    compiled = inlay.compile(model, (x,), targets=targets, require_full_compilation=True)
    expected = model(x)
    # Sums of 128 products in another order. Codes of activations at the middle of two levels would differ by more.
    torch.testing.assert_close(compiled(x), expected, rtol=0, atol=128 * 2**-23 * float(expected.abs().max()))
    assert bytes_of(compiled)[code] >= 2 * 64 * 128 * BITS[code] // 8
    assert sum(bytes_of(compiled).values()) < 2 * 64 * 128 * 2


@pytest.mark.parametrize("name", ["int8", "int4-groups", "dynamic-int8", "dynamic-int4"])
def test_bfloat16(name):
    model, x = chain(CONFIGS[name][0], torch.bfloat16), rows(5, torch.bfloat16)
    compiled = inlay.compile(model, (x,), targets=HOST, require_full_compilation=True)
    expected = model(x)
    # A sum that rounds to the next number of bfloat16 in the first layer
    torch.testing.assert_close(compiled(x), expected, rtol=0, atol=2**-6 * float(expected.abs().max()))


class Dequantize(nn.Module):
    """The floats of a weight, plus an input of one element."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)

    def forward(self, x):
        return self.weight.dequantize() + x


def random_weight(bits, shape, block, *, zeros, dtype, generator):
    """Returns a weight with random codes, scales and zero points."""
    kind = getattr(torch, f"int{bits}")
    low, high = _DTYPE_TO_QVALUE_BOUNDS[kind]
    counts = [size // length for size, length in zip(shape, block, strict=True)]
    codes = torch.randint(low, high + 1, shape, generator=generator, dtype=torch.int8)
    scales = torch.exp2(torch.randn(counts, generator=generator) * 4).to(dtype)
    points = torch.zeros(counts, dtype=torch.int8)
    if zeros:
        points = torch.randint(low, high + 1, counts, generator=generator, dtype=torch.int8)
    return IntxUnpackedToInt8Tensor(codes, scales, points, kind, block, dtype, None)


# Bits, shape, block, whether there are zero points, dtype.
FORMATS = {
    "int1": (1, (4, 48), (1, 16), False, torch.float32),
    "int2": (2, (5, 36), (1, 12), True, torch.float32),
    "int3-odd": (3, (3, 7), (1, 7), True, torch.float32),
    "int4": (4, (4, 64), (1, 32), True, torch.float32),
    "int4-bf16": (4, (4, 64), (1, 32), True, torch.bfloat16),
    "int4-f16": (4, (2, 9, 6), (1, 3, 2), True, torch.float16),
    "int5": (5, (6, 10), (2, 5), True, torch.float32),
    "int7": (7, (8, 8), (8, 1), False, torch.float32),
    "int8": (8, (3, 33), (1, 33), True, torch.float32),
    "int8-bf16": (8, (3, 16), (3, 16), True, torch.bfloat16),
}


@pytest.mark.parametrize("name", FORMATS)
def test_floats_of_codes_are_those_of_torchao(name):
    bits, shape, block, zeros, dtype = FORMATS[name]
    generator = torch.Generator().manual_seed(bits)

    def draw():
        return random_weight(bits, shape, block, zeros=zeros, dtype=dtype, generator=generator)

    model, zero = Dequantize(draw()), torch.zeros((), dtype=dtype)
    compiled = inlay.compile(model, (zero,), targets=HOST, require_full_compilation=True)
    assert torch.equal(compiled(zero), model(zero))
    for _ in range(CASES):
        weight = draw()
        compiled.load_state_dict({"weight": weight}, assign=True)
        # A scale that overflows float16 makes NaNs.
        torch.testing.assert_close(compiled(zero), weight.dequantize() + zero, rtol=0, atol=0, equal_nan=True)


@TARGETS
def test_embeddings_dequantize_the_rows_that_they_read(targets):
    torch.manual_seed(2)
    model = nn.Sequential(nn.Embedding(500, 64), nn.Linear(64, 8)).eval()
    quantize_(model, intx(4, PerGroup(32)), filter_fn=lambda module, _: isinstance(module, nn.Embedding))
    tokens = torch.tensor([[3, 499, 0], [7, 7, 1]])
    compiled = inlay.compile(model, (tokens,), targets=targets, require_full_compilation=True)
    torch.testing.assert_close(compiled(tokens), model(tokens))
    assert bytes_of(compiled)["i4"] == 500 * 64 // 2
    assert [op["label"] for op in compiled.report["ops"] if op["name"] == "inlay.dequantize"] == ["embedding"]


def test_integer_sums_that_float32_does_not_hold_are_exact():
    model = nn.Sequential(nn.Linear(100_000, 2, bias=False)).eval()
    with torch.no_grad():
        model[0].weight.fill_(1.0)
        model[0].weight[1, ::2] = 1 / 127
    quantize_(model, Int8DynamicActivationInt8WeightConfig())
    x = torch.ones(1, 100_000)
    x[0, 1] = 126.5 / 127
    compiled = inlay.compile(model, (x,), targets=HOST, require_full_compilation=True)
    assert torch.equal(compiled(x), model(x))


def test_dynamic_sizes():
    model = chain(CONFIGS["dynamic-int8"][0])
    compiled = inlay.compile(model, (inlay.Input(min_shape=(1, 64), max_shape=(64, 64)),), targets=HOST)
    for count in (1, 7, 64):
        torch.testing.assert_close(compiled(rows(count)), model(rows(count)), rtol=0, atol=1e-5)


def test_a_llama_of_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        vocab_size=96, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    quantize_(model, intx(4, PerGroup(32)))

    class Logits(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, tokens):
            return self.model(tokens, use_cache=False).logits

    logits, tokens = Logits(), torch.tensor([[3, 1, 95, 0, 7]])
    compiled = inlay.compile(logits, (tokens,), targets=HOST)
    expected = logits(tokens)
    torch.testing.assert_close(compiled(tokens), expected, rtol=0, atol=1e-5 * float(expected.abs().max()) + 1e-6)
    assert bytes_of(compiled)["i4"] == sum(
        parameter.numel() // 2 for parameter in model.parameters() if isinstance(parameter, IntxUnpackedToInt8Tensor)
    )
    compiled.save(tmp_path / "llama.inlay")
    assert torch.equal(inlay.load(tmp_path / "llama.inlay")(tokens), compiled(tokens))


# -- Replacing weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["int8", "int4-groups", "dynamic-int8"])
def test_weights_are_replaced_by_those_of_torchao(name):
    config, x = CONFIGS[name][0], rows(3)
    first, second = chain(config), chain(config, seed=1)
    compiled = inlay.compile(first, (x,), targets=HOST)
    assert list(compiled.state_dict()) == list(first.state_dict())
    compiled.load_state_dict(second.state_dict())
    torch.testing.assert_close(compiled(x), second(x), rtol=0, atol=1e-6)


def test_writes_to_parts_of_a_weight_are_followed():
    model, x = chain(CONFIGS["int4-groups"][0]), rows(3)
    compiled = inlay.compile(model, (x,), targets=HOST)
    with torch.no_grad():
        model[0].weight.scale.mul_(2)
    torch.testing.assert_close(compiled(x), model(x), rtol=0, atol=1e-5)


def test_weights_of_another_kind_are_an_error():
    x = rows(3)
    compiled = inlay.compile(chain(CONFIGS["int4-groups"][0]), (x,), targets=HOST)
    before = compiled(x)
    with pytest.raises(inlay.ArgumentTypeError, match=r"'0.weight': expected the class Intx.*, but got Tensor"):
        compiled.load_state_dict(chain(Int8WeightOnlyConfig(), seed=1).state_dict() | {"0.weight": torch.ones(128, 64)})
    with pytest.raises(inlay.ArgumentValueError, match=r"'0.weight': expected .*\(1, 32\).*but got .*\(1, 16\)"):
        compiled.load_state_dict(chain(intx(4, PerGroup(16))).state_dict())
    bad = chain(CONFIGS["int4-groups"][0]).state_dict()
    bad["2.weight"].qdata[3, 5] = 8
    with pytest.raises(inlay.ArgumentValueError, match=r"'2.weight.qdata': expected codes from -8 to 7, but got .* 8"):
        compiled.load_state_dict(bad)
    assert torch.equal(compiled(x), before)


# -- Bad and unknown weights ------------------------------------------------------------------------------------------


def test_codes_out_of_the_limits_are_read_as_pytorch_reads_them():
    model, x = chain(CONFIGS["int4-groups"][0]), rows(3)
    model[0].weight.qdata[3, 5] = 100
    compiled = inlay.compile(model, (x,), targets=HOST)
    torch.testing.assert_close(compiled(x), model(x), rtol=0, atol=1e-4)
    assert bytes_of(compiled)["i4"] == 64 * 128 // 2  # of the other weight


@pytest.mark.parametrize("scale", [0.0, torch.nan, torch.inf])
def test_scales_that_are_no_scales(scale):
    model, x = chain(CONFIGS["int4-groups"][0]), rows(3)
    with torch.no_grad():
        model[2].weight.scale[1, 1] = scale
    compiled = inlay.compile(model, (x,), targets=HOST)
    torch.testing.assert_close(compiled(x), model(x), rtol=0, atol=1e-5, equal_nan=True)


def test_a_block_that_does_not_divide_is_an_error():
    class Affine(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("codes", torch.ones(2, 10, dtype=torch.int8))
            self.register_buffer("scales", torch.ones(2, 3))

        def forward(self, x):
            ops = torch.ops.torchao
            return ops.dequantize_affine(self.codes, [1, 4], self.scales, None, torch.int8) + x

    with pytest.raises(inlay.Error, match="divisible by block_size"):
        inlay.compile(Affine(), (torch.ones(()),), targets=HOST)


def test_layouts_without_a_packed_form_become_floats():
    model, x = chain(Float8WeightOnlyConfig()), rows(3)
    compiled = inlay.compile(model, (x,), targets=HOST, require_full_compilation=True)
    torch.testing.assert_close(compiled(x), model(x), rtol=0, atol=1e-5)
    widened = {each["weight"]: (each["code"], each["count"], each["when"]) for each in compiled.report["widened"]}
    count = 64 * 128
    assert widened == dict.fromkeys(("0.weight", "2.weight"), ("float8_e4m3fn", count, "at import"))
    assert "widened at import: '0.weight' of float8_e4m3fn: its layout has no packed form" in str(compiled.report)
