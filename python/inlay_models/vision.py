# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of images of shape N x C x H x W."""

import torch
from torch import nn

from .mobilenet import MobileNetV3
from .small import BasicBlock, ResNet, settle
from .types import Parts
from .unet import UNet


class Bottleneck(nn.Module):
    """Convolutions 1x1, 3x3 (which has the stride) and 1x1 around a shortcut; He et al., arXiv:1512.03385."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * self.expansion
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        result: torch.Tensor = self.relu(self.bn3(self.conv3(y)) + shortcut)
        return result


def _image(size: int) -> tuple[torch.Tensor]:
    return (torch.randn(1, 3, size, size),)


def resnet18(tiny: bool = False) -> Parts:
    """ResNet-18: 11.7 M parameters."""
    blocks = (1, 1, 1, 1) if tiny else (2, 2, 2, 2)
    return settle(ResNet(BasicBlock, blocks)), _image(32 if tiny else 224), None


def resnet50(tiny: bool = False) -> Parts:
    """ResNet-50: 25.6 M parameters."""
    blocks = (1, 1, 1, 1) if tiny else (3, 4, 6, 3)
    return settle(ResNet(Bottleneck, blocks)), _image(32 if tiny else 224), None


def mobilenetv3(tiny: bool = False) -> Parts:
    """MobileNetV3-Large: 5.5 M parameters."""
    return settle(MobileNetV3(stages=5 if tiny else None)), _image(32 if tiny else 224), None


def vit_b16(tiny: bool = False) -> Parts:
    """ViT-B/16, Dosovitskiy et al., arXiv:2010.11929: 86.6 M parameters."""
    from transformers import ViTConfig, ViTForImageClassification

    size = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    config = ViTConfig(num_labels=1000, **({**size, "image_size": 32} if tiny else {}))
    return ViTForImageClassification(config), _image(config.image_size), None


def unet(tiny: bool = False) -> Parts:
    """A narrow version of the denoiser of Stable Diffusion: 37 M parameters, a latent image of 4 x 32 x 32."""
    widths, text = ((32, 64), 32) if tiny else ((96, 192, 384), 384)
    side = 8 if tiny else 32
    model = UNet(widths=widths, context=text)
    return model, (torch.randn(1, 4, side, side), torch.tensor([17]), torch.randn(1, 12, text)), None
