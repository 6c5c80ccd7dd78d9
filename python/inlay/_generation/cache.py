# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches of keys and values in which each token has the place of its position.

In the caches of transformers, the code for a sliding window depends on Python integers, so a graph serves only some
positions. Here all layers keep all tokens and the attention mask hides those outside of a window. The code is the same
at each position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from ..errors import ArgumentValueError


@dataclass(frozen=True)
class LayerShape:
    """The shapes of the keys and values of one token: (heads, channels)."""

    keys: tuple[int, int]
    values: tuple[int, int]
    dtype: torch.dtype


class CacheLayer(CacheLayerMixin):  # type: ignore[misc]
    """The keys and values of a layer: [batch, heads, max_length, channels].

    length: the number of tokens in the layer. It is a tensor while a model is exported.
    """

    is_compileable = False  # no part of `generate` is to be compiled by PyTorch
    is_croppable = True
    is_sliding = False

    def __init__(self, max_length: int, length: int | torch.Tensor = 0) -> None:
        super().__init__()
        self.max_length, self.length = max_length, length

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocates room for as many sequences as the given keys and values have."""
        self.keys, self.values = (
            _allocate(one.shape, self.max_length, one.dtype) for one in (key_states, value_states)
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Writes the keys and values of new tokens. Returns those of all tokens."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None and self.values is not None
        places = torch.arange(key_states.shape[2]) + self.length
        self.keys.index_copy_(2, places, key_states)
        self.values.index_copy_(2, places, value_states)
        return self.keys, self.values

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Returns the number of keys and the position of the first one."""
        return self.max_length, 0

    def get_seq_length(self) -> int | torch.Tensor:
        """Returns the number of tokens."""
        return self.length

    def get_max_length(self) -> int:
        """Returns the maximum number of tokens."""
        return self.max_length

    def reset(self) -> None:
        """Removes all tokens."""
        self.length = 0

    def crop(self, tokens_to_remove: int) -> None:
        """Removes the last tokens. transformers passes the number of tokens with a negative sign."""
        count = abs(tokens_to_remove)
        if count > self.length:
            raise ArgumentValueError(f"expected to remove at most {self.length} tokens of a cache, but got {count}")
        self.length -= count


class ProgramCache(Cache):  # type: ignore[misc]
    """The cache of one batch of sequences. `CompiledModel.new_cache` makes it.

    The memory is allocated at the first call, when the number of sequences is known.
    """

    def __init__(self, shapes: Sequence[LayerShape], max_length: int) -> None:
        super().__init__(layers=[CacheLayer(max_length) for _ in shapes])
        self.shapes, self.max_length = tuple(shapes), max_length

    @property
    def length(self) -> int:
        """The number of tokens of each sequence."""
        return int(self.layers[0].length)

    @property
    def sequences(self) -> int | None:
        """The number of sequences, or None before the first call."""
        return int(self.layers[0].keys.shape[0]) if self.layers[0].is_initialized else None

    def allocate(self, batch: int) -> None:
        """Allocates room for `batch` sequences if there is none yet."""
        for layer, shape in zip(self.layers, self.shapes, strict=True):
            if not layer.is_initialized:
                layer.keys, layer.values = (
                    _allocate((batch, heads, 0, channels), self.max_length, shape.dtype)
                    for heads, channels in (shape.keys, shape.values)
                )
                layer.is_initialized = True

    def advance(self, count: int) -> None:
        """Notes that `count` tokens were added."""
        for layer in self.layers:
            layer.length += count


def _allocate(shape: Sequence[int], max_length: int, dtype: torch.dtype) -> torch.Tensor:
    """Returns zeros for `max_length` tokens. shape: [batch, heads, any, channels]."""
    batch, heads, _, channels = shape
    return torch.zeros(batch, heads, max_length, channels, dtype=dtype)
