# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the text that compiled encoder-decoders generate with that of the same models in PyTorch."""

import inspect

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
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 3,
}
MODELS = {
    "t5": lambda: transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=100, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0
        )
    ),
    "bart": lambda: transformers.BartForConditionalGeneration(
        transformers.BartConfig(**SIZES, max_position_embeddings=48, forced_eos_token_id=None)
    ),
    "whisper": lambda: transformers.WhisperForConditionalGeneration(
        transformers.WhisperConfig(
            **SIZES,
            num_mel_bins=8,
            max_source_positions=20,
            max_target_positions=48,
            suppress_tokens=None,
            begin_suppress_tokens=None,
        )
    ),
}
SOUND = {"input_features": torch.zeros(1, 8, 40)}
GREEDY = {"do_sample": False, "pad_token_id": 0, "eos_token_id": None}
UNSUPPORTED = inlay.UnsupportedError


def build(name):
    """Returns a model whose logits differ so much that rounding doesn't choose the tokens."""
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.4)
    model.generation_config.eos_token_id = None
    return model


def tokens(*shape):
    return torch.randint(3, 100, shape, generator=torch.Generator().manual_seed(shape[-1]))


def padded():
    """Returns tokens of 4 sequences and their mask."""
    ids, mask = tokens(4, 9), torch.ones(4, 9, dtype=torch.int64)
    mask[1, 5:], mask[3, 8:] = 0, 0
    return {"input_ids": ids.masked_fill(mask == 0, 0), "attention_mask": mask}


def check(model, compiled, **options):
    """Compares the tokens of both models, which start from the same seed."""
    made = []
    for one in (model, compiled):
        torch.manual_seed(1)
        made.append(one.generate(**{**GREEDY, **options}))
    assert torch.equal(made[1], made[0])
    return made[0]


@pytest.fixture(scope="module")
def t5():
    model, before = build("t5"), compilation_count()
    compiled = inlay.generation.compile(model, max_length=32, max_source_length=24, max_batch=4, targets=TARGETS)
    assert compilation_count() == before + 3
    return model, compiled


@pytest.fixture(scope="module")
def bart():
    model = build("bart")
    return model, inlay.generation.compile(model, max_length=32, max_batch=4, targets=TARGETS)


@pytest.fixture(scope="module")
def whisper():
    model = build("whisper")
    return model, inlay.generation.compile(model, max_length=40, max_batch=2, encoder_inputs=SOUND, targets=TARGETS)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_greedy_tokens(name, request):
    model, compiled = request.getfixturevalue(name)
    before = compilation_count()
    assert isinstance(compiled, type(model))
    for length in (1, 7, 24):
        check(model, compiled, input_ids=tokens(1, length), max_new_tokens=31)
    check(model, compiled, **padded(), max_new_tokens=31)
    assert compilation_count() == before
    for program in (compiled.encoder_program, compiled.cross_program, compiled.program):
        assert [segment["target"] for segment in program.report["segments"]] == ["host"]


@pytest.mark.parametrize(
    "options",
    [
        {"do_sample": True, "top_k": 20},
        {"do_sample": True, "num_return_sequences": 3},
        {"num_beams": 4},
        {"decoder_input_ids": tokens(1, 5)},
        {"use_cache": False},
        {"prefill_chunk_size": 2, "decoder_input_ids": tokens(1, 5)},
    ],
    ids=str,
)
def test_decoding_of_transformers(bart, options):
    check(*bart, input_ids=tokens(1, 7), max_new_tokens=12, **options)


def test_beams_of_sequences_with_padding(t5):
    ids, mask = (one[:2] for one in padded().values())
    check(*t5, input_ids=ids, attention_mask=mask, num_beams=2, max_new_tokens=12)


