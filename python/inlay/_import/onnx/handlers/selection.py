# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops whose results have as many elements as the data decides."""

from __future__ import annotations

import torch

from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Compress": _handle_compress,
        "NonMaxSuppression": _handle_non_max_suppression,
        "NonZero": _handle_non_zero,
        "Unique": _handle_unique,
    }


def _handle_non_zero(call: NodeCall) -> NodeResult:
    return call.aten("permute", call.aten("nonzero", call[0]), [1, 0])


def _handle_compress(call: NodeCall) -> NodeResult:
    x, axis = call[0], call.attribute("axis")
    if axis is None:
        x, axis = call.aten("reshape", x, [-1]), 0
    axis = call.axis(axis, len(shape_of(x)))
    places = call.aten("reshape", call.aten("nonzero", call[1]), [-1])
    return call.aten("index_select", x, axis, places)


def _handle_unique(call: NodeCall) -> NodeResult:
    x, axis = call[0], call.attribute("axis")
    is_sorted = call.attribute("sorted", 1)
    if axis is None:
        values, numbers, counts = call.aten_results("_unique2", x, True, True, True)
        axis, numbers = 0, call.aten("reshape", numbers, [-1])
    else:
        axis = call.axis(axis, len(shape_of(x)))
        values, numbers, counts = call.aten_results("unique_dim", x, axis, True, True, True)
    places = call.aten("arange", shape_of(numbers)[0], dtype=torch.int64)
    first = call.aten("full", [shape_of(counts)[0]], torch.iinfo(torch.int64).max, dtype=torch.int64)
    first = call.aten("scatter_reduce.two", first, 0, numbers, places, "amin")
    if not is_sorted:  # the order in which the values occur
        first, order = call.aten_results("sort", first)
        values, counts = (call.aten("index_select", part, dim, order) for part, dim in ((values, axis), (counts, 0)))
        ranks = call.aten("argsort", order)
        numbers = call.aten("index_select", ranks, 0, numbers)
    return [values, first, numbers, counts]


def _handle_non_max_suppression(call: NodeCall) -> NodeResult:
    none = call.constant(torch.zeros(1, dtype=torch.int64))
    inputs = [call[2] if call.get(2) is not None else none]
    for number, default in ((3, 0.0), (4, -torch.inf)):
        given = call.get(number)
        inputs.append(call.constant(torch.tensor([default])) if given is None else given)
    boxes, scores = (call.cast(x, torch.float32) if dtype_of(x) == torch.float16 else x for x in (call[0], call[1]))
    return call.library("non_max_suppression", boxes, scores, *inputs, bool(call.attribute("center_point_box", 0)))
