# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompositions of reads at indices."""

from __future__ import annotations

import torch

from .common import Decompositions

aten = torch.ops.aten


def _take(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Returns x.reshape(-1)[index]. Brackets would read an index without dims as an int, which no trace can do."""
    taken: torch.Tensor = aten.index.Tensor(x.reshape(-1), [index])
    return taken


DECOMPOSITIONS: Decompositions = {aten.take.default: _take}
