# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates text with a language model that `inlay.generation` compiled."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, overload

import numpy as np

from .cache import Cache
from .library import Error
from .program import Program
from .sampling import MAX_SEED, Sampling, random_number
from .settings import GenerationSettings
from .tokenizer import AnyTokenizer, TextCoder, TextStream

if TYPE_CHECKING:
    from typing_extensions import Unpack

Prompt: TypeAlias = str | Sequence[int]
"""Text, or tokens."""


class StopReason(Enum):
    """Why a text ended."""

    EOS = "eos"  # the model generated a token that ends texts
    STOP = "stop"  # the text has a stop sequence
    LENGTH = "length"  # the text has the maximum number of tokens


@dataclass(frozen=True)
class Piece:
    """A new token of a text."""

    prompt: int
    """The number of the prompt."""
    token: int
    text: str | None
    """The new text after this token. It may be empty. None without a tokenizer."""
    reason: StopReason | None
    """Why the text ended. None if it goes on."""


@dataclass(frozen=True)
class Completion:
    """The new tokens of a text."""

    tokens: list[int]
    """All new tokens, with the last one that ended the text."""
    text: str | None
    """The text of the tokens up to the first stop string, without the token that ended it. None without a tokenizer."""
    reason: StopReason


class GenerateOptions(TypedDict, total=False):
    """The options of `generate` and `stream`. The defaults are those of the model's generation config."""

    max_new_tokens: int
    """The maximum number of new tokens."""
    do_sample: bool
    """Draw tokens by their probabilities instead of taking the most probable ones."""
    temperature: float
    """Divides the logits before a token is drawn."""
    top_k: int
    """Draw from so many tokens. 0: from all."""
    top_p: float
    """Draw from the most probable tokens whose probabilities add up to this number."""
    repetition_penalty: float
    """Makes tokens that are in the text less probable if it is above 1."""
    seed: int
    """Chooses the random numbers. Default: another one for each call."""
    stop: str | Sequence[str | Sequence[int]]
    """Stop sequences: strings, which need a tokenizer, and lists of tokens. A text ends after the first one."""
    ignore_eos: bool
    """Go on after tokens that end a text (default: False)."""
    tokenizer: AnyTokenizer
    """The path of a tokenizer.json, which needs the package tokenizers, or an object with encode and decode."""
    cache: Cache
    """Continue the texts of this cache. The prompts are whole texts, and tokens in the cache are not computed again."""


@overload
def generate(  # type: ignore[overload-overlap]  # a str is also a sequence of str
    program: Program, prompt: Prompt, **options: Unpack[GenerateOptions]
) -> Completion: ...


@overload
def generate(program: Program, prompt: Sequence[Prompt], **options: Unpack[GenerateOptions]) -> list[Completion]: ...


def generate(
    program: Program, prompt: Prompt | Sequence[Prompt], **options: Unpack[GenerateOptions]
) -> Completion | list[Completion]:
    """Generates text after a prompt. Returns a Completion, or a list of them for a list of prompts.

        program = inlay_runtime.load("model.inlay")
        print(inlay_runtime.generate(program, "Once", tokenizer="tokenizer.json", max_new_tokens=50).text)

    prompt: text, tokens, or a list of prompts, which are padded on the left.
    options: see `GenerateOptions`.

    Raises TypeError or ValueError for a wrong option, and Error for a wrong prompt and for a failure of the program.
    """
    pieces: list[Piece] = []
    request = _Request(program, prompt, options)
    pieces.extend(request.run())
    completions = []
    for number in range(len(request.prompts)):
        own = [piece for piece in pieces if piece.prompt == number]
        text = None if request.coder is None else "".join(piece.text or "" for piece in own)
        reason = own[-1].reason
        assert reason is not None
        completions.append(Completion([piece.token for piece in own], text, reason))
    return completions if request.is_list else completions[0]


def stream(program: Program, prompt: Prompt | Sequence[Prompt], **options: Unpack[GenerateOptions]) -> Iterator[Piece]:
    """Does the same as `generate`, but returns an iterator over the tokens as they are generated.

    for piece in inlay_runtime.stream(program, "Once", tokenizer="tokenizer.json"):
        print(piece.text, end="", flush=True)
    """
    return _Request(program, prompt, options).run()


