# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the text that compiled language models generate with that of the same models in PyTorch."""

import inlay
import inlay.generation
import pytest
import torch
from inlay._compile.imported import compilation_count
from inlay._program.session import Session

transformers = pytest.importorskip("transformers")

TARGETS = ("host", "torch")
SIZES = {
    "vocab_size": 100,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
}
WINDOW = {"sliding_window": 6, "layer_types": ["sliding_attention", "full_attention"]}
MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)),
    "gemma3": lambda: transformers.Gemma3ForCausalLM(
        transformers.Gemma3TextConfig(**SIZES, **WINDOW, tie_word_embeddings=False)
    ),
    "mixtral": lambda: transformers.MixtralForCausalLM(transformers.MixtralConfig(**SIZES, num_local_experts=4)),
    "gpt2": lambda: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    ),
    "bloom": lambda: transformers.BloomForCausalLM(
        transformers.BloomConfig(vocab_size=100, hidden_size=32, n_layer=2, n_head=4)
    ),
}
GREEDY = {"do_sample": False, "pad_token_id": 0, "eos_token_id": None}


def build(name):
    """Returns a model whose logits differ so much that rounding doesn't choose the tokens."""
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.25)
    return model


def tokens(*shape):
    return torch.randint(1, 100, shape, generator=torch.Generator().manual_seed(shape[-1]))


def check(model, compiled, ids, **options):
    """Compares the tokens of both models, which start from the same seed."""
    made = []
    for one in (model, compiled):
        torch.manual_seed(1)
        made.append(one.generate(ids, **{**GREEDY, **options}))
    assert torch.equal(made[1], made[0])
    return made[0]


@pytest.fixture(scope="module")
def llama():
    model = build("llama")
    return model, inlay.generation.compile(model, max_length=48, max_batch=4, targets=TARGETS)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_greedy_tokens(name):
    model, before = build(name), compilation_count()
    compiled = inlay.generation.compile(model, max_length=48, max_batch=4, targets=TARGETS)
    assert type(compiled).__name__ == type(model).__name__ and isinstance(compiled, type(model))
    for length in (1, 5, 20):
        made = check(model, compiled, tokens(1, length), max_new_tokens=48 - length)
        assert made.unique().numel() > 3
    mask = torch.ones(4, 9, dtype=torch.int64)
    mask[1, :4], mask[3, :1] = 0, 0
    check(model, compiled, tokens(4, 9), attention_mask=mask, max_new_tokens=39)
    assert compilation_count() == before + 1
    assert [segment["target"] for segment in compiled.program.report["segments"]] == ["host"]


def test_greedy_tokens_on_vulkan():
    model = build("gemma3")
    compiled = inlay.generation.compile(model, max_length=24, targets=("vulkan", "host", "torch"))
    assert [segment["target"] for segment in compiled.program.report["segments"]] == ["vulkan"]
    check(model, compiled, tokens(1, 4), max_new_tokens=20)


def test_keys_and_values_stay_on_the_device():
    compiled = inlay.generation.compile(build("llama"), max_length=24, targets=("vulkan", "host", "torch"))
    cache = compiled.new_cache()
    compiled.generate(tokens(1, 4), cache=cache, max_new_tokens=3, **GREEDY)
    one = torch.ones(1, 1, dtype=torch.int64)
    steps = cache.session.profile(one, one, one.expand(1, cache.length), one)
    assert [kind for _, kind, _ in steps if kind != "copy"] == ["engine"]
    copies = [name for name, kind, _ in steps if kind == "copy"]
    assert copies
    assert not any("keys" in name or "values" in name or "scatter" in name for name in copies)


@pytest.mark.parametrize("all_logits", [False, True])
def test_prompts_that_take_several_calls(all_logits, monkeypatch):
    monkeypatch.setattr("inlay._generation.model._CHUNK", 6)
    model = build("llama")
    compiled = inlay.generation.compile(model, max_length=32, max_batch=2, all_logits=all_logits, targets=TARGETS)
    ids, mask = tokens(2, 11), torch.ones(2, 11, dtype=torch.int64)
    mask[0, :5] = 0
    check(model, compiled, ids, attention_mask=mask, max_new_tokens=12)
    if all_logits:
        torch.testing.assert_close(compiled(input_ids=ids[1:]).logits, model(input_ids=ids[1:]).logits)


