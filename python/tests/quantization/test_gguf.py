# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares GGUF files with packed weights with the package `gguf` and the loader of transformers."""

import copy
import struct

import inlay
import inlay.generation
import inlay.gguf
import inlay_runtime
import numpy as np
import pytest
import torch
from inlay._gguf.formats import FORMATS
from inlay._packed.modules import pack_module
from torch import nn

gguf = pytest.importorskip("gguf")
transformers = pytest.importorskip("transformers")

KINDS = {"llama": "Q4_0", "qwen2": "Q5_0", "qwen3": "Q8_0", "gemma2": "Q5_1", "gemma3": "Q4_1", "phi3": "Q8_0"}
WORDS, HIDDEN, HEADS, GROUPS, INNER, LAYERS = 96, 64, 4, 2, 128, 2


@pytest.mark.parametrize("kind", FORMATS)
def test_codes_become_the_floats_of_gguf(kind):
    form = FORMATS[kind]
    data = np.random.default_rng(len(kind)).integers(0, 256, (2500, 4 * form.bytes), dtype=np.uint8)
    data[0], data[1] = 0, 255  # Among random scales are denormals, infinities and NaNs.
    with np.errstate(all="ignore"):
        want = gguf.quants.dequantize(data, gguf.GGMLQuantizationType[kind])
    got = inlay.gguf.pack(inlay.gguf.GgufTensor("w", kind, (2500, 4 * form.size), data))().numpy()
    nan = np.isnan(want)
    assert np.array_equal(nan, np.isnan(got))
    assert np.array_equal(np.where(nan, 0, want).view(np.uint32), np.where(nan, 0, got).view(np.uint32))


def write(path, arch, tensors, numbers):
    """Writes a file. tensors: name -> (floats or bytes, type). numbers: keys behind the name of the architecture."""
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name("tiny")
    for key, value in numbers.items():
        add = {float: writer.add_float32, int: writer.add_uint32, str: writer.add_string}[type(value)]
        add(f"{arch}.{key}", value)
    writer.add_eos_token_id(1)
    writer.add_pad_token_id(0)
    writer.add_token_list([f"t{i}" for i in range(WORDS)])
    for name, (data, kind) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_model(path, arch, edit=lambda tensors: None, **more):
    """Writes a tiny model with random weights. edit: changes the tensors first. more: metadata, `__` for a dot."""
    rng, kind = np.random.default_rng(1), gguf.GGMLQuantizationType[KINDS[arch]]
    # The sizes of heads with which transformers' own loader agrees.
    tensors, head = {}, {"qwen3": 128, "gemma2": 256, "gemma3": 256}.get(arch, 16)

    def matrix(name, rows, columns):
        floats = (rng.standard_normal((rows, columns)) / 8).astype(np.float32)
        tensors[f"{name}.weight"] = (gguf.quants.quantize(floats, kind), kind)

    def vector(name, size):
        tensors[name] = (rng.random(size).astype(np.float32) + 0.5, gguf.GGMLQuantizationType.F32)

    matrix("token_embd", WORDS, HIDDEN)
    vector("output_norm.weight", HIDDEN)
    if arch in ("llama", "phi3"):
        matrix("output", WORDS, HIDDEN)
    for layer in (f"blk.{number}." for number in range(LAYERS)):
        if arch == "phi3":
            matrix(f"{layer}attn_qkv", (HEADS + 2 * GROUPS) * head, HIDDEN)
            matrix(f"{layer}ffn_up", 2 * INNER, HIDDEN)
        else:
            for name, heads in {"attn_q": HEADS, "attn_k": GROUPS, "attn_v": GROUPS}.items():
                matrix(layer + name, heads * head, HIDDEN)
                if arch == "qwen2":
                    vector(f"{layer}{name}.bias", heads * head)
            matrix(f"{layer}ffn_gate", INNER, HIDDEN)
            matrix(f"{layer}ffn_up", INNER, HIDDEN)
        matrix(f"{layer}attn_output", HIDDEN, HEADS * head)
        matrix(f"{layer}ffn_down", HIDDEN, INNER)
        gemma = ["post_attention_norm", "post_ffw_norm"] if arch.startswith("gemma") else []
        for name in ["attn_norm", "ffn_norm", *gemma]:
            vector(f"{layer}{name}.weight", HIDDEN)
        if arch in ("qwen3", "gemma3"):
            vector(f"{layer}attn_q_norm.weight", head)
            vector(f"{layer}attn_k_norm.weight", head)
    edit(tensors)
    numbers = {
        "context_length": 128,
        "embedding_length": HIDDEN,
        "block_count": LAYERS,
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "attention.head_count_kv": GROUPS,
        "attention.key_length": head,
        "attention.value_length": head,
        "rope.dimension_count": head,
        "rope.freq_base": 10000.0,
        "attention.layer_norm_rms_epsilon": 1e-6,
    }
    if arch.startswith("gemma"):
        numbers["attention.sliding_window"] = 64
    numbers |= {key.replace("__", "."): value for key, value in more.items()}
    write(path, arch, tensors, numbers)


