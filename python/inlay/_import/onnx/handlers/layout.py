# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops that move elements, make tensors, or return dims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..tensors import dtype_of as element_dtype
from ..tensors import mark_narrow

# Mode of SpaceToDepth -> the order of the dims of blocks: batch, channel, row, row in it, column, column in it.
_DEPTH_ORDERS = {"DCR": [0, 3, 5, 1, 2, 4], "CRD": [0, 1, 3, 5, 2, 4]}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Concat": _handle_concat,
        "Constant": _handle_constant,
        "ConstantOfShape": _handle_constant_of_shape,
        "DepthToSpace": _handle_depth_to_space,
        "Expand": _handle_expand,
        "EyeLike": _handle_eye_like,
        "Flatten": _handle_flatten,
        "Pad": _handle_pad,
        "Range": _handle_range,
        "Reshape": _handle_reshape,
        "Shape": _handle_shape,
        "Size": _handle_size,
        "Slice": _handle_slice,
        "SpaceToDepth": _handle_space_to_depth,
        "Split": _handle_split,
        "Squeeze": _handle_squeeze,
        "Tile": _handle_tile,
        "Transpose": _handle_transpose,
        "Trilu": _handle_trilu,
        "Unsqueeze": _handle_unsqueeze,
    }


# -- Dims -------------------------------------------------------------------------------------------------------------


def _handle_reshape(call: NodeCall) -> NodeResult:
    x, wanted = call[0], call.required_ints(1, "the new shape")
    if not call.attribute("allowzero", 0):
        wanted = [shape_of(x)[i] if size == 0 and i < len(shape_of(x)) else size for i, size in enumerate(wanted)]
    if -1 in wanted:
        rest = math.prod(size for size in wanted if size != -1)
        if wanted.count(-1) > 1 or rest == 0 or math.prod(shape_of(x)) % rest:
            raise ArgumentValueError(f"{call.place}: can't reshape {list(shape_of(x))} to {wanted}")
        wanted[wanted.index(-1)] = math.prod(shape_of(x)) // rest
    return call.reshape(x, wanted)


def _handle_flatten(call: NodeCall) -> NodeResult:
    shape = shape_of(call[0])
    axis = call.attribute("axis", 1)
    axis = axis if axis == len(shape) else call.axis(axis, len(shape))
    return call.reshape(call[0], (math.prod(shape[:axis]), math.prod(shape[axis:])))


def _handle_squeeze(call: NodeCall) -> NodeResult:
    shape, axes = shape_of(call[0]), call.ints(1, "axes")
    axes = [i for i, size in enumerate(shape) if size == 1] if axes is None else call.axes(axes, len(shape))
    if wrong := [axis for axis in axes if shape[axis] != 1]:
        raise ArgumentValueError(
            f"{call.place}: expected size 1 in the dims {axes}, but dim {wrong[0]} is {shape[wrong[0]]}"
        )
    return call.reshape(call[0], [size for i, size in enumerate(shape) if i not in axes])


def _handle_unsqueeze(call: NodeCall) -> NodeResult:
    shape, axes = list(shape_of(call[0])), call.required_ints(1, "axes")
    for axis in call.axes(axes, len(shape) + len(axes)):
        shape.insert(axis, 1)
    return call.reshape(call[0], shape)


def _handle_transpose(call: NodeCall) -> NodeResult:
    rank = len(shape_of(call[0]))
    dims = call.attribute("perm", list(range(rank))[::-1])
    return call[0] if dims == list(range(rank)) else call.aten("permute", call[0], dims)


def _handle_expand(call: NodeCall) -> NodeResult:
    shape = torch.broadcast_shapes(shape_of(call[0]), call.required_ints(1, "the new shape"))
    return call[0] if tuple(shape) == shape_of(call[0]) else call.aten("expand", call[0], list(shape))


def _handle_tile(call: NodeCall) -> NodeResult:
    return call.aten("repeat", call[0], call.required_ints(1, "repeats"))


def _handle_depth_to_space(call: NodeCall) -> NodeResult:
    batch, channels, height, width = shape_of(call[0])
    size = call.attribute("blocksize")
    depth = channels // size**2
    if call.attribute("mode", "DCR") == "DCR":
        apart, dims = (batch, size, size, depth, height, width), [0, 3, 4, 1, 5, 2]
    else:
        apart, dims = (batch, depth, size, size, height, width), [0, 1, 4, 2, 5, 3]
    moved = call.aten("permute", call.reshape(call[0], apart), dims)
    return call.reshape(moved, (batch, depth, height * size, width * size))


