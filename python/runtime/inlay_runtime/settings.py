# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generation settings of a language model, which its file holds as JSON. All parts of the text are checked.

`inlay._generation.saving` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from .library import Error
from .sampling import Sampling

if TYPE_CHECKING:
    from .program import Program

VERSION = 1
INPUTS = ("input_ids", "attention_mask", "past_mask", "position_ids")
_KEY = "generation"  # of the settings in the metadata
_MAX_SIZE = 2**31 - 1  # of numbers of tokens and sequences
_MAX_EOS = 1024
_FLOATS = ("float16", "bfloat16", "float32", "float64")


@dataclass(frozen=True)
class GenerationSettings:
    """The limits of a program for text generation, and the defaults of its model for generating text."""

    vocabulary_size: int
    """Tokens are numbers below this one."""
    max_length: int
    """The maximum number of tokens of a text, prompt included."""
    max_batch: int
    """The maximum number of texts at a time."""
    max_tokens: int
    """The maximum number of tokens of a text in one call of the program."""
    eos_token_ids: tuple[int, ...]
    """The tokens that end a text."""
    bos_token_id: int | None
    """The token that begins a text."""
    pad_token_id: int | None
    """The token in places without a token. The attention mask hides them."""
    max_new_tokens: int | None
    """The default of the maximum number of new tokens. None: as many as `max_length` allows."""
    sampling: Sampling
    """The defaults of the choice of tokens."""


def read_settings(program: Program) -> GenerationSettings:
    """Returns the generation settings of a program. Raises Error if there are none or if they are malformed."""
    try:
        metadata = json.loads(program.metadata or "{}")
    except (ValueError, RecursionError) as error:
        raise Error(f"malformed metadata: {error}") from error
    if not isinstance(metadata, dict) or _KEY not in metadata:
        raise Error(
            "the file has no generation settings: save a model of inlay.generation.compile with its method save()"
        )
    try:
        described = _checked_dict(metadata[_KEY])
        version = described.get("version")
        if version != VERSION:
            raise ValueError(f"expected version {VERSION}, but got {version!r}: another Inlay saved it")
        settings = _read(described)
        _check_program(program, settings)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise Error(f"malformed generation settings: {reason}") from error
    return settings


def _read(described: Mapping[str, Any]) -> GenerationSettings:
    known = {"version", *(field.name for field in fields(GenerationSettings))}
    for key in described:
        if key not in known:
            raise ValueError(f"unknown key {key!r}")

    def number(key: str, maximum: int, minimum: int = 1) -> int:
        return _number(key, described[key], minimum, maximum)

    def token(key: str) -> int | None:
        return None if described[key] is None else number(key, words - 1, 0)

    words, max_length = number("vocabulary_size", _MAX_SIZE), number("max_length", _MAX_SIZE)
    ends = described["eos_token_ids"]
    if not isinstance(ends, list) or len(ends) > _MAX_EOS:
        raise ValueError(f"eos_token_ids: expected a list of at most {_MAX_EOS} tokens")
    sampling = _checked_dict(described["sampling"])
    if sampling.keys() != {field.name for field in fields(Sampling)}:
        raise ValueError(f"sampling: expected {', '.join(field.name for field in fields(Sampling))}")
    return GenerationSettings(
        vocabulary_size=words,
        max_length=max_length,
        max_batch=number("max_batch", _MAX_SIZE),
        max_tokens=number("max_tokens", _MAX_SIZE),
        eos_token_ids=tuple(_number("eos_token_ids", end, 0, words - 1) for end in ends),
        bos_token_id=token("bos_token_id"),
        pad_token_id=token("pad_token_id"),
        max_new_tokens=None if described["max_new_tokens"] is None else number("max_new_tokens", _MAX_SIZE),
        sampling=Sampling(**sampling),
    )


def _check_program(program: Program, settings: GenerationSettings) -> None:
    """Raises ValueError if the program is not that of a language model with these settings."""
    inputs = [(info.name, info.dtype, len(info.shape)) for info in program.inputs]
    if inputs != [(name, "int64", 2) for name in INPUTS]:
        listed = ", ".join(f"{info.name}: {info.type}" for info in program.inputs)
        raise ValueError(f"expected a program with inputs {', '.join(INPUTS)} of int64, but got ({listed})")
    results = ", ".join(info.type for info in program.outputs)
    if len(program.outputs) != 1 or program.outputs[0].dtype not in _FLOATS or len(program.outputs[0].shape) != 3:
        raise ValueError(f"expected a program whose result is logits of each text and token, but got ({results})")
    if program.outputs[0].shape[2] != settings.vocabulary_size:
        raise ValueError(f"expected logits of {settings.vocabulary_size} tokens, but the program has {results}")
    if not program.states:
        raise ValueError("expected a program that keeps keys and values as states, but it has no states")


def _number(name: str, value: Any, minimum: int, maximum: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
        raise ValueError(f"{name}: expected a number from {minimum} to {maximum}, but got {value!r}")
    return value


def _checked_dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, but got {value!r}")
    return value
