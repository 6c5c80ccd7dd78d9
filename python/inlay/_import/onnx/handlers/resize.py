# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports resizing. Each element of the result is a weighted sum of elements of the input.

If all sizes are known, the elements and their weights are constants. Else a custom op computes them at a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..library.resizing import COORDINATES, CROP, FRACTIONS, ROUNDINGS, Method, Taps, compute_taps, sizes_of_policy


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"Resize": _handle_resize}


def _handle_resize(call: NodeCall) -> NodeResult:
    x, method = call[0], _method(call)
    if method.mode not in ("nearest", "linear", "cubic"):
        raise call.unsupported(f"the mode {method.mode!r} is not supported")
    if method.coordinates not in COORDINATES or method.rounding not in ROUNDINGS:
        raise call.unsupported(
            f"the coordinates {method.coordinates!r} with the rounding {method.rounding!r} are not supported"
        )
    if method.mode != "nearest" and not dtype_of(x).is_floating_point:
        raise call.unsupported("integers are not supported in this mode")
    request = _request(call, method)
    if method.coordinates == "align_corners" and request.has_fractions(shape_of(x)):
        raise call.unsupported(FRACTIONS)
    changes = _changes(call, request)
    if changes is None:
        return _resize_at_call(call, request, method)
    taps = {
        change.dim: compute_taps(method, change.size, change.wanted, change.scale, change.crop)
        for change in changes
        if not change.is_identity()
    }
    result = _pick(call, x, taps) if method.mode == "nearest" else _weigh(call, x, taps)
    return _extrapolate(call, result, taps) if method.coordinates == CROP else result


def _method(call: NodeCall) -> Method:
    """Returns the way to resize that the attributes describe."""
    return Method(
        call.attribute("mode", "nearest"),
        call.attribute("coordinate_transformation_mode", "half_pixel"),
        call.attribute("nearest_mode", "round_prefer_floor"),
        call.attribute("cubic_coeff_a", -0.75),
        bool(call.attribute("exclude_outside", 0)),
        bool(call.attribute("antialias", 0)),
    )


@dataclass(frozen=True)
class _Request:
    """The inputs that say how to resize: FX nodes, and their numbers if they are known. axes: the dims of these."""

    axes: list[int]
    policy: str
    roi: torch.fx.Node | None
    scales: torch.fx.Node | None
    sizes: torch.fx.Node | None
    known_scales: list[float] | None
    known_sizes: list[int] | None

    def wanted_size(self, number: int, size: int) -> int:
        """Returns the size of the result in a dim, which may be a torch.SymInt; -1 if it isn't known.

        number: of the dim among the axes. size: of the input.
        """
        if self.known_scales is not None:
            scale = self.known_scales[number]
            if scale == int(scale):
                return size * int(scale)
            # As in ONNX Runtime, the size is the product of float32 numbers.
            return int((torch.tensor(float(size)) * scale).floor()) if isinstance(size, int) else -1
        return -1 if self.known_sizes is None or self.policy != "stretch" else self.known_sizes[number]

    def has_fractions(self, shape: Sequence[int]) -> bool:
        """Returns true if a known scale may give a size that is not an integer. shape: of the input."""
        if self.known_scales is None:  # the custom op checks those of a call
            return False
        sizes = (shape[axis] for axis in self.axes)
        return any(
            not float(scale).is_integer() and not (isinstance(size, int) and (size * scale).is_integer())
            for scale, size in zip(self.known_scales, sizes, strict=True)
        )

    def keeps(self, number: int, size: int) -> bool:
        """Returns true if a dim stays the same for all sizes of open dims. The arguments are as of `wanted_size`."""
        if self.known_scales is not None:
            return self.known_scales[number] == 1
        want = self.wanted_size(number, size)
        if isinstance(want, torch.SymInt) and isinstance(size, torch.SymInt):
            return bool(want.node.expr == size.node.expr)
        return isinstance(want, int) and isinstance(size, int) and want == size


def _request(call: NodeCall, method: Method) -> _Request:
    """Returns the inputs that say how to resize."""
    axes = [call.axis(axis, len(shape_of(call[0]))) for axis in call.attribute("axes") or range(len(shape_of(call[0])))]
    scales = call.get(2)
    if scales is not None and shape_of(scales) == (0,):
        scales = None
    sizes = None if scales is not None else call.get(3)
    counted = sizes if scales is None else scales
    if counted is None or shape_of(counted) != (len(axes),):
        raise ArgumentValueError(f"{call.place}: expected scales or sizes for {len(axes)} axes")
    known_scales = call.inspect(scales).tolist() if scales is not None and call.is_constant(scales) else None
    known_sizes = call.required_ints(3, "sizes") if sizes is not None and call.has_ints(3) else None
    roi = call.get(1) if method.coordinates == CROP else None
    policy = call.attribute("keep_aspect_ratio_policy", "stretch")
    return _Request(axes, policy, roi, scales, sizes, known_scales, known_sizes)


@dataclass(frozen=True)
class _Change:
    """A dim that is resized: its size, the size of the result, the scale, and the part that is taken."""

    dim: int
    size: int
    wanted: int
    scale: float
    crop: tuple[float, float] = (0.0, 1.0)

    def is_identity(self) -> bool:
        """Returns true if the dim stays the same."""
        return self.scale == 1 and self.crop == (0.0, 1.0)


