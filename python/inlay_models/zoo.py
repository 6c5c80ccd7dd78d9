# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The architectures that people run, with random weights from a fixed seed.

Each is a function of `tiny`: in its usual size, or in one of the same graph per layer that compiles in a second. Models
named after a paper are its `transformers` implementation where there is one; that package is needed to make them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from . import language, vision


@dataclass(frozen=True)
class Example:
    """A model in evaluation mode and the arguments to call it with."""

    model: nn.Module
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None

    def __call__(self, function: Callable[..., Any] | None = None) -> Any:
        """Calls `function`, the model by default, with the arguments."""
        return (self.model if function is None else function)(*self.args, **(self.kwargs or {}))


ZOO: dict[str, Callable[[bool], tuple[nn.Module, tuple[Any, ...], dict[str, Any] | None]]] = {
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
    """The Example of a name of ZOO; the same seed gives the same weights and inputs."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, args, kwargs = ZOO[name](tiny)
    return Example(model.eval(), args, kwargs)