@pytest.mark.parametrize("options", [{}, {"num_beams": 2}], ids=str)
def test_a_failing_device_changes_no_token(options, monkeypatch):
    """The states are undefined after a failure, so the cache is computed again."""
    monkeypatch.setattr("inlay._generation.model._CHUNK", 6)
    model = build("llama")
    compiled = inlay.generation.compile(model, max_length=32, max_batch=4, targets=TARGETS)
    run, calls = Session.__call__, []

    def fail_at_times(session, *args):
        result = run(session, *args)
        calls.append(args)
        if len(calls) in (2, 9):
            session.load_state_dict({name: state * torch.nan for name, state in session.state_dict().items()})
            raise inlay.DeviceError("lost")
        return result

    monkeypatch.setattr(Session, "__call__", fail_at_times)
    ids, mask = tokens(2, 7), torch.ones(2, 7, dtype=torch.int64)
    mask[1, :3] = 0
    check(model, compiled, ids, attention_mask=mask, max_new_tokens=12, **options)
    assert len(calls) > 9


@pytest.mark.parametrize(
    "options",
    [
        {"do_sample": True, "temperature": 0.8, "top_k": 20, "top_p": 0.9},
        {"do_sample": True, "num_return_sequences": 3},
        {"num_beams": 4},
        {"num_beams": 2, "do_sample": True},
        {"repetition_penalty": 1.3},
        {"eos_token_id": list(range(1, 60))},
        {"prefill_chunk_size": 3},
    ],
    ids=str,
)
def test_decoding_of_transformers(llama, options):
    check(*llama, tokens(1, 7), max_new_tokens=20, **options)


def test_a_streamer_gets_the_tokens(llama):
    class Collect(transformers.generation.BaseStreamer):
        def __init__(self):
            self.tokens = []

        def put(self, value):
            self.tokens.extend(value.flatten().tolist())

        def end(self):
            self.tokens.append(None)

    streamer = Collect()
    made = llama[1].generate(tokens(1, 3), max_new_tokens=5, streamer=streamer, **GREEDY)
    assert streamer.tokens == [*made[0].tolist(), None]


@pytest.mark.parametrize(
    "options", [{"prompt_lookup_num_tokens": 3}, {"assistant_model": build}], ids=["lookup", "model"]
)
def test_assisted_decoding(options):
    model = build("llama")
    compiled = inlay.generation.compile(model, max_length=48, all_logits=True, targets=TARGETS)
    if "assistant_model" in options:
        options = {"assistant_model": build("llama")}
    check(model, compiled, tokens(1, 4), max_new_tokens=20, **options)
    logits = compiled(tokens(1, 4)).logits
    torch.testing.assert_close(logits, model(tokens(1, 4)).logits.detach(), rtol=1e-4, atol=1e-4)


def test_a_cache_continues_a_text(llama):
    model, compiled = llama
    first, second = compiled.new_cache(), compiled.new_cache()
    ids, other = tokens(1, 4), tokens(1, 6)
    ids = check(model, compiled, ids, max_new_tokens=6)
    for cache, prompt in ((first, ids[:, :4]), (second, other)):
        compiled.generate(prompt, max_new_tokens=6, cache=cache, **GREEDY)
    assert (first.length, second.length) == (9, 11)  # the last token is not in the cache yet
    longer = torch.cat([ids, tokens(1, 3)], dim=1)
    want = model.generate(longer, max_new_tokens=10, **GREEDY)
    assert torch.equal(compiled.generate(longer, max_new_tokens=10, cache=first, **GREEDY), want)
    first.crop(-2)
    assert first.length == 20


