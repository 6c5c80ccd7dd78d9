# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports reductions, arg reductions and cumulative sums and products."""

from __future__ import annotations

import math

import torch

from ...._program.imported import Dims
from ..call import Call, dim_list
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    dims = ("mean", "mean.dim", "sum", "sum.dim_IntList", "amax", "amin", "prod", "prod.dim_int")
    tests = [f"{base}{overload}" for base in ("any", "all") for overload in ("", ".dim", ".dims")]
    return {
        **dict.fromkeys(dims, _handle_reduction),
        **dict.fromkeys(tests, _handle_reduction),
        **dict.fromkeys(("max", "min"), _handle_extreme),
        **dict.fromkeys(("max.dim", "min.dim"), _handle_extreme_and_place),
        **dict.fromkeys(("argmax", "argmin"), _handle_place),
        **dict.fromkeys(("cumsum", "cumprod"), _handle_scan),
    }


def _handle_reduction(walker: Walker, call: Call) -> HandlerResult:
    return _reduce(walker, call, call.base, call.get("dim"), call.shape)


def _handle_extreme(walker: Walker, call: Call) -> HandlerResult:
    return _reduce(walker, call, f"a{call.base}", None, call.shape)


def _reduce(
    walker: Walker, call: Call, name: str, dim: int | list[int] | None, shape: Dims, suffix: str | None = None
) -> Value:
    """Writes the reduction `name` of the call's operand over `dim` (None for all dims), in the dtype of the result."""
    x = walker.tensor(call["self"])
    if name not in ("any", "all"):
        x = walker.cast(x, call.dtype)
    if not x.shape:
        return walker.cast(x, call.dtype)
    dims = sorted(dim_list(dim, len(x.shape)))
    attributes = {"dims": dims, "keepdim": call.get("keepdim", False)}
    return walker.op(name, [x], attributes, shape=shape, dtype=call.dtype, suffix=suffix)


def _handle_extreme_and_place(walker: Walker, call: Call) -> HandlerResult:
    values, places = call.val
    name = call.base
    largest = _reduce(walker, call, f"a{name}", call["dim"], walker.symbols.dims(values))
    return [largest, _place(walker, call, f"arg{name}", call["dim"], walker.symbols.dims(places), "indices")]


def _handle_place(walker: Walker, call: Call) -> HandlerResult:
    return _place(walker, call, call.base, call["dim"], call.shape)


def _place(walker: Walker, call: Call, name: str, dim: int | None, shape: Dims, suffix: str | None = None) -> Value:
    """Writes the arg reduction `name`, "argmax" or "argmin", over `dim`; None counts the elements of the flat
    operand."""
    x = walker.tensor(call["self"])
    if not x.shape:
        return walker.splat(0, (), torch.int64)
    if dim is not None:
        attributes = {"dim": dim % len(x.shape), "keepdim": call["keepdim"]}
        return walker.op(name, [x], attributes, shape=shape, dtype=torch.int64, suffix=suffix)
    flat = walker.reshape(x, (math.prod(x.shape),), "flat")
    place = walker.op(name, [flat], {"dim": 0}, shape=(), dtype=torch.int64, suffix=suffix)
    return walker.reshape(place, shape, "keepdim")


def _handle_scan(walker: Walker, call: Call) -> HandlerResult:
    x = walker.cast(walker.tensor(call["self"]), call.dtype)
    if not x.shape:
        return x
    return walker.op(call.base, [x], {"dim": call["dim"] % len(x.shape)}, shape=x.shape, dtype=x.dtype)
