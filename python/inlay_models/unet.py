# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The denoiser of latent images of Stable Diffusion; Rombach et al., arXiv:2112.10752."""

import math
from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional


def _timestep_embedding(steps: torch.Tensor, width: int) -> torch.Tensor:
    """Returns sines and cosines of the steps: N -> N x width; Ho et al., arXiv:2006.11239."""
    half = width // 2
    rates = torch.exp(-math.log(10000.0) * torch.arange(half, dtype=torch.float32) / half)
    angles = steps[:, None].float() * rates[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class ResidualBlock(nn.Module):
    """Two convolutions with group norm. The embedding of the step is added between them."""

    def __init__(self, inputs: int, outputs: int, embedding: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(16, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.step = nn.Linear(embedding, outputs)
        self.norm2 = nn.GroupNorm(16, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
        y = self.conv1(functional.silu(self.norm1(x)))
        y = y + self.step(functional.silu(embedding))[:, :, None, None]
        result: torch.Tensor = self.shortcut(x) + self.conv2(functional.silu(self.norm2(y)))
        return result


class Attention(nn.Module):
    """Attention of N x length x width to a context, or self-attention. context: the width of the context."""

    def __init__(self, width: int, context: int | None = None, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(context or width, width, bias=False)
        self.value = nn.Linear(context or width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor, context: torch.Tensor | None = None) -> torch.Tensor:
        context = x if context is None else context
        split = [
            projected.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projected in (self.query(x), self.key(context), self.value(context))
        ]
        result: torch.Tensor = self.out(functional.scaled_dot_product_attention(*split).transpose(1, 2).flatten(2))
        return result


class SpatialTransformer(nn.Module):
    """Attention of pixels to each other and to the text, followed by a gated feed-forward net."""

    def __init__(self, width: int, context: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(16, width, eps=1e-6)
        self.into = nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.self_attention = Attention(width)
        self.cross_attention = Attention(width, context)
        self.gated = nn.Linear(width, 8 * width)
        self.down = nn.Linear(4 * width, width)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        batch, width, height, length = x.shape
        y = self.into(self.norm(x)).permute(0, 2, 3, 1).reshape(batch, height * length, width)
        y = y + self.self_attention(self.norms[0](y))
        y = y + self.cross_attention(self.norms[1](y), context)
        value, gate = self.gated(self.norms[2](y)).chunk(2, dim=-1)
        y = y + self.down(value * functional.gelu(gate))
        result: torch.Tensor = x + self.out(y.reshape(batch, height, length, width).permute(0, 3, 1, 2))
        return result


class Stage(nn.Module):
    """A residual block and a transformer."""

    def __init__(self, inputs: int, outputs: int, embedding: int, context: int) -> None:
        super().__init__()
        self.block = ResidualBlock(inputs, outputs, embedding)
        self.transformer = SpatialTransformer(outputs, context)

    def forward(self, x: torch.Tensor, embedding: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.transformer(self.block(x, embedding), context)
        return result


class UNet(nn.Module):
    """Maps latents N x 4 x H x W, steps N (int64) and text N x length x context to noise N x 4 x H x W."""

    def __init__(self, widths: Sequence[int] = (96, 192, 384), context: int = 384) -> None:
        super().__init__()
        self.width, embedding = widths[0], 4 * widths[0]
        self.embed = nn.Sequential(nn.Linear(widths[0], embedding), nn.SiLU(), nn.Linear(embedding, embedding))
        self.into = nn.Conv2d(4, widths[0], 3, padding=1)
        self.down, self.shrink, self.up, self.grow = (nn.ModuleList() for _ in range(4))
        width = widths[0]
        for outputs in widths:
            self.down.append(Stage(width, outputs, embedding, context))
            self.shrink.append(nn.Conv2d(outputs, outputs, 3, stride=2, padding=1))
            width = outputs
        self.middle = Stage(width, width, embedding, context)
        for outputs in reversed(widths):
            self.grow.append(nn.Conv2d(width, outputs, 3, padding=1))
            self.up.append(Stage(2 * outputs, outputs, embedding, context))
            width = outputs
        self.norm = nn.GroupNorm(16, width)
        self.out = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x: torch.Tensor, steps: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        embedding = self.embed(_timestep_embedding(steps, self.width).to(x.dtype))
        x, kept = self.into(x), []
        for stage, shrink in zip(self.down, self.shrink, strict=True):
            x = stage(x, embedding, context)
            kept.append(x)
            x = shrink(x)
        x = self.middle(x, embedding, context)
        for stage, grow in zip(self.up, self.grow, strict=True):
            x = grow(functional.interpolate(x, scale_factor=2.0, mode="nearest"))
            x = stage(torch.cat([x, kept.pop()], dim=1), embedding, context)
        result: torch.Tensor = self.out(functional.silu(self.norm(x)))
        return result
