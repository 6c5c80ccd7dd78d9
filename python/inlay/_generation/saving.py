# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Describes how a compiled language model generates text, as JSON for a container.

`inlay_runtime.settings` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from transformers import GenerationConfig

from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError

_VERSION = 1
_MAX_EOS = 1024
_MAX_COUNT = 2**31 - 1
# Settings that change the tokens and that `inlay_runtime.generate` doesn't have, with the values that change nothing.
_UNSUPPORTED: Mapping[str, tuple[Any, ...]] = {
    "min_length": (0,),
    "min_new_tokens": (0,),
    "max_time": (),
    "stop_strings": (),
    "num_beams": (1,),
    "num_return_sequences": (1,),
    "min_p": (),
    "top_h": (),
    "typical_p": (1.0,),
    "epsilon_cutoff": (0.0,),
    "eta_cutoff": (0.0,),
    "no_repeat_ngram_size": (0,),
    "encoder_repetition_penalty": (1.0,),
    "encoder_no_repeat_ngram_size": (0,),
    "bad_words_ids": (),
    "forced_bos_token_id": (),
    "forced_eos_token_id": (),
    "remove_invalid_values": (False,),
    "exponential_decay_length_penalty": (),
    "suppress_tokens": ([],),
    "begin_suppress_tokens": ([],),
    "sequence_bias": (),
    "token_healing": (False,),
    "guidance_scale": (1, 1.0),
    "watermarking_config": (),
    "penalty_alpha": (0.0,),
    "dola_layers": (),
    "constraints": (),
    "force_words_ids": (),
}


def describe_generation(
    config: GenerationConfig, vocabulary_size: int, max_length: int, max_batch: int, max_tokens: int
) -> dict[str, Any]:
    """Returns the settings of a program that generates text, as values of JSON.

    config: that of the model. max_tokens: the maximum number of tokens of a sequence in one call of the program.
    Raises UnsupportedError for settings that `inlay_runtime.generate` doesn't have, and ArgumentValueError for wrong
    ones.
    """
    for name, neutral in _UNSUPPORTED.items():
        value = getattr(config, name, None)
        if value is not None and value not in neutral:
            raise UnsupportedError(
                f"generation_config.{name} is {value!r}, which inlay_runtime.generate doesn't have: set it to None "
                "before you save the model"
            )
    limit = config.max_length
    if limit is not None and config.max_new_tokens is None and limit < max_length:
        raise UnsupportedError(
            f"generation_config.max_length is {limit}, which inlay_runtime.generate doesn't have: set max_new_tokens "
            "instead before you save the model"
        )
    ends = config.eos_token_id
    ends = [] if ends is None else list(ends) if isinstance(ends, (list, tuple)) else [ends]
    if len(ends) > _MAX_EOS:
        raise UnsupportedError(
            f"generation_config.eos_token_id: expected at most {_MAX_EOS} tokens, but got {len(ends)}"
        )
    for name, token in [*(("eos_token_id", end) for end in ends), ("bos_token_id", config.bos_token_id)]:
        if token is not None and not _is_token(token, vocabulary_size):
            raise ArgumentValueError(
                f"generation_config.{name}: expected tokens from 0 to {vocabulary_size - 1}, but got {token!r}"
            )
    return {
        "version": _VERSION,
        "vocabulary_size": vocabulary_size,
        "max_length": max_length,
        "max_batch": max_batch,
        "max_tokens": max_tokens,
        "eos_token_ids": ends,
        "bos_token_id": config.bos_token_id,
        # Some models have a number out of the vocabulary, which the embedding can't look up.
        "pad_token_id": config.pad_token_id if _is_token(config.pad_token_id, vocabulary_size) else None,
        "max_new_tokens": _check_count("max_new_tokens", config.max_new_tokens, 1),
        "sampling": _describe_sampling(config),
    }


def _describe_sampling(config: GenerationConfig) -> dict[str, Any]:
    defaults = GenerationConfig._get_default_generation_params()
    sampling: dict[str, Any] = {}
    for name in ("do_sample", "temperature", "top_k", "top_p", "repetition_penalty"):
        value = getattr(config, name)
        sampling[name] = defaults[name] if value is None else value
    for name in ("temperature", "top_p", "repetition_penalty"):
        if not isinstance(sampling[name], (int, float)) or isinstance(sampling[name], bool):
            raise ArgumentTypeError(f"generation_config.{name}: expected a number, but got {sampling[name]!r}")
    if not isinstance(sampling["do_sample"], bool):
        raise ArgumentTypeError(f"generation_config.do_sample: expected a bool, but got {sampling['do_sample']!r}")
    for name in ("temperature", "repetition_penalty"):
        if not 0 < sampling[name] < math.inf:
            raise ArgumentValueError(f"generation_config.{name}: expected a number above 0, but got {sampling[name]!r}")
    if not 0 <= sampling["top_p"] <= 1:
        raise ArgumentValueError(
            f"generation_config.top_p: expected a number from 0 to 1, but got {sampling['top_p']!r}"
        )
    _check_count("top_k", sampling["top_k"], 0)
    return sampling


def _check_count(name: str, value: Any, least: int) -> Any:
    """Returns an integer of a generation config, or None."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentTypeError(f"generation_config.{name}: expected an int, but got {value!r}")
    if not least <= value <= _MAX_COUNT:
        raise ArgumentValueError(f"generation_config.{name}: expected {least} to {_MAX_COUNT}, but got {value}")
    return value


def _is_token(token: Any, vocabulary_size: int) -> bool:
    return isinstance(token, int) and 0 <= token < vocabulary_size
