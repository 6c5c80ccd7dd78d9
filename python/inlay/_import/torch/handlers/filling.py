# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports calls that make tensors of numbers and sizes, if their sizes are not known at import.

With known sizes, such a call is a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...._program.sizes import Size
from ..call import Call
from ..walker import Handler, HandlerResult, Walker

# ATen name of a call that fills a tensor -> function that returns the number. Uninitialized tensors are filled with 0.
_FILL_VALUES: dict[str, Callable[[Call], Any]] = {
    "empty.memory_format": lambda call: 0,
    "empty_like": lambda call: 0,
    "empty_permuted": lambda call: 0,
    "empty_strided": lambda call: 0,
    "full": lambda call: call["fill_value"],
    "full_like": lambda call: call["fill_value"],
    "new_empty": lambda call: 0,
    "new_empty_strided": lambda call: 0,
    "new_full": lambda call: call["fill_value"],
    "new_ones": lambda call: 1,
    "new_zeros": lambda call: 0,
    "ones": lambda call: 1,
    "ones_like": lambda call: 1,
    "scalar_tensor": lambda call: call["s"],
    "zeros": lambda call: 0,
    "zeros_like": lambda call: 0,
}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    return {
        **dict.fromkeys(_FILL_VALUES, _handle_filled),
        **dict.fromkeys(("arange", "arange.start", "arange.start_step"), _handle_arange),
    }


def _handle_filled(walker: Walker, call: Call) -> HandlerResult:
    number = _FILL_VALUES[call.name](call)
    if isinstance(number, torch.fx.Node):
        return None
    return walker.splat(number, call.shape, call.dtype, suffix=None)


def _handle_arange(walker: Walker, call: Call) -> HandlerResult:
    start, step = call.get("start", 0), call.get("step", 1)
    if not all(isinstance(number, (int, Size)) for number in (start, call["end"], step)):
        return None
    value = walker.iota(call.shape[0], "iota")
    # Integers are exact, so the cast to a float type rounds only once, as in PyTorch.
    for name, number, neutral in (("mul", step, 1), ("add", start, 0)):
        if number != neutral:
            operands = [value, walker.scalar(number, torch.int64)]
            value = walker.op(name, operands, shape=value.shape, dtype=torch.int64, suffix=name)
    return walker.cast(value, call.dtype)
