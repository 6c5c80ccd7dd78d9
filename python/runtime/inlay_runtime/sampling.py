# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The choice of the next token from logits.

The filters have the order and the meaning of the logits processors of transformers: penalty for repeated tokens,
temperature, top k, top p. All arithmetic is in float32, as there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .library import Error

Logits: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
MAX_SEED = 2**64 - 1
_MAX_TOP_K = 2**31 - 1


@dataclass(frozen=True)
class Sampling:
    """The settings for the choice of a token. Raises TypeError or ValueError for a wrong value."""

    do_sample: bool = False
    """True: draw the token by its probability. False: take the most probable one."""
    temperature: float = 1.0
    """Divides the logits. Smaller numbers make probable tokens more probable."""
    top_k: int = 0
    """Draw from the `top_k` most probable tokens and those as probable as the last of them. 0: from all."""
    top_p: float = 1.0
    """Draw from the most probable tokens whose probabilities add up to `top_p`. 1: from all."""
    repetition_penalty: float = 1.0
    """Divides positive logits of tokens that are in the text, and multiplies negative ones."""

    def __post_init__(self) -> None:
        if not isinstance(self.do_sample, bool):
            raise TypeError(f"do_sample: expected a bool, but got {self.do_sample!r}")
        for name in ("temperature", "top_p", "repetition_penalty"):
            object.__setattr__(self, name, _float(name, getattr(self, name)))
        for name in ("temperature", "repetition_penalty"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}: expected a number above 0, but got {getattr(self, name)}")
        if not 0 <= self.top_p <= 1:
            raise ValueError(f"top_p: expected a number from 0 to 1, but got {self.top_p}")
        if not isinstance(self.top_k, int) or isinstance(self.top_k, bool):
            raise TypeError(f"top_k: expected an int, but got {self.top_k!r}")
        if not 0 <= self.top_k <= _MAX_TOP_K:
            raise ValueError(f"top_k: expected a number from 0 to {_MAX_TOP_K}, but got {self.top_k}")

    def filter(self, logits: Logits, text: Sequence[int]) -> Logits:
        """Returns the logits of the tokens to choose from. Those of other tokens are -inf.

        logits: one for each token. text: the tokens so far.
        """
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # `choose` checks the result
            return self._filter(logits.astype(np.float32), text)

    def _filter(self, scores: Logits, text: Sequence[int]) -> Logits:
        if self.repetition_penalty != 1:
            seen = np.unique(np.asarray(text, np.int64))
            chosen, penalty = scores[seen], np.float32(self.repetition_penalty)
            scores[seen] = np.where(chosen < 0, chosen * penalty, chosen / penalty)
        if not self.do_sample:
            return scores
        if self.temperature != 1:
            scores = scores / np.float32(self.temperature)
        if 0 < self.top_k < len(scores):
            last = np.partition(scores, -self.top_k)[-self.top_k]
            scores[scores < last] = -np.inf
        if self.top_p < 1:
            _keep_top_p(scores, self.top_p)
        return scores

    def choose(self, logits: Logits, text: Sequence[int], number: float) -> int:
        """Returns the next token.

        logits: one for each token. text: the tokens so far. number: a random number, 0 <= number < 1.
        Raises Error if a logit is NaN or infinity, or if all are -inf.
        """
        if wrong := _find_wrong(logits):
            raise Error(f"expected logits that are numbers, but the program computed {wrong}: its weights may be wrong")
        scores = self.filter(logits, text)
        if wrong := _find_wrong(scores):
            raise Error(
                f"temperature={self.temperature} and repetition_penalty={self.repetition_penalty} make logits "
                f"{wrong}: use numbers closer to 1"
            )
        if not self.do_sample:
            return int(scores.argmax())
        candidates = np.flatnonzero(scores > -np.inf)
        kept = scores[candidates].astype(np.float64)
        sums = np.cumsum(np.exp(kept - kept.max()))
        # The product is below the last sum also after rounding, because the number is at most 1 - 2**-53.
        return int(candidates[np.searchsorted(sums, number * sums[-1], side="right")])


def random_number(seed: int, prompt: int, step: int) -> float:
    """Returns the random number, 0 <= number < 1, for new token `step` of a prompt, which both count from 0.

    It is the first word of Philox4x64-10 with the key (seed, prompt) and the counter `step`, as NumPy counts, without
    its last 11 bits. So it depends neither on other prompts nor on other calls.
    """
    word = np.random.Philox(key=seed | prompt << 64, counter=step).random_raw()
    return float(int(word) >> 11) * 2.0**-53


def _keep_top_p(scores: Logits, top_p: float) -> None:
    """Sets the logits of improbable tokens to -inf, whose probabilities add up to at most 1 - top_p."""
    candidates = np.flatnonzero(scores > -np.inf)
    order = candidates[np.argsort(scores[candidates], kind="stable")]  # from the least probable token on
    powers = np.exp(scores[order] - scores[order[-1]])
    sums = np.cumsum(powers / powers.sum(dtype=np.float32), dtype=np.float64).astype(np.float32)
    removed = sums <= np.float32(1 - top_p)
    removed[-1] = False
    scores[order[removed]] = -np.inf


def _find_wrong(logits: Logits) -> str:
    """Returns a word for what is wrong with logits: NaN, infinity, or only -inf. Empty if nothing is."""
    largest = float(logits.max())  # NaN if a logit is
    if math.isfinite(largest):
        return ""
    return "NaN" if math.isnan(largest) else "infinity" if largest > 0 else "-inf for each token"


def _float(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a number, but got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name}: expected a finite number, but got {value!r}")
    return number
