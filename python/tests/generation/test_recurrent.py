# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the text that compiled models with recurrent layers generate with that of the same models in PyTorch."""

import inlay
import inlay.generation
import pytest
import torch
from inlay._compile.imported import compilation_count
from inlay._program.session import Session

transformers = pytest.importorskip("transformers")

TARGETS = ("host", "torch")
SIZES = {"vocab_size": 100, "hidden_size": 16, "pad_token_id": 0}
MODELS = {
    "mamba": lambda **more: transformers.MambaForCausalLM(
        transformers.MambaConfig(**SIZES, num_hidden_layers=2, state_size=4, **more)
    ),
    "mamba2": lambda: transformers.Mamba2ForCausalLM(
        transformers.Mamba2Config(
            **SIZES, num_hidden_layers=1, state_size=4, num_heads=4, head_dim=8, n_groups=2, chunk_size=4
        )
    ),
    "jamba": lambda: transformers.JambaForCausalLM(
        transformers.JambaConfig(
            **SIZES,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            num_experts=1,
            attn_layer_period=2,
            attn_layer_offset=1,
            mamba_d_state=4,
            use_mamba_kernels=False,
        )
    ),
}
GREEDY = {"do_sample": False, "pad_token_id": 0, "eos_token_id": None}


def build(name, **options):
    """Returns a model whose logits differ so much that rounding doesn't choose the tokens."""
    torch.manual_seed(0)
    model = MODELS[name](**options).eval()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if parameter.dim() > 1 and not key.endswith("A_log"):
                parameter.normal_(std=0.3)
            if key.endswith("in_proj.bias"):
                parameter.normal_(std=3.0)
    return model


def tokens(*shape):
    return torch.randint(1, 100, shape, generator=torch.Generator().manual_seed(shape[-1]))


def padding(ids):
    mask = torch.ones_like(ids)
    mask[1:2, :4], mask[3:, :1] = 0, 0
    return mask


def check(model, compiled, ids, **options):
    """Compares the tokens of both models, which start from the same seed."""
    made = []
    for one in (model, compiled):
        torch.manual_seed(1)
        made.append(one.generate(ids, **{**GREEDY, **options}))
    assert torch.equal(made[1], made[0])


@pytest.fixture(scope="module")
def jamba():
    model = build("jamba")
    return model, inlay.generation.compile(model, max_length=40, max_batch=4, targets=TARGETS)


@pytest.mark.parametrize("name", ["mamba", "mamba2", "jamba"])
def test_greedy_tokens(name, request):
    before = compilation_count()
    if name == "jamba":
        model, compiled = request.getfixturevalue(name)
    else:
        model = build(name)
        compiled = inlay.generation.compile(model, max_length=40, max_batch=4, targets=TARGETS)
    assert compilation_count() <= before + 1
    for length in (1, 9):
        check(model, compiled, tokens(1, length), max_new_tokens=40 - length)
    ids = tokens(4, 8)
    check(model, compiled, ids, attention_mask=padding(ids), max_new_tokens=16)
    assert [segment["target"] for segment in compiled.program.report["segments"]] == ["host"]


@pytest.mark.parametrize(
    "options", [{"do_sample": True}, {"num_beams": 3}, {"num_return_sequences": 2, "num_beams": 2}]
)
def test_decoding_of_transformers(jamba, options):
    check(*jamba, tokens(1, 5), max_new_tokens=10, **options)


def test_a_failing_device_changes_no_token(jamba, monkeypatch):
    run, calls = Session.__call__, []

    def fail_at_times(session, *args):
        result = run(session, *args)
        calls.append(args)
        if len(calls) in (2, 9):
            session.load_state_dict({name: state * torch.nan for name, state in session.state_dict().items()})
            raise inlay.DeviceError("lost")
        return result

    monkeypatch.setattr(Session, "__call__", fail_at_times)
    ids = tokens(2, 6)
    check(*jamba, ids, attention_mask=padding(ids), max_new_tokens=8)
    assert len(calls) > 9


def test_a_cache_continues_a_text_and_keeps_its_tokens(jamba):
    model, compiled = jamba
    cache, ids = compiled.new_cache(), tokens(1, 4)
    text = compiled.generate(ids, cache=cache, max_new_tokens=4, **GREEDY)
    longer = torch.cat([text, tokens(1, 2)], dim=1)
    want = model.generate(longer, max_new_tokens=8, **GREEDY)
    assert torch.equal(compiled.generate(longer, cache=cache, max_new_tokens=8, **GREEDY), want)
    with pytest.raises(inlay.UnsupportedError, match="a cache with recurrent states can't remove tokens"):
        cache.crop(-1)


def test_saving_is_refused(jamba, tmp_path):
    with pytest.raises(inlay.UnsupportedError, match="a model with recurrent layers can't be saved yet"):
        jamba[1].save(tmp_path / "jamba.inlay")


def test_padding_that_changes_the_states_is_refused():
    """A bias before the convolution writes to the states at each padding token."""
    model = build("mamba", use_bias=True)
    compiled = inlay.generation.compile(model, max_length=16, max_batch=2, targets=TARGETS)
    check(model, compiled, tokens(2, 6), max_new_tokens=8)
    ids = tokens(2, 6)
    with pytest.raises(inlay.UnsupportedError, match="attention_mask: expected no padding"):
        compiled.generate(ids, attention_mask=padding(ids), max_new_tokens=8, **GREEDY)


def test_models_whose_step_differs_are_refused(monkeypatch):
    model = build("mamba")
    run = type(model.backbone.layers[0].mixer).forward

    def forward(self, hidden_states, *args, **kwargs):
        return run(self, hidden_states, *args, **kwargs) * hidden_states.shape[1]

    monkeypatch.setattr(type(model.backbone.layers[0].mixer), "forward", forward)
    with pytest.raises(inlay.UnsupportedError, match="gives equal logits for tokens one at a time"):
        inlay.generation.compile(model, max_length=16, targets=TARGETS)
