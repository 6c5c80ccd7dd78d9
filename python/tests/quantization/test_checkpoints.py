# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models of GPTQ and AWQ checkpoints with a scalar reference of the layouts."""

import json

import inlay
import pytest
import torch
from inlay._checkpoints.layouts import Format, Layout, Source, rearrange
from torch import nn

transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

HOST = ("host", "torch")
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def as_int32(word):
    return word - (1 << 32) if word >= 1 << 31 else word


def pack_gptq(codes, bits):
    """Packs rows of a matrix of ints into words, as AutoGPTQ does: the first row is in the lowest bits."""
    per_word = 32 // bits
    return torch.tensor(
        [
            [
                as_int32(sum(codes[row + place][column] << bits * place for place in range(per_word)))
                for column in range(len(codes[0]))
            ]
            for row in range(0, len(codes), per_word)
        ],
        dtype=torch.int32,
    )


def pack_awq(codes):
    """Packs columns of a matrix of ints into words, as AutoAWQ does: place i has the column `AWQ_ORDER[i]`."""
    return torch.tensor(
        [
            [
                as_int32(sum(row[column + AWQ_ORDER[place]] << 4 * place for place in range(8)))
                for column in range(0, len(row), 8)
            ]
            for row in codes
        ],
        dtype=torch.int32,
    )


