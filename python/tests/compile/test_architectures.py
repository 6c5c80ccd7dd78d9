# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares small models of common architectures on all targets with PyTorch."""

import inlay
import pytest
import torch
from conftest import compare
from torch import nn
from torch.nn import functional as F


class Gpt(nn.Module):
    """A decoder with tied embeddings, causal attention, tanh GELU and a log-softmax."""

    def __init__(self, vocabulary=97, width=48, heads=4, layers=2, length=16):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.heads = heads
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.LayerNorm(width),
                    "qkv": nn.Linear(width, 3 * width),
                    "out": nn.Linear(width, width),
                    "norm2": nn.LayerNorm(width),
                    "up": nn.Linear(width, 4 * width),
                    "down": nn.Linear(4 * width, width),
                }
            )
            for _ in range(layers)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        batch, length = tokens.shape
        x = self.tokens(tokens) + self.positions(torch.arange(length))
        for block in self.blocks:
            parts = block["qkv"](block["norm1"](x)).split(x.shape[-1], -1)
            q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + block["out"](mixed.transpose(1, 2).reshape(batch, length, -1))
            x = x + block["down"](F.gelu(block["up"](block["norm2"](x)), approximate="tanh"))
        return self.head(self.norm(x)).log_softmax(-1)


class Llama(nn.Module):
    """A decoder block with RMS norm, rotary embedding, grouped attention with a mask, and a gated net."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.scale, self.heads = nn.Parameter(torch.rand(width) + 0.5), heads
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = nn.Linear(width, width // 2, bias=False), nn.Linear(width, width // 2, bias=False)
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale

    def rotate(self, x):
        length, width = x.shape[-2:]
        angles = torch.outer(torch.arange(length), 1 / 10000 ** (torch.arange(0, width, 2) / width))
        angles = torch.cat([angles, angles], -1)
        turned = torch.cat([-x[..., width // 2 :], x[..., : width // 2]], -1)
        return x * angles.cos() + turned * angles.sin()

    def forward(self, x, mask):
        batch, length, width = x.shape
        y = self.norm(x)
        q = self.rotate(self.q(y).view(batch, length, self.heads, -1).transpose(1, 2))
        k = self.rotate(self.k(y).view(batch, length, self.heads // 2, -1).transpose(1, 2)).repeat_interleave(2, 1)
        v = self.v(y).view(batch, length, self.heads // 2, -1).transpose(1, 2).repeat_interleave(2, 1)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + mixed.transpose(1, 2).reshape(batch, length, width)
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class MobileBlock(nn.Module):
    """An inverted residual with a depthwise convolution and squeeze-and-excite."""

    def __init__(self, channels=16):
        super().__init__()
        wide = 4 * channels
        self.expand, self.norm = nn.Conv2d(channels, wide, 1), nn.BatchNorm2d(wide)
        self.depthwise = nn.Conv2d(wide, wide, 5, 2, 2, groups=wide)
        self.squeeze, self.excite = nn.Conv2d(wide, channels, 1), nn.Conv2d(channels, wide, 1)
        self.project = nn.Conv2d(wide, channels, 1)

    def forward(self, x):
        y = F.hardswish(self.depthwise(F.hardswish(self.norm(self.expand(x)))))
        gate = F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))))
        return self.project(y * gate)


class UNet(nn.Module):
    """One level down and up, with group norm, up-sampling and a skip connection."""

    def __init__(self, channels=16):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, channels, 3, 1, 1), nn.GroupNorm(4, channels)
        self.down, self.last = nn.Conv2d(channels, channels, 3, 2, 1), nn.Conv2d(2 * channels, 3, 3, 1, 1)

    def forward(self, x):
        high = F.silu(self.norm(self.first(x)))
        low = F.interpolate(self.down(high), scale_factor=2.0)
        return self.last(torch.cat([high, low], 1))


def encoder_of_pytorch():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


# name -> (model, arguments, maximum number of ops that PyTorch runs)
MODELS = {
    "gpt": (Gpt, lambda: (torch.randint(0, 97, (2, 16)),), 1),
    "llama": (Llama, lambda: (torch.randn(2, 8, 32), torch.tensor([[True] * 8, [True] * 5 + [False] * 3])), 1),
    "masked": (Llama, lambda: (torch.randn(2, 8, 32), torch.tensor([[False] * 8, [True] * 8])), 1),
    "mobile": (MobileBlock, lambda: (torch.randn(1, 16, 14, 14),), 0),
    "unet": (UNet, lambda: (torch.randn(1, 3, 16, 16),), 1),
    "transformer": (encoder_of_pytorch, lambda: (torch.randn(2, 10, 32),), 0),
    "attention": (lambda: nn.MultiheadAttention(32, 4, batch_first=True), lambda: (torch.randn(2, 10, 32),) * 3, 0),
    "lstm": (lambda: nn.LSTM(8, 12, batch_first=True), lambda: (torch.randn(2, 5, 8),), 0),
    "gru": (lambda: nn.GRU(8, 12, batch_first=True, bidirectional=True), lambda: (torch.randn(2, 5, 8),), 1),
}


@pytest.mark.filterwarnings("ignore:The tensor attributes")
@pytest.mark.parametrize("name", MODELS)
def test_architecture(name):
    torch.manual_seed(0)
    make, arguments, most = MODELS[name]
    model, inputs = make().eval(), arguments()
    compiled = inlay.compile(model, inputs)
    with torch.no_grad():
        expected = torch.utils._pytree.tree_leaves(model(*inputs))
    for got, want in zip(torch.utils._pytree.tree_leaves(compiled(*inputs)), expected, strict=True):
        compare(got, want, 1e-4)
    assert compiled.report.ops_by_target().get("torch", 0) <= most
