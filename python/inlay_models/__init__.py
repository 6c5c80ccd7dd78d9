# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models for the demo, tests and benchmarks. Weights come from a fixed seed: no file, no download.

`small` has those of the demo, `zoo` the architectures that people run, each in its usual size and in a tiny one.
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
