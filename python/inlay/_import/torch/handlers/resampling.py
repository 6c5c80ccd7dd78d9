# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports nearest-neighbor resampling as repetition, or as reads at indices that are known at import, and antialiased
resampling as products with matrices of weights."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ...._program.imported import Dims
from ...._program.sizes import Size
from ..call import Call
from ..graph import Value
from ..walker import Handler, HandlerResult, Walker


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ATen name."""
    names = (f"{kind}{count}d" for kind in ("upsample_nearest", "_upsample_nearest_exact") for count in (1, 2, 3))
    smooth = ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
    return {
        **{name + form: _handle_nearest for name in names for form in ("", ".vec")},
        **{name + form: _handle_antialiased for name in smooth for form in ("", ".vec")},
    }


def _sources(call: Call, sizes: Sequence[int], wanted: Sequence[int]) -> list[torch.Tensor]:
    """Returns, for each spatial dim, the positions in the input of the elements of the result.

    sizes, wanted: the spatial dims of the input and of the result.
    """
    scales = call.get("scale_factors") or [call.get(name) for name in _scale_names(call, len(sizes))]
    pick = torch.ops.aten._upsample_nearest_exact1d if "exact" in call.base else torch.ops.aten.upsample_nearest1d
    found = []
    for size, want, scale in zip(sizes, wanted, scales, strict=True):
        numbers = torch.arange(size, dtype=torch.float32).reshape(1, 1, size)
        found.append(pick.default(numbers, [want], scale).reshape(want).to(torch.int64))
    return found


def _scale_names(call: Call, count: int) -> list[str]:
    """Returns the names of the call's arguments that give scales."""
    return ["scales"] if count == 1 else ["scales_d", "scales_h", "scales_w"][-count:]


def _handle_nearest(walker: Walker, call: Call) -> HandlerResult:
    x = walker.tensor(call["input" if call.name.endswith(".vec") else "self"])
    spatial = len(x.shape) - 2
    sizes, wanted = x.shape[2:], call.shape[2:]
    if any(isinstance(size, Size) for size in (*sizes, *wanted)):
        return _repeat(walker, call, x, _doublings(call, sizes, wanted))
    sources = _sources(call, [int(size) for size in sizes], [int(want) for want in wanted])
    factors = [int(want) // int(size) for size, want in zip(sizes, wanted, strict=True)]
    repeated = all(
        size * factor == want and torch.equal(source, torch.arange(int(size)).repeat_interleave(factor))
        for size, want, factor, source in zip(sizes, wanted, factors, sources, strict=True)
    )
    if not repeated:
        # The indices of a spatial dim have trailing dims of size 1, so that all of them broadcast to all combinations.
        indices = [
            walker.constant(source.reshape(-1, *[1] * (spatial - 1 - n)), f"index{n}")
            for n, source in enumerate(sources)
        ]
        attributes = {"dims": list(range(2, spatial + 2))}
        return walker.op("index", [x, indices], attributes, shape=call.shape, dtype=call.dtype)
    return _repeat(walker, call, x, factors)


def _doublings(call: Call, sizes: Dims, wanted: Dims) -> list[int] | None:
    """Returns the number of repetitions of each element along each dim if all of them are powers of two; else None.

    The positions are exact for powers of two, whatever the sizes.
    """
    scales = call.get("scale_factors") or [call.get(name) for name in _scale_names(call, len(sizes))]
    factors: list[int] = []
    for size, want, scale in zip(sizes, wanted, scales, strict=True):
        factor = want // size
        if not isinstance(factor, int) or factor <= 0 or factor & (factor - 1) != 0 or want != size * factor:
            return None
        if scale not in (None, factor):
            return None
        factors.append(factor)
    return factors


def _repeat(walker: Walker, call: Call, x: Value, factors: Sequence[int] | None) -> Value | None:
    """Returns `x` with the elements along the spatial dims repeated; None if `factors` is None."""
    if factors is None:
        return None
    sizes = x.shape[2:]
    apart = [*x.shape[:2], *(part for size in sizes for part in (size, 1))]
    more = [*x.shape[:2], *(part for pair in zip(sizes, factors, strict=True) for part in pair)]
    value = walker.expand(walker.reshape(x, apart, "apart"), more, "expand")
    return walker.reshape(value, call.shape)


# -- Antialiased ------------------------------------------------------------------------------------------------------


def _handle_antialiased(walker: Walker, call: Call) -> HandlerResult:
    x = walker.tensor(call["input" if call.name.endswith(".vec") else "self"])
    sizes, wanted = x.shape[2:], call.shape[2:]
    if any(isinstance(size, Size) for size in (*sizes, *wanted)) or not x.dtype.is_floating_point:
        return None
    scales = call.get("scale_factors") or [call.get(name) for name in ("scales_h", "scales_w")]
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    rows, columns = (
        _weights(call, int(size), int(want), scale, wide)
        for size, want, scale in zip(sizes, wanted, scales, strict=True)
    )
    x = walker.cast(x, wide, "input_cast")
    shape = (*x.shape[:2], sizes[0], wanted[1])
    right = walker.constant(columns.T, "columns")
    x = walker.op("matmul", [x, right], shape=shape, dtype=wide, suffix="product")
    left = walker.constant(rows, "rows")
    suffix = None if wide == call.dtype else "wide"
    result = walker.op("matmul", [left, x], shape=call.shape, dtype=wide, suffix=suffix)
    return walker.cast(result, call.dtype, None)


def _weights(call: Call, size: int, want: int, scale: float | None, dtype: torch.dtype) -> torch.Tensor:
    """Returns the matrix [want, size] that resamples one dim: the resampled rows of the identity."""
    op = getattr(torch.ops.aten, call.base).default
    unit = torch.eye(size, dtype=dtype).reshape(1, 1, size, size)
    resampled: torch.Tensor = op(unit, [size, want], call["align_corners"], None, scale)
    return resampled.reshape(size, want).T
