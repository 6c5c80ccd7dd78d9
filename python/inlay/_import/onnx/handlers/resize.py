# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports resizing. Each element of the result is a weighted sum of a few elements of the input, known at import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of

# A position in the input for each element of a dim of the result.
Positions: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

# The position in the input of each element of the result, from (its number, the scale, the sizes of both dims).
_COORDINATES: dict[str, Callable[[Positions, np.float32, int, int], Positions]] = {
    "half_pixel": lambda at, scale, size, want: (at + 0.5) / scale - 0.5,
    "half_pixel_symmetric": lambda at, scale, size, want: (
        size / 2 * (1 - want / (scale * size)) + (at + 0.5) / scale - 0.5
    ),
    "pytorch_half_pixel": lambda at, scale, size, want: (at + 0.5) / scale - 0.5 if want > 1 else 0 * at,
    "align_corners": lambda at, scale, size, want: at * (size - 1) / (want - 1) if want > 1 else 0 * at,
    "asymmetric": lambda at, scale, size, want: at / scale,
}

_NEAREST: dict[str, Callable[[Positions], Positions]] = {
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"Resize": _handle_resize}


def _handle_resize(call: NodeCall) -> NodeResult:
    x, mode = call[0], call.attribute("mode", "nearest")
    coordinates = call.attribute("coordinate_transformation_mode", "half_pixel")
    if coordinates not in _COORDINATES:
        raise call.unsupported(f"the coordinates {coordinates!r} are not supported")
    if mode not in ("nearest", "linear", "cubic"):
        raise call.unsupported(f"the mode {mode!r} is not supported")
    if call.attribute("antialias", 0):
        raise call.unsupported("antialias is not supported")
    changes = _changes(call)
    positions = {
        dim: _COORDINATES[coordinates](np.arange(want, dtype=np.float32), np.float32(scale), size, want)
        for dim, (size, want, scale) in changes.items()
    }
    if mode == "nearest":
        return _pick_nearest(call, x, changes, positions)
    if not dtype_of(x).is_floating_point:
        raise call.unsupported("integers are not supported in this mode")
    for dim, at in positions.items():
        size = changes[dim].size
        taps = _linear_taps(at) if mode == "linear" else _cubic_taps(call, at, size)
        x = _weigh(call, x, dim, [_Tap(np.clip(place, 0, size - 1), weight) for place, weight in taps])
    return x


class _Change(NamedTuple):
    """A dim that is resized: its size, the size of the result, and the scale."""

    size: int
    wanted: int
    scale: float


def _changes(call: NodeCall) -> dict[int, _Change]:
    """Returns the dims that are resized."""
    shape, given_scales, given_sizes = shape_of(call[0]), call.known(2, "scales"), call.ints(3, "sizes")
    axes = call.attribute("axes") or list(range(len(shape)))
    axes = [call.axis(axis, len(shape)) for axis in axes]
    scales = None
    if given_scales is not None and given_scales.numel():
        scales = [float(scale) for scale in given_scales]
    given: Sequence[float] = scales or given_sizes or []
    if len(given) != len(axes) or (scales is None and given_sizes is None):
        raise ArgumentValueError(f"{call.place}: expected scales or sizes for {len(axes)} axes")
    sizes = given_sizes or []
    if scales is None:
        policy = call.attribute("keep_aspect_ratio_policy", "stretch")
        ratios = [want / shape[axis] for axis, want in zip(axes, sizes, strict=True)]
        if policy != "stretch":
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            ratios = [ratio] * len(axes)
            sizes = [int(np.floor(ratio * shape[axis] + 0.5)) for axis in axes]
        scales = ratios
    else:
        sizes = [int(np.floor(shape[axis] * scale)) for axis, scale in zip(axes, scales, strict=True)]
    changes = zip(axes, sizes, scales, strict=True)
    return {
        axis: _Change(shape[axis], want, scale) for axis, want, scale in changes if want != shape[axis] or scale != 1
    }


def _pick_nearest(
    call: NodeCall, x: torch.fx.Node, changes: Mapping[int, _Change], positions: Mapping[int, Positions]
) -> torch.fx.Node:
    """Returns `x` resized by the elements nearest to `positions`."""
    shape, rounding = shape_of(x), _NEAREST[call.attribute("nearest_mode", "round_prefer_floor")]
    picked = {dim: np.clip(rounding(at), 0, changes[dim].size - 1).astype(np.int64) for dim, at in positions.items()}
    spatial = range(2, len(shape))
    repeated = all(
        dim in spatial and np.array_equal(places, np.arange(len(places)) * shape[dim] // len(places))
        for dim, places in picked.items()
    )
    if repeated and picked and len(spatial) in (1, 2, 3):
        sizes = [len(picked[dim]) if dim in picked else shape[dim] for dim in spatial]
        return call.aten(f"upsample_nearest{len(spatial)}d", x, sizes)
    for dim, places in picked.items():
        x = call.aten("index_select", x, dim, call.constant(torch.from_numpy(places)))
    return x


class _Tap(NamedTuple):
    """For each element of a dim of the result, the place of an element of the input and its weight."""

    places: Positions
    weights: Positions


def _linear_taps(at: Positions) -> list[_Tap]:
    """Returns the two neighbors of each position, for linear interpolation."""
    low = np.floor(at)
    return [_Tap(low, 1 - (at - low)), _Tap(low + 1, at - low)]


def _cubic_taps(call: NodeCall, at: Positions, size: int) -> list[_Tap]:
    """Returns the four neighbors of each position, for Keys' cubic convolution (1981)."""
    a, low = call.attribute("cubic_coeff_a", -0.75), np.floor(at)
    taps = []
    for offset in (-1, 0, 1, 2):
        place = low + offset
        away = np.abs(at - place)
        near = (a + 2) * away**3 - (a + 3) * away**2 + 1
        far = a * away**3 - 5 * a * away**2 + 8 * a * away - 4 * a
        taps.append(_Tap(place, np.where(away <= 1, near, np.where(away < 2, far, 0.0))))
    if call.attribute("exclude_outside", 0):
        inside = [np.where((place >= 0) & (place < size), weight, 0.0) for place, weight in taps]
        total = sum(inside)
        taps = [_Tap(place, weight / total) for (place, _), weight in zip(taps, inside, strict=True)]
    return taps


def _weigh(call: NodeCall, x: torch.fx.Node, dim: int, taps: Sequence[_Tap]) -> torch.fx.Node:
    """Returns the weighted sum of the taps' elements of a dim."""
    total: torch.fx.Node | None = None
    behind = len(shape_of(x)) - 1 - dim
    for places, weights in taps:
        index = call.constant(torch.from_numpy(places.astype(np.int64)))
        factor = torch.from_numpy(weights).to(dtype_of(x)).reshape(-1, *[1] * behind)
        part = call.aten("mul.Tensor", call.aten("index_select", x, dim, index), call.constant(factor))
        total = part if total is None else call.aten("add.Tensor", total, part)
    assert total is not None
    return total
