# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches of keys and values in which each token has the place of its position.

In the caches of transformers, the code for a sliding window depends on Python integers, so a graph serves only some
positions. Here all layers keep all tokens and the attention mask hides those outside of a window. The code is the same
at each position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from .._program.compiled import CompiledModule
from ..errors import ArgumentValueError, UnsupportedError


@dataclass(frozen=True)
class LayerShape:
    """The shapes of the keys and values of one token: (heads, channels)."""

    keys: tuple[int, int]
    values: tuple[int, int]
    dtype: torch.dtype


@dataclass(frozen=True)
class Tokens:
    """Tokens of a batch of sequences: each tensor is int64[batch, tokens]. mask: 0 for padding."""

    ids: torch.Tensor
    mask: torch.Tensor
    positions: torch.Tensor

    def map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Tokens:
        """Returns the tokens with each tensor changed."""
        return Tokens(change(self.ids), change(self.mask), change(self.positions))

    def join(self, other: Tokens) -> Tokens:
        """Returns these tokens followed by others."""
        return Tokens(
            torch.cat([self.ids, other.ids], dim=1),
            torch.cat([self.mask, other.mask], dim=1),
            torch.cat([self.positions, other.positions], dim=1),
        )

    def split(self, count: int) -> list[Tokens]:
        """Returns parts of at most `count` tokens."""
        parts = zip(*(one.split(count, dim=1) for one in (self.ids, self.mask, self.positions)), strict=True)
        return [Tokens(*part) for part in parts]


class _Layer(CacheLayerMixin):  # type: ignore[misc]
    """A layer that holds tokens at their positions."""

    is_compileable = False  # no part of `generate` is to be compiled by PyTorch
    is_croppable = True
    is_sliding = False

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Does nothing: the maker of the layer gives it its tensors."""

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Returns the number of keys and the position of the first one."""
        return self.get_seq_length() + query_length, 0


class TracedLayer(_Layer):
    """The layer of a model that is exported. It holds keys and values: [batch, heads, places, channels].

    length: the number of tokens in the layer. count: the number of tokens that are added.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, length: int, count: int) -> None:
        super().__init__()
        self.keys, self.values, self.is_initialized = keys, values, True
        self.length, self.count = length, count

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Writes the keys and values of new tokens. Returns those of all tokens."""
        end = self.length + self.count
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        return self.keys[:, :, :end], self.values[:, :, :end]

    def get_seq_length(self) -> int:
        """Returns the number of tokens before the new ones."""
        return self.length

    def get_max_length(self) -> int:
        """Returns the number of places."""
        return int(self.keys.shape[2])


