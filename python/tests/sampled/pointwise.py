# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that work element by element."""

import torch

from .entry import Sampled, dtype_in

_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)

# Not on buffers of booleans yet.
_BOOL = {"buffers of i1": dtype_in(torch.bool)}

# Devices promise nothing of angles beyond pi, and lose all digits far from it.
_ANGLES = {"large angles": lambda sample: bool((sample.args[0].double().abs() > 1e4).any())}

OPS = [
    Sampled("abs", torch={"booleans": dtype_in(torch.bool)}),
    Sampled("add", torch={"booleans": dtype_in(torch.bool)}, host=_BOOL),
    Sampled("ceil", torch={"integers": dtype_in(*_INTEGERS)}),
    Sampled("cos", skip=_ANGLES, host=_BOOL),
    Sampled("div", variant="no_rounding_mode", host=_BOOL),
    Sampled("erf", host=_BOOL),
    Sampled("exp", host=_BOOL),
    Sampled("floor", torch={"integers": dtype_in(*_INTEGERS)}),
    Sampled("lgamma", host={"a library function": lambda sample: True}),
    Sampled("log", host=_BOOL),
    Sampled("maximum", torch={"booleans": dtype_in(torch.bool)}),
    Sampled("minimum", torch={"booleans": dtype_in(torch.bool)}),
    Sampled("mul", torch={"booleans": dtype_in(torch.bool)}, host=_BOOL),
    Sampled("neg"),
    Sampled("nn.functional.gelu"),
    Sampled("nn.functional.relu"),
    Sampled("nn.functional.silu"),
    Sampled("pow", torch={"integers": dtype_in(*_INTEGERS, torch.bool)}, host=_BOOL),
    Sampled("reciprocal", host=_BOOL),
    Sampled("rsqrt", host=_BOOL),
    Sampled("sigmoid", host=_BOOL),
    Sampled("sin", skip=_ANGLES, host=_BOOL),
    Sampled("sqrt", host=_BOOL),
    Sampled("sub"),
    Sampled("tanh", host=_BOOL),
]