def test_encoder_runs_once_per_generation(t5, monkeypatch):
    calls = []
    for name in ("encoder_program", "cross_program"):
        program = getattr(t5[1], name)
        run = program._call
        monkeypatch.setattr(program, "_call", lambda *args, run=run, name=name: calls.append(name) or run(*args))
    t5[1].generate(input_ids=tokens(1, 4), max_new_tokens=5, **GREEDY)
    assert calls == ["encoder_program", "cross_program"]


def test_logits_of_a_call(bart):
    model, compiled = bart
    inputs = {**padded(), "decoder_input_ids": tokens(4, 3)}
    want, got = (one(**inputs) for one in (model, compiled))
    torch.testing.assert_close(got.logits, want.logits[:, -1:].detach(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(got.encoder_last_hidden_state, want.encoder_last_hidden_state.detach())
    with torch.no_grad():
        outputs = model.get_encoder()(tokens(4, 6))
    inputs = {"encoder_outputs": outputs, "decoder_input_ids": tokens(4, 3)}
    want, got = (one(**inputs).logits for one in (model, compiled))
    torch.testing.assert_close(got, want[:, -1:].detach(), rtol=1e-4, atol=1e-4)


def test_assisted_decoding(bart):
    model, options = bart[0], {**padded(), "max_new_tokens": 16, "prompt_lookup_num_tokens": 2}
    options = {name: value[:1] if isinstance(value, torch.Tensor) else value for name, value in options.items()}
    with pytest.raises(UNSUPPORTED, match="compile with all_logits=True"):
        bart[1].generate(**GREEDY, **options)
    compiled = inlay.generation.compile(model, max_length=32, max_batch=4, all_logits=True, targets=TARGETS)
    check(model, compiled, **options)
    inputs = {**padded(), "decoder_input_ids": tokens(4, 3)}
    torch.testing.assert_close(compiled(**inputs).logits, model(**inputs).logits.detach(), rtol=1e-4, atol=1e-4)


def test_a_cache_keeps_the_source_with_which_it_began(bart):
    outputs = [bart[0].get_encoder()(tokens(2, count)).last_hidden_state.detach() for count in (6, 7)]
    cache, step = bart[1].new_cache(), {"decoder_input_ids": tokens(2, 1)}
    bart[1](encoder_outputs=(outputs[0],), cache=cache, **step)
    bart[1](encoder_outputs=(outputs[0].clone(),), cache=cache, **step)
    with pytest.raises(ValueError, match="encoder_outputs: expected the result with which the cache began"):
        bart[1](encoder_outputs=(outputs[1],), cache=cache, **step)


def test_masks_may_be_floats(bart):
    inputs = {**padded(), "decoder_input_ids": tokens(4, 1)}
    want = bart[1](**inputs).logits
    inputs["attention_mask"] = inputs["attention_mask"] * 0.5
    assert torch.equal(bart[1](**inputs).logits, want)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"max_source_length": "12"}, TypeError, "max_source_length: expected an int, but got str"),
        ({"max_source_length": 2}, ValueError, "max_source_length: expected at least 3, but got 2"),
        ({"encoder_inputs": [1]}, TypeError, "encoder_inputs: expected tensors by the names .*, but got list"),
        ({"max_source_length": 7, "encoder_inputs": SOUND}, ValueError, "max_source_length: expected none"),
    ],
    ids=str,
)
def test_wrong_options(bart, options, error, match):
    with pytest.raises(error, match=match):
        inlay.generation.compile(bart[0], max_length=32, targets=TARGETS, **options)


def test_a_failing_device_changes_no_token(bart, monkeypatch):
    """The states are undefined after a failure, so the cache is computed again, with the cross-attention."""
    run, calls = Session.__call__, []

    def fail_at_times(session, *args):
        result = run(session, *args)
        calls.append(args)
        if len(calls) in (1, 6):
            session.load_state_dict({name: state * torch.nan for name, state in session.state_dict().items()})
            raise inlay.DeviceError("lost")
        return result

    monkeypatch.setattr(Session, "__call__", fail_at_times)
    ids, mask = (one[:2] for one in padded().values())
    check(*bart, input_ids=ids, attention_mask=mask, num_beams=2, max_new_tokens=8)
    assert len(calls) > 8


