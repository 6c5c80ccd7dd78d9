# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports normalization of the domain com.microsoft."""

from __future__ import annotations

import functools

import torch

from ...call import Handler, NodeCall, NodeResult, shape_of
from ..normalization import rms_norm

_EPSILON = 1e-12  # the default of the ops with a residual


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "EmbedLayerNormalization": _handle_embed_layer_norm,
        "SimplifiedLayerNormalization": rms_norm,
        "SkipLayerNormalization": functools.partial(_handle_skip_norm, True),
        "SkipSimplifiedLayerNormalization": functools.partial(_handle_skip_norm, False),
    }


def _handle_skip_norm(centered: bool, call: NodeCall) -> NodeResult:
    """Handles a normalization of a sum. centered: True for layer norm, False for RMS norm, which has no shift."""
    gamma, beta, bias = call[2], call.get(3) if centered else None, call.get(4 if centered else 3)
    total = call.aten("add.Tensor", call[0], call[1])
    if bias is not None:
        total = call.aten("add.Tensor", total, bias)
    eps, dims = call.attribute("epsilon", _EPSILON), [shape_of(total)[-1]]
    if centered:
        result = call.aten("layer_norm", total, dims, gamma, beta, eps, False)
    else:
        result = call.aten("rms_norm", total, dims, gamma, eps)
    return [result, None, None, total]


def _handle_embed_layer_norm(call: NodeCall) -> NodeResult:
    words, gamma, beta, mask = call[0], call[5], call[6], call.get(7)
    batch, length = shape_of(words)
    total = call.aten("embedding", call[2], words)
    positions = call.get(8)
    if positions is None:
        part = call.aten("slice.Tensor", call[3], 0, 0, length)
    else:
        part = call.aten("embedding", call[3], positions)
    total = call.aten("add.Tensor", total, part)
    if call.get(1) is not None:
        total = call.aten("add.Tensor", total, call.aten("embedding", call[4], call[1]))
    eps = call.attribute("epsilon", _EPSILON)
    result = call.aten("layer_norm", total, [shape_of(total)[-1]], gamma, beta, eps, False)
    call.attribute("mask_index_type")  # only for shape inference
    if mask is None:
        lengths = call.aten("full", [batch], 0, dtype=torch.int32)
    else:
        lengths = call.aten("sum.dim_IntList", call.aten("eq.Scalar", mask, 1), [1], False, dtype=torch.int32)
    return [result, lengths, total]
