# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops that read or write elements at the places in tensors of indices, and TopK."""

from __future__ import annotations

import math

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Gather": _handle_gather,
        "GatherElements": _handle_gather_elements,
        "GatherND": _handle_gather_nd,
        "Hardmax": _handle_hardmax,
        "OneHot": _handle_one_hot,
        "ReverseSequence": _handle_reverse_sequence,
        "ScatterElements": _handle_scatter_elements,
        "ScatterND": _handle_scatter_nd,
        "TensorScatter": _handle_tensor_scatter,
        "TopK": _handle_top_k,
    }


def _from_front(call: NodeCall, indices: torch.fx.Node, size: int) -> torch.fx.Node:
    """Returns int64 indices that count from the front. Negative `indices` count from the back of a dim of size
    `size`."""
    indices = call.cast(indices, torch.int64)
    if call.is_constant(indices) and bool((call.inspect(indices) >= 0).all()):
        return indices
    wrapped = call.aten("add.Scalar", indices, size)
    return call.aten("where.self", call.aten("lt.Scalar", indices, 0), wrapped, indices)


def _check_indices(call: NodeCall, number: int, size: int) -> None:
    """Raises ArgumentValueError if an input has known indices that are out of range for a dim of size `size`."""
    if not call.is_known(number) or not isinstance(size, int):
        return
    indices = call.inspect(call[number])
    if bool(((indices < -size) | (indices >= size)).any()):
        raise ArgumentValueError(
            f"{call.place}: expected indices in [{-size}, {size}), but got {indices.tolist()!s:.80}"
        )


def _handle_gather(call: NodeCall) -> NodeResult:
    x, indices = call[0], call[1]
    dim = call.axis(call.attribute("axis", 0), len(shape_of(x)))
    _check_indices(call, 1, shape_of(x)[dim])
    if call.is_known(1) and not shape_of(indices):
        return call.aten("select.int", x, dim, call.number(1, "the index"))
    return call.aten("index.Tensor", x, [None] * dim + [call.cast(indices, torch.int64)])


def _handle_gather_elements(call: NodeCall) -> NodeResult:
    x = call[0]
    dim = call.axis(call.attribute("axis", 0), len(shape_of(x)))
    _check_indices(call, 1, shape_of(x)[dim])
    return call.aten("gather", x, dim, _from_front(call, call[1], shape_of(x)[dim]))


def _columns(call: NodeCall, indices: torch.fx.Node) -> list[torch.fx.Node]:
    """Returns the slices of a tensor of indices along its last dim."""
    indices = call.cast(indices, torch.int64)
    return [call.aten("select.int", indices, -1, number) for number in range(shape_of(indices)[-1])]


def _handle_gather_nd(call: NodeCall) -> NodeResult:
    x, batch = call[0], call.attribute("batch_dims", 0)
    columns = _columns(call, call[1])
    leading, rank = shape_of(x)[:batch], len(shape_of(columns[0])) if columns else 0
    places = [
        call.constant(torch.arange(size).reshape([-1 if i == dim else 1 for i in range(rank)]))
        for dim, size in enumerate(leading)
    ]
    return call.aten("index.Tensor", x, [*places, *columns])


def _reduction(call: NodeCall) -> str:
    """Returns the reduction of a scatter. Raises ArgumentValueError if ONNX has none of that name."""
    name: str = call.attribute("reduction", "none")
    if name not in ("none", *_REDUCTIONS):
        raise ArgumentValueError(
            f"{call.place}: expected one of the reductions {['none', *_REDUCTIONS]}, but got {name!r}"
        )
    return name


def _handle_scatter_elements(call: NodeCall) -> NodeResult:
    x, updates, name = call[0], call[2], _reduction(call)
    dim = call.axis(call.attribute("axis", 0), len(shape_of(x)))
    indices = _from_front(call, call[1], shape_of(x)[dim])
    if name == "none":
        return call.aten("scatter.src", x, dim, indices, updates)
    return call.aten("scatter_reduce.two", x, dim, indices, updates, _REDUCTIONS[name])


