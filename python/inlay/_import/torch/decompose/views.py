# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of copies of views into the views. Every result of a program has memory of its own."""

from __future__ import annotations

import torch

from .common import Decompositions

aten = torch.ops.aten

DECOMPOSITIONS: Decompositions = {
    aten.narrow_copy.default: aten.narrow.default,
    aten.permute_copy.default: aten.permute.default,
}
