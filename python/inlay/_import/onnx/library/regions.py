# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers ops that take parts of images: RoiAlign, MaxRoiPool, CropAndResize and DeformConv."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def _sample(image: Tensor, ys: Tensor, xs: Tensor) -> list[Tensor]:
    """Returns the products of the four neighbors of each position and their weights for bilinear interpolation.

    image: channels x height x width. Positions more than 1 outside of the image have the weight 0.
    """
    axes = []
    for at, size in ((ys, image.shape[1]), (xs, image.shape[2])):
        inside = (at >= -1) & (at <= size)
        at = at.clamp(0, size - 1)
        low = at.floor()
        high = (low + 1).clamp(max=size - 1)
        axes.append(((low.long(), (1 - (at - low)) * inside), (high.long(), (at - low) * inside)))
    return [
        image[:, rows][:, :, columns] * (row_weights[:, None] * column_weights).to(image.dtype)
        for rows, row_weights in axes[0]
        for columns, column_weights in axes[1]
    ]


@torch.library.custom_op("inlay_onnx::roi_align", mutates_args=())
def roi_align(
    x: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    size: Sequence[int],
    sampling_ratio: int,
    spatial_scale: float,
    offset: float,
    is_max: bool,
) -> Tensor:
    """Returns regions of images pooled to `size`. offset: of the coordinates. Without an offset, a side is 1 or longer.

    A maximum is that of the weighted neighbors, as in the specification's reference and in ONNX Runtime.
    """
    results = []
    for roi, batch in zip(rois, batch_indices.tolist(), strict=True):
        left, top, right, bottom = (roi.float() * spatial_scale - offset).tolist()
        positions, grids = [], []
        for start, end, count in ((top, bottom, size[0]), (left, right, size[1])):
            length = end - start if offset else max(end - start, 1.0)
            grid = sampling_ratio if sampling_ratio > 0 else math.ceil(length / count)
            steps = (torch.arange(grid) + 0.5) * (length / count / max(grid, 1))
            positions.append((start + torch.arange(count)[:, None] * (length / count) + steps).reshape(-1))
            grids.append(grid)
        parts = torch.stack(_sample(x[batch], *positions))
        apart = parts.reshape(4, x.shape[1], size[0], grids[0], size[1], grids[1])
        if min(grids) <= 0:
            results.append(x.new_zeros(x.shape[1], *size))
        elif is_max:
            results.append(apart.amax((0, 3, 5)))
        else:
            results.append(apart.sum(0).mean((2, 4)))
    return torch.stack(results) if results else x.new_empty(0, x.shape[1], *size)


@roi_align.register_fake
def _fake_roi_align(
    x: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    size: Sequence[int],
    sampling_ratio: int,
    spatial_scale: float,
    offset: float,
    is_max: bool,
) -> Tensor:
    return x.new_empty(rois.shape[0], x.shape[1], *size)


@torch.library.custom_op("inlay_onnx::max_roi_pool", mutates_args=())
def max_roi_pool(x: Tensor, rois: Tensor, size: Sequence[int], spatial_scale: float) -> Tensor:
    """Returns the maxima of a grid of cells in each region. An empty cell gives 0."""
    result = x.new_zeros(rois.shape[0], x.shape[1], *size)
    for number, (batch, *corners) in enumerate(rois.float().tolist()):
        left, top, right, bottom = (math.floor(corner * spatial_scale + 0.5) for corner in corners)
        rows = _cells(top, bottom, size[0], x.shape[2])
        columns = _cells(left, right, size[1], x.shape[3])
        for row, (first, last) in enumerate(rows):
            for column, (start, end) in enumerate(columns):
                if first < last and start < end:
                    result[number, :, row, column] = x[int(batch), :, first:last, start:end].amax((1, 2))
    return result


def _cells(start: int, end: int, count: int, limit: int) -> list[tuple[int, int]]:
    """Returns the start and the end of each cell of one dim."""
    length = max(end - start + 1, 1) / count
    places = [(math.floor(cell * length) + start, math.ceil((cell + 1) * length) + start) for cell in range(count)]
    return [(min(max(low, 0), limit), min(max(high, 0), limit)) for low, high in places]


