# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes from which elements ONNX's Resize makes each element of a dim, and registers Resize for any sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from ....errors import UnsupportedError

# The position in the input of each element of the result, from (its number, the scale, the sizes of both dims).
_COORDINATES: dict[str, Callable[[Tensor, Tensor, int, int], Tensor]] = {
    "half_pixel": lambda at, scale, size, want: (at + 0.5) / scale - 0.5,
    "half_pixel_symmetric": lambda at, scale, size, want: (
        size / 2 * (1 - want / (scale * size)) + (at + 0.5) / scale - 0.5
    ),
    "pytorch_half_pixel": lambda at, scale, size, want: (at + 0.5) / scale - 0.5 if want > 1 else 0 * at,
    "align_corners": lambda at, scale, size, want: at * (size - 1) / (want - 1) if want > 1 else 0 * at,
    "asymmetric": lambda at, scale, size, want: at / scale,
}
CROP = "tf_crop_and_resize"
COORDINATES = frozenset([*_COORDINATES, CROP])

_NEAREST: dict[str, Callable[[Tensor], Tensor]] = {
    "round_prefer_floor": lambda at: (at - 0.5).ceil(),
    "round_prefer_ceil": lambda at: (at + 0.5).floor(),
    "floor": torch.floor,
    "ceil": torch.ceil,
}
ROUNDINGS = frozenset(_NEAREST)

FRACTIONS = (
    "ONNX Runtime and the tests of ONNX disagree about aligned corners if a scale gives a fractional size: "
    "use the input 'sizes'"
)


@dataclass(frozen=True)
class Method:
    """A way to resize, with the attributes of Resize."""

    mode: str = "nearest"
    coordinates: str = "half_pixel"
    rounding: str = "round_prefer_floor"
    cubic_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False


class Taps(NamedTuple):
    """The elements of a dim that make each element of the result, and their weights: (size of the result) x taps.

    is_outside: true where a position is outside of the input, for cropping.
    """

    places: Tensor
    weights: Tensor
    is_outside: Tensor


def compute_taps(method: Method, size: int, want: int, scale: float, roi: tuple[float, float] | None) -> Taps:
    """Returns the taps of one dim. roi: the relative start and end of a crop, for the coordinates `CROP`."""
    at, factor = torch.arange(want, dtype=torch.float32), torch.tensor(scale, dtype=torch.float32)
    if method.coordinates == CROP:
        start, end = (torch.tensor(number, dtype=torch.float32) for number in roi or (0.0, 1.0))
        if want > 1:
            at = start * (size - 1) + at * ((end - start) * (size - 1) / (want - 1))
        else:
            at = (0.5 * (start + end) * (size - 1)).expand(want)
    else:
        at = _COORDINATES[method.coordinates](at, factor, size, want)
    places, weights = _neighbors(method, at, scale)
    is_inside = (places >= 0) & (places < size)
    if method.exclude_outside:
        weights = weights * is_inside
        weights = weights / weights.sum(1, keepdim=True)
    return Taps(places.clamp(0, size - 1).long(), weights, (at < 0) | (at > size - 1))


