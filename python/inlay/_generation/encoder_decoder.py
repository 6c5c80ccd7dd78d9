# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles an encoder-decoder of transformers and puts programs in the places of its encoder and its forward.

There are three programs. The first one is the encoder. The second one computes the keys and values that the decoder's
cross-attention needs of the encoder's result. It runs once per generation. The third one is a step of the decoder. It
keeps these keys and values as states, beside those of its own tokens.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import nn
from torch.export import Dim
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicCache, EncoderDecoderCache

from .._compile.driver import compile as compile_program
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from .cache import CrossLayer, LayerShape, ProbedLayer, TracedLayer, allocate
from .encoder_runner import (
    MASK,
    CompiledEncoderDecoder,
    EncoderDecoderRunner,
    EncoderOutput,
    Programs,
    Source,
    count_words,
    replace_methods,
)
from .model import LEAST_MAXIMUM, Example, check_model, check_sizes, find_cache_name

_EXAMPLE_SOURCE = 5  # tokens of the encoder in the example inputs
_TOLERANCE = 1e-3  # of logits, in parts of the largest one: the steps of a model that is supported only round otherwise


class _Encoder(nn.Module):
    """The encoder, whose result is one tensor."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        return cast(torch.Tensor, self.encoder(**inputs, return_dict=True)[0])


class _Cross(nn.Module):
    """The keys and values of the cross-attention.

    states: the result of the encoder. mask: that of the encoder's inputs.
    """

    def __init__(self, model: PreTrainedModel, layers: int) -> None:
        super().__init__()
        self.model, self.layers = model, layers

    def forward(self, states: torch.Tensor, mask: torch.Tensor | None) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        own, cross = ([ProbedLayer() for _ in range(self.layers)] for _ in range(2))
        ids = torch.zeros(states.shape[0], 1, dtype=torch.int64)
        _call(self.model, states, mask, EncoderDecoderCache(Cache(layers=own), Cache(layers=cross)), ids, {})
        return [layer.keys for layer in cross], [layer.values for layer in cross]


class _Step(nn.Module):
    """One call of a decoder, with the cache as tensors.

    input_ids, attention_mask, past_mask, position_ids, keys, values: as those of a model without an encoder.
    source_mask: that of the encoder's inputs. cross_keys, cross_values: the tensors of each layer, which are read.
    """

    def __init__(self, model: PreTrainedModel, all_logits: bool, channels: int) -> None:
        """channels: of the encoder's result."""
        super().__init__()
        self.model, self.all_logits, self.channels = model, all_logits, channels
        self.accepted = inspect.signature(model.forward).parameters

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        past_mask: torch.Tensor,
        position_ids: torch.Tensor,
        source_mask: torch.Tensor | None,
        keys: list[torch.Tensor],
        values: list[torch.Tensor],
        cross_keys: list[torch.Tensor],
        cross_values: list[torch.Tensor],
    ) -> torch.Tensor:
        """Returns the logits of the last token, or of all tokens: [batch, 1 or tokens, words]."""
        length, count = past_mask.shape[1], input_ids.shape[1]
        own = [TracedLayer(*tensors, length, count) for tensors in zip(keys, values, strict=True)]
        cross = [CrossLayer(*tensors) for tensors in zip(cross_keys, cross_values, strict=True)]
        more: dict[str, Any] = {"decoder_attention_mask": torch.cat([past_mask, attention_mask], dim=1)}
        if "decoder_position_ids" in self.accepted:
            more["decoder_position_ids"] = position_ids
        if "logits_to_keep" in self.accepted and not self.all_logits:
            more["logits_to_keep"] = 1
        # Only the dims of the encoder's result matter, because the keys and values of the cross-attention are there. If
        # a model used the numbers, its logits would be NaN.
        dims = (cross_keys[0].shape[0], cross_keys[0].shape[2], self.channels)
        states = torch.full((), torch.nan, dtype=cross_keys[0].dtype).expand(dims)
        logits = _call(
            self.model,
            states,
            source_mask,
            EncoderDecoderCache(Cache(layers=own), Cache(layers=cross)),
            input_ids,
            more,
        )
        return logits if self.all_logits else logits[:, -1:]


def _call(
    model: PreTrainedModel,
    states: torch.Tensor,
    mask: torch.Tensor | None,
    cache: EncoderDecoderCache,
    ids: torch.Tensor,
    more: Mapping[str, Any],
) -> torch.Tensor:
    """Calls a model with the result of its encoder. Returns the logits."""
    arguments = {
        "encoder_outputs": EncoderOutput(last_hidden_state=states),
        "decoder_input_ids": ids,
        find_cache_name(model): cache,
        "use_cache": True,
        **more,
    }
    if mask is not None:
        arguments[MASK] = mask
    return cast(torch.Tensor, model(**arguments).logits)


