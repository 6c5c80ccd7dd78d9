# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports reductions, arg reductions and cumulative sums."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

import torch

from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of

_AFTER = {"L2": "sqrt", "LogSum": "log"}  # the ATen call on the sum
_REAL = {"L2", "LogSum", "LogSumExp"}  # reductions of integers that are computed with real numbers


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    names = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
    return {
        **{f"Reduce{name}": functools.partial(_handle_reduction, name) for name in names},
        "ArgMax": functools.partial(_handle_place, "argmax"),
        "ArgMin": functools.partial(_handle_place, "argmin"),
        "CumProd": functools.partial(_handle_cumulative, "cumprod", 1),
        "CumSum": functools.partial(_handle_cumulative, "cumsum", 0),
    }


def _handle_reduction(name: str, call: NodeCall) -> NodeResult:
    x = call[0]
    rank = len(shape_of(x))
    axes: Iterable[int] | None = call.ints(1, "axes")
    keeps_all = call.attribute("noop_with_empty_axes", 0)
    if not axes:
        axes = [] if keeps_all else range(rank)
    dims, keepdim = call.axes(axes, rank), bool(call.attribute("keepdims", 1))
    dtype = dtype_of(x)
    if name in _REAL and not dtype.is_floating_point:  # the result is rounded toward zero
        real = call.cast(x, torch.float64)
        return call.cast(_reduce_real(name, call, real, dims, keepdim), dtype)
    return _reduce_real(name, call, x, dims, keepdim)


def _reduce_real(name: str, call: NodeCall, x: torch.fx.Node, dims: list[int], keepdim: bool) -> torch.fx.Node:
    """Returns a reduction of `x` with the calls before and after it."""
    if name == "LogSumExp":
        return call.aten("logsumexp", x, dims, keepdim) if dims else x
    if name in ("L2", "SumSquare"):
        x = call.aten("mul.Tensor", x, x)
    elif name == "L1":
        x = call.aten("abs", x)
    result = _reduce(name, call, x, dims, keepdim) if dims else x
    return call.aten(_AFTER[name], result) if name in _AFTER else result


def _reduce(name: str, call: NodeCall, x: torch.fx.Node, dims: list[int], keepdim: bool) -> torch.fx.Node:
    """Returns a reduction of `x` over `dims`, which is not empty."""
    dtype = dtype_of(x)
    if name in ("Max", "Min"):
        if dtype == torch.bool:
            return call.aten("any.dims" if name == "Max" else "all.dims", x, dims, keepdim)
        if any(shape_of(x)[dim] == 0 for dim in dims):
            return _extreme_of_none(name, call, x, dims, keepdim)
        return call.aten("amax" if name == "Max" else "amin", x, dims, keepdim)
    if name == "Prod":
        for dim in reversed(dims):
            x = call.aten("prod.dim_int", x, dim, keepdim, dtype=dtype)
        return x
    if name == "Mean" and dtype.is_floating_point:
        return call.aten("mean.dim", x, dims, keepdim)
    total = call.aten("sum.dim_IntList", x, dims, keepdim, dtype=dtype)
    if name != "Mean":
        return total
    count = torch.Size(shape_of(x)[dim] for dim in dims).numel()
    return call.aten("div.Tensor_mode", total, call.constant(torch.tensor(count, dtype=dtype)), rounding_mode="trunc")


def _extreme_of_none(name: str, call: NodeCall, x: torch.fx.Node, dims: list[int], keepdim: bool) -> torch.fx.Node:
    """Returns the maximum or minimum of no elements: the lowest or the highest value of the dtype."""
    dtype = dtype_of(x)
    limits = (-math.inf, math.inf) if dtype.is_floating_point else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    shape = [1 if dim in dims else size for dim, size in enumerate(shape_of(x)) if keepdim or dim not in dims]
    return call.aten("full", shape, limits[0 if name == "Max" else 1], dtype=dtype)


def _handle_place(name: str, call: NodeCall) -> NodeResult:
    x = call[0]
    dim, keepdim = call.axis(call.attribute("axis", 0), len(shape_of(x))), bool(call.attribute("keepdims", 1))
    if not call.attribute("select_last_index", 0):
        return call.aten(name, x, dim, keepdim)
    first = call.aten(name, call.aten("flip", x, [dim]), dim, keepdim)
    return call.aten("rsub.Scalar", first, shape_of(x)[dim] - 1)


def _handle_cumulative(name: str, neutral: int, call: NodeCall) -> NodeResult:
    x = call[0]
    dim = call.axis(call.number(1, "the axis"), len(shape_of(x)))
    reverse = call.attribute("reverse", 0)
    if reverse:
        x = call.aten("flip", x, [dim])
    if call.attribute("exclusive", 0):
        size = shape_of(x)[dim]
        first = [min(n, 1) if i == dim else n for i, n in enumerate(shape_of(x))]
        rest = call.aten("slice.Tensor", x, dim, 0, max(size - 1, 0))
        x = call.aten("cat", [call.aten("full", first, neutral, dtype=dtype_of(x)), rest], dim)
    result = call.aten(name, x, dim, dtype=dtype_of(x))
    return call.aten("flip", result, [dim]) if reverse else result