class _Text:
    """A text while it is generated."""

    def __init__(self, number: int, prompt: Sequence[int], request: _Request) -> None:
        self.number, self.tokens, self._first = number, list(prompt), len(prompt)
        self._request = request
        self._stream = TextStream(request.coder, prompt, request.stop_strings) if request.coder else None
        self.reason: StopReason | None = None

    def extend(self, logits: Any) -> Piece:
        """Chooses the next token. logits: one for each token."""
        request, step = self._request, len(self.tokens) - self._first
        number = random_number(request.seed, self.number, step) if request.sampling.do_sample else 0.0
        token = request.sampling.choose(logits, self.tokens, number)
        self.tokens.append(token)
        new, text = self.tokens[self._first :], None
        if token in request.ends:
            self.reason = StopReason.EOS
        elif any(tuple(new[-len(stop) :]) == stop for stop in request.stop_tokens):
            self.reason = StopReason.STOP
        elif len(new) == request.count:
            self.reason = StopReason.LENGTH
        if self._stream:
            text = "" if self.reason is StopReason.EOS else self._stream.add(token)
            if self.reason:
                text += self._stream.finish()
            if self._stream.is_stopped:
                self.reason = StopReason.STOP
        return Piece(self.number, token, text, self.reason)


class _Request:
    """The checked arguments of a call."""

    def __init__(self, program: Program, prompt: Any, options: GenerateOptions) -> None:
        given: dict[str, Any] = dict(options)
        known = GenerateOptions.__annotations__
        for name in given:
            if name not in known:
                raise TypeError(f"unknown option {name!r}: expected {', '.join(known)}")
        self._settings: GenerationSettings = _checked("program", program, Program).generation
        tokenizer = given.get("tokenizer")
        self.coder = None if tokenizer is None else TextCoder(tokenizer, self._settings.vocabulary_size)
        self.stop_strings, self.stop_tokens = _read_stops(given.get("stop"), self._settings, self.coder is not None)
        self.is_list, self.prompts = self._read_prompts(prompt)
        self.count = self._read_count(given.get("max_new_tokens"))
        self.sampling, self.seed = _read_sampling(given, self._settings)
        is_endless = _checked("ignore_eos", given.get("ignore_eos", False), bool)
        self.ends = frozenset(() if is_endless else self._settings.eos_token_ids)
        self._cache = self._read_cache(program, given.get("cache"))

    def run(self) -> Iterator[Piece]:
        """Yields the new tokens."""
        texts = [_Text(number, prompt, self) for number, prompt in enumerate(self.prompts)]
        logits = self._cache.begin(self.prompts, self)
        while True:
            for text, row in zip(texts, logits, strict=True):
                if text.reason is None:
                    yield text.extend(row)
            if all(text.reason for text in texts):
                return
            # The rows of texts that have ended go on with tokens that nothing reads.
            logits = self._cache.add([text.tokens[-1] for text in texts], self)

    def _read_prompts(self, prompt: Any) -> tuple[bool, list[list[int]]]:
        """Returns whether there is a list of prompts, and their tokens."""
        if isinstance(prompt, np.ndarray):
            prompt = prompt.tolist()
        if not isinstance(prompt, (str, Sequence)) or isinstance(prompt, (bytes, bytearray)):
            raise TypeError(f"prompt: expected text, tokens or a list of these, but got {type(prompt).__name__}")
        is_list = not isinstance(prompt, str) and any(isinstance(one, (str, Sequence, np.ndarray)) for one in prompt)
        prompts = (
            [self._read_prompt(one, f"prompt {number}") for number, one in enumerate(prompt)]
            if is_list
            else [self._read_prompt(prompt, "prompt")]
        )
        if len(prompts) > self._settings.max_batch:
            raise Error(
                f"expected at most {self._settings.max_batch} prompts, but got {len(prompts)}: compile the model with "
                "a larger max_batch"
            )
        return is_list, prompts

    def _read_prompt(self, prompt: Any, name: str) -> list[int]:
        settings = self._settings
        if isinstance(prompt, str):
            if self.coder is None:
                raise Error(f"{name}: expected tokens, but got text: pass a tokenizer")
            prompt = self.coder.encode(prompt)
        if not isinstance(prompt, (Sequence, np.ndarray)):
            raise TypeError(f"{name}: expected text or tokens, but got {prompt!r}")
        tokens = _read_tokens(prompt, name, settings.vocabulary_size)
        if not tokens:
            begin = "" if settings.bos_token_id is None else f": a text begins with token {settings.bos_token_id}"
            raise Error(f"{name}: expected at least 1 token, but got none{begin}")
        if len(tokens) >= settings.max_length:
            raise Error(
                f"{name}: expected at most {settings.max_length - 1} tokens, but got {len(tokens)}: the program has "
                f"room for max_length = {settings.max_length} tokens"
            )
        return tokens

    def _read_count(self, count: Any) -> int:
        """Returns the maximum number of new tokens."""
        longest, settings = max(map(len, self.prompts)), self._settings
        room = settings.max_length - longest
        if count is None:
            return min(room, settings.max_new_tokens or room)
        if _checked("max_new_tokens", count, int) < 1:
            raise ValueError(f"max_new_tokens: expected at least 1, but got {count}")
        if count > room:
            raise Error(
                f"expected at most {settings.max_length} tokens in all, but got {longest} of a prompt and "
                f"max_new_tokens = {count}: compile the model with a larger max_length"
            )
        return int(count)

    def _read_cache(self, program: Program, cache: Any) -> Cache:
        if cache is None:
            return Cache(program)
        if _checked("cache", cache, Cache).program is not program:
            raise Error("expected a cache of this program, but got one of another program")
        return cache  # type: ignore[no-any-return]  # checked


