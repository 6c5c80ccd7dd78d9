# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs that Inlay compiled on NumPy arrays, without the compiler and without a framework.

    program = inlay_runtime.load("model.inlay")
    y = program(x)

`generate` and `stream` generate text with language models.
"""

from .cache import Cache
from .generation import Completion, GenerateOptions, Piece, StopReason, generate, stream
from .library import Error, version
from .program import Program, Session, TensorInfo, load
from .sampling import Sampling
from .settings import GenerationSettings

__all__ = [
    "Cache",
    "Completion",
    "Error",
    "GenerateOptions",
    "GenerationSettings",
    "Piece",
    "Program",
    "Sampling",
    "Session",
    "StopReason",
    "TensorInfo",
    "generate",
    "load",
    "stream",
    "version",
]
