# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of the gradients of activations."""

from __future__ import annotations

import math

import torch
from torch._decomp import decomposition_table

from .common import Decompositions, widen

aten = torch.ops.aten


def _gelu_backward(gradient: torch.Tensor, self: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    if approximate != "tanh":
        result: torch.Tensor = decomposition_table[aten.gelu_backward.default](gradient, self, approximate)
        return result
    # The function is x sigmoid(v). PyTorch's own formula has 1 + tanh(v / 2), which loses all digits for negative x.
    x, scale = widen(self), 2 * math.sqrt(2 / math.pi)
    v = scale * (x + 0.044715 * x * x * x)
    slope = scale * (1 + 3 * 0.044715 * x * x)
    derivative = torch.sigmoid(v) + x * torch.sigmoid(v) * torch.sigmoid(-v) * slope
    return (widen(gradient) * derivative).to(gradient.dtype)


DECOMPOSITIONS: Decompositions = {aten.gelu_backward.default: _gelu_backward}
