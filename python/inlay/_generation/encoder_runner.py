# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts compiled programs in the places of the encoder and the forward of an encoder-decoder."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

from .._paths import StrPath
from .._program.compiled import CompiledModule
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from .cache import ProgramCache, Tokens
from .model import (
    CompiledModel,
    Example,
    Runner,
    assisted_decoding,
    check_words,
    copy_model,
    copy_module,
    wrap_forward,
)

MASK = "attention_mask"  # the mask of the encoder's input


class CompiledEncoderDecoder(CompiledModel):
    """An encoder-decoder of transformers whose encoder and forward are compiled programs.

    It is a subclass of the class of the model.
    """

    encoder_program: CompiledModule
    """The encoder."""
    cross_program: CompiledModule
    """Computes the keys and values of the cross-attention from the result of the encoder."""


@dataclass
class EncoderOutput(BaseModelOutput):  # type: ignore[misc]
    """The result of an encoder. A mixture of experts reads the field of the router, which is None in `generate` too."""

    router_logits: tuple[torch.Tensor, ...] | None = None


@dataclass(frozen=True)
class Source:
    """Example inputs of the encoder by name. words: the size of its vocabulary, or 0 if it does not read tokens.

    states: the result of the encoder for these inputs: [batch, places, channels]. dims: the dynamic dims of an input.
    """

    inputs: dict[str, torch.Tensor]
    words: int
    states: torch.Tensor
    dims: dict[int, Any]

    @property
    def mask(self) -> torch.Tensor | None:
        """The mask of the inputs: 0 for padding."""
        return self.inputs.get(MASK)


@dataclass(frozen=True)
class Programs:
    """The programs of a model. cross: the keys and values of the cross-attention. step: a step of the decoder."""

    encoder: CompiledModule
    cross: CompiledModule
    step: CompiledModule


def count_words(module: Any, name: str) -> int:
    """Returns the size of the vocabulary of an encoder or a decoder. name: that in messages."""
    embedding = module.get_input_embeddings() if hasattr(module, "get_input_embeddings") else None
    if not isinstance(embedding, nn.Embedding):
        raise UnsupportedError(f"expected an embedding of tokens, but {name} has {type(embedding).__name__}")
    return embedding.num_embeddings


