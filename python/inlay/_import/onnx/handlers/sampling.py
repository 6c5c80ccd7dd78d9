# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ops that take elements of images at computed positions, and ops on blocks of images."""

from __future__ import annotations

import math

from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of

_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}
_MODES = {"bilinear": 0, "linear": 0, "nearest": 1, "bicubic": 2, "cubic": 2}
_BICUBIC = 2


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "Col2Im": _handle_col2im,
        "DeformConv": _handle_deform_conv,
        "GridSample": _handle_grid_sample,
        "MaxRoiPool": _handle_max_roi_pool,
        "RoiAlign": _handle_roi_align,
    }


def _handle_grid_sample(call: NodeCall) -> NodeResult:
    spatial = len(shape_of(call[0])) - 2
    mode, padding = call.attribute("mode", "linear"), call.attribute("padding_mode", "zeros")
    aligned = bool(call.attribute("align_corners", 0))
    if mode not in _MODES or padding not in _PADDINGS:
        raise call.unsupported(f"the mode {mode!r} with the padding {padding!r} is not supported")
    if spatial not in (2, 3) or (spatial == 3 and _MODES[mode] == _BICUBIC):
        raise call.unsupported(f"the mode {mode!r} is not supported for {spatial} spatial dims")
    grid = call.cast(call[1], dtype_of(call[0]))
    return call.aten(f"grid_sampler_{spatial}d", call[0], grid, _MODES[mode], _PADDINGS[padding], aligned)


def _handle_deform_conv(call: NodeCall) -> NodeResult:
    if len(shape_of(call[0])) != 4:
        raise call.unsupported("only two spatial dims are supported")
    stride, dilation = call.attribute("strides", [1, 1]), call.attribute("dilations", [1, 1])
    pads, groups = call.attribute("pads", [0] * 4), call.attribute("group", 1)
    arguments = (call[0], call[1], call[2], call.get(3), call.get(4), stride, pads, dilation, groups)
    return call.library("deform_conv", *arguments, call.attribute("offset_group", 1))


def _handle_roi_align(call: NodeCall) -> NodeResult:
    mode, size = call.attribute("mode", "avg"), [call.attribute("output_height", 1), call.attribute("output_width", 1)]
    if mode not in ("avg", "max"):
        raise call.unsupported(f"the mode {mode!r} is not supported")
    # Version 10 has no attribute for coordinates.
    default = "half_pixel" if call.version >= 16 else "output_half_pixel"
    coordinates = call.attribute("coordinate_transformation_mode", default)
    if coordinates not in ("half_pixel", "output_half_pixel"):
        raise call.unsupported(f"the coordinates {coordinates!r} are not supported")
    offset = 0.5 if coordinates == "half_pixel" else 0.0
    ratio, scale = call.attribute("sampling_ratio", 0), call.attribute("spatial_scale", 1.0)
    return call.library("roi_align", call[0], call[1], call[2], size, ratio, scale, offset, mode == "max")


def _handle_max_roi_pool(call: NodeCall) -> NodeResult:
    size, scale = call.attribute("pooled_shape"), call.attribute("spatial_scale", 1.0)
    return call.library("max_roi_pool", call[0], call[1], size, scale)


def _handle_col2im(call: NodeCall) -> NodeResult:
    (rank,) = shape_of(call[1])
    sizes = call.required_ints(1, "the image's shape") if call.has_ints(1) else [-1] * rank
    channels = shape_of(call[0])[1] // math.prod(call.required_ints(2, "the block's shape")) if call.has_ints(2) else -1
    strides, dilations = call.attribute("strides", [1] * rank), call.attribute("dilations", [1] * rank)
    pads = call.attribute("pads", [0] * (2 * rank))
    return call.library("col2im", call[0], call[1], call[2], [channels, *sizes], dilations, pads, strides)
