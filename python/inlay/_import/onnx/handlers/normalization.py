# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports normalization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "BatchNormalization": _handle_batch_norm,
        "GroupNormalization": _handle_group_norm,
        "InstanceNormalization": _handle_instance_norm,
        "LayerNormalization": _handle_layer_norm,
        "LpNormalization": _handle_lp_norm,
        "MeanVarianceNormalization": _handle_mvn,
        "RMSNormalization": rms_norm,
    }


def _handle_batch_norm(call: NodeCall) -> NodeResult:
    x, scale, bias, mean, variance = (call[number] for number in range(5))
    eps, momentum = call.attribute("epsilon", 1e-5), call.attribute("momentum", 0.9)
    if call.attribute("training_mode", 0):
        dims = [dim for dim in range(len(shape_of(x))) if dim != 1]
        fresh = call.aten_results("var_mean.correction", x, dims, correction=0)
        running = [
            call.aten("add.Tensor", call.aten("mul.Scalar", old, momentum), call.aten("mul.Scalar", new, 1 - momentum))
            for old, new in ((mean, fresh[1]), (variance, fresh[0]))
        ]
        running = [call.cast(new, dtype_of(old)) for new, old in zip(running, (mean, variance), strict=True)]
        return [call.aten("batch_norm", x, scale, bias, fresh[1], fresh[0], False, 0.0, eps, False), *running]
    return call.aten("batch_norm", x, scale, bias, mean, variance, False, 0.0, eps, False)


def _handle_instance_norm(call: NodeCall) -> NodeResult:
    channels = shape_of(call[0])[1]
    return call.aten("group_norm", call[0], channels, call[1], call[2], call.attribute("epsilon", 1e-5), False)


def _handle_group_norm(call: NodeCall) -> NodeResult:
    x, groups = call[0], call.attribute("num_groups")
    return call.aten("group_norm", x, groups, call[1], call[2], call.attribute("epsilon", 1e-5), False)


class _NormalizedDims(NamedTuple):
    """The sizes of the normalized dims, and the vectors expanded to them."""

    dims: list[int]
    vectors: list[torch.fx.Node | None]


def _normalized(call: NodeCall, x: torch.fx.Node, vectors: Sequence[torch.fx.Node | None]) -> _NormalizedDims:
    """Returns the dims that the node normalizes. vectors: its scale and bias, which broadcast to them."""
    shape = shape_of(x)
    dims = list(shape[call.axis(call.attribute("axis", -1), len(shape)) :])
    fitted = [
        vector
        if vector is None or list(shape_of(vector)) == dims
        else call.aten("expand", call.reshape(vector, shape_of(vector)[-len(dims) :]), dims)
        for vector in vectors
    ]
    return _NormalizedDims(dims, fitted)


def _handle_layer_norm(call: NodeCall) -> NodeResult:
    x, eps = call[0], call.attribute("epsilon", 1e-5)
    dims, (scale, bias) = _normalized(call, x, (call[1], call.get(2)))
    normalized = call.aten("layer_norm", x, dims, scale, bias, eps, False)
    if call.is_wanted(1) or call.is_wanted(2):
        wide = call.cast(x, torch.float32 if call.attribute("stash_type", 1) == 1 else dtype_of(x))
        axes = list(range(len(shape_of(x)) - len(dims), len(shape_of(x))))
        mean = call.aten("mean.dim", wide, axes, True)
        centered = call.aten("sub.Tensor", wide, mean)
        variance = call.aten("mean.dim", call.aten("mul.Tensor", centered, centered), axes, True)
        return [normalized, mean, call.aten("rsqrt", call.aten("add.Scalar", variance, eps))]
    return [normalized, None, None]


def rms_norm(call: NodeCall) -> NodeResult:
    """Handles RMSNormalization and SimplifiedLayerNormalization, which also returns 1 / RMS."""
    x, eps = call[0], call.attribute("epsilon", 1e-5)
    dims, (scale,) = _normalized(call, x, (call[1],))
    normalized = call.aten("rms_norm", x, dims, scale, eps)
    if not call.is_wanted(1):
        return [normalized]
    wide = call.cast(x, torch.float32)
    axes = list(range(len(shape_of(x)) - len(dims), len(shape_of(x))))
    mean = call.aten("mean.dim", call.aten("mul.Tensor", wide, wide), axes, True)
    return [normalized, call.aten("rsqrt", call.aten("add.Scalar", mean, eps))]


def _handle_lp_norm(call: NodeCall) -> NodeResult:
    x, order = call[0], call.attribute("p", 2)
    dim = call.axis(call.attribute("axis", -1), len(shape_of(x)))
    norm = call.aten("linalg_vector_norm", x, order, [dim], True)
    # A vector of zeros stays unchanged.
    is_zero = call.aten("eq.Scalar", norm, 0)
    one = call.constant(torch.ones((), dtype=dtype_of(x)))
    return call.aten("div.Tensor", x, call.aten("where.self", is_zero, one, norm))


def _handle_mvn(call: NodeCall) -> NodeResult:
    x, rank = call[0], len(shape_of(call[0]))
    axes = call.axes(call.attribute("axes", [0, 2, 3]), rank)
    mean, of_squares = (call.aten("mean.dim", value, axes, True) for value in (x, call.aten("mul.Tensor", x, x)))
    variance = call.aten("sub.Tensor", of_squares, call.aten("mul.Tensor", mean, mean))
    # The specification adds this number to the standard deviation.
    deviation = call.aten("add.Scalar", call.aten("sqrt", variance), 1e-9)
    return call.aten("div.Tensor", call.aten("sub.Tensor", x, mean), deviation)
