# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings nodes of older versions of an ONNX op to the form that the handler of the op takes.

`oldest` takes the nodes of the versions before 6.
"""

from __future__ import annotations

import math

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..values import LateError
from .oldest import OLDEST_UPGRADES
from .steps import Step, take_ints

# -- Attributes that became inputs ------------------------------------------------------------------------------------


def _dft_17(handler: Handler, call: NodeCall) -> NodeResult:
    call.set_input(2, call.constant(torch.tensor(call.take_attribute("axis", 1))))
    return handler(call)


def _axes_become_input(handler: Handler, call: NodeCall) -> NodeResult:
    take_ints(call, "axes", 1)
    return handler(call)


def _split_becomes_input(handler: Handler, call: NodeCall) -> NodeResult:
    take_ints(call, "split", 1)
    return handler(call)


def _slice(handler: Handler, call: NodeCall) -> NodeResult:
    for place, name in enumerate(("starts", "ends", "axes")):
        take_ints(call, name, 1 + place)
    return handler(call)


def _top_k(handler: Handler, call: NodeCall) -> NodeResult:
    call.set_input(1, call.constant(torch.tensor([call.take_attribute("k")], dtype=torch.int64)))
    return handler(call)


def _clip(handler: Handler, call: NodeCall) -> NodeResult:
    """Makes the bounds inputs. A missing bound is the largest float32, which also bounds infinities."""
    x = call[0]
    largest = torch.finfo(torch.float32).max
    fits = torch.finfo(dtype_of(x)).max >= largest
    for place, (name, default) in enumerate((("min", -largest), ("max", largest))):
        bound = call.take_attribute(name, default if fits else None)
        if bound is not None:
            call.set_input(1 + place, call.constant(torch.tensor(bound, dtype=dtype_of(x))))
    return handler(call)


def _pad(handler: Handler, call: NodeCall) -> NodeResult:
    take_ints(call, "pads", 1)
    value = call.take_attribute("value", 0.0)
    call.set_input(2, call.constant(torch.tensor(value, dtype=dtype_of(call[0]))))
    return handler(call)


def _upsample_7(handler: Handler, call: NodeCall) -> NodeResult:
    scales = call.take_attribute("scales", [])
    call.set_input(1, call.constant(torch.tensor(scales, dtype=torch.float32)))
    return handler(call)


# -- Ops before version 7 ---------------------------------------------------------------------------------------------


def _broadcast(handler: Handler, call: NodeCall) -> NodeResult:
    """Appends dims of 1 to the second operand, whose dims are those of the first from the attribute `axis` on."""
    axis = call.take_attribute("axis")
    if call.take_attribute("broadcast", 0) and axis is not None:
        rank, shape = len(shape_of(call[0])), shape_of(call[1])
        behind = rank - call.axis(axis, rank) - len(shape)
        call.set_input(1, call.reshape(call[1], (*shape, *[1] * behind)))
    return handler(call)


def _average_pool(handler: Handler, call: NodeCall) -> NodeResult:
    """Counts the padding, which version 7 leaves out of averages by default."""
    call.set_attribute("count_include_pad", 1)
    return handler(call)


def _gemm(handler: Handler, call: NodeCall) -> NodeResult:
    call.take_attribute("broadcast")
    return handler(call)


def _prelu(handler: Handler, call: NodeCall) -> NodeResult:
    """Makes a slope with an element per channel broadcast along the dim of channels, the second one."""
    rank, slope = len(shape_of(call[0])), shape_of(call[1])
    if len(slope) == 1 and rank > 2:
        call.set_input(1, call.reshape(call[1], (*slope, *[1] * (rank - 2))))
    return handler(call)


# -- Defaults and modes -----------------------------------------------------------------------------------------------


def _dropout(handler: Handler, call: NodeCall) -> NodeResult:
    """Drops the ratio, which only training needs. Before version 12, the mask of inference has no specified value."""
    call.take_attribute("ratio")
    if call.is_wanted(1):
        raise call.unsupported("the mask of a Dropout before version 12 is not supported")
    return handler(call)


def _recurrent(handler: Handler, call: NodeCall) -> NodeResult:
    """Drops `output_sequence`, which says again whether the node has its first output."""
    call.take_attribute("output_sequence")
    return handler(call)


def _inference(handler: Handler, call: NodeCall) -> NodeResult:
    if not call.take_attribute("is_test", 0):
        raise call.unsupported("training is not supported: before version 7, the attribute 'is_test' must be 1")
    return handler(call)


def _batch_norm(handler: Handler, call: NodeCall) -> NodeResult:
    """Takes inference, where the node has one output. Before version 14, more outputs mean training."""
    if not call.take_attribute("spatial", 1):
        raise call.unsupported("the attribute 'spatial' is only supported if it is 1")
    if any(call.is_wanted(number) for number in range(1, 5)):
        raise call.unsupported("training is not supported")
    return handler(call)


def _softmax(handler: Handler, call: NodeCall) -> NodeResult:
    """Flattens the dims from `axis` on, over all of which older versions compute the softmax."""
    x = call[0]
    shape = shape_of(x)
    axis = call.axis(call.take_attribute("axis", 1), len(shape))
    if all(size == 1 for size in shape[axis + 1 :]):
        call.set_attribute("axis", axis)
        return handler(call)
    call.set_input(0, call.reshape(x, (math.prod(shape[:axis]), math.prod(shape[axis:]))))
    call.set_attribute("axis", 1)
    result = handler(call)
    assert isinstance(result, torch.fx.Node)
    return call.reshape(result, shape)


def _one_hot(handler: Handler, call: NodeCall) -> NodeResult:
    """Replaces negative indices. In version 9 they are off, like those that are too large."""
    indices = call.cast(call[0], torch.int64)
    outside = call.constant(torch.tensor(torch.iinfo(torch.int64).max))
    call.set_input(0, call.aten("where.self", call.aten("lt.Scalar", indices, 0), outside, indices))
    return handler(call)


def _resize(handler: Handler, call: NodeCall) -> NodeResult:
    """Adds the modes of version 11 that version 10 implies.

    ONNX doesn't specify them. These are the ones of ONNX Runtime.
    """
    scales = call[1]
    if call.attribute("mode", "nearest") == "nearest":
        known = call.known(1, "scales")
        assert known is not None
        if bool((known < 1).any() and (known > 1).any()):
            raise call.unsupported("scales below and above 1 in one node are not supported before version 11")
        call.set_attribute("nearest_mode", "ceil" if bool((known < 1).any()) else "floor")
    call.set_attribute("coordinate_transformation_mode", "asymmetric")
    call.set_input(1, None)
    call.set_input(2, scales)
    return handler(call)


def _group_norm(handler: Handler, call: NodeCall) -> NodeResult:
    """Repeats the scale and the bias, which have one element per group before version 21, for each channel."""
    channels = shape_of(call[0])[1]
    for place in (1, 2):
        (count,) = shape_of(call[place])
        spread = call.aten("expand", call.reshape(call[place], (count, 1)), [count, channels // count])
        call.set_input(place, call.reshape(spread, (channels,)))
    return handler(call)


def _scan_8(handler: Handler, call: NodeCall) -> NodeResult:
    """Adds a scan for each sequence. In version 8, the first dim of all values is that of sequences."""
    lengths, given = call.known(0, "the lengths of sequences"), [call[number] for number in range(1, len(call.inputs))]
    count = call.attribute("num_scan_inputs")
    states = len(given) - count
    batch, longest = shape_of(given[-1])[:2]
    if not isinstance(batch, int):
        raise LateError("the number of sequences is known only at a call")
    if batch == 0:
        raise call.unsupported("a scan over no sequences is not supported before version 9")
    call.set_attribute("scan_input_directions", call.take_attribute("directions", [0] * count))
    found = []
    for number in range(batch):
        parts = [call.aten("select.int", value, 0, number) for value in given]
        if lengths is not None:
            length = int(lengths[number])
            if not 0 <= length <= longest:
                raise ArgumentValueError(f"{call.place}: expected lengths in [0, {longest}], but got {length}")
            parts[states:] = [call.aten("slice.Tensor", part, 0, 0, length) for part in parts[states:]]
        call.inputs = list(parts)
        results = handler(call)
        assert not isinstance(results, torch.fx.Node)
        nodes = [result for result in results if isinstance(result, torch.fx.Node)]
        found.append([*nodes[:states], *(_lengthen(call, node, longest) for node in nodes[states:])])
    return [call.aten("stack", list(column), 0) for column in zip(*found, strict=True)]


def _lengthen(call: NodeCall, x: torch.fx.Node, length: int) -> torch.fx.Node:
    """Returns `x` with zeros behind its rows, up to `length` rows."""
    rank, rows = len(shape_of(x)), shape_of(x)[0]
    return x if rows == length else call.aten("constant_pad_nd", x, [0] * (2 * rank - 1) + [length - rows], 0)


def _unchanged(handler: Handler, call: NodeCall) -> NodeResult:
    return handler(call)


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")

_ARITHMETIC = ("Add", "Div", "Mul", "Sub")
_LOGIC = ("And", "Equal", "Greater", "Less", "Or", "Pow", "Xor")

# Op and version -> the step to a newer version.
UPGRADES: dict[tuple[str, int], Step] = {
    **OLDEST_UPGRADES,
    **{(op, 6): Step(7, _broadcast) for op in _ARITHMETIC},
    **{(op, 1): Step(7, _broadcast) for op in _LOGIC},
    ("AveragePool", 1): Step(7, _average_pool),
    ("BatchNormalization", 6): Step(7, _inference),
    ("BatchNormalization", 7): Step(14, _batch_norm),
    ("BatchNormalization", 9): Step(14, _batch_norm),
    ("Clip", 6): Step(11, _clip),
    ("DFT", 17): Step(20, _dft_17),
    ("Dropout", 6): Step(7, _inference),
    ("Dropout", 7): Step(12, _dropout),
    ("Dropout", 10): Step(12, _dropout),
    ("GRU", 3): Step(7, _recurrent),
    ("Gemm", 6): Step(7, _gemm),
    ("GridSample", 16): Step(20, _unchanged),  # other names of modes
    ("GroupNormalization", 18): Step(21, _group_norm),
    ("Hardmax", 1): Step(13, _softmax),
    ("Hardmax", 11): Step(13, _softmax),
    ("LSTM", 1): Step(7, _recurrent),
    ("LogSoftmax", 1): Step(13, _softmax),
    ("LogSoftmax", 11): Step(13, _softmax),
    ("OneHot", 9): Step(11, _one_hot),
    ("Pad", 2): Step(11, _pad),
    ("PRelu", 6): Step(7, _prelu),
    ("RNN", 1): Step(7, _recurrent),
    ("ReduceSum", 1): Step(13, _axes_become_input),
    ("ReduceSum", 11): Step(13, _axes_become_input),
    **{(f"Reduce{name}", old): Step(18, _axes_become_input) for name in _REDUCTIONS for old in (1, 11, 12, 13)},
    ("Resize", 10): Step(11, _resize),
    ("Scan", 8): Step(9, _scan_8),
    ("Scatter", 9): Step(11, _unchanged, "ScatterElements"),
    ("Slice", 1): Step(10, _slice),
    ("Softmax", 1): Step(13, _softmax),
    ("Softmax", 11): Step(13, _softmax),
    ("Split", 2): Step(13, _split_becomes_input),
    ("Split", 11): Step(13, _split_becomes_input),
    ("Squeeze", 1): Step(13, _axes_become_input),
    ("Squeeze", 11): Step(13, _axes_become_input),
    ("TopK", 1): Step(10, _top_k),
    ("Unsqueeze", 1): Step(13, _axes_become_input),
    ("Unsqueeze", 11): Step(13, _axes_become_input),
    ("Upsample", 7): Step(9, _upsample_7),
    ("Upsample", 9): Step(10, _unchanged, "Resize"),
}
