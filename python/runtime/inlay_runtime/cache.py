# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tokens whose keys and values a session of a language model holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .library import Error
from .sampling import Logits

if TYPE_CHECKING:
    from .program import Program

_Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


class Cache:
    """The keys and values of the tokens of some texts, in a session of the program.

    `generate` and `stream` continue the texts of the cache that they get, and compute only tokens that are not in it. A
    cache serves one call at a time.
    """

    def __init__(self, program: Program) -> None:
        self._program, self._settings = program, program.generation
        self._session: Any = program.make_session()
        self._user: object = None
        self._is_broken = False
        self._texts, self._length = 0, 0
        self._ids: _Ints = np.zeros((0, 0), np.int64)
        self._mask: _Ints = self._ids  # 0 in places without a token

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    @property
    def length(self) -> int:
        """The number of tokens of the longest text in the cache."""
        return self._length

    def reset(self) -> None:
        """Removes all tokens and frees the memory. The next call may have another number of texts."""
        self._open_session().reset()
        self._user, self._is_broken = None, False
        self._forget()

    def close(self) -> None:
        """Frees the memory. The cache can't be used any more."""
        self._session, self._user = None, None
        self._forget()

    def begin(self, prompts: Sequence[Sequence[int]], user: object) -> Logits:
        """Makes the tokens of the cache those of the prompts. Returns the logits of each next token.

        user: stands for the call that may add tokens from now on.
        """
        session = self._open_session()
        if self._texts not in (0, len(prompts)):
            raise Error(
                f"expected {self._texts} prompts, as the cache has texts, but got {len(prompts)}: use another cache, "
                "or call reset() to start new texts"
            )
        if self._is_broken:
            session.reset()
            self._forget()
            self._is_broken = False
        self._texts, self._user = len(prompts), user
        ids, mask = self._pad(prompts)
        self._length = self._find_shared(ids, mask)
        return self._add(ids[:, self._length :], mask[:, self._length :])

    def add(self, tokens: Sequence[int], user: object) -> Logits:
        """Adds a token to each text. Returns the logits of each next token. user: see `begin`."""
        self._open_session()
        if user is not self._user:
            raise Error(
                "another call has used or reset the cache since: make a cache for each call that runs at a time"
            )
        return self._add(np.array(tokens, np.int64)[:, None], np.ones((len(tokens), 1), np.int64))

    def _open_session(self) -> Any:
        if self._session is None:
            raise Error("the cache is closed: make another one")
        return self._session

    def _forget(self) -> None:
        self._texts, self._length = 0, 0
        self._ids = self._mask = np.zeros((0, 0), np.int64)

    def _pad(self, prompts: Sequence[Sequence[int]]) -> tuple[_Ints, _Ints]:
        """Returns the tokens and the mask of prompts, which are padded on the left."""
        total = max(map(len, prompts))
        ids = np.full((len(prompts), total), self._settings.pad_token_id or 0, np.int64)
        mask = np.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, total - len(prompt) :] = prompt
            mask[row, total - len(prompt) :] = 1
        return ids, mask

    def _find_shared(self, ids: _Ints, mask: _Ints) -> int:
        """Returns the number of places that can stay as they are. At least one token must be computed again."""
        count = min(self._length, ids.shape[1] - 1)
        if not count:
            return 0
        same = (mask[:, :count] == self._mask[:, :count]) & (ids[:, :count] == self._ids[:, :count])
        differing = np.flatnonzero(~same.all(axis=0))
        return int(differing[0]) if len(differing) else count

    def _add(self, ids: _Ints, mask: _Ints) -> Logits:
        """Adds tokens after those in the cache. Returns the logits after the last one of each text."""
        first, end = self._length, self._length + ids.shape[1]
        if not first:
            self._ids, self._mask = ids, mask
        else:
            self._ids = np.concatenate([self._ids[:, :first], ids], axis=1)
            self._mask = np.concatenate([self._mask[:, :first], mask], axis=1)
        try:
            try:
                return self._run(first, end)
            except Error as error:
                if error.status != "device lost":
                    raise
                # The states are undefined. They are computed again where the program runs now.
                self._session.reset()
                return self._run(0, end)
        except BaseException:
            self._is_broken = True
            raise

    def _run(self, first: int, end: int) -> Logits:
        """Computes the keys and values of the tokens in these places. Returns the logits after the last ones."""
        size = self._settings.max_tokens
        logits: Any = None
        for start in range(first, end, size):
            part = slice(start, min(start + size, end))
            positions = np.maximum(np.cumsum(self._mask[:, : part.stop], axis=1) - 1, 0)[:, start:]
            given = (self._ids[:, part], self._mask[:, part], self._mask[:, :start], positions)
            (logits,) = self._session.call_raw(*given)
        self._length = end
        return _to_float(logits[:, -1], self._program.outputs[0].dtype)


def _to_float(raw: np.ndarray[Any, Any], dtype: str) -> Logits:
    """Returns elements of a dtype as float32. raw: elements as `call_raw` returns them."""
    if dtype == "bfloat16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    return raw.astype(np.float32)
