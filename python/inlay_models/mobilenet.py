# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MobileNetV3-Large; Howard et al., arXiv:1905.02244, table 1."""

from collections.abc import Callable

import torch
from torch import nn

# Kernel, expanded channels, outputs, squeeze-and-excite, activation, stride.
_STAGES = (
    (3, 16, 16, False, nn.ReLU, 1),
    (3, 64, 24, False, nn.ReLU, 2),
    (3, 72, 24, False, nn.ReLU, 1),
    (5, 72, 40, True, nn.ReLU, 2),
    (5, 120, 40, True, nn.ReLU, 1),
    (5, 120, 40, True, nn.ReLU, 1),
    (3, 240, 80, False, nn.Hardswish, 2),
    (3, 200, 80, False, nn.Hardswish, 1),
    (3, 184, 80, False, nn.Hardswish, 1),
    (3, 184, 80, False, nn.Hardswish, 1),
    (3, 480, 112, True, nn.Hardswish, 1),
    (3, 672, 112, True, nn.Hardswish, 1),
    (5, 672, 160, True, nn.Hardswish, 2),
    (5, 960, 160, True, nn.Hardswish, 1),
    (5, 960, 160, True, nn.Hardswish, 1),
)


def _divisible(channels: int) -> int:
    """Returns the nearest multiple of eight."""
    return max(8, (channels + 4) // 8 * 8)


def _conv(
    inputs: int,
    outputs: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    activation: Callable[..., nn.Module] | None = None,
) -> nn.Sequential:
    """Returns a convolution with batch norm and activation."""
    layers: list[nn.Module] = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=1e-3),
    ]
    return nn.Sequential(*layers, *([activation(inplace=True)] if activation else []))


class SqueezeExcite(nn.Module):
    """Scales channels by a function of their means over the image."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = _divisible(channels // 4)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.expand = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = self.expand(nn.functional.relu(self.reduce(self.pool(x))))
        return x * nn.functional.hardsigmoid(scale)


class InvertedResidual(nn.Module):
    """Convolutions 1x1, depthwise and 1x1, around a shortcut if input and output have the same shape."""

    def __init__(
        self,
        inputs: int,
        kernel: int,
        expanded: int,
        outputs: int,
        squeeze: bool,
        activation: Callable[..., nn.Module],
        stride: int,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        if expanded != inputs:
            layers.append(_conv(inputs, expanded, 1, activation=activation))
        layers.append(_conv(expanded, expanded, kernel, stride, expanded, activation))
        if squeeze:
            layers.append(SqueezeExcite(expanded))
        layers.append(_conv(expanded, outputs, 1))
        self.block = nn.Sequential(*layers)
        self.has_shortcut = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.block(x)
        return x + y if self.has_shortcut else y


class MobileNetV3(nn.Module):
    """Maps images N x 3 x H x W to scores. stages: the number of inverted residuals; None for all."""

    def __init__(self, stages: int | None = None, classes: int = 1000) -> None:
        super().__init__()
        blocks: list[nn.Module] = [_conv(3, 16, 3, 2, activation=nn.Hardswish)]
        width = 16
        for stage in _STAGES[:stages]:
            blocks.append(InvertedResidual(width, *stage))
            width = stage[2]
        blocks.append(_conv(width, 6 * width, 1, activation=nn.Hardswish))
        self.features = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * width, 1280), nn.Hardswish(inplace=True), nn.Dropout(0.2), nn.Linear(1280, classes)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.classifier(torch.flatten(self.pool(self.features(x)), 1))
        return scores
