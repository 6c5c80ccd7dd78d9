# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the text that inlay_runtime generates from files with that of the same models in transformers."""

import copy
import json
import math
import subprocess
import sys

import inlay
import inlay.generation
import inlay_runtime
import numpy as np
import pytest
import torch
from inlay_runtime import Cache, StopReason, generate, stream

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

WORDS, MAX_LENGTH, MAX_BATCH, CHUNK = 100, 48, 4, 6
SIZES = {
    "vocab_size": WORDS,
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
    "gpt2": lambda: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    ),
    "bloom": lambda: transformers.BloomForCausalLM(
        transformers.BloomConfig(vocab_size=WORDS, hidden_size=32, n_layer=2, n_head=4)
    ),
}
PLAIN = {"eos_token_id": None, "bos_token_id": 1, "pad_token_id": 0}


def build(name):
    """Returns a model whose logits differ so much that rounding doesn't choose the tokens."""
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.25)
    model.generation_config.update(**PLAIN)
    return model


def tokens(count, seed=0):
    return torch.randint(1, WORDS, (count,), generator=torch.Generator().manual_seed(100 * count + seed)).tolist()


def expect(model, prompts, **options):
    """Returns the new tokens of transformers for a list of prompts, each by itself."""
    made = []
    for prompt in prompts:
        made.append(model.generate(torch.tensor([prompt]), do_sample=False, **options)[0, len(prompt) :].tolist())
    return made


def compile_and_save(model, path, **options):
    compiled = inlay.generation.compile(
        model, **{"max_length": MAX_LENGTH, "max_batch": MAX_BATCH, "targets": ("host",), **options}
    )
    compiled.save(path)
    return compiled


