# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the culprits of a wrong result: the fewest consecutive layers whose results are wrong on a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from .._graph.module import Layer, Tensor
from ..errors import Error
from .pieces import Piece, Target, difference, is_off


def find_culprits(
    layers: Sequence[Layer],
    values: Mapping[Tensor, torch.Tensor],
    weights: Mapping[str, torch.Tensor],
    target: Target,
    tolerance: float | None,
) -> Sequence[Layer]:
    """Returns the consecutive layers whose results are wrong on `target`, although their inputs are right.

    It is mostly one layer, or several layers if only their fusion is wrong. The last of them is the first layer with a
    wrong result. The search is a bisection. It needs about 2 log2(number of layers) compilations.

    values: the right value of every tensor.
    tolerance: see `is_off`.
    """

    def wrong(part: Sequence[Layer]) -> bool:
        return bool(part) and is_wrong(part, values, weights, target, tolerance)

    end = _first(len(layers), lambda count: wrong(layers[:count]))
    start = end - _first(end, lambda count: wrong(layers[end - count : end]))
    return layers[start:end]


def is_wrong(
    layers: Sequence[Layer],
    values: Mapping[Tensor, torch.Tensor],
    weights: Mapping[str, torch.Tensor],
    target: Target,
    tolerance: float | None,
) -> bool:
    """Returns true if a result of `layers` alone is wrong. Layers that don't compile alone are not wrong."""
    piece = Piece.of(layers, weights)
    try:
        results = piece.run(target, [values[tensor] for tensor in piece.arguments])
    except Error:
        return False
    pairs = zip(results, (values[tensor] for tensor in piece.results), strict=True)
    return any(is_off(difference(got, expected), expected.dtype, tolerance) for got, expected in pairs)


def _first(count: int, holds: Callable[[int], bool]) -> int:
    """Returns the smallest number in [1, count] for which `holds` is true.

    `holds` is true for `count`, and for all numbers above one for which it is true.
    """
    fails = 0
    while count - fails > 1:
        middle = (fails + count) // 2
        if holds(middle):
            count = middle
        else:
            fails = middle
    return count
