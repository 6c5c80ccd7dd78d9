# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of copies of views into the views. Every result of a program has memory of its own."""

from __future__ import annotations

import torch

from .common import Decompositions

aten = torch.ops.aten

DECOMPOSITIONS: Decompositions = {
    aten.as_strided_copy.default: aten.as_strided.default,
    aten.narrow_copy.default: aten.narrow.default,
    aten.permute_copy.default: aten.permute.default,
    aten.unbind_copy.int: aten.unbind.int,
    aten.view_copy.default: aten.view.default,
}