def _changes(call: NodeCall, request: _Request) -> list[_Change] | None:
    """Returns the changes of dims; None if they are known only at a call."""
    if request.known_scales is None and request.known_sizes is None:
        return None
    if request.roi is not None and not call.is_constant(request.roi):
        return None
    count = len(request.axes)
    corners = [0.0] * count + [1.0] * count if request.roi is None else call.inspect(request.roi).tolist()
    before = [shape_of(call[0])[axis] for axis in request.axes]
    if request.policy != "stretch" and request.known_sizes is not None:
        if not all(isinstance(size, int) for size in [*before, *request.known_sizes]):
            return None
        wanted, scales = sizes_of_policy(request.policy, before, request.known_sizes)
    else:
        wanted, scales = [request.wanted_size(number, size) for number, size in enumerate(before)], []
        for number, (want, size) in enumerate(zip(wanted, before, strict=True)):
            if request.keeps(number, size):
                scales.append(1.0)
            elif not isinstance(size, int) or not isinstance(want, int):
                return None
            else:
                scales.append(want / size if request.known_scales is None else request.known_scales[number])
    crops = list(zip(corners[:count], corners[count:], strict=True))
    return [_Change(*values) for values in zip(request.axes, before, wanted, scales, crops, strict=True)]


def _resize_at_call(call: NodeCall, request: _Request, method: Method) -> torch.fx.Node:
    """Adds a call of the custom op for sizes that are known only at a call."""
    before = [shape_of(call[0])[axis] for axis in request.axes]
    wanted = [request.wanted_size(number, size) for number, size in enumerate(before)]
    modes = f"{method.mode} {method.coordinates} {method.rounding}"
    options = (method.cubic_a, _extrapolation(call), method.exclude_outside, method.antialias)
    given = (request.roi, request.scales, request.sizes)
    return call.library("resize", call[0], *given, wanted, request.axes, request.policy, modes, *options)[0]


def _extrapolation(call: NodeCall) -> float:
    """Returns the value of elements outside of the input."""
    value: float = call.attribute("extrapolation_value", 0.0)
    return value


# -- Known sizes ------------------------------------------------------------------------------------------------------


def _pick(call: NodeCall, x: torch.fx.Node, all_taps: Mapping[int, Taps]) -> torch.fx.Node:
    """Returns `x` with one element of the input for each of the result."""
    shape = shape_of(x)
    picked = {dim: taps.places.reshape(-1) for dim, taps in all_taps.items()}
    spatial = range(2, len(shape))
    repeated = all(
        dim in spatial and torch.equal(places, torch.arange(len(places)) * shape[dim] // len(places))
        for dim, places in picked.items()
    )
    if repeated and picked and len(spatial) in (1, 2, 3) and dtype_of(x).is_floating_point:
        sizes = [len(picked[dim]) if dim in picked else shape[dim] for dim in spatial]
        return call.aten(f"upsample_nearest{len(spatial)}d", x, sizes)
    for dim, places in picked.items():
        x = call.aten("index_select", x, dim, call.constant(places))
    return x


_FEW_TAPS = 4


def _weigh(call: NodeCall, x: torch.fx.Node, all_taps: Mapping[int, Taps]) -> torch.fx.Node:
    """Returns `x` with weighted sums of the taps of each dim."""
    for dim, taps in all_taps.items():
        x = _add_taps(call, x, dim, taps) if taps.places.shape[1] <= _FEW_TAPS else _multiply_taps(call, x, dim, taps)
    return x


def _add_taps(call: NodeCall, x: torch.fx.Node, dim: int, taps: Taps) -> torch.fx.Node:
    """Returns the sum of a few products."""
    total: torch.fx.Node | None = None
    behind = [1] * (len(shape_of(x)) - 1 - dim)
    for places, weights in zip(taps.places.T, taps.weights.T, strict=True):
        factor = call.constant(weights.to(dtype_of(x)).reshape(-1, *behind))
        part = call.aten("mul.Tensor", call.aten("index_select", x, dim, call.constant(places.contiguous())), factor)
        total = part if total is None else call.aten("add.Tensor", total, part)
    assert total is not None
    return total


def _multiply_taps(call: NodeCall, x: torch.fx.Node, dim: int, taps: Taps) -> torch.fx.Node:
    """Returns the product with a matrix of the weights."""
    matrix = torch.zeros(shape_of(x)[dim], len(taps.places)).T.scatter_add(1, taps.places, taps.weights).T
    order = [*(other for other in range(len(shape_of(x))) if other != dim), dim]
    product = call.aten("matmul", call.aten("permute", x, order), call.constant(matrix.to(dtype_of(x)).contiguous()))
    return call.aten("permute", product, [order.index(number) for number in range(len(order))])


def _extrapolate(call: NodeCall, x: torch.fx.Node, all_taps: Mapping[int, Taps]) -> torch.fx.Node:
    """Returns `x` with a value in place of the elements outside of the input."""
    outside = torch.zeros([1] * len(shape_of(x)), dtype=torch.bool)
    for dim, taps in all_taps.items():
        outside = outside | taps.is_outside.reshape(-1, *[1] * (len(shape_of(x)) - 1 - dim))
    if not outside.any():
        return x
    value = call.constant(torch.tensor(_extrapolation(call), dtype=dtype_of(x)))
    return call.aten("where.self", call.constant(outside), value, x)