@max_roi_pool.register_fake
def _fake_max_roi_pool(x: Tensor, rois: Tensor, size: Sequence[int], spatial_scale: float) -> Tensor:
    return x.new_empty(rois.shape[0], x.shape[1], *size)


@torch.library.custom_op("inlay_onnx::crop_and_resize", mutates_args=())
def crop_and_resize(
    x: Tensor, rois: Tensor, batch_indices: Tensor, size: Sequence[int], is_nearest: bool, extrapolation: float
) -> Tensor:
    """Returns crops of images with their corners at pixels. rois: relative y1, x1, y2, x2."""
    results = []
    for roi, batch in zip(rois, batch_indices.tolist(), strict=True):
        positions, inside = [], []
        for axis in range(2):
            start, end = roi[axis].float(), roi[axis + 2].float()
            count, limit = size[axis], x.shape[2 + axis] - 1
            if count > 1:
                at = start * limit + torch.arange(count) * ((end - start) * limit / (count - 1))
            else:
                at = (0.5 * (start + end) * limit).reshape(1)
            inside.append((at >= 0) & (at <= limit))
            positions.append((at + 0.5).floor().clamp(0, limit) if is_nearest else at)
        crop = torch.stack(_sample(x[batch], *positions)).sum(0)
        results.append(torch.where(inside[0][:, None] & inside[1], crop, extrapolation))
    return torch.stack(results) if results else x.new_empty(0, x.shape[1], *size)


@crop_and_resize.register_fake
def _fake_crop_and_resize(
    x: Tensor, rois: Tensor, batch_indices: Tensor, size: Sequence[int], is_nearest: bool, extrapolation: float
) -> Tensor:
    return x.new_empty(rois.shape[0], x.shape[1], *size)


@torch.library.custom_op("inlay_onnx::deform_conv", mutates_args=())
def deform_conv(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor,
    bias: Tensor | None,
    mask: Tensor | None,
    stride: Sequence[int],
    pads: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    offset_groups: int,
) -> Tensor:
    """Returns a convolution whose taps are moved by offsets, with bilinear interpolation and zeros outside."""
    batch, channels, *sizes = x.shape
    outputs, _, *kernel = weight.shape
    wanted, taps = offsets.shape[2:], kernel[0] * kernel[1]
    moved = offsets.reshape(batch, offset_groups, *kernel, 2, *wanted)
    total: Tensor | None = None
    at = []
    for dim in range(2):
        inner = torch.arange(kernel[dim]) * dilation[dim]
        outer = torch.arange(wanted[dim]) * stride[dim] - pads[dim]
        inner = inner.reshape([-1, 1, 1, 1] if dim == 0 else [-1, 1, 1])
        at.append(inner + outer.reshape([-1, 1] if dim == 0 else [-1]) + moved[:, :, :, :, dim])
    image = x.reshape(batch, offset_groups, channels // offset_groups, -1)
    for low_row in (True, False):
        for low_column in (True, False):
            index, factor = torch.zeros((), dtype=torch.int64), torch.ones((), dtype=x.dtype)
            for position, size, is_low in zip(at, sizes, (low_row, low_column), strict=True):
                low = position.floor()
                place = low if is_low else low + 1
                factor = factor * (1 - (position - place).abs()) * ((place >= 0) & (place < size))
                index = index * size + place.clamp(0, size - 1).long()
            places = index.reshape(batch, offset_groups, 1, -1).expand(-1, -1, image.shape[2], -1)
            part = image.gather(3, places) * factor.reshape(batch, offset_groups, 1, -1)
            total = part if total is None else total + part
    assert total is not None
    sampled = total.reshape(batch, offset_groups, -1, taps, *wanted)
    if mask is not None:
        sampled = sampled * mask.reshape(batch, offset_groups, 1, taps, *wanted)
    columns = sampled.reshape(batch, groups, channels // groups * taps, -1)
    result = (weight.reshape(groups, outputs // groups, -1) @ columns).reshape(batch, outputs, *wanted)
    return result if bias is None else result + bias[:, None, None]


@deform_conv.register_fake
def _fake_deform_conv(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor,
    bias: Tensor | None,
    mask: Tensor | None,
    stride: Sequence[int],
    pads: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    offset_groups: int,
) -> Tensor:
    return x.new_empty([x.shape[0], weight.shape[0], *offsets.shape[2:]])