class _CrossCache(ProgramCache):
    """The cache of a decoder, which also holds the keys and values of the cross-attention.

    mask: that of the encoder's inputs for the next step.
    """

    mask: torch.Tensor | None = None

    def __init__(self, programs: Programs, layers: int, max_length: int) -> None:
        super().__init__(programs.step, layers, max_length)
        self._cross_program = programs.cross
        self.states: torch.Tensor | None = None  # the result of the encoder

    @property
    def places(self) -> int:
        """The number of places of the encoder's result."""
        return 0 if self.states is None else self.states.shape[1]

    def start(self, states: torch.Tensor) -> None:
        """Computes the keys and values of the cross-attention for a result of the encoder."""
        self.states = states
        self.restart()

    def step(self, new: Tokens, seen: torch.Tensor) -> torch.Tensor:
        """Runs the program on new tokens. Returns their logits. seen: the mask for the tokens in the cache."""
        return cast(torch.Tensor, self.session(new.ids, new.mask, seen, new.positions, self.mask))

    def restart(self) -> None:
        """Makes the states those of an empty cache for the same result of the encoder."""
        super().restart()
        keys, values = self._cross_program(self.states, self.mask)
        self.session.load_state_dict(
            {
                f"{name}_{layer}": tensor
                for name, tensors in (("cross_keys", keys), ("cross_values", values))
                for layer, tensor in enumerate(tensors)
            }
        )

    def reset(self) -> None:
        """Removes all tokens. The next call may have another number of sequences and another source."""
        super().reset()
        self.states = None

    def _change_sequences(self, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super()._change_sequences(change)
        self.states = change(self.states) if self.states is not None else None


class EncoderDecoderRunner(Runner):
    """Calls the programs with the arguments that `generate` passes to an encoder-decoder."""

    prefix = "decoder_"

    def __init__(
        self,
        model: PreTrainedModel,
        programs: Programs,
        source: Source,
        layers: int,
        example: Example,
        max_source_length: int,
        sizes: tuple[int, int],
        all_logits: bool,
    ) -> None:
        """sizes: (max_length, max_batch)."""
        super().__init__(model, programs.step, layers, example.chunk, *sizes, all_logits)
        self.programs, self.source, self.max_source_length = programs, source, max_source_length
        self.words = count_words(model.get_decoder(), f"the decoder of {type(model).__name__}")
        self.positions = self.max_length
        self.accepts_positions = "decoder_position_ids" in inspect.signature(model.forward).parameters

    def new_cache(self) -> ProgramCache:
        return _CrossCache(self.programs, self.layers, self.max_length)

    def save(self, config: Any, path: StrPath, weights_file: str | None, replace_weights: bool) -> None:
        """Raises UnsupportedError."""
        raise UnsupportedError("a model with an encoder can't be saved yet")

    def take_source(self, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any], Any]:
        """Removes the arguments of the encoder. Returns (result of the encoder or None, its inputs, their mask)."""
        inputs = {name: arguments.pop(name) for name in self.source.inputs if name in arguments and name != MASK}
        if arguments.get("decoder_position_ids") is not None and not self.accepts_positions:
            raise UnsupportedError("the model has no argument 'decoder_position_ids'")
        if arguments.get(self.cache_name) is None and arguments.get("use_cache") is False:
            del arguments["use_cache"]
        return arguments.pop("encoder_outputs", None), inputs, arguments.pop(MASK, None)

    def start(self, cache: ProgramCache, source: tuple[Any, dict[str, Any], Any], batch: int) -> None:
        """Prepares a cache for tokens of a batch. An empty cache gets the keys and values of the cross-attention."""
        assert isinstance(cache, _CrossCache)
        outputs, inputs, mask = source
        if cache.length:
            if outputs is not None and not _are_equal(outputs[0], cache.states):
                raise ArgumentValueError(
                    "encoder_outputs: expected the result with which the cache began, but got another one: call "
                    "reset() of the cache to begin with it"
                )
            cache.mask = self._complete_mask(mask, (batch, cache.places))
            return
        states = outputs[0] if outputs is not None else self.encode({**inputs, MASK: mask})
        if not isinstance(states, torch.Tensor) or states.dim() != 3 or states.shape[0] != batch:
            given = list(states.shape) if isinstance(states, torch.Tensor) else type(states).__name__
            raise ArgumentValueError(
                f"encoder_outputs: expected a result with dims [{batch}, places, {self.source.states.shape[2]}], for "
                f"as many sequences as decoder_input_ids has, but got {given}"
            )
        if states.requires_grad and torch.is_grad_enabled():
            raise ArgumentValueError(
                "encoder_outputs: requires grad, but a compiled model records nothing for autograd: pass it detached"
            )
        self._check_length("encoder_outputs", states.shape[1])
        cache.mask = self._complete_mask(mask, states.shape[:2])
        cache.start(states)

    def encode(self, arguments: dict[str, Any]) -> torch.Tensor:
        """Runs the encoder on arguments by name. Returns its result."""
        inputs = {name: arguments.pop(name, None) for name in self.source.inputs if name != MASK}
        mask = arguments.pop(MASK, None)
        self.check_neutral(arguments)
        for name, value in inputs.items():
            if not isinstance(value, torch.Tensor):
                raise ArgumentTypeError(f"{name}: expected a tensor, but got {type(value).__name__}")
            if self.source.words and value.dim() != 2:
                raise ArgumentTypeError(f"{name}: expected a tensor int64[batch, tokens]")
            if self.source.words:
                self._check_length(name, value.shape[1])
                check_words(name, value, self.source.words)
            if value.shape[0] > self.max_batch:
                raise ArgumentValueError(
                    f"{name}: expected at most {self.max_batch} sequences, but got {value.shape[0]}; compile with a "
                    "larger max_batch"
                )
        mask = self._complete_mask(mask, next(iter(inputs.values())).shape[:2])
        if mask is not None:
            inputs[MASK] = mask
        return cast(torch.Tensor, self.programs.encoder(inputs))

    def _check_length(self, name: str, length: int) -> None:
        if self.source.words and not 1 <= length <= self.max_source_length:
            raise ArgumentValueError(
                f"{name}: expected 1 to {self.max_source_length} tokens, but got {length}; compile with a larger "
                "max_source_length"
            )

    def _complete_mask(self, mask: torch.Tensor | None, dims: Sequence[int]) -> torch.Tensor | None:
        """Returns the mask of the encoder's inputs: 1 for all of them by default. None if the model has none.

        dims: those of the mask of tokens.
        """
        example = self.source.mask
        if example is None:
            if mask is not None:
                raise UnsupportedError(
                    "attention_mask: the model was compiled without it; compile with an attention_mask in "
                    "encoder_inputs"
                )
            return None
        dims = tuple(dims) if self.source.words else (dims[0], *example.shape[1:])
        if mask is None:
            return torch.ones(dims, dtype=example.dtype)
        if not isinstance(mask, torch.Tensor) or mask.shape != dims:
            given = list(mask.shape) if isinstance(mask, torch.Tensor) else type(mask).__name__
            raise ArgumentValueError(f"attention_mask: expected dims {list(dims)}, but got {given}")
        return mask.ne(0).to(example.dtype)


