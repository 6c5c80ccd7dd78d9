# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops on sequences and optionals. A sequence of known length is a list of values while a model is imported."""

from __future__ import annotations

from typing import Any

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, shape_of
from ...values import LateError, Value


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "ConcatFromSequence": _handle_concat,
        "Optional": _handle_optional,
        "OptionalGetElement": _handle_get_element,
        "OptionalHasElement": _handle_has_element,
        "SequenceAt": _handle_at,
        "SequenceConstruct": _handle_construct,
        "SequenceEmpty": _handle_empty,
        "SequenceErase": _handle_erase,
        "SequenceInsert": _handle_insert,
        "SequenceLength": _handle_length,
        "SequenceMap": _handle_map,
        "SplitToSequence": _handle_split,
    }


def _handle_construct(call: NodeCall) -> NodeResult:
    return [list(call.inputs)]


def _handle_empty(call: NodeCall) -> NodeResult:
    call.attribute("dtype")  # an empty sequence has no elements of that type
    return [[]]


def _handle_length(call: NodeCall) -> NodeResult:
    return call.constant(torch.tensor(len(call.sequence(0))))


def _position(call: NodeCall, number: int, count: int, default: int) -> int:
    """Returns a position in [0, count). number: the input that holds it; default: the position if it is left out."""
    position = int(call.number(number, "the position", default))
    if not -count <= position < count:
        raise ArgumentValueError(f"{call.place}: expected a position in [{-count}, {count}), but got {position}")
    return position % count


def _handle_at(call: NodeCall) -> NodeResult:
    values = call.sequence(0)
    return [values[_position(call, 1, len(values), 0)]]


def _handle_erase(call: NodeCall) -> NodeResult:
    values = call.sequence(0)
    position = _position(call, 1, len(values), len(values) - 1)
    return [[*values[:position], *values[position + 1 :]]]


def _handle_insert(call: NodeCall) -> NodeResult:
    values, count = call.sequence(0), len(call.sequence(0))
    position = int(call.number(2, "the position", count))
    if not -count <= position <= count:
        raise ArgumentValueError(f"{call.place}: expected a position in [{-count}, {count}], but got {position}")
    position += count if position < 0 else 0
    return [[*values[:position], call[1], *values[position:]]]


def _handle_concat(call: NodeCall) -> NodeResult:
    values = call.sequence(0)
    if not values:
        raise ArgumentValueError(f"{call.place}: expected a sequence with elements, but got an empty one")
    is_new = call.attribute("new_axis", 0)
    dim = call.axis(call.attribute("axis"), len(shape_of(values[0])) + is_new)
    return call.aten("stack" if is_new else "cat", values, dim)


def _handle_split(call: NodeCall) -> NodeResult:
    x, keeps = call[0], call.attribute("keepdims", 1)
    dim = call.axis(call.attribute("axis", 0), len(shape_of(x)))
    size = shape_of(x)[dim]
    if not isinstance(size, int):
        raise LateError(f"the number of parts depends on the size {size}")
    given = call.value(1)
    if given is None:
        sizes = [1] * size
    else:
        sizes = [int(part) for part in call.required_ints(1, "the sizes of parts")]
        if not shape_of(call[1]):
            each = sizes[0]
            if each < 1:
                raise ArgumentValueError(f"{call.place}: expected parts of size 1 or more, but got {each}")
            sizes = [min(each, size - start) for start in range(0, size, each)]
    if sum(sizes) != size or min(sizes, default=0) < 0:
        raise ArgumentValueError(f"{call.place}: expected parts of {size} elements in total, but got {sizes}")
    parts = call.aten_results("split_with_sizes", x, sizes, dim)
    if given is None and not keeps:
        parts = [call.aten("squeeze.dim", part, dim) for part in parts]
    return [parts]


def _handle_map(call: NodeCall) -> NodeResult:
    first = call.sequence(0)
    rows: list[list[Any]] = [[] for _ in call.graph_attribute("body").output]
    for number in range(len(first)):
        arguments = [_element(call, value, number, len(first)) for value in call.inputs]
        for row, result in zip(rows, call.converter.inline(call, "body", arguments), strict=True):
            row.append(result)
    return rows


def _element(call: NodeCall, value: Value, number: int, count: int) -> Value:
    """Returns an element of a sequence, or the value itself if it is a tensor."""
    if not isinstance(value, list):
        return value
    if len(value) != count:
        raise ArgumentValueError(f"{call.place}: expected sequences of one length, but got {count} and {len(value)}")
    element: Value = value[number]
    return element


# -- Optionals --------------------------------------------------------------------------------------------------------


def _handle_optional(call: NodeCall) -> NodeResult:
    call.ignore("type")  # the type of a missing element
    return [call.value(0)]


def _handle_has_element(call: NodeCall) -> NodeResult:
    return call.constant(torch.tensor(call.value(0) is not None))


def _handle_get_element(call: NodeCall) -> NodeResult:
    value = call.value(0)
    if value is None:
        raise ArgumentValueError(f"{call.place}: expected an optional with an element")
    return [value]
