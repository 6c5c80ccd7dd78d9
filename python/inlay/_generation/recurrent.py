# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a model of transformers with recurrent layers, such as Mamba, alone or mixed with attention.

The program takes one token, because the code of these models for several tokens depends on their number. A prompt takes
a call per token. The states of convolutions and recurrences are states of the program.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, CacheLayerMixin, DummyLayer, DynamicCache, LinearAttentionLayer

from .._compile.driver import compile as compile_program
from .._paths import StrPath
from .._program.compiled import CompiledModule
from ..errors import UnsupportedError
from .cache import CountingLayer, ProgramCache, TracedLayer
from .model import (
    CompiledModel,
    Example,
    Runner,
    check_model,
    check_sizes,
    find_cache_name,
    replace_forward,
)

_PROBED = 6  # tokens of the runs in PyTorch that check a model
_PADDED = 2  # padding tokens of these runs


@dataclass(frozen=True)
class _Layer:
    """The tensors that a layer keeps for one sequence, without the dim of the sequence.

    keys, values: [heads, channels] if the layer has attention. states: those of convolutions and recurrences.
    conv: how many first states are those of convolutions.
    """

    keys: torch.Tensor | None
    values: torch.Tensor | None
    states: tuple[torch.Tensor, ...]
    conv: int


class _RecurrentLayer(LinearAttentionLayer):  # type: ignore[misc]
    """The recurrent layer of a model that is exported. Its states are tensors, which are written in place."""

    def __init__(self, states: Sequence[torch.Tensor], conv: int) -> None:
        """conv: how many first states are those of convolutions."""
        count = max(conv, len(states) - conv)
        LinearAttentionLayer.__init__(self, number_of_states=count)
        for number, state in enumerate(states[:conv]):
            self.conv_states[number], self.is_conv_states_initialized[number] = state, True
            self.conv_kernel_size[number] = state.shape[-1]
        for number, state in enumerate(states[conv:]):
            self.recurrent_states[number], self.is_recurrent_states_initialized[number] = state, True
        # States of zeros are those before the first token.
        self.has_previous_state = dict.fromkeys(range(count), True)
        if states:
            self.device, self.dtype = states[0].device, states[0].dtype


class _MixedLayer(_RecurrentLayer, TracedLayer):
    """A layer of a model that is exported which has attention and recurrent states."""

    def __init__(self, states: Sequence[torch.Tensor], conv: int, attention: TracedLayer) -> None:
        """attention: a layer for the same place that has attention alone."""
        TracedLayer.__init__(self, attention.keys, attention.values, attention.length, attention.count)
        _RecurrentLayer.__init__(self, states, conv)


class _Step(nn.Module):
    """One call of a model for one token, with the cache as tensors.

    input_ids, attention_mask, position_ids: int64[batch, 1]. past_mask: int64[batch, past]. The mask is 0 for padding,
    which changes no state. keys, values: the tensors of the layers with attention. recurrent: the states of the other
    layers. All of them are written.
    """

    def __init__(self, model: PreTrainedModel, layers: Sequence[_Layer]) -> None:
        super().__init__()
        self.model, self.layers = model, layers
        self.accepted = inspect.signature(model.forward).parameters

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        past_mask: torch.Tensor,
        position_ids: torch.Tensor,
        keys: list[torch.Tensor],
        values: list[torch.Tensor],
        recurrent: list[torch.Tensor],
    ) -> torch.Tensor:
        """Returns the logits: [batch, 1, words]."""
        old = [state.clone() for state in recurrent]
        arguments = {
            "input_ids": input_ids,
            find_cache_name(self.model): Cache(layers=self._make_layers(past_mask.shape[1], keys, values, recurrent)),
            "use_cache": True,
        }
        if keys and "attention_mask" in self.accepted:
            arguments["attention_mask"] = torch.cat([past_mask, attention_mask], dim=1)
        if "position_ids" in self.accepted:
            arguments["position_ids"] = position_ids
        logits = self.model(**arguments).logits
        for before, state in zip(old, recurrent, strict=True):
            is_token = attention_mask.reshape(-1, *[1] * (state.dim() - 1)) != 0
            state.copy_(torch.where(is_token, state, before))
        return cast(torch.Tensor, logits)

    def _make_layers(
        self, length: int, keys: list[torch.Tensor], values: list[torch.Tensor], recurrent: list[torch.Tensor]
    ) -> list[Any]:
        attention = (TracedLayer(*tensors, length, 1) for tensors in zip(keys, values, strict=True))
        states, made = iter(recurrent), []
        for layer in self.layers:
            own = [next(states) for _ in layer.states]
            if layer.keys is None:
                made.append(_RecurrentLayer(own, layer.conv) if own else DummyLayer())
            else:
                made.append(_MixedLayer(own, layer.conv, next(attention)) if own else next(attention))
        return made


def has_recurrent_layers(model: Any) -> bool:
    """Returns true if some layers of a decoder have states of convolutions or recurrences."""
    if not isinstance(model, PreTrainedModel) or model.config.is_encoder_decoder:
        return False
    try:
        layers = _make_cache(model).layers
    except (AttributeError, KeyError, TypeError, ValueError):
        return False  # `compile_model` says what it expects
    return any(isinstance(layer, LinearAttentionLayer) for layer in layers)


def _make_cache(model: PreTrainedModel) -> DynamicCache:
    return DynamicCache(config=model.config.get_text_config(decoder=True))


