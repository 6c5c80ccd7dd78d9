# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates text with the language models of the library transformers in tiny sizes.

python generation.py --targets host,torch      all models; prints a table of totals and all problems
python generation.py -k '^gemma' --verbose     some models

Each model is compiled once by `inlay.generation.compile` and has to generate the tokens of the model in PyTorch: 64
tokens for prompts of 1 to 100 tokens, and for a batch of 4 prompts with padding. The prompts of an encoder-decoder are
for its encoder. The run fails if a model fails that `generation_known.txt` does not list, or if a listed one passes.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import inlay
import inlay.generation
import torch
from known import problem, read_known
from workers import Outcome, Verdict, run_all
from zoo import table
from zoo_models.language import FIELDS, list_transformers
from zoo_models.model import SEED
from zoo_models.shrink import shrink

_KNOWN = pathlib.Path(__file__).with_name("generation_known.txt")
_LENGTH, _NEW, _WORDS = 168, 64, 100
_PROMPTS = ((1, 1), (1, 7), (1, 100), (4, 12))  # (sequences, tokens)
_POSITIONS = (
    "max_position_embeddings",
    "max_encoder_position_embeddings",
    "max_decoder_position_embeddings",
    "max_target_positions",
    "n_positions",
    "n_ctx",
)
_OPTIONS: dict[str, Any] = {"max_new_tokens": _NEW, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}


_MAMBA2 = {
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "mamba_d_state": 8,
    "mamba_n_groups": 1,
    "mamba_chunk_size": 8,
}
# The fields of configs with recurrent layers that are not in the zoo.
_RECURRENT: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1], "num_key_value_heads": 2, **_MAMBA2},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"], "shared_intermediate_size": 64, **_MAMBA2},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8, "use_mamba_kernels": False},
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 2, "state_size": 8, "chunk_size": 8},
    "zamba": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "num_key_value_heads": 4,
        "mamba_d_state": 8,
        "use_mamba_kernels": False,
    },
}
# The inputs of encoders that do not read tokens, by name.
_ENCODER_INPUTS: dict[str, tuple[str, tuple[int, ...]]] = {"whisper": ("input_features", (16, 32))}


def _classes() -> dict[str, str]:
    """Returns the classes of language models by the names of their configs."""
    from transformers.models.auto import modeling_auto

    return {
        **modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        **modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        "whisper": "WhisperForConditionalGeneration",
    }


def list_models() -> list[str]:
    """Returns the names of the architectures that generate text."""
    names = [model.name.partition("/")[2] for model in list_transformers()]
    return sorted({*(name for name in names if name in _classes()), *_RECURRENT})


def _make_config(name: str) -> Any:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = shrink(CONFIG_MAPPING[name], {**FIELDS.get(name, {}), **_RECURRENT.get(name, {})})
    if not config.is_encoder_decoder:
        config.is_decoder = True  # of BERT and its kin
    for field in _POSITIONS:
        if field in vars(config):
            setattr(config, field, _LENGTH)
    for field in ("suppress_tokens", "begin_suppress_tokens", "forced_eos_token_id"):
        if field in vars(config):
            setattr(config, field, None)
    return config


def make_model(name: str) -> Any:
    """Returns a model whose logits differ so much that rounding does not choose the tokens."""
    import transformers

    torch.manual_seed(SEED)
    config = _make_config(name)
    if config.is_encoder_decoder and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = 1
    model = getattr(transformers, _classes()[name])(config).eval()
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            if parameter.dim() > 1 and not parameter_name.endswith("A_log"):
                parameter.normal_(std=0.25)
    return model


def _make_prompt(name: str, sequences: int, length: int) -> dict[str, torch.Tensor]:
    """Returns the arguments of `generate`."""
    random = torch.Generator().manual_seed(length)
    if name in _ENCODER_INPUTS:
        key, dims = _ENCODER_INPUTS[name]
        return {key: torch.randn(sequences, *dims, generator=random)}
    ids = torch.randint(1, _WORDS, (sequences, length), generator=random)
    mask = torch.ones_like(ids)
    mask[1:2, :5], mask[3:, :1] = 0, 0
    return {"input_ids": ids, "attention_mask": mask}


def run_model(name: str, targets: Sequence[str]) -> Outcome:
    """Compares the tokens that a model and its compiled form generate."""
    model, inputs = make_model(name), {}
    if name in _ENCODER_INPUTS:
        key, dims = _ENCODER_INPUTS[name]
        inputs["encoder_inputs"] = {key: torch.zeros(1, *dims)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = inlay.generation.compile(model, max_length=_LENGTH, max_batch=4, targets=targets, **inputs)
    except inlay.UnsupportedError as error:
        return Outcome(Verdict.REFUSED, str(error))
    except inlay.Error as error:
        return Outcome(Verdict.FAILED, str(error))
    programs = [compiled.program]
    programs += [getattr(compiled, one) for one in ("encoder_program", "cross_program") if hasattr(compiled, one)]
    ops: dict[str, int] = {}
    for segment in [segment for program in programs for segment in program.report["segments"]]:
        ops[segment["target"]] = ops.get(segment["target"], 0) + len(segment["ops"])
    counted = tuple(ops.items())
    for sequences, length in _PROMPTS:
        prompt = _make_prompt(name, sequences, length)
        want, got = (one.generate(**prompt, **_OPTIONS) for one in (model, compiled))
        if not torch.equal(want, got):
            place = (want != got).nonzero()[0].tolist()
            reason = f"{sequences} prompts of {length} tokens differ from {place} on"
            return Outcome(Verdict.WRONG, reason, counted, len(programs))
    return Outcome(Verdict.PASSED, ops=counted, graphs=len(programs))


def _runner(targets: Sequence[str]) -> Callable[[str], Outcome]:
    import transformers

    transformers.logging.set_verbosity_error()
    return lambda name: run_model(name, targets)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Generates text with the models of transformers in tiny sizes.")
    parser.add_argument("--targets", default="host,torch", help="names, separated by commas")
    parser.add_argument("-k", dest="pattern", default="", help="a regular expression that selects models")
    parser.add_argument("--verbose", action="store_true", help="print all models")
    parser.add_argument("--seconds", type=float, default=600.0, help="the time limit of a model")
    options = parser.parse_args(arguments)
    targets = tuple(options.targets.split(","))
    names = [name for name in list_models() if re.search(options.pattern, name)]
    known, outcomes, problems = read_known(_KNOWN), {}, {}
    for name, outcome in run_all(names, functools.partial(_runner, targets), options.seconds):
        outcomes[f"transformers/{name} generate"], problems[name] = outcome, problem(name, outcome, known)
        text = problems[name]
        if options.verbose and not text:
            text = f"{name} {outcome.verdict.value}: {dict(outcome.ops)} {outcome.reason}"
        if text:
            print(text, flush=True)
    print(f"{'+'.join(targets)}\n{table(outcomes)}")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