def compile_encoder_decoder(
    model: Any,
    *,
    max_length: int,
    max_source_length: int | None,
    max_batch: int,
    all_logits: bool,
    encoder_inputs: Mapping[str, torch.Tensor] | None,
    options: Mapping[str, Any],
) -> CompiledEncoderDecoder:
    """See `inlay.generation.compile`."""
    check_model(model)
    check_sizes(model, max_length, max_batch)
    example = Example.make(max_length, max_batch)
    longest = _find_longest(model, max_length, max_source_length, encoder_inputs)
    source = _make_source(model, encoder_inputs, longest, example)
    own, cross = _find_shapes(model, source, max_length)
    _check_step(model, source, own, len(cross))
    encoder = compile_program(
        _Encoder(model.get_encoder()).eval(),
        (source.inputs,),
        dynamic_shapes=(dict.fromkeys(source.inputs, source.dims),),
        **options,
    )
    places = source.states.shape[1]
    cross_program = compile_program(
        _Cross(model, len(cross)).eval(),
        (source.states, source.mask),
        dynamic_shapes=(source.dims, source.dims if source.mask is not None else None),
        **options,
    )
    rows, layers = example.rows, len(own)
    cross_rows = {**rows, 2: source.dims[1]} if 1 in source.dims else rows
    program = compile_program(
        _Step(model, all_logits, source.states.shape[2]).eval(),
        (
            *example.inputs,
            source.mask,
            *allocate(own, example.batch, example.places),
            *allocate(cross, example.batch, places),
        ),
        dynamic_shapes=(
            *example.dims,
            source.dims if source.mask is not None else None,
            [rows] * layers,
            [rows] * layers,
            [cross_rows] * layers,
            [cross_rows] * layers,
        ),
        states=("keys", "values", "cross_keys", "cross_values"),
        **options,
    )
    programs = Programs(encoder, cross_program, program)
    return replace_methods(
        model,
        EncoderDecoderRunner(model, programs, source, layers, example, longest, (max_length, max_batch), all_logits),
    )


def _find_longest(model: PreTrainedModel, max_length: int, max_source_length: Any, encoder_inputs: Any) -> int:
    """Returns the maximum number of tokens that the encoder reads."""
    if encoder_inputs is not None and not isinstance(encoder_inputs, Mapping):
        raise ArgumentTypeError(
            f"encoder_inputs: expected tensors by the names of arguments of the encoder, but got "
            f"{type(encoder_inputs).__name__}"
        )
    if max_source_length is None:
        return max_length
    if encoder_inputs is not None:
        raise ArgumentValueError(
            f"max_source_length: expected none, because encoder_inputs fixes the dims that the encoder of "
            f"{type(model).__name__} reads"
        )
    if not isinstance(max_source_length, int) or isinstance(max_source_length, bool):
        raise ArgumentTypeError(f"max_source_length: expected an int, but got {type(max_source_length).__name__}")
    return max_source_length


def _make_source(
    model: PreTrainedModel, given: Mapping[str, torch.Tensor] | None, max_length: int, example: Example
) -> Source:
    """Returns example inputs of the encoder. given: those of an encoder that does not read tokens."""
    encoder, name = model.get_encoder(), type(model).__name__
    main = getattr(encoder, "main_input_name", model.main_input_name)
    accepted = inspect.signature(encoder.forward).parameters
    dims, words = dict(example.rows), 0
    if given is None:
        if main != "input_ids":
            raise UnsupportedError(
                f"the encoder of {name} reads {main} and not tokens: pass an example of its inputs for one sequence, "
                f"for example encoder_inputs={{{main!r}: torch.zeros(...)}}"
            )
        least = LEAST_MAXIMUM
        if max_length < least:
            raise ArgumentValueError(f"max_source_length: expected at least {least}, but got {max_length}")
        inputs = {main: torch.zeros(example.batch, _EXAMPLE_SOURCE, dtype=torch.int64)}
        inputs[MASK] = torch.ones_like(inputs[main])
        words = count_words(encoder, f"the encoder of {name}")
        dims[1] = Dim("source", min=1, max=max(max_length, _EXAMPLE_SOURCE + 1))
        _encode(model, {main: torch.zeros(1, max_length, dtype=torch.int64)})  # there must be that many positions
    else:
        if main == "input_ids":
            raise ArgumentValueError(f"encoder_inputs: expected none, because the encoder of {name} reads tokens")
        if main not in given:
            raise ArgumentValueError(f"encoder_inputs: expected {main!r}, but got {', '.join(given)}")
        inputs = {}
        for key, value in given.items():
            if not isinstance(value, torch.Tensor) or key not in accepted:
                raise ArgumentTypeError(
                    f"encoder_inputs: expected tensors for arguments of the encoder of {name}, but got {key!r}"
                )
            if value.shape[:1] != (1,):
                raise ArgumentValueError(
                    f"encoder_inputs: expected one sequence, but {key!r} has dims {list(value.shape)}"
                )
            inputs[key] = value.repeat_interleave(example.batch, 0)
    return Source(inputs, words, _encode(model, inputs), dims)


