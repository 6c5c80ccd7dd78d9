# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Widely used architectures, with random weights from a fixed seed.

Each is a function of `tiny`. A tiny model has layers with the same graph, but compiles in a second. A model of a paper
is its implementation in the package `transformers` if there is one. That package is needed to make the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from . import language, vision
from .types import Parts


@dataclass(frozen=True)
class Example:
    """A model in evaluation mode and the arguments to call it with."""

    model: nn.Module
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None

    def __call__(self, function: Callable[..., Any] | None = None) -> Any:
        """Calls `function` with the arguments and returns its result (default: the model)."""
        return (self.model if function is None else function)(*self.args, **(self.kwargs or {}))


ZOO: dict[str, Callable[[bool], Parts]] = {
    "resnet18": vision.resnet18,
    "resnet50": vision.resnet50,
    "mobilenetv3": vision.mobilenetv3,
    "vit_b16": vision.vit_b16,
    "unet": vision.unet,
    "bert": language.bert,
    "gpt2": language.gpt2,
    "llama": language.llama,
    "llama_cached": language.llama_cached,
    "t5": language.t5,
    "whisper_encoder": language.whisper_encoder,
    "mixtral": language.mixtral,
    "lstm": language.lstm,
}


def make(name: str, tiny: bool = False, seed: int = 0) -> Example:
    """Returns a model of ZOO with example arguments.

    name: a key of ZOO.
    tiny: make a model that compiles in a second (default: False).
    seed: the seed of the weights and arguments (default: 0).
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, args, kwargs = ZOO[name](tiny)
    return Example(model.eval(), args, kwargs)
