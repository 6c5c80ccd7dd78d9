# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates text with the decoders of the library transformers in tiny sizes.

python generation.py --targets host,torch      all decoders; prints a table of totals and all problems
python generation.py -k '^gemma' --verbose     some decoders

Each decoder is compiled once by `inlay.generation.compile` and has to generate the tokens of the model in PyTorch: 64
tokens for prompts of 1 to 100 tokens, and for a batch of 4 prompts with padding. The run fails if a decoder fails that
`generation_known.txt` does not list, or if a listed one passes.
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
_POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx")
_OPTIONS: dict[str, Any] = {"max_new_tokens": _NEW, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}


def list_decoders() -> list[str]:
    """Returns the names of the architectures that have a decoder for text and no encoder."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as DECODERS

    names = [model.name.partition("/")[2] for model in list_transformers()]
    return [name for name in names if name in DECODERS and not _make_config(name).is_encoder_decoder]


def _make_config(name: str) -> Any:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = shrink(CONFIG_MAPPING[name], FIELDS.get(name, {}))
    config.is_decoder = True  # of BERT and its kin
    for field in _POSITIONS:
        if field in vars(config):
            setattr(config, field, _LENGTH)
    return config


def make_decoder(name: str) -> Any:
    """Returns a decoder whose logits differ so much that rounding does not choose the tokens."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as DECODERS

    torch.manual_seed(SEED)
    model = getattr(transformers, DECODERS[name])(_make_config(name)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.25)
    return model


def run_decoder(make: Callable[[], Any], targets: Sequence[str]) -> Outcome:
    """Compares the tokens that a model and its compiled form generate."""
    model = make()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = inlay.generation.compile(model, max_length=_LENGTH, max_batch=4, targets=targets)
    except inlay.UnsupportedError as error:
        return Outcome(Verdict.REFUSED, str(error))
    except inlay.Error as error:
        return Outcome(Verdict.FAILED, str(error))
    ops: dict[str, int] = {}
    for segment in compiled.program.report["segments"]:
        ops[segment["target"]] = ops.get(segment["target"], 0) + len(segment["ops"])
    counted = tuple(ops.items())
    for sequences, length in _PROMPTS:
        ids = torch.randint(1, _WORDS, (sequences, length), generator=torch.Generator().manual_seed(length))
        mask = torch.ones_like(ids)
        mask[1:2, :5], mask[3:, :1] = 0, 0
        want, got = (one.generate(ids, attention_mask=mask, **_OPTIONS) for one in (model, compiled))
        if not torch.equal(want, got):
            place = (want != got).nonzero()[0].tolist()
            return Outcome(Verdict.WRONG, f"{sequences} prompts of {length} tokens differ from {place} on", counted, 1)
    return Outcome(Verdict.PASSED, ops=counted, graphs=1)


def _runner(targets: Sequence[str]) -> Callable[[str], Outcome]:
    import transformers

    transformers.logging.set_verbosity_error()
    return lambda name: run_decoder(functools.partial(make_decoder, name), targets)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Generates text with the decoders of transformers in tiny sizes.")
    parser.add_argument("--targets", default="host,torch", help="names, separated by commas")
    parser.add_argument("-k", dest="pattern", default="", help="a regular expression that selects decoders")
    parser.add_argument("--verbose", action="store_true", help="print all decoders")
    parser.add_argument("--seconds", type=float, default=600.0, help="the time limit of a decoder")
    options = parser.parse_args(arguments)
    targets = tuple(options.targets.split(","))
    names = [name for name in list_decoders() if re.search(options.pattern, name)]
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
