# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors at other sizes: each element is a weighted sum of a few of the input's, which are known at import."""

import numpy as np
import torch

from ....errors import ArgumentValueError
from ..call import dtype_of, shape_of

# Where an element of the result lies in the input.
_COORDINATES = {
    "half_pixel": lambda at, scale, size, want: (at + 0.5) / scale - 0.5,
    "half_pixel_symmetric": lambda at, scale, size, want: (
        size / 2 * (1 - want / (scale * size)) + (at + 0.5) / scale - 0.5
    ),
    "pytorch_half_pixel": lambda at, scale, size, want: (at + 0.5) / scale - 0.5 if want > 1 else 0 * at,
    "align_corners": lambda at, scale, size, want: at * (size - 1) / (want - 1) if want > 1 else 0 * at,
    "asymmetric": lambda at, scale, size, want: at / scale,
}

_NEAREST = {
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def handlers():
    """ONNX op -> handler."""
    return {"Resize": _handle_resize}


def _handle_resize(call):
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
        size = changes[dim][0]
        taps = _linear_taps(at) if mode == "linear" else _cubic_taps(call, at, size)
        x = _weigh(call, x, dim, [(np.clip(place, 0, size - 1), weight) for place, weight in taps])
    return x


def _changes(call):
    """dim -> (size, wanted size, scale) of the dims that change."""
    shape, scales, sizes = shape_of(call[0]), call.known(2, "scales"), call.ints(3, "sizes")
    axes = call.attribute("axes") or list(range(len(shape)))
    axes = [call.axis(axis, len(shape)) for axis in axes]
    scales = None if scales is None or not scales.numel() else [float(scale) for scale in scales]
    given = scales if scales is not None else sizes
    if given is None or len(given) != len(axes):
        raise ArgumentValueError(f"{call.place}: expected scales or sizes for {len(axes)} axes")
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
    return {axis: (shape[axis], want, scale) for axis, want, scale in changes if want != shape[axis] or scale != 1}


def _pick_nearest(call, x, changes, positions):
    shape, rounding = shape_of(x), _NEAREST[call.attribute("nearest_mode", "round_prefer_floor")]
    picked = {dim: np.clip(rounding(at), 0, changes[dim][0] - 1).astype(np.int64) for dim, at in positions.items()}
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


def _linear_taps(at):
    """[(places, weights)] of the neighbours of each position."""
    low = np.floor(at)
    return [(low, 1 - (at - low)), (low + 1, at - low)]


def _cubic_taps(call, at, size):
    """Keys' cubic convolution, 1981."""
    a, low = call.attribute("cubic_coeff_a", -0.75), np.floor(at)
    taps = []
    for offset in (-1, 0, 1, 2):
        place = low + offset
        away = np.abs(at - place)
        near = (a + 2) * away**3 - (a + 3) * away**2 + 1
        far = a * away**3 - 5 * a * away**2 + 8 * a * away - 4 * a
        taps.append((place, np.where(away <= 1, near, np.where(away < 2, far, 0.0))))
    if call.attribute("exclude_outside", 0):
        inside = [np.where((place >= 0) & (place < size), weight, 0.0) for place, weight in taps]
        total = sum(inside)
        taps = [(place, weight / total) for (place, _), weight in zip(taps, inside, strict=True)]
    return taps


def _weigh(call, x, dim, taps):
    """The sum of the taps' elements of a dim, each times its weight."""
    total, behind = None, len(shape_of(x)) - 1 - dim
    for places, weights in taps:
        index = call.constant(torch.from_numpy(places.astype(np.int64)))
        factor = torch.from_numpy(weights).to(dtype_of(x)).reshape(-1, *[1] * behind)
        part = call.aten("mul.Tensor", call.aten("index_select", x, dim, index), call.constant(factor))
        total = part if total is None else call.aten("add.Tensor", total, part)
    return total
