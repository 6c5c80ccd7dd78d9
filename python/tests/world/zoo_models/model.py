# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of the tests, and the inputs of a call of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

SEED = 0


class Instance(NamedTuple):
    """A model in evaluation mode, and the keyword arguments of a call. If `inputs` is a tuple, they are positional."""

    module: torch.nn.Module
    inputs: dict[str, Any] | tuple[Any, ...]


class Model(NamedTuple):
    """An architecture. name: library/architecture. make: builds it with random weights, the same in each run."""

    name: str
    make: Callable[[], Instance]