class ProbedLayer(_Layer):
    """The layer of a model that runs once. It notes the shape of keys and values."""

    shape: LayerShape | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the given keys and values: the cache was empty."""
        keys, values = ((one.shape[1], one.shape[3]) for one in (key_states, value_states))
        self.shape = LayerShape(keys, values, key_states.dtype)
        self.keys, self.values = key_states, value_states
        return key_states, value_states

    def get_seq_length(self) -> int:
        """Returns the number of tokens before the new ones."""
        return 0

    def get_max_length(self) -> int:
        """Returns -1: there is no maximum."""
        return -1


class CrossLayer(_Layer):
    """The layer of a cross-attention whose keys and values are there: [batch, heads, places, channels]."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        super().__init__()
        self.keys, self.values, self.is_initialized = keys, values, True

    def update(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Raises UnsupportedError: a decoder computes the keys and values once."""
        raise UnsupportedError("expected a decoder that computes the keys and values of its cross-attention once")

    def get_seq_length(self) -> int:
        """Returns the number of places of the encoder's result."""
        return self.keys.shape[2]  # not an int(...): torch.export would fix it

    def get_max_length(self) -> int:
        """Returns the number of places of the encoder's result."""
        return self.keys.shape[2]  # not an int(...): torch.export would fix it


class CountingLayer(_Layer):
    """A layer of a `ProgramCache`. Its keys and values are states of the program."""

    def __init__(self, max_length: int) -> None:
        super().__init__()
        self.max_length, self.length = max_length, 0

    def update(self, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Raises ArgumentValueError: only a program writes the layer."""
        raise ArgumentValueError("a cache of a compiled model can't be passed to another model")

    def get_seq_length(self) -> int:
        """Returns the number of tokens."""
        return self.length

    def get_max_length(self) -> int:
        """Returns the maximum number of tokens."""
        return self.max_length

    def reset(self) -> None:
        """Removes all tokens."""
        self.length = 0

    def crop(self, tokens_to_remove: int) -> None:
        """Removes the last tokens. As in transformers, the number of tokens has a negative sign."""
        count = -tokens_to_remove
        if count < 0:
            raise ArgumentValueError(
                f"expected the number of tokens to remove with a negative sign, but got {tokens_to_remove}"
            )
        if count > self.length:
            raise ArgumentValueError(f"expected to remove at most {self.length} tokens of a cache, but got {count}")
        self.length -= count


class ProgramCache(Cache):  # type: ignore[misc]
    """The cache of one batch of sequences, in a session of the program. `CompiledModel.new_cache` makes it.

    The memory is allocated at the first call, when the number of sequences is known.
    """

    layer_class = CountingLayer

    def __init__(self, program: CompiledModule, layers: int, max_length: int) -> None:
        super().__init__(layers=[self.layer_class(max_length) for _ in range(layers)])
        self.program, self.session, self.sequences = program, program.new_session(), 0
        self._tokens: Tokens | None = None

    @property
    def length(self) -> int:
        """The number of tokens of each sequence."""
        return int(self.layers[0].length)

    @property
    def tokens(self) -> Tokens | None:
        """The tokens in the cache, from which it can be computed again. None if there are none."""
        return self._tokens.map(lambda tensor: tensor[:, : self.length]) if self._tokens and self.length else None

    def add(self, tokens: Tokens) -> None:
        """Notes that a call added tokens."""
        known = self.tokens
        self._tokens = known.join(tokens) if known else tokens
        self.sequences, count = tokens.ids.shape
        for layer in self.layers:
            layer.length += count

    def step(self, new: Tokens, seen: torch.Tensor) -> torch.Tensor:
        """Runs the program on new tokens. Returns their logits. seen: the mask for the tokens in the cache."""
        return cast(torch.Tensor, self.session(new.ids, new.mask, seen, new.positions))

    def restart(self) -> None:
        """Makes the states those of an empty cache, after a failure that left them undefined."""
        self.session.reset()

    def reset(self) -> None:
        """Removes all tokens. The next call may have another number of sequences."""
        super().reset()
        self.session.reset()
        self.sequences, self._tokens = 0, None

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Puts the sequences with these numbers in the places of the sequences."""
        self._change_sequences(lambda tensor: tensor.index_select(0, beam_idx))

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Repeats each sequence."""
        self._change_sequences(lambda tensor: tensor.repeat_interleave(repeats, 0))

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keeps the sequences with these numbers."""
        self._change_sequences(lambda tensor: tensor[indices])

    def _change_sequences(self, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        if not self.sequences:
            return
        states = {name: change(tensor) for name, tensor in self.session.state_dict().items()}
        self.session.reset()
        self.session.load_state_dict(states)
        self._tokens = self._tokens.map(change) if self._tokens else None
        self.sequences = next(iter(states.values())).shape[0]


def allocate(shapes: Sequence[LayerShape], batch: int, places: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Returns keys and values of zeros, [batch, heads, places, channels], for each layer."""

    def zeros(size: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
        heads, channels = size
        return torch.zeros(batch, heads, places, channels, dtype=dtype)

    return [zeros(shape.keys, shape.dtype) for shape in shapes], [zeros(shape.values, shape.dtype) for shape in shapes]
