# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The least run of layers that is wrong on a target."""

from ..errors import Error
from .pieces import Piece, difference, is_off


def find_culprits(layers, values, weights, target, tolerance):
    """The shortest run of `layers` found that is off on `target` when it starts from right values: mostly one layer,
    several where only their fusion is wrong. Its last layer is the first whose result goes wrong.

    values: every tensor's right value. Takes some 2 log2(layers) compilations.
    """

    def wrong(part):
        return bool(part) and is_wrong(part, values, weights, target, tolerance)

    end = _first(len(layers), lambda count: wrong(layers[:count]))
    start = end - _first(end, lambda count: wrong(layers[end - count : end]))
    return layers[start:end]


def is_wrong(layers, values, weights, target, tolerance):
    """Whether a result of `layers`, run by themselves, is off; what doesn't compile alone is not."""
    piece = Piece.of(layers, weights)
    try:
        results = piece.run(target, [values[tensor] for tensor in piece.arguments])
    except Error:
        return False
    pairs = zip(results, (values[tensor] for tensor in piece.results), strict=True)
    return any(is_off(difference(got, expected), expected.dtype, tolerance) for got, expected in pairs)


def _first(count, holds):
    """The least number in [1, count] for which `holds`, which does so for `count` and, once it does, goes on to."""
    fails = 0
    while count - fails > 1:
        middle = (fails + count) // 2
        if holds(middle):
            count = middle
        else:
            fails = middle
    return count