def test_greedy_tokens_on_vulkan():
    model = build("bart")
    compiled = inlay.generation.compile(model, max_length=16, targets=("vulkan", "host", "torch"))
    for program in (compiled.encoder_program, compiled.cross_program, compiled.program):
        assert [segment["target"] for segment in program.report["segments"]] == ["vulkan"]
    check(model, compiled, input_ids=tokens(1, 6), max_new_tokens=12)


def test_whisper(whisper):
    sound = torch.randn(2, 8, 40, generator=torch.Generator().manual_seed(0))
    for options in ({}, {"num_beams": 2}):
        check(*whisper, input_features=sound[: 1 if options else 2], max_new_tokens=16, **options)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"input_ids": tokens(1, 25)}, ValueError, "input_ids: expected 1 to 24 tokens, but got 25; .* max_source"),
        ({"input_ids": tokens(1, 0)}, ValueError, "input_ids: expected 1 to 24 tokens, but got 0"),
        ({"input_ids": tokens(5, 2)}, ValueError, "input_ids: expected at most 4 sequences, but got 5"),
        ({"input_ids": tokens(3)}, TypeError, r"input_ids: expected a tensor int64\[batch, tokens\]"),
        ({"input_ids": None}, TypeError, "input_ids: expected a tensor, but got NoneType"),
        ({"input_ids": torch.tensor([[100]])}, ValueError, "input_ids: expected tokens from 0 to 99, but got 100"),
        ({"attention_mask": torch.ones(1, 3)}, ValueError, r"attention_mask: expected dims \[1, 2\], but got \[1, 3\]"),
        ({"decoder_input_ids": tokens(1, 33)}, ValueError, "decoder_input_ids: expected 1 to 32 tokens, but got 33"),
        ({"decoder_input_ids": tokens(2, 1)}, ValueError, r"encoder_outputs: expected a result with dims \[2, places"),
        ({"decoder_input_ids": None}, TypeError, "decoder_input_ids: expected a tensor"),
        ({"decoder_input_ids": torch.tensor([[-1]])}, ValueError, "decoder_input_ids: expected tokens from 0 to 99"),
        ({"decoder_attention_mask": torch.ones(1, 3)}, ValueError, r"decoder_attention_mask: expected dims \[1, 1\]"),
        ({"encoder_outputs": (torch.ones(1, 25, 16),)}, ValueError, "encoder_outputs: expected 1 to 24 tokens"),
        (
            {"encoder_outputs": (torch.ones(1, 3, 16, requires_grad=True),)},
            ValueError,
            "encoder_outputs: requires grad, but a compiled model records nothing for autograd",
        ),
        ({"encoder_outputs": (None,)}, ValueError, "encoder_outputs: expected a result with dims .* NoneType"),
        ({"output_attentions": True}, UNSUPPORTED, "no argument 'output_attentions'"),
        ({"inputs_embeds": torch.ones(1, 2, 16)}, UNSUPPORTED, "no argument 'inputs_embeds'"),
        ({"labels": tokens(1, 2)}, UNSUPPORTED, "no argument 'labels'"),
        ({"cache": transformers.DynamicCache()}, TypeError, r"cache: expected a cache from new_cache\(\)"),
    ],
    ids=str,
)
def test_wrong_arguments(t5, arguments, error, match):
    with pytest.raises(error, match=match):
        t5[1](**{"input_ids": tokens(1, 2), "decoder_input_ids": tokens(1, 1), **arguments})