def replace_methods(model: PreTrainedModel, runner: EncoderDecoderRunner) -> CompiledEncoderDecoder:
    """Returns a copy of a model whose encoder and forward call the programs."""
    original: Any = type(model)

    def encode(arguments: dict[str, Any]) -> EncoderOutput:
        return EncoderOutput(last_hidden_state=runner.encode(arguments))

    encoder = copy_module(model.get_encoder(), {"forward": wrap_forward(type(model.get_encoder()), encode)})

    def forward(arguments: dict[str, Any]) -> Seq2SeqLMOutput:
        keeps_cache = arguments.get("use_cache") is not False
        logits, cache = runner.run(arguments)
        assert isinstance(cache, _CrossCache)
        made = Seq2SeqLMOutput(logits=logits, encoder_last_hidden_state=cache.states)
        if keeps_cache:
            made[runner.cache_name] = cache
        return made

    @functools.wraps(original.generate)
    def generate(self: Any, *args: Any, **kwargs: Any) -> Any:
        prompt = kwargs.get("decoder_input_ids")
        first = torch.zeros(1, 1, dtype=torch.int64)  # `generate` makes the first token
        runner.limit_length(first if prompt is None else prompt, kwargs, self.generation_config)
        return original.generate(self, *args, **kwargs)

    def save(self: Any, path: StrPath, weights_file: str | None = None, replace_weights: bool = False) -> None:
        runner.save(self.generation_config, path, weights_file, replace_weights)

    def get_encoder(self: Any, *args: Any, **kwargs: Any) -> Any:
        return original.get_encoder(self, *args, **kwargs) if args or kwargs else encoder

    def prepare_cache(
        self: Any, generation_config: Any, model_kwargs: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Makes the cache of a call of `generate`. Whisper calls it for each part of a long text."""
        if model_kwargs.get(runner.cache_name) is None and generation_config.use_cache is not False:
            model_kwargs[runner.cache_name] = runner.new_cache()
        return original._prepare_cache_for_generation(self, generation_config, model_kwargs, *args, **kwargs)

    made = copy_model(
        model,
        {
            "forward": wrap_forward(original, forward),
            "generate": generate,
            "save": save,
            "get_encoder": get_encoder,
            "_prepare_cache_for_generation": prepare_cache,
            **assisted_decoding(original, runner),
        },
    )
    made.__dict__.update(
        program=runner.program,
        encoder_program=runner.programs.encoder,
        cross_program=runner.programs.cross,
        new_cache=runner.new_cache,
    )
    return cast(CompiledEncoderDecoder, made)


def _are_equal(one: Any, other: Any) -> bool:
    """Returns true if both are the same tensor or have the same numbers. NaN equals NaN."""
    if one is other:
        return True
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor) or one.shape != other.shape:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())
