# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops of the domain com.microsoft that move or compare elements."""

from __future__ import annotations

from ...call import Handler, NodeCall, NodeResult, shape_of
from ..indexing import handlers as indexing_handlers
from ..layout import handlers as layout_handlers
from ..sampling import handlers as sampling_handlers


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "CropAndResize": _handle_crop_and_resize,
        "ExpandDims": _handle_expand_dims,
        "GatherND": indexing_handlers()["GatherND"],
        "GridSample": sampling_handlers()["GridSample"],
        "Trilu": layout_handlers()["Trilu"],
        "Unique": _handle_unique,
    }


def _handle_crop_and_resize(call: NodeCall) -> NodeResult:
    mode = call.attribute("mode", "bilinear")
    if mode not in ("bilinear", "nearest"):
        raise call.unsupported(f"the mode {mode!r} is not supported")
    size = call.required_ints(3, "the size of crops")
    extrapolation = call.attribute("extrapolation_value", 0.0)
    return call.library("crop_and_resize", call[0], call[1], call[2], size, mode == "nearest", extrapolation)


def _handle_expand_dims(call: NodeCall) -> NodeResult:
    shape = list(shape_of(call[0]))
    shape.insert(call.axis(call.number(1, "the axis"), len(shape) + 1), 1)
    return call.reshape(call[0], shape)


def _handle_unique(call: NodeCall) -> NodeResult:
    return call.library("unique_in_order", call[0])
