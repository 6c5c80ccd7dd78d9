# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops that draw random numbers, with PyTorch's generator.

ONNX doesn't define the generator, so a seed gives other numbers in each runtime. `torch.manual_seed` makes them the
same again, and the attribute `seed` has no effect.
"""

from __future__ import annotations

import functools

import torch
from onnx import TensorProto

from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..tensors import dtype_of as element_dtype


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Multinomial": _handle_multinomial,
        "RandomNormal": functools.partial(_handle_normal, False),
        "RandomNormalLike": functools.partial(_handle_normal, True),
        "RandomUniform": functools.partial(_handle_uniform, False),
        "RandomUniformLike": functools.partial(_handle_uniform, True),
    }


def _draw(call: NodeCall, name: str, like: bool) -> torch.fx.Node:
    """Returns numbers of the ATen call `name`. like: True if the input gives the shape."""
    call.ignore("seed")
    number = call.attribute("dtype")
    shape = shape_of(call[0]) if like else call.attribute("shape")
    if number is not None or not like:
        dtype = element_dtype(TensorProto.FLOAT if number is None else number, f"the result of {call.place}")
    else:
        dtype = dtype_of(call[0])
    if not dtype.is_floating_point:
        raise call.unsupported("random integers are not supported")
    return call.aten(name, list(shape), dtype=dtype)


def _handle_uniform(like: bool, call: NodeCall) -> NodeResult:
    low, high = call.attribute("low", 0.0), call.attribute("high", 1.0)
    numbers = _draw(call, "rand", like)
    return call.aten("add.Scalar", call.aten("mul.Scalar", numbers, high - low), low)


def _handle_normal(like: bool, call: NodeCall) -> NodeResult:
    mean, deviation = call.attribute("mean", 0.0), call.attribute("scale", 1.0)
    numbers = _draw(call, "randn", like)
    return call.aten("add.Scalar", call.aten("mul.Scalar", numbers, deviation), mean)


def _handle_multinomial(call: NodeCall) -> NodeResult:
    call.ignore("seed")
    dtype = element_dtype(call.attribute("dtype", TensorProto.INT32), f"the result of {call.place}")
    weights = call.aten("softmax.int", call[0], -1)
    return call.cast(call.aten("multinomial", weights, call.attribute("sample_size", 1), True), dtype)
