# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds models of transformers whose parameters a file will give."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..errors import UnsupportedError


def build_model(config: Any) -> nn.Module:
    """Returns a model whose parameters are on `meta`, and whose buffers have their values."""
    import transformers

    with torch.device("meta"):
        model: Any = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    for name, buffer in list(model.named_buffers()):
        module, attribute = model.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2]
        fill = float("nan") if buffer.is_floating_point() else 0
        module._buffers[attribute] = torch.full(buffer.shape, fill, dtype=buffer.dtype, device="cpu")
    model.initialize_weights()
    for name, buffer in model.named_buffers():
        if not buffer.is_floating_point() or buffer.isnan().any():
            raise UnsupportedError(f"expected {type(model).__name__} to initialize its buffer '{name}'")
    built: nn.Module = model
    return built
