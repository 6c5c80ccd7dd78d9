# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models, inputs and checks of the tests of quantization."""

import itertools

import inlay
import torch
from torch import nn

HOST = ("host", "torch")
TOKENS = torch.tensor([[3, 199, 0, 7]])


def chain(*sizes, bias=True):
    """Returns linear layers with ReLUs between them."""
    torch.manual_seed(0)
    layers = [nn.Linear(*pair, bias=bias) for pair in itertools.pairwise(sizes)]
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1]).eval()


def samples(*shape, count=4):
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(shape, generator=generator),) for _ in range(count)]


def relative(value, exact):
    return float((value.detach().double() - exact.detach().double()).norm() / exact.detach().double().norm())


def kernels(compiled):
    return [kernel["kind"] for segment in compiled.report["segments"] for kernel in segment["kernels"]]


def check_program(quantized, inputs):
    """Compiles a quantized model, compares it with PyTorch, and returns the program."""
    compiled = inlay.compile(quantized.model, inputs, targets=HOST)
    with torch.no_grad():
        expected = quantized.model(*inputs)
    # A code of an activation may be at the middle of two levels.
    torch.testing.assert_close(compiled(*inputs), expected, rtol=0, atol=0.02 * float(expected.abs().max()))
    assert relative(compiled(*inputs), expected) < quantized.report.error / 2
    return compiled


class Tied(nn.Module):
    """An embedding and a linear layer with one weight."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.body, self.head = nn.Embedding(200, 64), nn.Linear(64, 64), nn.Linear(64, 200, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)))
