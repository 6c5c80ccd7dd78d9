# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors made from numbers and sizes alone, where import doesn't know them: others are constants."""

import torch

from ...._program.sizes import Size

# Calls that give a tensor of one number, or of whatever is in memory -> the number.
_FILLED = {
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


def handlers():
    """ATen name -> handler."""
    return {
        **dict.fromkeys(_FILLED, _handle_filled),
        **dict.fromkeys(("arange", "arange.start", "arange.start_step"), _handle_arange),
    }


def _handle_filled(walker, call):
    number = _FILLED[call.name](call)
    if isinstance(number, torch.fx.Node):
        return None
    return walker.splat(number, call.shape, call.dtype, suffix=None)


def _handle_arange(walker, call):
    start, step = call.get("start", 0), call.get("step", 1)
    if not all(isinstance(number, (int, Size)) for number in (start, call["end"], step)):
        return None
    value = walker.iota(call.shape[0], "iota")
    # In integers, as they are exact; PyTorch's floats round once too.
    for name, number, neutral in (("mul", step, 1), ("add", start, 0)):
        if number != neutral:
            operands = [value, walker.scalar(number, torch.int64)]
            value = walker.op(name, operands, shape=value.shape, dtype=torch.int64, suffix=name)
    return walker.cast(value, call.dtype)
