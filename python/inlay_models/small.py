# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models for tests and documentation.

`python -m inlay_models.small DIR` writes them as .mlir and .safetensors files for the command-line tools.
"""

import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut; He et al., arXiv:1512.03385."""

    expansion = 1

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        result: torch.Tensor = self.relu(self.bn2(self.conv2(y)) + shortcut)
        return result


class ResNet(nn.Module):
    """ResNet for images N x 3 x H x W. block: the class of the blocks. blocks: their number in each stage."""

    layer1: nn.Module
    layer2: nn.Module
    layer3: nn.Module
    layer4: nn.Module

    def __init__(self, block: Any = BasicBlock, blocks: Sequence[int] = (2, 2, 2, 2), classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        width = 64
        for stage, count in enumerate(blocks):
            outputs = (64 << stage) * block.expansion
            layers = [
                block(width if i == 0 else outputs, 64 << stage, 2 if i == 0 and stage else 1) for i in range(count)
            ]
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
            width = outputs
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        scores: torch.Tensor = self.fc(torch.flatten(self.avgpool(x), 1))
        return scores


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward net, each after a layer norm and around a shortcut."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v)
        result: torch.Tensor = self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return result

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm1(x))
        result: torch.Tensor = x + self.linear2(functional.gelu(self.linear1(self.norm2(x))))
        return result


class Encoder(nn.Module):
    """A transformer encoder over N x length x width with learned positions."""

    def __init__(self, layers: int = 2, width: int = 64, heads: int = 4, hidden: int = 256, length: int = 32) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.randn(length, width) * 0.1)
        self.layers = nn.ModuleList(EncoderLayer(width, heads, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.positions
        for layer in self.layers:
            x = layer(x)
        result: torch.Tensor = self.norm(x)
        return result


class Dependencies(nn.Module):
    """Ops that an accelerator can run, and lgamma, which it can't, in an order that splits a naive partition."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        added = x + y
        first = torch.lgamma(x)
        product = x * y
        second = torch.lgamma(y)
        third = torch.lgamma(x / y)
        return torch.cat([first, second, third, added, product])


def settle(model: nn.Module, seed: int = 0) -> nn.Module:
    """Sets random statistics and scales of batch norms. Returns the model in evaluation mode."""
    generator = torch.Generator().manual_seed(seed)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            count = module.num_features
            assert module.running_mean is not None and module.running_var is not None
            module.running_mean.copy_(torch.randn(count, generator=generator) * 0.1)
            module.running_var.copy_(torch.rand(count, generator=generator) + 0.5)
            module.weight.data.copy_(torch.rand(count, generator=generator) * 0.5 + 0.5)
            module.bias.data.copy_(torch.randn(count, generator=generator) * 0.1)
    return model.eval()


def _seeded(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def resnet18(seed: int = 0, image: int = 224) -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Returns ResNet-18 and example arguments of shape 1 x 3 x image x image."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return settle(ResNet(), seed), (_seeded(seed + 1, 1, 3, image, image),)


def encoder(seed: int = 0) -> tuple[nn.Module, tuple[torch.Tensor]]:
    """Returns a transformer encoder and example arguments of shape 1 x 32 x 64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Encoder().eval(), (_seeded(seed + 1, 1, 32, 64),)


def dependencies(seed: int = 0) -> tuple[nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """Returns the module Dependencies and example arguments: two 4 x 4 matrices of positive numbers."""
    return Dependencies().eval(), (_seeded(seed, 4, 4).abs() + 0.5, _seeded(seed + 1, 4, 4).abs() + 0.5)


ALL: dict[str, Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]] = {
    "resnet18": resnet18,
    "encoder": encoder,
    "dependencies": dependencies,
}


def main(arguments: Sequence[str]) -> int:
    """Writes all models to the folder that the command line names. Returns the exit code."""
    from inlay import export

    if len(arguments) != 1:
        print("usage: python -m inlay_models.small DIR", file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in ALL.items():
        print(export(*make(), folder / name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