def _handle_scatter_nd(call: NodeCall) -> NodeResult:
    x, indices, name = call[0], call[1], _reduction(call)
    if name in ("none", "add"):
        return call.aten("index_put", x, _columns(call, indices), call[2], name == "add")
    shape, depth = shape_of(x), shape_of(indices)[-1]
    rows, row = math.prod(shape[:depth]), math.prod(shape[depth:])
    places = call.constant(torch.zeros((), dtype=torch.int64))
    for size, column in zip(shape[:depth], _columns(call, indices), strict=True):
        place = _from_front(call, column, size)
        places = call.aten("add.Tensor", call.aten("mul.Scalar", places, size), place)
    count = math.prod(shape_of(indices)[:-1])
    places = call.aten("expand", call.reshape(places, [count, 1]), [count, row])
    operands = (call.reshape(x, [rows, row]), 0, places, call.reshape(call[2], [count, row]))
    return call.reshape(call.aten("scatter_reduce.two", *operands, _REDUCTIONS[name]), shape)


def _handle_one_hot(call: NodeCall) -> NodeResult:
    indices, depth = call[0], int(call.number(1, "the depth"))
    rank = len(shape_of(indices)) + 1
    axis = call.axis(call.attribute("axis", -1), rank)
    indices = _from_front(call, indices, depth)
    shape = list(shape_of(indices))
    places = torch.arange(depth).reshape([-1 if i == axis else 1 for i in range(rank)])
    chosen = call.aten("eq.Tensor", call.reshape(indices, [*shape[:axis], 1, *shape[axis:]]), call.constant(places))
    off, on = (call.aten("select.int", call[2], 0, number) for number in (0, 1))
    return call.aten("where.self", chosen, on, off)


def _handle_hardmax(call: NodeCall) -> NodeResult:
    x = call[0]
    dim, rank = call.axis(call.attribute("axis", -1), len(shape_of(x))), len(shape_of(x))
    places = _along(call, shape_of(x)[dim], dim, rank)
    return call.cast(call.aten("eq.Tensor", places, call.aten("argmax", x, dim, True)), dtype_of(x))


def _along(call: NodeCall, size: int, dim: int, rank: int) -> torch.fx.Node:
    """Returns the numbers from 0 up to `size` along dim `dim` of a tensor of rank `rank`."""
    numbers = call.aten("arange", size, dtype=torch.int64)
    return call.reshape(numbers, [size if i == dim else 1 for i in range(rank)])


def _handle_reverse_sequence(call: NodeCall) -> NodeResult:
    x = call[0]
    batch, time = call.attribute("batch_axis", 1), call.attribute("time_axis", 0)
    if {batch, time} != {0, 1}:
        raise ArgumentValueError(f"{call.place}: expected the axes 0 and 1, but got {batch} and {time}")
    rank = len(shape_of(x))
    lengths = call.reshape(call[1], [shape_of(x)[batch] if i == batch else 1 for i in range(rank)])
    places = _along(call, shape_of(x)[time], time, rank)
    back = call.aten("sub.Tensor", call.aten("sub.Scalar", lengths, 1), places)
    places = call.aten("where.self", call.aten("lt.Tensor", places, lengths), back, places)
    return call.aten("gather", x, time, call.aten("expand", places, list(shape_of(x))))


def _handle_tensor_scatter(call: NodeCall) -> NodeResult:
    past, update, mode = call[0], call[1], call.attribute("mode", "linear")
    if mode not in ("linear", "circular"):
        raise ArgumentValueError(f"{call.place}: expected the mode linear or circular, but got {mode!r}")
    rank = len(shape_of(past))
    dim = call.axis(call.attribute("axis", -2), rank)
    if dim == 0:
        raise ArgumentValueError(f"{call.place}: expected another axis than that of the batch")
    places = _along(call, shape_of(update)[dim], dim, rank)
    if call.get(2) is not None:
        places = call.aten("add.Tensor", places, call.reshape(call[2], [-1, *[1] * (rank - 1)]))
    if mode == "circular":
        places = call.aten("remainder.Scalar", places, shape_of(past)[dim])
    return call.aten("scatter.src", past, dim, call.aten("expand", places, list(shape_of(update))), update)


def _handle_top_k(call: NodeCall) -> NodeResult:
    x = call[0]
    dim, count = call.axis(call.attribute("axis", -1), len(shape_of(x))), int(call.number(1, "k"))
    call.attribute("sorted", 1)  # sorted results are also valid if any order is
    # ONNX takes the first of equal elements. PyTorch guarantees that only for stable sorting.
    results = call.aten_results("sort.stable", x, stable=True, dim=dim, descending=bool(call.attribute("largest", 1)))
    return [call.aten("slice.Tensor", result, dim, 0, count) for result in results]
