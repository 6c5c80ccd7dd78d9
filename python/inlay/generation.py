# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles language models of transformers for text generation.

    model = inlay.generation.compile(model, max_length=1024)
    tokens = model.generate(**tokenizer("The capital of France is", return_tensors="pt"), max_new_tokens=20)

`model.save("model.inlay")` writes a file from which `inlay_runtime.generate` generates text without PyTorch and
transformers.

Needs the package `transformers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ArgumentValueError, Error

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from ._generation.model import CompiledModel

__all__ = ["compile"]


def compile(
    model: Any,
    *,
    max_length: int,
    max_batch: int = 1,
    all_logits: bool = False,
    max_source_length: int | None = None,
    encoder_inputs: Mapping[str, torch.Tensor] | None = None,
    **options: Any,
) -> CompiledModel:
    """Compiles a language model of transformers, with an encoder or without one.

    Returns a copy of the model that shares its weights. Its `generate` runs the compiled program for prompts and for
    single tokens. The program has one compilation for all lengths and positions. All sampling, stopping criteria, beams
    and streamers of transformers work, because `generate` is that of transformers.

    Keys and values are in a cache of `max_length` tokens per sequence. `generate` makes a cache for each call. To
    continue a text, make a cache with `new_cache()` and pass it to several calls.

    model: a model of transformers in evaluation mode whose class has `generate`.
    max_length: the maximum number of tokens of a sequence, prompt included. Those of an encoder do not count.
    max_batch: the maximum number of sequences in a call. A beam is a sequence (default: 1).
    all_logits: compute the logits of all given tokens, which assisted decoding needs, and not only of the last one
        (default: False).
    max_source_length: the maximum number of tokens that an encoder reads (default: max_length).
    encoder_inputs: example inputs, for one sequence, of an encoder that does not read tokens, by name. All sequences
        have inputs of these dims (default: the encoder reads tokens).
    options: options of `inlay.compile`, for example `targets`.

    A call of the model returns the logits of the last token, or those of all given tokens with `all_logits`.

    Raises UnsupportedError for models whose state the program can't keep.
    """
    try:
        from ._generation.encoder_decoder import compile_encoder_decoder
        from ._generation.model import compile_model, has_encoder
        from ._generation.recurrent import compile_recurrent, has_recurrent_layers
    except ImportError as error:
        raise Error("text generation needs the package transformers: pip install transformers") from error
    sizes: Any = {"max_length": max_length, "max_batch": max_batch, "all_logits": all_logits, "options": options}
    if has_encoder(model):
        return compile_encoder_decoder(
            model, **sizes, max_source_length=max_source_length, encoder_inputs=encoder_inputs
        )
    if max_source_length is not None or encoder_inputs is not None:
        raise ArgumentValueError("max_source_length and encoder_inputs are for models with an encoder")
    if has_recurrent_layers(model):
        return compile_recurrent(model, **sizes)
    return compile_model(model, **sizes)