def dequantized(path):
    """Returns the model as transformers' own loader fills it, with its weights as f32."""
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = transformers.AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    tensors = load_gguf_checkpoint(path, return_tensors=True, model_to_load=model)["tensors"]
    model.load_state_dict(tensors, strict=False)
    model.tie_weights()
    return model


class Logits(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens, use_cache=False).logits


@pytest.mark.parametrize("arch", KINDS)
def test_model_has_the_parameters_and_logits_of_transformers(arch, tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, arch)
    want, got = dequantized(path), inlay.gguf.load(path)
    for name, parameter in want.named_parameters(remove_duplicate=False):
        owner, _, attribute = name.rpartition(".")
        value = getattr(got.get_submodule(owner), attribute)
        value = value() if isinstance(value, inlay.gguf.PackedWeight) else value
        assert torch.equal(value, parameter), name
    assert isinstance(got.lm_head.weight, inlay.gguf.PackedWeight)
    tied = want.lm_head.weight is want.get_input_embeddings().weight
    assert (got.lm_head.weight is got.get_input_embeddings().weight) == tied
    tokens = torch.tensor([[3, 1, 95, 0, 7]])
    with torch.no_grad():
        logits = want(tokens, use_cache=False).logits
    compiled = inlay.compile(Logits(got), (tokens,), targets=("host", "torch"))
    torch.testing.assert_close(compiled(tokens), logits, rtol=1e-4, atol=1e-4 * logits.abs().max().item())


class Tied(nn.Module):
    """An embedding and a product that share one packed weight."""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, tokens):
        return nn.functional.linear(self.weight(tokens), self.weight())


@pytest.mark.parametrize("targets", [("host", "torch"), ("vulkan", "host", "torch")], ids=["host", "vulkan"])
@pytest.mark.parametrize("kind", ["Q2_K", "Q4_K", "Q6_K"])
def test_embedding_and_product_share_a_packed_weight(kind, targets):
    form = FORMATS[kind]
    data = np.random.default_rng(0).integers(0, 256, (40, 2, form.bytes), dtype=np.uint8)
    for byte in {"Q2_K": (80, 82), "Q4_K": (0, 2), "Q6_K": (208,)}[kind]:
        data[:, :, byte : byte + 2] = np.array([0.01], np.float16).view(np.uint8)
    model = Tied(inlay.gguf.pack(inlay.gguf.GgufTensor("w", kind, (40, 512), data.reshape(40, -1))))
    tokens = torch.tensor([[39, 0, 7]])
    compiled = inlay.compile(model, (tokens,), targets=targets)
    dims = ({1: torch.export.Dim("count", min=1, max=8)},)
    of_any_count = inlay.compile(model, (tokens,), targets=targets, dynamic_shapes=dims)
    for one, given in ((compiled, tokens), (of_any_count, tokens[:, 1:2]), (of_any_count, tokens.repeat(1, 2))):
        want = model(given)
        torch.testing.assert_close(one(given), want, rtol=1e-4, atol=1e-5 * want.abs().max().item())
        assert len(one.report["segments"]) == 1