def test_wrong_arguments_of_whisper(whisper):
    model = whisper[1]
    with pytest.raises(inlay.ArgumentValueError, match="input_features"):
        model(input_features=torch.zeros(1, 8, 38), decoder_input_ids=tokens(1, 1))
    sound = SOUND["input_features"]
    with pytest.raises(UNSUPPORTED, match="attention_mask: the model was compiled without it"):
        model(input_features=sound, attention_mask=torch.ones(1, 40), decoder_input_ids=tokens(1, 1))
    with pytest.raises(inlay.ArgumentValueError, match=r"decoder_position_ids: expected dims \[1, 1\]"):
        model(input_features=sound, decoder_input_ids=tokens(1, 1), decoder_position_ids=tokens(1, 2) % 40)
    with pytest.raises(inlay.ArgumentValueError, match="decoder_position_ids: expected positions from 0 to 39"):
        model(input_features=sound, decoder_input_ids=tokens(1, 1), decoder_position_ids=torch.tensor([[40]]))


def test_saving_is_refused(t5, tmp_path):
    with pytest.raises(UNSUPPORTED, match="a model with an encoder can't be saved yet"):
        t5[1].save(tmp_path / "t5.inlay")


def test_text_that_does_not_fit_is_refused_before_it_is_generated(t5):
    for options in ({"max_new_tokens": 32}, {"max_length": 33}):
        with pytest.raises(inlay.ArgumentValueError, match="expected at most 32 tokens in all, but got 33"):
            t5[1].generate(input_ids=tokens(1, 4), **GREEDY, **options)


def use_the_source_twice(model):
    """Adds the mean of the encoder's result to the logits of each step."""
    run = model.forward

    def forward(**arguments):
        made = run(**arguments)
        made.logits = made.logits + arguments["encoder_outputs"][0].mean()
        return made

    forward.__signature__ = inspect.signature(run)
    model.forward = forward
    return model


@pytest.mark.parametrize(
    ("make", "options", "error", "match"),
    [
        (lambda: build("bart"), {"max_length": 49}, ValueError, "max_position_embeddings of the model's config, 48"),
        (
            lambda: build("bart"),
            {"max_source_length": 51},
            ValueError,
            "the encoder of BartForCond.* fails for input_ids",
        ),
        (lambda: build("bart"), {"max_source_length": 2}, ValueError, "max_source_length: expected at least 3"),
        (lambda: build("bart"), {"encoder_inputs": SOUND}, ValueError, "encoder_inputs: .* reads tokens"),
        (lambda: build("whisper"), {}, UNSUPPORTED, "reads input_features and not tokens: pass an example"),
        (lambda: build("whisper"), {"encoder_inputs": {"sound": 1}}, ValueError, "expected 'input_features'"),
        (
            lambda: build("whisper"),
            {"encoder_inputs": {"input_features": torch.zeros(2, 8, 40)}},
            ValueError,
            "expected one sequence, but 'input_features' has dims",
        ),
        (
            lambda: build("whisper"),
            {"encoder_inputs": {"input_features": torch.zeros(1, 8, 44)}},
            ValueError,
            "the encoder of WhisperForConditionalGeneration fails for input_features",
        ),
        (lambda: build("whisper"), {"encoder_inputs": SOUND, "max_length": 49}, ValueError, "fails for 49 tokens"),
        (lambda: use_the_source_twice(build("t5")), {}, UNSUPPORTED, "uses only keys and values of the encoder"),
    ],
    ids=["long", "source", "short", "inputs", "sound", "name", "batch", "dims", "positions", "structure"],
)
def test_models_that_are_refused(make, options, error, match):
    with pytest.raises(error, match=match):
        inlay.generation.compile(make(), **{"max_length": 16, "targets": TARGETS, **options})


def test_options_of_encoders_are_refused_without_an_encoder():
    config = transformers.LlamaConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
    model = transformers.LlamaForCausalLM(config).eval()
    with pytest.raises(inlay.ArgumentValueError, match="are for models with an encoder"):
        inlay.generation.compile(model, max_length=16, max_source_length=16, targets=TARGETS)