def compile_recurrent(
    model: Any, *, max_length: int, max_batch: int, all_logits: bool, options: Mapping[str, Any]
) -> CompiledModel:
    """See `inlay.generation.compile`."""
    check_model(model)
    check_sizes(model, max_length, max_batch)
    layers = _find_layers(model)
    may_pad = _check_step(model, layers)
    example = Example.make(max_length, max_batch, takes_one=True)
    states = _allocate(layers, example.batch, example.places)
    program = compile_program(
        _Step(model, layers).eval(),
        (*example.inputs, *states),
        dynamic_shapes=(*example.dims, *([example.rows] * len(tensors) for tensors in states)),
        states=("keys", "values", "recurrent"),
        **options,
    )
    return replace_forward(model, _Runner(model, program, len(layers), max_length, max_batch, all_logits, may_pad))


def _find_layers(model: PreTrainedModel) -> list[_Layer]:
    """Runs the model on some tokens to see what its layers keep."""
    cache, name = _make_cache(model), type(model).__name__
    try:
        with torch.no_grad():
            ids = torch.zeros(1, _PROBED, dtype=torch.int64)
            model(input_ids=ids, **{find_cache_name(model): cache, "use_cache": True})
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise UnsupportedError(
            f"expected a model whose layers keep keys and values or recurrent states, but {name} fails with a cache of "
            f"transformers: {error}"
        ) from error
    layers = []
    for layer in cache.layers:
        states, conv = [], 0
        if isinstance(layer, LinearAttentionLayer):
            kept = [
                [one for one in kind.values() if one is not None]
                for kind in (layer.conv_states, layer.recurrent_states)
            ]
            states, conv = [state[0] for state in kept[0] + kept[1]], len(kept[0])
        keys = values = None
        if isinstance(layer, CacheLayerMixin) and layer.keys is not None:
            keys, values = (one[0, :, 0] for one in (layer.keys, layer.values))
        layers.append(_Layer(keys, values, tuple(states), conv))
    return layers


def _allocate(layers: Sequence[_Layer], batch: int, places: int) -> tuple[list[torch.Tensor], ...]:
    """Returns keys, values and recurrent states of zeros."""

    def zeros(one: torch.Tensor, *dims: int) -> torch.Tensor:
        return torch.zeros(dims, dtype=one.dtype)

    keys, values = (
        [zeros(one, batch, one.shape[0], places, one.shape[1]) for one in kind if one is not None]
        for kind in ([layer.keys for layer in layers], [layer.values for layer in layers])
    )
    return keys, values, [zeros(state, batch, *state.shape) for layer in layers for state in layer.states]


def _check_step(model: PreTrainedModel, layers: Sequence[_Layer]) -> bool:
    """Compares the step for one token with the model, in PyTorch. Returns true if this also holds for padding."""
    ids = torch.randint(
        0,
        model.config.get_text_config(decoder=True).vocab_size,
        (2, _PROBED),
        generator=torch.Generator().manual_seed(0),
    )
    step = _Step(model, layers).eval()
    for padded in (0, _PADDED):
        mask = torch.ones_like(ids)
        mask[0, :padded] = 0
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        states = _allocate(layers, 2, _PROBED)
        more = {"position_ids": positions} if "position_ids" in step.accepted else {}
        with torch.no_grad():
            want = model(input_ids=ids, attention_mask=mask, use_cache=False, **more).logits[:, -1:]
            for place in range(_PROBED):
                here = slice(place, place + 1)
                made = step(ids[:, here], mask[:, here], mask[:, :place], positions[:, here], *states)
        tolerance = max(1e-3, 8 * torch.finfo(want.dtype).eps)
        if not (made - want).abs().max() <= tolerance * want.abs().max():
            if not padded:
                raise UnsupportedError(
                    f"expected a model that gives equal logits for tokens one at a time, but those of "
                    f"{type(model).__name__} differ"
                )
            return False
    return True


class _KeptLayer(CountingLayer):
    """A layer of a `_Cache`. A recurrence can't remove tokens."""

    is_croppable = False

    def crop(self, tokens_to_remove: int) -> None:
        """Raises UnsupportedError."""
        raise UnsupportedError("a cache with recurrent states can't remove tokens")


class _Cache(ProgramCache):
    """The cache of a model with recurrent layers."""

    layer_class = _KeptLayer


class _Runner(Runner):
    """Calls the program token by token."""

    def __init__(
        self,
        model: PreTrainedModel,
        program: CompiledModule,
        layers: int,
        max_length: int,
        max_batch: int,
        all_logits: bool,
        may_pad: bool,
    ) -> None:
        super().__init__(model, program, layers, 1, max_length, max_batch, all_logits)
        self.name, self.may_pad = type(model).__name__, may_pad

    def new_cache(self) -> ProgramCache:
        return _Cache(self.program, self.layers, self.max_length)

    def save(self, config: Any, path: StrPath, weights_file: str | None, replace_weights: bool) -> None:
        """Raises UnsupportedError."""
        raise UnsupportedError("a model with recurrent layers can't be saved yet")

    def _check_mask(self, mask: torch.Tensor | None, batch: int, total: int) -> torch.Tensor:
        seen = super()._check_mask(mask, batch, total)
        if not self.may_pad and not seen.all():
            raise UnsupportedError(
                f"attention_mask: expected no padding, because padding changes the recurrent states of {self.name}"
            )
        return seen
