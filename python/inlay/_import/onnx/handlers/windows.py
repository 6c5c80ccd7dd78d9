# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much is put around a tensor before windows are taken: ONNX's `pads` and `auto_pad`."""

from ....errors import ArgumentValueError


def conv_sides(call, sizes, kernel, stride, dilation):
    """[(before, behind)] of each spatial dim, for a convolution or pooling over dims of these sizes."""
    mode, given = call.attribute("auto_pad", "NOTSET"), _given(call, len(sizes))
    _check(call, len(sizes), kernel, stride, dilation)
    if mode == "VALID":
        return [(0, 0)] * len(sizes)
    if mode == "NOTSET":
        return given
    sides = []
    for size, width, step, spread in zip(sizes, kernel, stride, dilation, strict=True):
        covered = (-(-size // step) - 1) * step + spread * (width - 1) + 1
        sides.append(_halves(max(0, covered - size), mode == "SAME_UPPER"))
    return sides


def transposed_sides(call, sizes, kernel, stride, dilation, more):
    """[(before, behind)] of each spatial dim that a transposed convolution cuts off."""
    mode, wanted = call.attribute("auto_pad", "NOTSET"), call.attribute("output_shape")
    given = _given(call, len(sizes))
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
        sides.append(_halves(full - wanted[number], mode == "SAME_UPPER"))
    return sides


def _given(call, count):
    pads = call.attribute("pads", [0] * (2 * count))
    if len(pads) != 2 * count:
        raise ArgumentValueError(f"{call.place}: expected {2 * count} pads, but got {len(pads)}")
    return list(zip(pads[:count], pads[count:], strict=True))


def _halves(total, more_behind):
    small, large = total // 2, total - total // 2
    return (small, large) if more_behind else (large, small)


def _check(call, count, *lists):
    for numbers in lists:
        if len(numbers) != count:
            raise ArgumentValueError(f"{call.place}: expected {count} numbers, one per spatial dim, but got {numbers}")