def _encode(model: PreTrainedModel, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Returns the result of the encoder in PyTorch."""
    try:
        with torch.no_grad():
            states = model.get_encoder()(**inputs, return_dict=True)[0]
    except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        dims = ", ".join(f"{name} {list(value.shape)}" for name, value in inputs.items())
        raise ArgumentValueError(f"the encoder of {type(model).__name__} fails for {dims}: {error}") from error
    return cast(torch.Tensor, states)


def _find_shapes(model: PreTrainedModel, source: Source, max_length: int) -> tuple[list[LayerShape], list[LayerShape]]:
    """Runs the decoder on `max_length` tokens. Returns the shapes of the keys and values of its layers.

    The second ones are those of the cross-attention.
    """
    own, cross = (Cache(layer_class_to_replicate=ProbedLayer) for _ in range(2))
    name = type(model).__name__
    try:
        with torch.no_grad():
            mask = source.mask[:1] if source.mask is not None else None
            ids = torch.zeros(1, max_length, dtype=torch.int64)
            _call(model, source.states[:1], mask, EncoderDecoderCache(own, cross), ids, {})
    except IndexError as error:
        raise ArgumentValueError(f"max_length: the decoder of {name} fails for {max_length} tokens: {error}") from error
    except (AssertionError, AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise UnsupportedError(
            f"expected an encoder-decoder whose state is keys and values, but {name} fails with such a cache: {error}"
        ) from error
    shapes = [[layer.shape for layer in cache.layers] for cache in (own, cross)]
    if not shapes[0] or len(shapes[0]) != len(shapes[1]) or None in shapes[0] + shapes[1]:
        raise UnsupportedError(
            f"expected an encoder-decoder whose layers all keep keys and values of both kinds of attention, but those "
            f"of {name} do not"
        )
    places = {layer.keys.shape[2] for layer in cross.layers}
    if places != {source.states.shape[1]}:
        raise UnsupportedError(
            f"expected a cross-attention to the {source.states.shape[1]} places of the encoder's result, but that of "
            f"{name} has {sorted(places)} places"
        )
    return shapes[0], shapes[1]


def _check_step(model: PreTrainedModel, source: Source, own: Sequence[LayerShape], layers: int) -> None:
    """Compares the modules that are compiled with the model, in PyTorch, for two steps of a text.

    A model whose decoder uses the encoder's result in another way than by cached keys and values fails.
    """
    inputs, batch, random = dict(source.inputs), source.states.shape[0], torch.Generator().manual_seed(0)
    if source.words:
        inputs["input_ids"] = torch.randint(0, source.words, inputs["input_ids"].shape, generator=random)
        inputs[MASK] = inputs[MASK].clone()
        inputs[MASK][0, -2:] = 0
    count = count_words(model.get_decoder(), f"the decoder of {type(model).__name__}")
    parts = [torch.randint(0, count, (batch, tokens), generator=random) for tokens in (2, 3)]
    mask, length = inputs.get(MASK), 0
    with torch.no_grad():
        states = _encode(model, inputs)
        step, cross = _Step(model, True, states.shape[2]).eval(), _Cross(model, layers)(states, mask)
        keys, values = allocate(own, batch, sum(part.shape[1] for part in parts))
        known = EncoderDecoderCache(DynamicCache(), DynamicCache())
        for ids in parts:
            end = length + ids.shape[1]
            ones, positions = torch.ones(batch, end, dtype=torch.int64), torch.arange(length, end).repeat(batch, 1)
            made = step(ids, ones[:, length:], ones[:, :length], positions, mask, keys, values, *cross)
            want = _call(model, states, mask, known, ids, {})
            length = end
            if not (made - want).abs().max() <= _TOLERANCE * want.abs().max():
                raise UnsupportedError(
                    f"expected a decoder that uses only keys and values of the encoder's result, but the logits of "
                    f"{type(model).__name__} differ then"
                )
