# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of the package transformers: calls by keywords, and their outputs and caches."""

import copy

import inlay
import pytest
import torch

transformers = pytest.importorskip("transformers")

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 100,
}
TARGETS = ("host", "torch")


def tokens(*shape):
    return torch.randint(0, 100, shape, generator=torch.Generator().manual_seed(1))


def build(cls, config):
    torch.manual_seed(0)
    return cls(config).eval()


def check(model, inputs, compiled=None, **options):
    """Compares the results of a compiled model, including their classes, with those of the model."""
    compiled = compiled or inlay.compile(model, copy.deepcopy(inputs), **{"targets": TARGETS, **options})
    with torch.no_grad():
        want = model(**copy.deepcopy(inputs))
    got = compiled(**copy.deepcopy(inputs))
    assert type(got) is type(want) and list(got) == list(want)
    leaves, other = (torch.utils._pytree.tree_flatten(result) for result in (got, want))
    assert leaves[1] == other[1]
    for a, b in zip(leaves[0], other[0], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
    return compiled, got


@pytest.fixture(scope="module")
def llama():
    return build(transformers.LlamaForCausalLM, transformers.LlamaConfig(**SIZES, num_key_value_heads=2))


@pytest.mark.parametrize("targets", [("vulkan", "host", "torch"), ("torch",)], ids="-".join)
def test_bert(targets):
    model = build(transformers.BertModel, transformers.BertConfig(**SIZES))
    mask = torch.ones(2, 8, dtype=torch.int64)
    mask[1, 5:] = 0
    inputs = {"input_ids": tokens(2, 8), "attention_mask": mask}
    compiled, got = check(model, inputs, targets=targets)
    assert got.pooler_output is got[1]
    # Another mask than at export gives another result.
    check(model, {**inputs, "attention_mask": torch.ones(2, 8, dtype=torch.int64)}, compiled)
    with pytest.raises(TypeError, match=r"'attention_mask'.*expected dtype int64"):
        compiled(tokens(2, 8), torch.ones(2, 8))


def test_gpt2():
    config = transformers.GPT2Config(
        n_embd=32,
        n_layer=2,
        n_head=4,
        vocab_size=100,
        n_positions=64,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = build(transformers.GPT2LMHeadModel, config)
    compiled, _ = check(model, {"input_ids": tokens(2, 8), "use_cache": False})
    # The head and the embedding share weights.
    other = build(transformers.GPT2LMHeadModel, config)
    with torch.no_grad():
        other.transformer.wte.weight.mul_(2)
    compiled.load_state_dict(other.state_dict())
    check(other, {"input_ids": tokens(2, 8), "use_cache": False}, compiled)


def test_t5():
    config = transformers.T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=100)
    model = build(transformers.T5ForConditionalGeneration, config)
    inputs = {"input_ids": tokens(2, 8), "decoder_input_ids": tokens(2, 4), "use_cache": False}
    check(model, inputs)


def test_a_growing_cache_goes_in_and_out(llama):
    _, first = check(llama, {"input_ids": tokens(2, 6), "use_cache": True})
    assert type(first.past_key_values) is transformers.DynamicCache
    step = {"input_ids": tokens(2, 1), "past_key_values": first.past_key_values, "use_cache": True}
    compiled, second = check(llama, step)
    assert second.past_key_values.get_seq_length() == 7
    with pytest.raises(ValueError, match=r"past_key_values\['layers\[0\].keys'\].*dim 2 differs"):
        compiled(**{**step, "past_key_values": second.past_key_values})


def test_a_static_cache_is_written(llama):
    cache = transformers.StaticCache(config=llama.config, max_cache_len=10)
    with torch.no_grad():
        llama(tokens(2, 4), past_key_values=cache, use_cache=True)
    mine, theirs = copy.deepcopy(cache), copy.deepcopy(cache)
    example = {"input_ids": tokens(2, 1), "past_key_values": copy.deepcopy(cache), "use_cache": True}
    compiled = inlay.compile(llama, example, targets=TARGETS)
    for step in range(3):  # each call writes to the given caches
        token = tokens(2, 1) + step
        with torch.no_grad():
            want = llama(input_ids=token, past_key_values=theirs, use_cache=True)
        got = compiled(input_ids=token, past_key_values=mine, use_cache=True)
        torch.testing.assert_close(got.logits, want.logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(mine.layers[1].keys, theirs.layers[1].keys, rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module", params=["Gemma3", "Mistral"])
def sliding(request):
    """A model with a sliding window of 6 tokens in its first layer."""
    sizes = {**SIZES, "num_key_value_heads": 2, "head_dim": 8, "sliding_window": 6}
    if request.param == "Mistral":
        return build(transformers.MistralForCausalLM, transformers.MistralConfig(**sizes))
    kinds = ["sliding_attention", "full_attention"]
    return build(transformers.Gemma3ForCausalLM, transformers.Gemma3TextConfig(**sizes, layer_types=kinds))


def prefilled(model, length):
    """Returns a static cache with `length` tokens, and the next token."""
    cache = transformers.StaticCache(config=model.config, max_cache_len=40)
    with torch.no_grad():
        logits = model(tokens(1, length), past_key_values=cache, use_cache=True).logits
    return cache, logits[:, -1:].argmax(-1)


def generate(step, cache, token, count, found=None):
    """Returns the tokens of `count` greedy steps in `found`."""
    found = [] if found is None else found
    for _ in range(count):
        with torch.no_grad():
            made = step(input_ids=token, past_key_values=cache, use_cache=True)
        assert made.past_key_values is cache
        token = made.logits[:, -1:].argmax(-1)
        found.append(token.item())
    return found


def test_a_full_sliding_window(sliding):
    want = generate(sliding, *prefilled(sliding, 8), 30)
    cache, token = prefilled(sliding, 8)
    inputs = {"input_ids": token, "past_key_values": cache, "use_cache": True}
    compiled = inlay.compile(sliding, inputs, targets=TARGETS)
    assert compiled.symbols == {"cumulative_length_int": (6, None)}
    assert cache.layers[0].cumulative_length_int == 8
    assert generate(compiled, cache, token, 30) == want
    assert cache.layers[0].cumulative_length_int == 38


@pytest.mark.parametrize("out_of_range", ["error", "torch"])
def test_a_sliding_window_that_becomes_full(sliding, out_of_range):
    want = generate(sliding, *prefilled(sliding, 1), 12)
    cache, token = prefilled(sliding, 1)
    inputs = {"input_ids": token, "past_key_values": cache, "use_cache": True}
    compiled, got = inlay.compile(sliding, inputs, targets=TARGETS, out_of_range=out_of_range), []
    if out_of_range == "torch":
        assert generate(compiled, cache, token, 12) == want
        return
    message = r"cumulative_length_int'\]\" \(place \d\) is 6, but expected 0 to 5; compile for such a value"
    with pytest.raises(inlay.SizesError, match=message):
        generate(compiled, cache, token, 12, got)
    assert got == want[:5]


def test_caches_are_changed_as_by_the_model(llama):
    compiled, caches = None, [transformers.DynamicCache(config=llama.config) for _ in range(2)]
    inputs = {"input_ids": tokens(2, 6), "use_cache": True}
    compiled = inlay.compile(llama, {**inputs, "past_key_values": copy.deepcopy(caches[0])}, targets=TARGETS)
    got = compiled(**inputs, past_key_values=caches[0])
    with torch.no_grad():
        want = llama(**inputs, past_key_values=caches[1])
    assert got.past_key_values is caches[0] and caches[0].get_seq_length() == 6
    torch.testing.assert_close(got.logits, want.logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(caches[0].layers[1].keys, caches[1].layers[1].keys, rtol=1e-4, atol=1e-4)
    with pytest.raises(inlay.ArgumentTypeError, match="nested like the example inputs"):
        compiled(**inputs, past_key_values=caches[0])


def test_a_cache_in_another_state_is_named(llama):
    cache = transformers.StaticCache(config=llama.config, max_cache_len=10)
    with torch.no_grad():
        llama(tokens(2, 4), past_key_values=cache, use_cache=True)
    inputs = {"input_ids": tokens(2, 1), "past_key_values": cache, "use_cache": True}
    compiled, other = inlay.compile(llama, inputs, targets=TARGETS), copy.deepcopy(cache)
    other.layers[1].is_initialized = False
    with pytest.raises(inlay.ArgumentTypeError, match=r"expected layers\[1\].is_initialized of an argument to be True"):
        compiled(**{**inputs, "past_key_values": other})


def test_other_arguments_that_a_model_changes_are_refused():
    class Counting(torch.nn.Module):
        def forward(self, a, state):
            state["calls"] += 1
            return a * state["calls"]

    with pytest.raises(inlay.UnsupportedError, match=r"changes its argument .*\['calls'\], which"):
        inlay.compile(Counting(), (torch.ones(2), {"calls": 1}), targets=("host",))
