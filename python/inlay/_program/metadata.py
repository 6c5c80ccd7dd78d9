# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The vocabulary of a saved model's metadata: the part of a container that is Python's own (docs/container.md).

The metadata is JSON and holds no code. Values are of a few plain kinds, sizes are trees of operators from a list, and
structures are PyTorch's own text for them, of containers from a list.
"""

from __future__ import annotations

import math

import sympy
import torch
from torch.utils._sympy import functions as F

from .outputs import BufferOutput, InputOutput, ResultOutput, SizeOutput, ValueOutput, WeightsOutput

VERSION = 1

OPERATORS = {
    one.__name__: one
    for one in (
        *(sympy.Add, sympy.Mul, sympy.Pow, sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge),
        *(sympy.And, sympy.Or, sympy.Not, F.FloorDiv, F.CleanDiv, F.CeilDiv, F.Mod, F.PythonMod, F.ModularIndexing),
        *(F.Max, F.Min, F.PowByNatural, F.FloorToInt, F.TruncToInt, F.CeilToInt, F.IntTrueDiv, F.Identity),
    )
}
TORCH_KINDS = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}
OUTPUT_KINDS = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}
OUTPUT_KINDS = {  # of the outputs that are saved
    ResultOutput: "result",
    InputOutput: "input",
    ValueOutput: "value",
    SizeOutput: "size",
    WeightsOutput: "weights",
    BufferOutput: "buffer",
}


def is_plain(value: object) -> bool:
    """Returns true if JSON holds the value as it is."""
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def is_int(value: object) -> bool:
    """Returns true if the value is an int and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)