def _handle_space_to_depth(call: NodeCall) -> NodeResult:
    batch, channels, height, width = shape_of(call[0])
    size = call.attribute("blocksize")
    mode = call.attribute("mode", "DCR")
    if mode not in _DEPTH_ORDERS:
        raise ArgumentValueError(f"{call.place}: expected a mode of {list(_DEPTH_ORDERS)}, but got {mode!r}")
    apart = call.reshape(call[0], (batch, channels, height // size, size, width // size, size))
    moved = call.aten("permute", apart, _DEPTH_ORDERS[mode])
    return call.reshape(moved, (batch, channels * size**2, height // size, width // size))


# -- Parts ------------------------------------------------------------------------------------------------------------


def _handle_concat(call: NodeCall) -> NodeResult:
    dim = call.axis(call.attribute("axis"), len(shape_of(call[0])))
    return call[0] if len(call.inputs) == 1 else call.aten("cat", call.inputs, dim)


def _handle_split(call: NodeCall) -> NodeResult:
    x = call[0]
    dim = call.axis(call.attribute("axis", 0), len(shape_of(x)))
    size, sizes = shape_of(x)[dim], call.ints(1, "split")
    if sizes is None:
        count = call.attribute("num_outputs", len(call.proto.output))
        if count != len(call.proto.output):
            raise ArgumentValueError(
                f"{call.place}: expected num_outputs to be the number of outputs, {len(call.proto.output)}, but got "
                f"{count}"
            )
        each = -(-size // count)
        sizes = [max(0, min(each, size - i * each)) for i in range(count)]
    return [x] if len(sizes) == 1 else call.aten_results("split_with_sizes", x, sizes, dim)


def _handle_slice(call: NodeCall) -> NodeResult:
    x = call[0]
    shape, starts, ends = shape_of(x), call.required_ints(1, "starts"), call.required_ints(2, "ends")
    axes, steps = call.ints(3, "axes") or range(len(starts)), call.ints(4, "steps") or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise ArgumentValueError(f"{call.place}: expected starts, ends, axes and steps of one length, and no step of 0")
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        dim = call.axis(axis, len(shape))
        if step > 0 and not all(isinstance(number, int) for number in (start, end, shape[dim])):
            x = call.aten("slice.Tensor", x, dim, start, end, step)
            continue
        taken = _places(start, end, step, shape[dim])
        x = _take(call, x, dim, taken)
    return x


def _places(start: int, end: int, step: int, size: int) -> range:
    """Returns the places that a slice takes. Unlike in Python, a start before the first place is the first place."""
    start, end = (number + size if number < 0 else number for number in (start, end))
    low, high = (0, size) if step > 0 else (-1, size - 1)
    return range(min(max(start, 0), high), min(max(end, low), high), step)


def _take(call: NodeCall, x: torch.fx.Node, dim: int, taken: range) -> torch.fx.Node:
    """Returns the elements along a dim whose positions are in a range."""
    if taken == range(shape_of(x)[dim]):
        return x
    if not taken:
        return call.aten("slice.Tensor", x, dim, 0, 0)
    if taken.step > 0:
        return call.aten("slice.Tensor", x, dim, taken[0], taken[-1] + 1, taken.step)
    forward = taken[::-1]
    return call.aten("flip", call.aten("slice.Tensor", x, dim, forward[0], forward[-1] + 1, forward.step), [dim])


def _handle_trilu(call: NodeCall) -> NodeResult:
    return call.aten("triu" if call.attribute("upper", 1) else "tril", call[0], call.number(1, "k", 0))


# -- Padding ----------------------------------------------------------------------------------------------------------


def _handle_pad(call: NodeCall) -> NodeResult:
    x, mode = call[0], call.attribute("mode", "constant")
    rank = len(shape_of(x))
    pads = call.required_ints(1, "pads")
    given_axes = call.ints(3, "axes")
    axes = list(range(rank)) if given_axes is None else [call.axis(axis, rank) for axis in given_axes]
    if len(pads) != 2 * len(axes):
        raise ArgumentValueError(f"{call.place}: expected {2 * len(axes)} pads, but got {len(pads)}")
    sides = [(0, 0)] * rank
    for axis, low, high in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        sides[axis] = (low, high)
    if mode == "constant":
        return pad(call, x, sides, call.number(2, "the value", 0))
    for dim, (low, high) in enumerate(sides):
        if (low, high) != (0, 0):
            x = call.aten("index_select", x, dim, call.constant(_border(shape_of(x)[dim], low, high, mode)))
    return x


def pad(call: NodeCall, x: torch.fx.Node, sides: Sequence[tuple[int, int]], value: float) -> torch.fx.Node:
    """Returns `x` padded with a value. sides: the number of elements before and behind each dim; negative ones are
    removed."""
    if not any(any(pair) for pair in sides):
        return x
    if dtype_of(x) == torch.bool:
        value = bool(value)
    for dim, (low, high) in enumerate(sides):
        if low < 0 or high < 0:
            size = shape_of(x)[dim]
            x = _take(call, x, dim, range(max(0, -low), max(max(0, -low), size - max(0, -high))))
    numbers = [max(0, number) for pair in reversed(sides) for number in pair]
    return call.aten("constant_pad_nd", x, numbers, value) if any(numbers) else x


def _border(size: int, low: int, high: int, mode: str) -> torch.Tensor:
    """Returns the positions in a dim of the elements of the padded dim."""
    places = np.pad(np.arange(size), (max(0, low), max(0, high)), cast("Literal['edge', 'reflect', 'wrap']", mode))
    return torch.from_numpy(places[max(0, -low) : len(places) - max(0, -high)].copy())


# -- Tensors that ops make --------------------------------------------------------------------------------------------


def _handle_constant(call: NodeCall) -> NodeResult:
    tensor = call.tensor_attribute("value")
    if tensor is None:
        (name,) = call.attributes
        value = call.attribute(name)
        if not name.startswith(("value_int", "value_float")):
            raise call.unsupported(f"attribute {name!r} is not supported")
        tensor = torch.tensor(value, dtype=torch.int64 if name.startswith("value_int") else torch.float32)
        return call.constant(tensor)
    (attribute,) = call.take_attributes()
    return mark_narrow(call.constant(tensor), attribute.t.data_type)


def _handle_constant_of_shape(call: NodeCall) -> NodeResult:
    shape, value = call.required_ints(0, "the shape"), call.tensor_attribute("value")
    value = torch.zeros(1) if value is None else value
    return call.aten("full", shape, value.reshape(()).item(), dtype=value.dtype)


def _handle_range(call: NodeCall) -> NodeResult:
    start, limit, step = (call.number(i, name) for i, name in enumerate(("start", "limit", "delta")))
    if step == 0:
        raise ArgumentValueError(f"{call.place}: expected a delta that isn't 0")
    if isinstance(limit - start, (int, float)) and (limit - start) / step <= 0:
        return call.aten("full", [0], 0, dtype=dtype_of(call[0]))
    return call.aten("arange.start_step", start, limit, step, dtype=dtype_of(call[0]))


def _handle_eye_like(call: NodeCall) -> NodeResult:
    dtype, shape = call.attribute("dtype"), shape_of(call[0])
    dtype = dtype_of(call[0]) if dtype is None else element_dtype(dtype, f"the result of {call.place}")
    if len(shape) != 2:
        raise ArgumentValueError(f"{call.place}: expected a matrix, but got {len(shape)} dims")
    rows, columns = (call.constant(torch.arange(size)) for size in shape)
    diagonal = call.aten("add.Scalar", call.reshape(rows, (shape[0], 1)), call.attribute("k", 0))
    return call.cast(call.aten("eq.Tensor", diagonal, columns), dtype)


def _handle_shape(call: NodeCall) -> NodeResult:
    shape = shape_of(call[0])[call.attribute("start", 0) : call.attribute("end")]
    if all(isinstance(size, int) for size in shape):
        return call.constant(torch.tensor(shape, dtype=torch.int64))
    return call.size_tensor(shape)


def _handle_size(call: NodeCall) -> NodeResult:
    count = math.prod(shape_of(call[0]))
    if isinstance(count, int):
        return call.constant(torch.tensor(count))
    return call.reshape(call.size_tensor([count]), ())
