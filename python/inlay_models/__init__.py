# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models for tests and benchmarks, with random weights from a fixed seed. They need no files and no downloads.

`small` has small models. `zoo` has widely used architectures, each in its usual size and in a tiny one.
"""

from .small import ALL, Dependencies, Encoder, EncoderLayer, dependencies, encoder, resnet18
from .zoo import ZOO, Example, make

__all__ = [
    "ALL",
    "ZOO",
    "Dependencies",
    "Encoder",
    "EncoderLayer",
    "Example",
    "dependencies",
    "encoder",
    "make",
    "resnet18",
]
