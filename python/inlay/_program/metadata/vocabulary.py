# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The vocabulary of the metadata that Python stores in a container (docs/container.md).

The metadata is JSON without code. Values have a few plain types. Sizes are trees of the operators below. Structures of
arguments are PyTorch's text for them and may only have known containers.
"""

from __future__ import annotations

import math

import sympy
import torch
from torch.utils._sympy import functions as F

from ..outputs import BufferOutput, InputOutput, Output, ResultOutput, SizeOutput, ValueOutput, WeightsOutput

VERSION = 1
PASSED_ON = ("generation",)  # the parts that only other packages read

OPERATORS: dict[str, type[sympy.Basic]] = {
    operator.__name__: operator
    for operator in (
        *(sympy.Add, sympy.Mul, sympy.Pow, sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge),
        *(sympy.And, sympy.Or, sympy.Not, F.FloorDiv, F.CleanDiv, F.CeilDiv, F.Mod, F.PythonMod, F.ModularIndexing),
        *(F.Max, F.Min, F.PowByNatural, F.FloorToInt, F.TruncToInt, F.CeilToInt, F.IntTrueDiv, F.Identity),
    )
}
TORCH_KINDS: dict[str, type] = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}
OUTPUT_KINDS: dict[type[Output], str] = {  # the outputs that can be saved
    ResultOutput: "result",
    InputOutput: "input",
    ValueOutput: "value",
    SizeOutput: "size",
    WeightsOutput: "weights",
    BufferOutput: "buffer",
}


def is_plain(value: object) -> bool:
    """Returns true if JSON can store the value as it is."""
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def is_int(value: object) -> bool:
    """Returns true if the value is an int but no bool."""
    return isinstance(value, int) and not isinstance(value, bool)
