# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings nodes of the first versions of ONNX, 1 to 5, to a newer form.

`upgrades` takes the nodes of version 6 and later.
"""

from __future__ import annotations

import torch
from onnx import TensorProto

from ..call import Handler, NodeCall, NodeResult, shape_of
from .steps import Step, take_ints

# Ops that only differ from version 6 in `consumed_inputs`, a hint about memory.
_UNCHANGED = (
    *("Abs", "Add", "BatchNormalization", "Ceil", "Clip", "Div", "Dropout", "Elu", "Exp", "Floor", "HardSigmoid"),
    *("InstanceNormalization", "LeakyRelu", "Log", "Max", "Mean", "Min", "Mul", "Neg", "PRelu", "Reciprocal", "Relu"),
    *("Sigmoid", "Sqrt", "Sub", "Sum", "Tanh"),
)


def _drop_hint(handler: Handler, call: NodeCall) -> NodeResult:
    call.take_attribute("consumed_inputs")
    return handler(call)


def _selu(handler: Handler, call: NodeCall) -> NodeResult:
    """Sets the defaults, which have fewer digits than those of version 6."""
    call.take_attribute("consumed_inputs")
    call.set_attribute("alpha", call.take_attribute("alpha", 1.6732))
    call.set_attribute("gamma", call.take_attribute("gamma", 1.0507))
    return handler(call)


def _reshape(handler: Handler, call: NodeCall) -> NodeResult:
    call.take_attribute("consumed_inputs")
    take_ints(call, "shape", 1)
    return handler(call)


def _cast(handler: Handler, call: NodeCall) -> NodeResult:
    """Makes the name of a type its number."""
    name = call.take_attribute("to").upper()
    if name not in TensorProto.DataType.keys():  # noqa: SIM118  # not a dict
        raise call.unsupported(f"the type {name!r} is not supported")
    call.set_attribute("to", TensorProto.DataType.Value(name))
    return handler(call)


def _concat(handler: Handler, call: NodeCall) -> NodeResult:
    call.set_attribute("axis", call.take_attribute("axis", 1))
    return handler(call)


def _pad(handler: Handler, call: NodeCall) -> NodeResult:
    call.set_attribute("pads", call.take_attribute("paddings"))
    return handler(call)


def _tile(handler: Handler, call: NodeCall) -> NodeResult:
    """Makes the repeats of one axis those of all axes."""
    rank = len(shape_of(call[0]))
    repeats = [1] * rank
    repeats[call.axis(int(call.number(2, "the axis")), rank)] = int(call.number(1, "tiles"))
    call.inputs = [call[0], call.constant(torch.tensor(repeats, dtype=torch.int64))]
    return handler(call)


def _upsample(handler: Handler, call: NodeCall) -> NodeResult:
    mode = call.take_attribute("mode", "nearest")
    call.set_attribute("mode", "linear" if mode == "bilinear" else mode)
    scales = [1.0, 1.0, call.take_attribute("height_scale"), call.take_attribute("width_scale")]
    call.set_attribute("scales", scales)
    return handler(call)


def _lp_pool(handler: Handler, call: NodeCall) -> NodeResult:
    """Makes the order of a norm an integer."""
    order = call.take_attribute("p", 2.0)
    if order != int(order):
        raise call.unsupported(f"the norm of order {order} is not supported")
    call.set_attribute("p", int(order))
    return handler(call)


def _unchanged(handler: Handler, call: NodeCall) -> NodeResult:
    return handler(call)


# Op and version -> the step to a newer version.
OLDEST_UPGRADES: dict[tuple[str, int], Step] = {
    **{(op, 1): Step(6, _drop_hint) for op in _UNCHANGED},
    ("Cast", 1): Step(6, _cast),
    ("Concat", 1): Step(4, _concat),
    ("GRU", 1): Step(3, _unchanged),
    ("Gemm", 1): Step(6, _unchanged),
    ("GlobalLpPool", 1): Step(2, _lp_pool),
    ("LpPool", 1): Step(2, _lp_pool),
    ("Pad", 1): Step(2, _pad),
    ("Reshape", 1): Step(5, _reshape),
    ("Selu", 1): Step(6, _selu),
    ("Split", 1): Step(2, _unchanged),
    ("Tile", 1): Step(6, _tile),
    ("Upsample", 1): Step(7, _upsample),
}