def test_weights_are_those_of_the_model():
    model = build("llama")
    compiled = inlay.generation.compile(model, max_length=16, targets=TARGETS)
    before = check(model, compiled, tokens(1, 4), max_new_tokens=12)
    with torch.no_grad():
        model.lm_head.weight.normal_()
    assert not torch.equal(check(model, compiled, tokens(1, 4), max_new_tokens=12), before)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"input_ids": tokens(1, 49)}, ValueError, "expected 1 to 48 tokens, but got 49: the cache has room"),
        ({"input_ids": tokens(1, 0)}, ValueError, "expected 1 to 48 tokens, but got 0"),
        ({"input_ids": tokens(5, 2)}, ValueError, "expected at most 4 sequences, but got 5"),
        ({"input_ids": tokens(3)}, TypeError, r"expected a tensor int64\[batch, tokens\]"),
        ({"input_ids": torch.ones(1, 2)}, TypeError, "input_ids.*int64"),
        ({"input_ids": torch.tensor([[1, 100]])}, ValueError, "expected tokens from 0 to 99, but got 100"),
        ({"input_ids": torch.tensor([[-1, 1]])}, ValueError, "expected tokens from 0 to 99, but got -1"),
        ({"inputs_embeds": torch.ones(1, 2, 32)}, inlay.UnsupportedError, "no argument 'inputs_embeds'"),
        ({"output_attentions": True}, inlay.UnsupportedError, "no argument 'output_attentions'"),
        ({"use_cache": False}, inlay.UnsupportedError, "no argument 'use_cache'"),
        ({"logits_to_keep": 0}, inlay.UnsupportedError, "expected 1, but got 0: .* all_logits=True"),
        ({"attention_mask": torch.ones(1, 3)}, ValueError, r"attention_mask: expected dims \[1, 2\]"),
        ({"position_ids": torch.ones(1, 3)}, ValueError, r"position_ids: expected dims \[1, 2\]"),
        ({"position_ids": torch.tensor([[0, 100000]])}, ValueError, "position_ids: expected positions from 0 to"),
        ({"position_ids": torch.tensor([[-1, 0]])}, ValueError, "position_ids: expected positions from 0 to .*got -1"),
        ({"position_ids": [[0, 1]]}, TypeError, "position_ids: expected a tensor, but got list"),
        ({"attention_mask": [[1, 1]]}, TypeError, "attention_mask: expected a tensor, but got list"),
        ({"cache": transformers.DynamicCache()}, TypeError, r"expected a cache from new_cache\(\)"),
    ],
    ids=str,
)
def test_wrong_arguments(llama, arguments, error, match):
    given = {"logits_to_keep": 1, **({} if "inputs_embeds" in arguments else {"input_ids": tokens(1, 2)}), **arguments}
    with pytest.raises(error, match=match):
        llama[1](**given)


def test_other_caches(llama):
    model = build("llama")
    compiled = inlay.generation.compile(model, max_length=16, targets=TARGETS)
    with pytest.raises(inlay.ArgumentValueError, match="expected a cache of this model, but got one of another model"):
        compiled(tokens(1, 2), cache=llama[1].new_cache(), logits_to_keep=1)
    cache = llama[1].new_cache()
    llama[1](tokens(2, 3), cache=cache, logits_to_keep=1)
    with pytest.raises(inlay.ArgumentValueError, match="expected 2 sequences, as the cache has, but got 1"):
        llama[1](tokens(1, 2), cache=cache, logits_to_keep=1)
    with pytest.raises(inlay.ArgumentValueError, match="expected 1 to 45 tokens, but got 46"):
        llama[1](tokens(2, 46), cache=cache, logits_to_keep=1)
    with pytest.raises(inlay.ArgumentValueError, match="expected to remove at most 3 tokens of a cache, but got 4"):
        cache.crop(-4)
    with pytest.raises(inlay.ArgumentValueError, match="with a negative sign, but got 2"):
        cache.crop(2)


def test_text_that_does_not_fit_is_refused_before_it_is_generated(llama):
    for options in ({"max_new_tokens": 45}, {"max_length": 49}):
        with pytest.raises(inlay.ArgumentValueError, match="expected at most 48 tokens in all, but got 49"):
            llama[1].generate(tokens(1, 4), **GREEDY, **options)


@pytest.mark.parametrize(
    ("make", "options", "error", "match"),
    [
        (lambda: torch.nn.Linear(2, 2), {}, TypeError, "expected a model of transformers, but got Linear"),
        (lambda: build("llama"), {"max_length": 65}, ValueError, "max_position_embeddings of the model's config, 64"),
        (lambda: build("llama"), {"max_length": 1}, ValueError, "max_length: expected at least 2, but got 1"),
        (lambda: build("llama"), {"max_length": 8.0}, TypeError, "max_length: expected an int, but got float"),
        (lambda: build("llama"), {"max_batch": 0}, ValueError, "max_batch: expected at least 1, but got 0"),
        (lambda: build("llama").train(), {}, ValueError, "evaluation mode"),
        (lambda: build("llama").model, {}, inlay.UnsupportedError, "has no generate"),
        (
            lambda: transformers.RwkvForCausalLM(
                transformers.RwkvConfig(vocab_size=9, hidden_size=8, num_hidden_layers=2)
            ).eval(),
            {},
            inlay.UnsupportedError,
            "expected a forward with an argument cache or past_key_values",
        ),
    ],
    ids=["module", "positions", "short", "float", "batch", "training", "body", "state"],
)
def test_models_that_are_refused(make, options, error, match):
    with pytest.raises(error, match=match):
        inlay.generation.compile(make(), **{"max_length": 16, "targets": TARGETS, **options})