def _neighbors(method: Method, at: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Returns the places around each position and their weights."""
    if method.mode == "nearest":
        places = _NEAREST[method.rounding](at)[:, None]
        return places, torch.ones_like(places)
    # An antialiasing filter is stretched by the scale.
    stretch = min(scale, 1.0) if method.antialias else 1.0
    reach = {"linear": 1, "cubic": 2}[method.mode]
    first = math.floor(-reach / stretch) + 1
    offsets = torch.arange(first, 2 - first)
    places = at.floor()[:, None] + offsets
    away = ((at[:, None] - places) * stretch).abs()
    if method.mode == "linear":
        weights = (1 - away).clamp(min=0)
    else:  # Keys' cubic convolution (1981)
        a = method.cubic_a
        near = (a + 2) * away**3 - (a + 3) * away**2 + 1
        far = a * away**3 - 5 * a * away**2 + 8 * a * away - 4 * a
        weights = torch.where(away <= 1, near, torch.where(away < 2, far, 0.0))
    return places, weights / weights.sum(1, keepdim=True) if stretch < 1 else weights


def resize_dim(x: Tensor, dim: int, taps: Taps) -> Tensor:
    """Returns `x` with a dim resized."""
    places = taps.places
    picked = x.index_select(dim, places.reshape(-1)).reshape(*x.shape[:dim], *places.shape, *x.shape[dim + 1 :])
    if taps.places.shape[1] == 1:
        return picked.squeeze(dim + 1)
    weights = taps.weights.to(x.dtype).reshape(*taps.weights.shape, *[1] * (x.dim() - 1 - dim))
    total: Tensor = (picked * weights).sum(dim + 1)
    return total


def sizes_of_policy(policy: str, sizes: Sequence[int], given: Sequence[int]) -> tuple[list[int], list[float]]:
    """Returns the sizes and scales of a result with the sizes `given` after keep_aspect_ratio_policy."""
    scales = [want / size for want, size in zip(given, sizes, strict=True)]
    if policy == "stretch":
        return list(given), scales
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [math.floor(scale * size + 0.5) for size in sizes], [scale] * len(sizes)


@torch.library.custom_op("inlay_onnx::resize", mutates_args=())
def resize(
    x: Tensor,
    roi: Tensor | None,
    scales: Tensor | None,
    sizes: Tensor | None,
    known: Sequence[int],
    axes: Sequence[int],
    policy: str,
    modes: str,
    cubic_a: float,
    extrapolation: float,
    exclude_outside: bool,
    antialias: bool,
) -> Tensor:
    """Returns `x` resized.

    axes: the dims that roi, scales, sizes and known describe. known: the sizes of the result that an import knows, else
    -1. modes: mode, coordinates and rounding, with spaces between them.
    """
    mode, coordinates, rounding = modes.split()
    method = Method(mode, coordinates, rounding, cubic_a, exclude_outside, antialias)
    before = [x.shape[axis] for axis in axes]
    if scales is not None:
        factors = cast("list[float]", scales.tolist())
        products = [float(size * scale) for size, scale in zip(before, scales.float(), strict=True)]
        if method.coordinates == "align_corners" and not all(product.is_integer() for product in products):
            raise UnsupportedError(FRACTIONS)
        wanted = [math.floor(product) for product in products]
    else:
        assert sizes is not None
        wanted, factors = sizes_of_policy(policy, before, sizes.tolist())
    corners = [0.0] * len(axes) + [1.0] * len(axes) if roi is None else roi.tolist()
    all_outside = torch.zeros((), dtype=torch.bool)
    for number, axis in enumerate(axes):
        size, want, factor = before[number], wanted[number], factors[number]
        if (size, factor) == (want, 1) and method.coordinates != CROP:
            continue
        taps = compute_taps(method, size, want, factor, (corners[number], corners[len(axes) + number]))
        x = resize_dim(x, axis, taps)
        all_outside = all_outside | taps.is_outside.reshape(-1, *[1] * (x.dim() - 1 - axis))
    if method.coordinates == CROP:
        x = torch.where(all_outside, torch.tensor(extrapolation, dtype=x.dtype), x)
    return x.clone()


@resize.register_fake
def _fake_resize(
    x: Tensor,
    roi: Tensor | None,
    scales: Tensor | None,
    sizes: Tensor | None,
    known: Sequence[int],
    axes: Sequence[int],
    policy: str,
    modes: str,
    cubic_a: float,
    extrapolation: float,
    exclude_outside: bool,
    antialias: bool,
) -> Tensor:
    context = torch.library.get_ctx()
    shape: list[Any] = list(x.shape)
    for axis, size in zip(axes, known, strict=True):
        shape[axis] = context.new_dynamic_size() if isinstance(size, int) and size < 0 else size
    return x.new_empty(shape)
