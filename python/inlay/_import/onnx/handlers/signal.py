# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports signal processing."""

from __future__ import annotations

import torch
from onnx import TensorProto

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, shape_of
from ..tensors import dtype_of as element_dtype


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"DFT": _handle_dft, "MelWeightMatrix": _handle_mel_weight_matrix, "STFT": _handle_stft}


def _handle_dft(call: NodeCall) -> NodeResult:
    x, rank = call[0], len(shape_of(call[0]))
    inverse, onesided = bool(call.attribute("inverse", 0)), bool(call.attribute("onesided", 0))
    if call.get(2) is not None and not call.is_known(2):
        return call.library("dft", x, call.get(1), 0, call[2], inverse, onesided)
    axis = call.axis(call.number(2, "the axis", -2), rank)
    if axis == rank - 1:
        raise ArgumentValueError(f"{call.place}: the last dim holds real and imaginary parts, so it can't be the axis")
    return call.library("dft", x, call.get(1), axis, None, inverse, onesided)


def _handle_stft(call: NodeCall) -> NodeResult:
    onesided = bool(call.attribute("onesided", 1))
    return call.library("stft", call[0], call[1], call.get(2), call.get(3), onesided)


def _handle_mel_weight_matrix(call: NodeCall) -> NodeResult:
    dtype: torch.dtype = element_dtype(call.attribute("output_datatype", TensorProto.FLOAT), call.place)
    return call.library("mel_weight_matrix", *(call[number] for number in range(5)), dtype)