def _read_sampling(given: dict[str, Any], settings: GenerationSettings) -> tuple[Sampling, int]:
    """Returns how tokens are chosen, and the seed."""
    names = [field.name for field in dataclasses.fields(Sampling)]
    sampling = dataclasses.replace(settings.sampling, **{name: given[name] for name in names if name in given})
    for name in ("temperature", "top_k", "top_p", "seed"):
        if name in given and not sampling.do_sample:
            raise ValueError(f"{name} has an effect only if tokens are drawn: pass do_sample=True, or leave it out")
    seed = _checked("seed", given.get("seed", 0), int) if sampling.do_sample else 0
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed: expected a number from 0 to {MAX_SEED}, but got {seed}")
    return sampling, int(seed) if "seed" in given else secrets.randbits(64)


def _read_stops(
    stops: Any, settings: GenerationSettings, has_tokenizer: bool
) -> tuple[list[str], list[tuple[int, ...]]]:
    """Returns the stop sequences that are strings, and those that are tokens."""
    if stops is None:
        return [], []
    strings: list[str] = []
    tokens: list[tuple[int, ...]] = []
    listed = [stops] if isinstance(stops, str) else stops
    if not isinstance(listed, Sequence):
        raise TypeError(f"stop: expected a string or a list of stop sequences, but got {type(stops).__name__}")
    for stop in listed:
        if not isinstance(stop, (str, Sequence)):
            raise TypeError(f"stop: expected strings and lists of tokens, but got {stop!r}")
        if not stop:
            raise ValueError("stop: expected stop sequences that are not empty")
        if isinstance(stop, str):
            strings.append(stop)
        else:
            tokens.append(tuple(_read_tokens(stop, "stop", settings.vocabulary_size)))
    if strings and not has_tokenizer:
        raise ValueError(f"stop: expected tokens, but got the string {strings[0]!r}: pass a tokenizer")
    return strings, tokens


def _read_tokens(tokens: Any, name: str, words: int) -> list[int]:
    """Returns tokens that are in the vocabulary."""
    read: list[int] = []
    for token in tokens.tolist() if isinstance(tokens, np.ndarray) else tokens:
        if isinstance(token, bool) or not isinstance(token, (int, np.integer)):
            raise TypeError(f"{name}: expected tokens, which are ints, but got {token!r}")
        if not 0 <= token < words:
            raise Error(f"{name}: expected tokens from 0 to {words - 1}, but got {token}")
        read.append(int(token))
    return read


def _checked(name: str, value: Any, kind: type) -> Any:
    """Returns a value of this type. Raises TypeError for another one."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{name}: expected {kind.__name__}, but got {value!r}")
    return value