def save_with_config(compiled, path, **changes):
    """Saves a model with changes of its generation config."""
    before = copy.deepcopy(compiled.generation_config)
    compiled.generation_config.update(**changes)
    try:
        compiled.save(path)
    finally:
        compiled.generation_config = before


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model, its compiled model and its file. A call of the program takes at most 6 tokens."""
    model, path = build("llama"), tmp_path_factory.mktemp("saved") / "llama.inlay"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inlay._generation.model._CHUNK", CHUNK)
        return model, compile_and_save(model, path), path


@pytest.fixture(scope="module")
def llama(saved):
    return saved[0], inlay_runtime.load(saved[2])


@pytest.fixture
def calls(monkeypatch):
    """The numbers of texts and tokens of each call of a program."""
    made, run = [], inlay_runtime.Session.call_raw

    def call_raw(session, *given):
        made.append(given[0].shape)
        return run(session, *given)

    monkeypatch.setattr(inlay_runtime.Session, "call_raw", call_raw)
    return made


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    """The path of a tokenizer with a word for each token: "w0", "w1", ... Token 2 ends a text."""
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(WORDS)}, unk_token="w0"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.add_special_tokens(["w2"])
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return path


@pytest.mark.parametrize("name", ["gemma3", "gpt2", "bloom"])
def test_greedy_tokens(name, tmp_path):
    model = build(name)
    compile_and_save(model, tmp_path / "m.inlay")
    program = inlay_runtime.load(tmp_path / "m.inlay")
    for length in (1, 20):
        (want,) = expect(model, [tokens(length)], max_new_tokens=MAX_LENGTH - length)
        assert generate(program, tokens(length)).tokens == want
    prompts = [tokens(9), tokens(5), tokens(1), tokens(8)]
    made = generate(program, prompts, max_new_tokens=20)
    assert [one.tokens for one in made] == expect(model, prompts, max_new_tokens=20)
    assert len({token for one in made for token in one.tokens}) > 3


def test_greedy_tokens_on_vulkan(tmp_path):
    model = build("gemma3")
    compiled = compile_and_save(model, tmp_path / "m.inlay", targets=("vulkan", "host"), max_batch=1)
    assert [segment["target"] for segment in compiled.program.report["segments"]] == ["vulkan"]
    (want,) = expect(model, [tokens(4)], max_new_tokens=20)
    for device in (None, "none"):
        program = inlay_runtime.load(tmp_path / "m.inlay", device=device)
        assert generate(program, tokens(4), max_new_tokens=20).tokens == want


def test_prompts_that_take_several_calls(llama, calls):
    model, program = llama
    prompts = [tokens(20), tokens(7)]
    made = generate(program, prompts, max_new_tokens=3)
    assert [one.tokens for one in made] == expect(model, prompts, max_new_tokens=3)
    assert calls == [(2, 6), (2, 6), (2, 6), (2, 2), (2, 1), (2, 1)]


@pytest.mark.parametrize("penalty", [1.3, 0.7])
def test_penalties_for_repeated_tokens(llama, penalty):
    model, program = llama
    prompts = [tokens(9), tokens(3)]
    made = generate(program, prompts, max_new_tokens=25, repetition_penalty=penalty)
    want = expect(model, prompts, max_new_tokens=25, repetition_penalty=penalty)
    assert [one.tokens for one in made] == want
    assert want != expect(model, prompts, max_new_tokens=25)


def test_numpy_arrays_are_prompts(llama):
    (want,) = expect(llama[0], [tokens(4)], max_new_tokens=5)
    assert generate(llama[1], np.array(tokens(4), np.int32), max_new_tokens=5).tokens == want
    (made,) = generate(llama[1], np.array([tokens(4)]), max_new_tokens=5)
    assert made.tokens == want


def test_seeds(llama):
    _, program = llama
    options = {"do_sample": True, "temperature": 3.0, "max_new_tokens": 20}
    first = generate(program, tokens(4), seed=1, **options).tokens
    assert generate(program, tokens(4), seed=1, **options).tokens == first
    assert generate(program, tokens(4), seed=2, **options).tokens != first
    assert generate(program, tokens(4), **options).tokens != generate(program, tokens(4), **options).tokens
    # The first prompt has the same random numbers in a batch, and equal prompts have different ones.
    made = generate(program, [tokens(4), tokens(4)], seed=1, **options)
    assert made[0].tokens == first and made[1].tokens != first
    assert (
        generate(program, tokens(4), seed=1, **options, top_k=1).tokens
        == expect(llama[0], [tokens(4)], max_new_tokens=20)[0]
    )


def test_reasons_to_end(llama):
    model, program = llama
    (want,) = expect(model, [tokens(5)], max_new_tokens=20)
    made = generate(program, tokens(5), max_new_tokens=20)
    assert (made.tokens, made.text, made.reason) == (want, None, StopReason.LENGTH)
    stop = want[3:5]
    made = generate(program, tokens(5), max_new_tokens=20, stop=[[WORDS - 1] * 3, stop])
    end = next(i for i in range(20) if want[i : i + 2] == stop) + 2
    assert (made.tokens, made.reason) == (want[:end], StopReason.STOP)


def test_texts_of_a_batch_end_one_by_one(saved, tmp_path):
    model, compiled, _ = saved
    prompts = [tokens(9), tokens(3), tokens(6)]
    plain = expect(model, prompts, max_new_tokens=30)
    ends = [plain[0][4], plain[1][9]]
    save_with_config(compiled, tmp_path / "m.inlay", eos_token_id=ends, max_new_tokens=30)
    program = inlay_runtime.load(tmp_path / "m.inlay")
    assert program.generation.eos_token_ids == tuple(ends)
    made = generate(program, prompts)
    assert [one.tokens for one in made] == expect(model, prompts, max_new_tokens=30, eos_token_id=ends)
    assert made[0].reason == made[1].reason == StopReason.EOS and len(made[0].tokens) != len(made[1].tokens)
    assert [one.tokens for one in generate(program, prompts, ignore_eos=True)] == plain


def test_text(llama, tokenizer):
    model, program = llama
    (want,) = expect(model, [tokens(5)], max_new_tokens=12)
    prompt = " ".join(f"w{token}" for token in tokens(5))
    made = generate(program, prompt, tokenizer=tokenizer, max_new_tokens=12)
    assert made.tokens == want
    assert made.text == "".join(f" w{token}" for token in want if token != 2)
    pieces = list(stream(program, prompt, tokenizer=str(tokenizer), max_new_tokens=12))
    assert [piece.token for piece in pieces] == want and "".join(piece.text for piece in pieces) == made.text
    assert [piece.reason for piece in pieces] == [None] * 11 + [StopReason.LENGTH]
    stop = f"{want[4]} w{want[5]}"
    made = generate(program, prompt, tokenizer=tokenizer, max_new_tokens=12, stop=stop)
    assert made.tokens == want[:6] and made.reason is StopReason.STOP
    assert made.text + stop == "".join(f" w{token}" for token in want[:6])


def test_tokenizers_of_transformers(llama, tokenizer):
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tokenizer))
    prompt = " ".join(f"w{token}" for token in tokens(5))
    options = {"max_new_tokens": 12}
    assert generate(llama[1], prompt, tokenizer=fast, **options) == generate(
        llama[1], prompt, tokenizer=tokenizer, **options
    )


def test_streams_yield_tokens_as_they_are_computed(llama, calls):
    _, program = llama
    pieces = stream(program, [tokens(4), tokens(2)], max_new_tokens=10)
    assert [next(pieces).prompt for _ in range(3)] == [0, 1, 0]
    assert calls == [(2, 4), (2, 1)]


def test_a_cache_continues_texts(llama, calls):
    model, program = llama
    cache, text = Cache(program), tokens(5)
    text += generate(program, text, cache=cache, max_new_tokens=6).tokens
    assert cache.length == 10  # the last token is not in the cache yet
    text += tokens(3)
    calls.clear()
    made = generate(program, text, cache=cache, max_new_tokens=4).tokens
    assert calls == [(1, 4), (1, 1), (1, 1), (1, 1)]
    assert [made] == expect(model, [text], max_new_tokens=4)
    # Only the tokens after the first other one are computed again.
    other = [*text[:6], text[6] % (WORDS - 1) + 1, *text[7:9]]
    calls.clear()
    made = generate(program, other, cache=cache, max_new_tokens=1).tokens
    assert calls == [(1, 3)] and [made] == expect(model, [other], max_new_tokens=1)
    calls.clear()
    assert generate(program, other, cache=cache, max_new_tokens=1).tokens == made
    assert calls == [(1, 1)]


def test_a_cache_continues_a_batch(llama, calls):
    model, program = llama
    cache, texts = Cache(program), [tokens(5), tokens(2)]
    made = generate(program, texts, cache=cache, max_new_tokens=6)
    longer = [text + one.tokens + tokens(2) for text, one in zip(texts, made, strict=True)]
    calls.clear()
    got = generate(program, longer, cache=cache, max_new_tokens=3)
    assert calls[0] == (2, 3) and [one.tokens for one in got] == expect(model, longer, max_new_tokens=3)
    # Texts that grew by different numbers of tokens are padded again, because padding may be on the left only.
    uneven = [longer[0] + tokens(4), longer[1]]
    calls.clear()
    got = generate(program, uneven, cache=cache, max_new_tokens=3)
    assert calls[:3] == [(2, 6), (2, 6), (2, 2)]
    assert [one.tokens for one in got] == expect(model, uneven, max_new_tokens=3)


def test_a_failing_device_changes_no_token(llama, monkeypatch):
    model, program = llama
    run, number = inlay_runtime.Session.call_raw, 0

    def fail_at_times(session, *given):
        nonlocal number
        number += 1
        result = run(session, *given)
        if number in (2, 9):
            for info in program.states:
                session.write(info.name, session.read(info.name) * math.nan)
            raise inlay_runtime.Error("lost", "device lost")
        return result

    monkeypatch.setattr(inlay_runtime.Session, "call_raw", fail_at_times)
    made = generate(program, [tokens(9), tokens(4)], max_new_tokens=12)
    assert [one.tokens for one in made] == expect(model, [tokens(9), tokens(4)], max_new_tokens=12)
    assert number > 12


def test_a_cache_is_computed_again_after_an_error(llama, monkeypatch):
    model, program = llama
    cache = Cache(program)
    generate(program, tokens(5), cache=cache, max_new_tokens=6)

    def fail(*_):
        raise inlay_runtime.Error("bug", "internal")

    with monkeypatch.context() as patch:
        patch.setattr(inlay_runtime.Session, "call_raw", fail)
        with pytest.raises(inlay_runtime.Error, match="bug"):
            generate(program, tokens(5), cache=cache, max_new_tokens=6)
    made = generate(program, tokens(5), cache=cache, max_new_tokens=6).tokens
    assert [made] == expect(model, [tokens(5)], max_new_tokens=6)


def test_half_precision_needs_no_other_package(tmp_path, monkeypatch):
    model = build("llama").bfloat16()
    compile_and_save(model, tmp_path / "m.inlay", max_batch=1)
    program = inlay_runtime.load(tmp_path / "m.inlay")
    assert program.outputs[0].dtype == "bfloat16"
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    logits = model(torch.tensor([tokens(4)])).logits[0, -1].float()
    best = logits.topk(2).values
    made = generate(program, tokens(4), max_new_tokens=1).tokens
    assert best[0] - logits[made[0]] < 0.1 * logits.abs().max()


def test_settings_are_those_of_the_generation_config(saved, tmp_path):
    _, compiled, _ = saved
    sampling = {"do_sample": True, "temperature": 0.6, "top_p": 0.9, "repetition_penalty": 1.1}
    more = {"eos_token_id": [7, 9], "pad_token_id": WORDS + 5, "max_new_tokens": 3}
    save_with_config(compiled, tmp_path / "m.inlay", **sampling, **more)
    settings = inlay_runtime.load(tmp_path / "m.inlay").generation
    assert (settings.vocabulary_size, settings.max_length, settings.max_batch, settings.max_tokens) == (100, 48, 4, 6)
    assert (settings.eos_token_ids, settings.bos_token_id, settings.pad_token_id) == ((7, 9), 1, None)
    assert settings.max_new_tokens == 3
    assert settings.sampling == inlay_runtime.Sampling(top_k=50, **sampling)
    assert len(generate(inlay_runtime.load(tmp_path / "m.inlay"), tokens(3), ignore_eos=True).tokens) == 3
    # A program that was loaded keeps its settings, and has sessions.
    loaded = inlay.load(tmp_path / "m.inlay")
    loaded.save(tmp_path / "again.inlay")
    assert inlay_runtime.load(tmp_path / "again.inlay").generation == settings
    one = torch.ones(1, 1, dtype=torch.int64)
    given = (one, one, torch.ones(1, 0, dtype=torch.int64), one * 0)
    torch.testing.assert_close(loaded.new_session()(*given), compiled.program.new_session()(*given))


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"no_repeat_ngram_size": 3}, inlay.UnsupportedError, "generation_config.no_repeat_ngram_size is 3, which"),
        ({"min_p": 0.1}, inlay.UnsupportedError, "generation_config.min_p is 0.1"),
        ({"encoder_repetition_penalty": 4.0}, inlay.UnsupportedError, "encoder_repetition_penalty is 4.0"),
        ({"max_length": 12, "max_new_tokens": None}, inlay.UnsupportedError, "max_length is 12, .*set max_new_tokens"),
        ({"num_beams": 2}, inlay.UnsupportedError, "generation_config.num_beams is 2"),
        ({"suppress_tokens": [3]}, inlay.UnsupportedError, r"generation_config.suppress_tokens is \[3\]"),
        ({"eos_token_id": 100}, inlay.ArgumentValueError, "eos_token_id: expected tokens from 0 to 99, but got 100"),
        ({"temperature": -1.0}, inlay.ArgumentValueError, "temperature: expected a number above 0, but got -1.0"),
    ],
    ids=str,
)
def test_settings_that_can_not_be_saved(saved, tmp_path, options, error, match):
    _, compiled, _ = saved
    with pytest.raises(error, match=match):
        save_with_config(compiled, tmp_path / "m.inlay", **options)
    assert not (tmp_path / "m.inlay").exists()


@pytest.mark.parametrize(
    ("prompt", "options", "error", "match"),
    [
        ([], {}, inlay_runtime.Error, "prompt: expected at least 1 token, but got none: a text begins with token 1"),
        ([[1], []], {}, inlay_runtime.Error, "prompt 1: expected at least 1 token, but got none"),
        ([1] * 48, {}, inlay_runtime.Error, "prompt: expected at most 47 tokens, but got 48: .* max_length = 48"),
        ([1] * 40, {"max_new_tokens": 9}, inlay_runtime.Error, "expected at most 48 tokens in all, but got 40 .* = 9"),
        ([1, WORDS], {}, inlay_runtime.Error, "prompt: expected tokens from 0 to 99, but got 100"),
        ([[1], [-1]], {}, inlay_runtime.Error, "prompt 1: expected tokens from 0 to 99, but got -1"),
        ([1.5], {}, TypeError, "prompt: expected tokens, which are ints, but got 1.5"),
        ([True], {}, TypeError, "prompt: expected tokens, which are ints, but got True"),
        (b"12", {}, TypeError, "prompt: expected text, tokens or a list of these, but got bytes"),
        ([[1], 2], {}, TypeError, "prompt 1: expected text or tokens, but got 2"),
        (3, {}, TypeError, "prompt: expected text, tokens or a list of these, but got int"),
        ([[1]] * 5, {}, inlay_runtime.Error, "expected at most 4 prompts, but got 5: .*larger max_batch"),
        ("w1", {}, inlay_runtime.Error, "prompt: expected tokens, but got text: pass a tokenizer"),
        ([1], {"max_new_tokens": 0}, ValueError, "max_new_tokens: expected at least 1, but got 0"),
        ([1], {"max_new_tokens": 2.0}, TypeError, "max_new_tokens: expected int, but got 2.0"),
        ([1], {"max_length": 9}, TypeError, "unknown option 'max_length': expected max_new_tokens, "),
        ([1], {"temperature": 0.5}, ValueError, "temperature has an effect only if tokens are drawn: pass do_sample"),
        ([1], {"seed": 3}, ValueError, "seed has an effect only if tokens are drawn"),
        ([1], {"do_sample": True, "seed": -1}, ValueError, "seed: expected a number from 0 to"),
        ([1], {"do_sample": True, "top_p": 2}, ValueError, "top_p: expected a number from 0 to 1, but got 2"),
        ([1], {"stop": "x"}, ValueError, "stop: expected tokens, but got the string 'x': pass a tokenizer"),
        ([1], {"stop": [[]]}, ValueError, "stop: expected stop sequences that are not empty"),
        ([1], {"stop": [[WORDS]]}, inlay_runtime.Error, "stop: expected tokens from 0 to 99, but got 100"),
        ([1], {"stop": [1]}, TypeError, "stop: expected strings and lists of tokens, but got 1"),
        ([1], {"stop": 1}, TypeError, "stop: expected a string or a list of stop sequences, but got int"),
        ([1], {"ignore_eos": 1}, TypeError, "ignore_eos: expected bool, but got 1"),
        ([1], {"tokenizer": 3}, TypeError, "tokenizer: expected a path or an object with encode and decode"),
        ([1], {"tokenizer": "no.json"}, inlay_runtime.Error, "tokenizer: can't read 'no.json': "),
        ([1], {"cache": 3}, TypeError, "cache: expected Cache, but got 3"),
    ],
    ids=str,
)
def test_wrong_arguments(llama, prompt, options, error, match):
    with pytest.raises(error, match=match):
        stream(llama[1], prompt, **options)


def test_wrong_programs(llama, saved, tmp_path):
    with pytest.raises(TypeError, match=r"program: expected Program, but got 'm\.inlay'"):
        generate("m.inlay", [1])
    inlay.compile(torch.nn.ReLU(), (torch.zeros(2),), targets=("host",)).save(tmp_path / "relu.inlay")
    with pytest.raises(inlay_runtime.Error, match="the file has no generation settings: save a model of"):
        generate(inlay_runtime.load(tmp_path / "relu.inlay"), [1])
    saved[1].program.save(tmp_path / "plain.inlay")
    with pytest.raises(inlay_runtime.Error, match="the file has no generation settings"):
        Cache(inlay_runtime.load(tmp_path / "plain.inlay"))


def test_wrong_uses_of_caches(llama, saved):
    _, program = llama
    with pytest.raises(inlay_runtime.Error, match="expected a cache of this program, but got one of another program"):
        generate(program, [1], cache=Cache(inlay_runtime.load(saved[2])))
    cache = Cache(program)
    generate(program, [[1], [2]], cache=cache, max_new_tokens=2)
    with pytest.raises(inlay_runtime.Error, match="expected 2 prompts, as the cache has texts, but got 1"):
        generate(program, [1], cache=cache, max_new_tokens=2)
    cache.reset()
    assert len(generate(program, [1], cache=cache, max_new_tokens=2).tokens) == 2
    first, second = (stream(program, [1], cache=cache) for _ in range(2))
    next(first), next(second)
    with pytest.raises(inlay_runtime.Error, match="another call has used or reset the cache since"):
        next(first)
    next(second)
    cache.reset()
    with pytest.raises(inlay_runtime.Error, match="another call has used or reset the cache since"):
        next(second)
    third = stream(program, [1], cache=cache)
    next(third)
    cache.close()
    for use in (lambda: next(third), lambda: generate(program, [1], cache=cache), cache.reset):
        with pytest.raises(inlay_runtime.Error, match="the cache is closed: make another one"):
            use()
    cache.close()


def test_tokenizers_of_other_models(llama, tokenizer):
    _, program = llama
    large = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(WORDS + 1)}, unk_token="w0"))
    with pytest.raises(inlay_runtime.Error, match="expected at most the 100 tokens of the model, but got 101"):
        generate(program, [1], tokenizer=large)
    (new,) = generate(program, [1], max_new_tokens=1).tokens
    small = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(new)}, unk_token="w0"))
    with pytest.raises(inlay_runtime.Error, match=f"the model generated token {new}, which the tokenizer doesn't have"):
        generate(program, [1], tokenizer=small)
    added = tokenizers.Tokenizer.from_file(str(tokenizer))
    added.add_special_tokens(["<image>"])  # some models have such a token out of their vocabulary
    with pytest.raises(inlay_runtime.Error, match="prompt: expected tokens from 0 to 99, but got 100"):
        generate(program, "w1 <image>", tokenizer=added)


MALFORMED = [
    ({"version": 2}, "expected version 1, but got 2"),
    ({"vocabulary_size": 0}, "vocabulary_size: expected a number from 1 to 2147483647, but got 0"),
    ({"vocabulary_size": 200}, "expected logits of 200 tokens, but the program has float32"),
    ({"max_length": -1}, "max_length: expected a number from 1"),
    ({"max_batch": True}, "max_batch: expected a number from 1 to 2147483647, but got True"),
    ({"max_tokens": 1.5}, "max_tokens: expected a number"),
    ({"max_new_tokens": 2**31}, "max_new_tokens: expected a number"),
    ({"eos_token_ids": [100]}, "eos_token_ids: expected a number from 0 to 99, but got 100"),
    ({"eos_token_ids": [0] * 1025}, "eos_token_ids: expected a list of at most 1024 tokens"),
    ({"eos_token_ids": 3}, "eos_token_ids: expected a list"),
    ({"bos_token_id": -1}, "bos_token_id: expected a number from 0 to 99, but got -1"),
    ({"pad_token_id": "0"}, "pad_token_id: expected a number from 0 to 99, but got '0'"),
    ({"sampling": {}}, "sampling: expected do_sample, temperature"),
    ({"sampling": 3}, "expected an object, but got 3"),
    ({"more": 3}, "unknown key 'more'"),
]


@pytest.mark.parametrize(("change", "match"), MALFORMED, ids=str)
def test_malformed_settings_are_refused(llama, saved, tmp_path, change, match):
    settings = json.loads(llama[1].metadata)["generation"]
    saved[1].program.save_with({"generation": settings | change}, tmp_path / "m.inlay")
    with pytest.raises(inlay_runtime.Error, match=f"malformed generation settings: {match}"):
        generate(inlay_runtime.load(tmp_path / "m.inlay"), [1])


def test_missing_settings_and_wrong_values_are_refused(llama, saved, tmp_path):
    settings = json.loads(llama[1].metadata)["generation"]
    path = tmp_path / "m.inlay"
    for key in settings:
        saved[1].program.save_with({"generation": {k: v for k, v in settings.items() if k != key}}, path)
        with pytest.raises(inlay_runtime.Error, match=f"malformed generation settings: .*({key}|version)"):
            _ = inlay_runtime.load(path).generation
    for name, value in {"temperature": 0, "top_p": 2, "top_k": -1, "do_sample": 1, "repetition_penalty": "x"}.items():
        sampling = settings["sampling"] | {name: value}
        saved[1].program.save_with({"generation": settings | {"sampling": sampling}}, path)
        with pytest.raises(inlay_runtime.Error, match=f"malformed generation settings: {name}: expected"):
            _ = inlay_runtime.load(path).generation
    for value in (3, [], None, "x"):
        saved[1].program.save_with({"generation": value}, path)
        with pytest.raises(inlay_runtime.Error, match="malformed generation settings: expected an object"):
            _ = inlay_runtime.load(path).generation
    inlay.compile(torch.nn.ReLU(), (torch.zeros(2),), targets=("host",)).save_with({"generation": settings}, path)
    with pytest.raises(inlay_runtime.Error, match=r"a program with inputs input_ids, .* but got .*float32"):
        _ = inlay_runtime.load(path).generation


def test_the_command(llama, saved, tokenizer):
    model, _ = llama
    (want,) = expect(model, [tokens(5)], max_new_tokens=8)

    def run(*options):
        command = [sys.executable, "-m", "inlay_runtime", "generate", saved[2], "--max-new-tokens=8", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    ids = ",".join(map(str, tokens(5)))
    done = run("--prompt-ids", ids)
    assert (done.stdout, done.stderr) == (",".join(map(str, want)) + "\n", "")
    done = run("--prompt", " ".join(f"w{token}" for token in tokens(5)), "--tokenizer", tokenizer)
    assert done.stdout == "".join(f" w{token}" for token in want if token != 2) + "\n"
    seeded = ["--prompt-ids", ids, "--do-sample", "--temperature=3", "--seed=5", "--top-k=90", "--top-p=0.99"]
    assert run(*seeded).stdout == run(*seeded).stdout != done.stdout
    for options, error in [
        (["--prompt-ids=1,100"], "error: prompt: expected tokens from 0 to 99, but got 100\n"),
        (
            ["--prompt-ids=1", "--do-sample", "--temperature=0"],
            "error: temperature: expected a number above 0, but got 0.0\n",
        ),
        (["--prompt=w1"], "error: prompt: expected tokens, but got text: pass a tokenizer\n"),
    ]:
        done = run(*options)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", error)
    for options, error in [
        ([], "one of the arguments --prompt --prompt-ids is required"),
        (["--prompt-ids=1,x"], "argument --prompt-ids: expected tokens, such as 1,2,3, but got '1,x'"),
    ]:
        done = run(*options)
        assert done.returncode == 2 and error in done.stderr


def test_nothing_of_a_framework_is_loaded(saved):
    script = f"""
import sys, inlay_runtime
program = inlay_runtime.load({str(saved[2])!r})
print(inlay_runtime.generate(program, [1, 2, 3], max_new_tokens=3).tokens)
assert not {{"torch", "inlay", "transformers", "tokenizers", "ml_dtypes"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