class Linear(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return nn.functional.linear(x, self.weight().to(x.dtype))


SCALES = {"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}  # bytes of f16 in a block


def random_weight(kind, rows, blocks):
    """Returns a weight with random codes, whose scales of super-blocks are of usual size."""
    rng, form = np.random.default_rng(rows), FORMATS[kind]
    data = rng.integers(0, 256, (rows, blocks, form.bytes), dtype=np.uint8)
    for byte in SCALES[kind]:
        factors = (rng.random((rows, blocks)) / 100).astype(np.float16)
        data[:, :, byte : byte + 2] = factors[..., None].view(np.uint8)
    shape = (rows, blocks * form.size)
    return inlay.gguf.pack(inlay.gguf.GgufTensor("w", kind, shape, data.reshape(rows, -1)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("rows", [1, 4, 70])
@pytest.mark.parametrize("kind", SCALES)
def test_products_read_the_codes_of_super_blocks_and_their_scales(kind, rows, dtype):
    weight, x = random_weight(kind, 37, 3), torch.randn(rows, 768, generator=torch.Generator().manual_seed(rows))
    x = x.to(dtype)
    compiled = inlay.compile(Linear(weight), (x,), targets=("host",), require_full_compilation=True)
    kinds = [kernel["kind"] for kernel in compiled.report["segments"][0]["kernels"]]
    assert kinds.count("quantized_product") == 1
    assert dtype != torch.float32 or len(kinds) == 1  # No loop widens the scales.
    floats = weight().to(dtype).double()
    wanted, terms = x.double() @ floats.T, x.double().abs() @ floats.abs().T
    # A minimum may be added without rounding the product, after which the sum may be rounded to the next f16.
    relative = 768 * 2.0**-23 if dtype == torch.float32 else 2.0**-10
    assert ((compiled(x).double() - wanted).abs() <= relative * terms + 1e-6).all()


def test_embedding_dequantizes_only_the_rows_it_reads():
    form = FORMATS["Q4_K"]
    data = np.zeros((40, 2 * form.bytes), np.uint8)
    module = nn.Embedding(40, 512)
    assert pack_module(module, inlay.gguf.pack(inlay.gguf.GgufTensor("w", "Q4_K", (40, 512), data)))
    program = torch.export.export(module, (torch.tensor([[39, 0, 7]]),))
    calls = [node for node in program.graph.nodes if node.target == torch.ops.inlay.dequantize.default]
    assert len(calls) == 3  # The scales and the minima are packed too.
    assert all(call.meta["val"].shape[:2] == (1, 3) for call in calls)


def good_file(path):
    """Returns the bytes of a small file with the tensors 'a' and 'b'."""
    floats = np.ones((4, 32), np.float32)
    kind = gguf.GGMLQuantizationType.F32
    write(path, "llama", {"a": (floats, kind), "b": (floats, kind)}, {})
    return bytearray(path.read_bytes())


def entry_of(data, name):
    """Returns the place behind the name of a tensor, where its dims begin."""
    return data.index(struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", 2)) + 8 + len(name)


def overwrite(place, form, value):
    def change(data):
        at = place if isinstance(place, int) else entry_of(data, place[0]) + place[1]
        struct.pack_into(f"<{form}", data, at, *(value if isinstance(value, tuple) else (value,)))

    return change


BAD_FILES = {
    "empty": (lambda data: data.clear(), "it is empty"),
    "short-header": (lambda data: data.__delitem__(slice(10, None)), "header of 24 bytes"),
    "magic": (overwrite(0, "4s", b"GGML"), "begins with b'GGUF'"),
    "version": (overwrite(4, "I", 9), "but got version 9"),
    "many-tensors": (overwrite(8, "Q", 1 << 60), "tensor"),
    "many-keys": (overwrite(16, "Q", 1 << 60), "metadata"),
    "cut-in-header": (lambda data: data.__delitem__(slice(60, None)), "is it cut short"),
    "cut-in-data": (lambda data: data.__delitem__(slice(-64, None)), "tensor 'b'.*is the file cut short"),
    "dims": (overwrite(("a", 0), "I", 9), "tensor 'a' to have 1 to 4 dims, but got 9"),
    "too-large": (overwrite(("a", 4), "QQ", (0, 1 << 62)), "tensor 'a' to have fewer than 2"),
    "huge": (overwrite(("a", 4), "Q", 1 << 50), "tensor 'a'.*cut short"),
    "type": (overwrite(("b", 20), "I", 999), "tensor 'b' to have a type that gguf knows, but got 999"),
    "range": (overwrite(("b", 24), "Q", 1 << 40), "tensor 'b'.*cut short"),
    "alignment": (overwrite(("b", 24), "Q", 33), "tensor 'b' at a multiple of 32"),
    "overlap": (overwrite(("b", 24), "Q", 32), "'b' begins at offset 32 inside of 'a'"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_an_error_that_names_the_place(name, tmp_path):
    path = tmp_path / "bad.gguf"
    data = good_file(path)
    change, message = BAD_FILES[name]
    change(data)
    path.write_bytes(data)
    with pytest.raises(inlay.Error, match=message):
        inlay.gguf.read(path)


F32 = gguf.GGMLQuantizationType.F32
BAD_MODELS = {
    "rows": (lambda t: t.update({"blk.0.attn_q.weight": (np.ones((62, 64), np.float32), F32)}),
             r"'blk.0.attn_q.weight' to have shape \[64, 64\].*but got \[62, 64\]"),
    "lacks": (lambda t: t.update(extra=(np.ones(4, np.float32), F32)), "tensor 'extra' has no parameter"),
    "missing": (lambda t: t.pop("blk.1.ffn_down.weight"), "there is none for 'model.layers.1.mlp.down_proj.weight'"),
    "shape": (lambda t: t.update({"blk.0.ffn_norm.weight": (np.ones(32, np.float32), F32)}),
              r"'blk.0.ffn_norm.weight' to have shape \[64\].*but got \[32\]"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_MODELS)
def test_file_that_does_not_fit_the_model_is_an_error(name, tmp_path):
    path = tmp_path / "tiny.gguf"
    edit, message = BAD_MODELS[name]
    write_model(path, "llama", edit)
    with pytest.raises(inlay.ArgumentValueError, match=message):
        inlay.gguf.load(path)


CONTRADICTIONS = {
    "scaling": ("qwen2", {"rope__scaling__type": "yarn"}, "'qwen2.rope.scaling.type' to be none.*but got yarn"),
    "unknown": ("llama", {"logit_scale": 0.5}, "meaning of 'llama.logit_scale' = 0.5 is not known"),
    "rotated": ("phi3", {"rope__dimension_count": 8}, "'phi3.rope.dimension_count' to be 16.*but got 8"),
    "base": ("gemma3", {"rope__freq_base_swa": 500.0}, "'gemma3.rope.freq_base_swa' to be 10000.*but got 500"),
    "window": ("qwen2", {"attention__sliding_window": 7}, "'qwen2.attention.sliding_window' to be 0.*but got 7"),
    "layers": ("llama", {"block_count": 300}, "'block_count' = 300 layers, but got those of 2"),
    "heads": ("llama", {"attention__head_count": 0}, "transformers can't build a model"),
    "text": ("llama", {"embedding_length": "64"}, "transformers can't build a model"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_metadata_that_the_model_would_ignore_is_an_error(name, tmp_path):
    path = tmp_path / "tiny.gguf"
    arch, metadata, message = CONTRADICTIONS[name]
    write_model(path, arch, **metadata)
    with pytest.raises(inlay.Error, match=message):
        inlay.gguf.load(path)


def test_metadata_that_transformers_ignores_reaches_the_config(tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, "gemma2", attn_logit_softcapping=20.0, final_logit_softcapping=7.0)
    config = inlay.gguf.load(path).config
    assert (config.attn_logit_softcapping, config.final_logit_softcapping) == (20.0, 7.0)
    write_model(path, "phi3", attention__sliding_window=3)
    model, tokens = inlay.gguf.load(path), torch.tensor([[3, 1, 95, 0, 7, 9]])
    short, whole = (model(tokens[:, skip:], use_cache=False).logits[0, -1] for skip in (1, 0))
    assert model.config.sliding_window == 3
    torch.testing.assert_close(short, whole)  # The window of two layers ends before the first token.


def test_transformers_does_not_read_the_vocabulary(tmp_path, monkeypatch):
    path, strings = tmp_path / "tiny.gguf", []
    read = gguf.GGUFReader._get_str
    monkeypatch.setattr(gguf.GGUFReader, "_get_str", lambda self, place: strings.append(place) or read(self, place))
    write_model(path, "gemma3")
    model = inlay.gguf.load(path)
    assert len(strings) < WORDS  # It reads keys and names, of which there are fewer.
    assert model.config.to_dict() == dequantized(path).config.to_dict()
    assert len(strings) > WORDS


def test_weights_of_another_architecture_are_an_error(tmp_path):
    path = tmp_path / "tiny.gguf"
    write_model(path, "llama")
    model = inlay.gguf.load(path)
    write_model(path, "qwen2")
    with pytest.raises(inlay.ArgumentValueError, match="file of the architecture llama, but got qwen2"):
        inlay.gguf.load_weights(transformers.LlamaForCausalLM(model.config), path)


@pytest.mark.parametrize("arch", ["llama", "gemma3"])
def test_model_is_copied_saved_and_cast(arch, tmp_path):
    write_model(tmp_path / "tiny.gguf", arch)
    model, tokens = inlay.gguf.load(tmp_path / "tiny.gguf"), torch.tensor([[3, 1, 95]])
    want = model(tokens, use_cache=False).logits
    torch.save(model, tmp_path / "model.pt")
    for other in (copy.deepcopy(model), torch.load(tmp_path / "model.pt", weights_only=False)):
        assert torch.equal(other(tokens, use_cache=False).logits, want)
    before = model.lm_head.weight()
    assert torch.equal(model.bfloat16().lm_head.weight(), before)


def test_alignment_of_another_type_is_an_error(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "bad.gguf", "llama")
    writer.add_bool("general.alignment", True)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(inlay.ArgumentValueError, match=r"UINT32 for 'general.alignment', but got BOOL True"):
        inlay.gguf.read(tmp_path / "bad.gguf")


def test_type_without_a_representation_is_an_error():
    with pytest.raises(inlay.UnsupportedError, match=r"tensor 'w'.*but got IQ4_NL"):
        inlay.gguf.pack(inlay.gguf.GgufTensor("w", "IQ4_NL", (1, 32), np.zeros((1, 18), np.uint8)))


def test_a_saved_language_model_keeps_its_packed_weights(tmp_path):
    write_model(tmp_path / "m.gguf", "llama")
    model = inlay.gguf.load(tmp_path / "m.gguf")
    compiled = inlay.generation.compile(model, max_length=24, targets=("host",))
    compiled.save(tmp_path / "m.inlay", weights_file="m.safetensors")
    numbers = sum(parameter.numel() for parameter in dequantized(tmp_path / "m.gguf").parameters())
    assert (tmp_path / "m.safetensors").stat().st_size < numbers
    (want,) = compiled.generate(torch.tensor([[5, 3]]), do_sample=False, eos_token_id=None).tolist()
    program = inlay_runtime.load(tmp_path / "m.inlay")
    assert (program.generation.eos_token_ids, program.generation.pad_token_id) == ((1,), 0)
    assert inlay_runtime.generate(program, [5, 3], max_new_tokens=len(want) - 2, ignore_eos=True).tokens == want[2:]