class Reference:
    """A random weight of a layer: its tensors in a layout, and its floats by the definition."""

    def __init__(self, inputs, outputs, group, bits, layout, *, shuffled=False, symmetric=False, seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.layout, self.bits, self.group = layout, bits, group
        size = group or inputs
        groups = -(-inputs // size)
        codes = torch.randint(0, 1 << bits, (inputs, outputs), generator=generator).tolist()
        zeros = torch.randint(0, 1 << bits, (groups, outputs), generator=generator).tolist()
        zeros[0][0], zeros[0][1] = 0, (1 << bits) - 1
        if symmetric:
            zeros = [[1 << bits - 1] * outputs for _ in range(groups)]
        self.scales = (torch.rand(groups, outputs, generator=generator) / (1 << bits) + 1e-3).half()
        order = torch.randperm(inputs, generator=generator) if shuffled else torch.arange(inputs)
        group_of = torch.arange(inputs) // size
        self.g_idx = torch.empty(inputs, dtype=torch.int32)
        self.g_idx[order] = group_of.int()
        self.floats = torch.tensor(
            [
                [
                    (codes[row][column] - zeros[self.g_idx[row]][column]) * float(self.scales[self.g_idx[row], column])
                    for row in range(inputs)
                ]
                for column in range(outputs)
            ]
        )
        stored = [[zero - 1 & (1 << bits) - 1 for zero in row] for row in zeros] if layout is Layout.GPTQ_V1 else zeros
        if layout is Layout.AWQ:
            self.qweight, self.qzeros, self.g_idx = pack_awq(codes), pack_awq(stored), None
        else:
            self.qweight = pack_gptq(codes, bits)
            self.qzeros = pack_gptq(list(zip(*stored, strict=True)), bits).t().contiguous()

    def tensors(self, name):
        parts = {"qweight": self.qweight, "qzeros": self.qzeros, "scales": self.scales}
        parts |= {} if self.g_idx is None else {"g_idx": self.g_idx}
        return {f"{name}.{part}": tensor for part, tensor in parts.items()}

    def source(self, **changes):
        outputs, inputs = self.floats.shape
        parts = {"qweight": self.qweight, "qzeros": self.qzeros, "scales": self.scales, "g_idx": self.g_idx}
        return Source(**{"name": "fc", "inputs": inputs, "outputs": outputs, **parts, **changes})


def rearranged(reference, **changes):
    return rearrange(reference.source(**changes), Format(reference.layout, reference.bits, reference.group))


CASES = {
    "v1-4": (96, 16, 32, 4, Layout.GPTQ_V1, {}),
    "v1-4-act-order": (96, 16, 32, 4, Layout.GPTQ_V1, {"shuffled": True}),
    "v1-8": (64, 8, 16, 8, Layout.GPTQ_V1, {}),
    "v2-4": (64, 24, 16, 4, Layout.GPTQ_V2, {}),
    "v2-8-act-order": (48, 12, 16, 8, Layout.GPTQ_V2, {"shuffled": True}),
    "v2-2": (64, 32, 32, 2, Layout.GPTQ_V2, {}),
    "v1-4-one-group": (40, 8, None, 4, Layout.GPTQ_V1, {}),
    "v1-4-last-group": (40, 8, 32, 4, Layout.GPTQ_V1, {"shuffled": True}),
    "v1-4-symmetric": (64, 16, 32, 4, Layout.GPTQ_V1, {"symmetric": True}),
    "v2-8-symmetric": (64, 16, 32, 8, Layout.GPTQ_V2, {"symmetric": True}),
    "awq": (64, 32, 32, 4, Layout.AWQ, {}),
    "awq-one-group": (24, 16, None, 4, Layout.AWQ, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_floats_are_those_of_the_definition(name):
    *arguments, more = CASES[name]
    reference = Reference(*arguments, **more)
    result = rearranged(reference)
    floats = result.weight.floats()
    if result.order is not None:
        assert more.get("shuffled")
        floats = torch.empty_like(floats).index_copy_(1, result.order, floats)
    assert torch.equal(floats, reference.floats)
    signed = more.get("symmetric", False)
    assert (result.weight.code, result.weight.offsets is None) == (f"{'i' if signed else 'u'}{arguments[3]}", signed)
    assert result.weight.codes.numel() == reference.floats.numel() * arguments[3] // 8


def test_one_group_needs_no_order():
    reference = Reference(40, 8, None, 4, Layout.GPTQ_V1)
    format = Format(Layout.GPTQ_V1, 4, None, reordered=True)
    assert torch.equal(rearrange(reference.source(g_idx=None), format).weight.floats(), reference.floats)


def small_llama(seed=0, **changes):
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=96, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, attention_bias=True, **changes,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


SETTINGS = {
    Layout.GPTQ_V1: {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True},
    Layout.GPTQ_V2: {"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq_v2"},
    Layout.AWQ: {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"},
}


def save(folder, layout, *, model=None, settings=None, change=None):
    """Writes a checkpoint of a small Llama. Returns the model with the floats of its weights."""
    model = model or small_llama()
    tensors = {name: tensor.half() for name, tensor in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        del tensors["lm_head.weight"]
    for number, (name, layer) in enumerate(model.named_modules()):
        if isinstance(layer, nn.Linear) and name != "lm_head":
            shuffled = layout is Layout.GPTQ_V1
            size = (layer.in_features, layer.out_features)
            reference = Reference(*size, 32, 4, layout, shuffled=shuffled, seed=number)
            layer.weight.data = reference.floats
            del tensors[f"{name}.weight"]
            tensors |= reference.tensors(name)
    if change:
        change(tensors)
    folder.mkdir(exist_ok=True)
    safetensors.save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    config = {**model.config.to_dict(), "architectures": ["LlamaForCausalLM"], "dtype": "float16"}
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": settings or SETTINGS[layout]}))
    # The floats of the other tensors have 16 bits.
    for name, parameter in model.named_parameters():
        if name in tensors:
            parameter.data = tensors[name].float()
    return model


class Logits(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens, use_cache=False).logits


TOKENS = torch.tensor([[3, 1, 95, 0, 7]])


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("layout", Layout)
def test_a_checkpoint_of_transformers(layout, tied, tmp_path):
    expected = Logits(save(tmp_path / "model", layout, model=small_llama(tie_word_embeddings=tied)))(TOKENS)
    model = inlay.quantization.load(tmp_path / "model")
    torch.testing.assert_close(Logits(model)(TOKENS), expected, rtol=0, atol=1e-5 * float(expected.abs().max()))
    compiled = inlay.compile(Logits(model), (TOKENS,), targets=HOST)
    torch.testing.assert_close(compiled(TOKENS), expected, rtol=0, atol=1e-5 * float(expected.abs().max()))
    count = sum(module.weight.numel() for module in small_llama().model.modules() if isinstance(module, nn.Linear))
    assert compiled.report["summary"]["weights"]["u4"] == count // 2


def test_a_checkpoint_in_several_files(tmp_path):
    expected = Logits(save(tmp_path / "model", Layout.AWQ))(TOKENS)
    tensors = safetensors.load_file(tmp_path / "model/model.safetensors")
    (tmp_path / "model/model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in parts.items():
        safetensors.save_file({name: tensors[name] for name in part}, tmp_path / "model" / file)
    table = {name: file for file, part in parts.items() for name in part}
    (tmp_path / "model/model.safetensors.index.json").write_text(json.dumps({"weight_map": table}))
    model = inlay.quantization.load(tmp_path / "model")
    torch.testing.assert_close(Logits(model)(TOKENS), expected)


# -- Bad checkpoints --------------------------------------------------------------------------------------------------

Q = "model.layers.0.self_attn.q_proj"
BAD_SETTINGS = {
    "method": ({"quant_method": "aqlm"}, "expected the method gptq or awq .* but got 'aqlm'"),
    "layout": ({"checkpoint_format": "marlin"}, "expected the layout gptq or gptq_v2 of GPTQ, but got 'marlin'"),
    "old-marlin": ({"is_marlin_format": True}, "but got 'marlin'"),
    "awq-layout": ({"quant_method": "awq", "version": "gemv"}, "expected the layout gemm of AWQ, but got 'gemv'"),
    "bits": ({"bits": 3}, "expected 'bits' of layout gptq to be one of 2, 4, 8, but got 3"),
    "float-bits": ({"bits": 4.0}, "expected 'bits' of layout gptq to be one of 2, 4, 8, but got 4.0"),
    "awq-bits": ({"quant_method": "awq", "bits": 8}, "expected 'bits' of layout awq to be one of 4, but got 8"),
    "group": ({"group_size": 0}, "expected 'group_size' to be a positive int or -1, but got 0"),
    "dynamic": ({"dynamic": {"-:x": {}}}, "settings of single layers in 'dynamic' are not supported"),
    "pack_dtype": ({"pack_dtype": "int8"}, "expected 'pack_dtype' to be int32, but got 'int8'"),
    "zero_point": ({"quant_method": "awq", "zero_point": False}, "expected 'zero_point' of AWQ to be true"),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_other_layouts_are_named(name, tmp_path):
    change, message = BAD_SETTINGS[name]
    save(tmp_path / "model", Layout.GPTQ_V1, settings=SETTINGS[Layout.GPTQ_V1] | change)
    with pytest.raises(inlay.Error, match=message):
        inlay.quantization.load(tmp_path / "model")


def without(name):
    return lambda tensors: tensors.pop(name)


def put(name, tensor):
    return lambda tensors: tensors.update({name: tensor})


BAD_TENSORS = {
    "no-scales": (without(f"{Q}.scales"), f"expected a tensor '{Q}.scales' beside '{Q}.qweight'"),
    "no-bias": (without(f"{Q}.bias"), f"expected a tensor '{Q}.bias', because the layer of the config has a bias"),
    "no-layer": (put("a.qweight", torch.zeros(1, 1, dtype=torch.int32)), "tensor 'a.qweight' has no layer in Llama"),
    "no-parameter": (put("model.norm.bias", torch.zeros(64)), "tensor 'model.norm.bias' has no parameter in Llama"),
    "twice": (put(f"{Q}.weight", torch.zeros(64, 64)), f"tensor '{Q}.weight' has no parameter in Llama"),
    "missing": (without("model.norm.weight"), "there is none for 'model.norm.weight'"),
    "shape": (put(f"{Q}.scales", torch.ones(3, 64)), r"scales' to be .* of shape \[2, 64\], but got .* \[3, 64\]"),
    "dtype": (put(f"{Q}.qweight", torch.zeros(8, 64)), r"qweight' to be int32 of shape \[8, 64\], but got float32"),
    "groups": (put(f"{Q}.g_idx", torch.zeros(64, dtype=torch.int32)), r"g_idx': expected each group to have 32 inputs"),
    "no-g_idx": (without(f"{Q}.g_idx"), f"expected a tensor '{Q}.g_idx', because 'desc_act' of the config is true"),
    "nan": (put(f"{Q}.scales", torch.full((2, 64), torch.nan)), r"numbers in '.*scales', but got nan at \[0, 0\]"),
    "inf": (put(f"{Q}.scales", torch.full((2, 64), torch.inf)), r"numbers in '.*scales', but got inf at \[0, 0\]"),
    "complex": (put(f"{Q}.bias", torch.zeros(64) * 1j), r"bias' to have floats of .*, but got torch.complex64"),
    "int": (put(f"{Q}.bias", torch.zeros(64).int()), r"bias' to have floats of shape \[64\], but got torch.int32"),
    "norm": (put("model.norm.weight", torch.ones(3)), r"floats of shape \[64\], but got torch.float32 of shape \[3\]"),
}


@pytest.mark.parametrize("name", BAD_TENSORS)
def test_tensors_that_do_not_fit_are_named(name, tmp_path):
    change, message = BAD_TENSORS[name]
    save(tmp_path / "model", Layout.GPTQ_V1, change=change)
    with pytest.raises(inlay.Error, match=message):
        inlay.quantization.load(tmp_path / "model")


def test_a_folder_without_a_checkpoint_is_an_error(tmp_path):
    with pytest.raises(inlay.ArgumentValueError, match=r"expected a folder with a file config\.json"):
        inlay.quantization.load(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(inlay.ArgumentValueError, match="can't read JSON"):
        inlay.quantization.load(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(inlay.ArgumentValueError, match="expected an object 'quantization_config', but got None"):
        inlay.quantization.load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": SETTINGS[Layout.AWQ]}))
    with pytest.raises(inlay.ArgumentValueError, match=r"expected one file \*.safetensors or an index"):
        inlay.quantization.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(inlay.ArgumentValueError, match="can't read the file of safetensors"):
        inlay.quantization.load(tmp_path)
