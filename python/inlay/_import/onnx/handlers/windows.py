# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes the padding of windows from ONNX's `pads` and `auto_pad`."""

from __future__ import annotations

from collections.abc import Sequence

from ....errors import ArgumentValueError
from ..call import NodeCall


def conv_sides(
    call: NodeCall, sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> list[tuple[int, int]]:
    """Returns the padding before and behind each spatial dim of a convolution or pooling. sizes: the spatial dims."""
    mode, given = call.attribute("auto_pad", "NOTSET"), _given(call, len(sizes))
    _check(call, len(sizes), kernel, stride, dilation)
    if mode == "VALID":
        return [(0, 0)] * len(sizes)
    if mode == "NOTSET":
        return given
    sides = []
    for size, width, step, spread in zip(sizes, kernel, stride, dilation, strict=True):
        # A step of 1 needs no assumption about the size.
        missing = spread * (width - 1)
        if step != 1:
            missing = max(0, (-(-size // step) - 1) * step + missing + 1 - size)
        sides.append(_halves(missing, mode == "SAME_UPPER"))
    return sides


def transposed_sides(
    call: NodeCall,
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    more: Sequence[int],
    pads: Sequence[int] | None = None,
) -> list[tuple[int, int]]:
    """Returns the numbers of elements that a transposed convolution removes before and behind each spatial dim.

    sizes: the spatial dims. more: the output padding. pads: in place of the attribute. A negative number of elements is
    added.
    """
    mode, wanted = call.attribute("auto_pad", "NOTSET"), call.attribute("output_shape")
    given = _given(call, len(sizes), pads)
    _check(call, len(sizes), kernel, stride, dilation, more)
    if mode == "VALID":
        return [(0, 0)] * len(sizes)
    if mode == "NOTSET" and wanted is None:
        return given
    wanted = (
        [size * step for size, step in zip(sizes, stride, strict=True)] if wanted is None else wanted[-len(sizes) :]
    )
    sides = []
    for number, (size, width, step) in enumerate(zip(sizes, kernel, stride, strict=True)):
        full = step * (size - 1) + more[number] + dilation[number] * (width - 1) + 1
        total = full - wanted[number]
        sides.append((0, total) if total < 0 else _halves(total, mode == "SAME_UPPER"))
    return sides


def _given(call: NodeCall, count: int, pads: Sequence[int] | None = None) -> list[tuple[int, int]]:
    """Returns `pads`, or the attribute of this name, as pairs."""
    pads = call.attribute("pads", [0] * (2 * count)) if pads is None else pads
    if len(pads) != 2 * count:
        raise ArgumentValueError(f"{call.place}: expected {2 * count} pads, but got {len(pads)}")
    return list(zip(pads[:count], pads[count:], strict=True))


def _halves(total: int, more_behind: bool) -> tuple[int, int]:
    """Returns `total` in two parts that differ by at most 1."""
    small, large = total // 2, total - total // 2
    return (small, large) if more_behind else (large, small)


def _check(call: NodeCall, count: int, *lists: Sequence[int]) -> None:
    """Raises ArgumentValueError unless each list has one number per spatial dim."""
    for numbers in lists:
        if len(numbers) != count:
            raise ArgumentValueError(f"{call.place}: expected {count} numbers, one per spatial dim, but got {numbers}")
