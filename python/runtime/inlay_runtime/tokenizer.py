# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text from tokens, while they are generated."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from .library import Error

_UNFINISHED = "\ufffd"  # stands for bytes that are no character yet
_CONTEXT = 4  # tokens of the prompt that are decoded with the first new one; a character has at most 4 bytes


class Tokenizer(Protocol):
    """Converts text to tokens and back, as those of the packages tokenizers and transformers do."""

    def encode(self, text: str, /) -> Any:
        """Returns tokens, or an object with an attribute `ids`."""

    def decode(self, tokens: list[int], /) -> str:
        """Returns the text of tokens."""


AnyTokenizer: TypeAlias = Tokenizer | str | os.PathLike[str]


class TextCoder:
    """A tokenizer, with checks of the tokens."""

    def __init__(self, tokenizer: AnyTokenizer, vocabulary_size: int) -> None:
        """tokenizer: an object, or the path of a tokenizer.json. vocabulary_size: that of the model.

        Raises Error if the file can't be read or if the tokenizer has more tokens than the model.
        """
        self._tokenizer = _load(tokenizer) if isinstance(tokenizer, (str, os.PathLike)) else tokenizer
        for name in ("encode", "decode"):
            if not callable(getattr(self._tokenizer, name, None)):
                raise TypeError(
                    f"tokenizer: expected a path or an object with encode and decode, but got "
                    f"{type(tokenizer).__name__}"
                )
        size = _size(self._tokenizer)
        if size is not None and size > vocabulary_size:
            raise Error(
                f"tokenizer: expected at most the {vocabulary_size} tokens of the model, but got {size}: pass the "
                "tokenizer of this model"
            )

    def encode(self, text: str) -> list[int]:
        """Returns the tokens of a text."""
        encoded = self._tokenizer.encode(text)
        return list(getattr(encoded, "ids", encoded))

    def decode(self, tokens: Sequence[int]) -> str:
        """Returns the text of tokens."""
        return str(self._tokenizer.decode(list(tokens)))

    def check(self, token: int) -> None:
        """Raises Error if the tokenizer is known not to have a token. Its `decode` would leave the token out."""
        for name in ("id_to_token", "convert_ids_to_tokens"):
            convert = getattr(self._tokenizer, name, None)
            if convert is not None:
                if convert(token) is None:
                    raise Error(
                        f"the model generated token {token}, which the tokenizer doesn't have: pass the tokenizer of "
                        "this model"
                    )
                return


class TextStream:
    """The text of one prompt's new tokens. It ends before the first stop string."""

    def __init__(self, coder: TextCoder, prompt: Sequence[int], stops: Sequence[str]) -> None:
        self._coder, self._stops = coder, stops
        # Tokens are decoded with those before them, because a tokenizer may drop a space at the beginning.
        self._tokens = list(prompt[-_CONTEXT:])
        self._start, self._end = 0, len(self._tokens)  # of the tokens whose text is known and the next ones depend on
        self._held = ""  # may be the beginning of a stop string
        self.is_stopped = False

    def add(self, token: int) -> str:
        """Returns the text that a token makes certain: none if it may be a part of a character or a stop string."""
        self._coder.check(token)
        self._tokens.append(token)
        known, text = self._decode()
        if len(text) <= len(known) or text.endswith(_UNFINISHED):
            return ""
        self._start, self._end = self._end, len(self._tokens)
        return self._release(text[len(known) :])

    def finish(self) -> str:
        """Returns the rest of the text."""
        if self.is_stopped:
            return ""
        known, text = self._decode()
        self._end = len(self._tokens)
        rest = self._release(text[len(known) :])
        return rest if self.is_stopped else rest + self._held

    def _decode(self) -> tuple[str, str]:
        """Returns the text of known tokens, and the text of these and the following tokens."""
        known, tokens = self._tokens[self._start : self._end], self._tokens[self._start :]
        return self._coder.decode(known), self._coder.decode(tokens)

    def _release(self, text: str) -> str:
        """Adds text. Returns what is neither in a stop string nor in what may become one."""
        text = self._held + text
        places = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        if places:
            self.is_stopped, self._held = True, ""
            return text[: min(places)]
        size = max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - size :]
        return text[: len(text) - size]


def _overlap(text: str, stop: str) -> int:
    """Returns the length of the longest beginning of a stop string with which a text ends."""
    return next((size for size in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:size])), 0)


def _load(path: str | os.PathLike[str]) -> Any:
    try:
        import tokenizers
    except ImportError:
        raise Error("reading a tokenizer needs the package tokenizers: pip install tokenizers") from None
    try:
        return tokenizers.Tokenizer.from_file(os.fspath(path))
    except Exception as error:  # the package raises no other class
        raise Error(f"tokenizer: can't read '{os.fspath(path)}': {error}") from error


def _size(tokenizer: Any) -> int | None:
    """Returns the number of tokens, without those that were added to the vocabulary. None if it is unknown."""
    if hasattr(tokenizer, "get_vocab_size"):
        return int(tokenizer.get_vocab_size(with_added_tokens=False))
    size = getattr(tokenizer, "vocab_size", None)
    return size if isinstance(size, int) else None
