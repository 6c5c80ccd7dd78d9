# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random graphs with random partitions with PyTorch.

INLAY_FULL=1 runs many more. A failure names its seed; `pytest -k "seed-7"` runs it again.
"""

import os
import random

import inlay
import pytest
import torch
from conftest import compare
from torch import nn
from torch.nn import functional as F

SEEDS = range(200 if os.environ.get("INLAY_FULL") else 20)

UNARY = [torch.relu, torch.tanh, torch.sigmoid, torch.neg, torch.abs, F.gelu, F.silu, torch.sin, torch.cos]
BINARY = [torch.sub, torch.maximum, torch.minimum, lambda a, b: torch.tanh(a * b), lambda a, b: (a + b) * 0.5]


class Graph(nn.Module):
    """A random graph of matrices. Each step is (function, numbers of the values that it reads)."""

    def __init__(self, seed):
        super().__init__()
        choose = random.Random(seed)
        torch.manual_seed(seed)
        self.size = choose.choice([3, 8, 17])
        self.weight = nn.Parameter(torch.randn(self.size, self.size) / self.size)
        self.inputs = choose.randint(1, 3)
        self.steps = []
        count = self.inputs
        for _ in range(choose.randint(3, 16)):
            kind = choose.random()
            source = [choose.randrange(count), choose.randrange(count)]
            if kind < 0.3:
                self.steps.append((choose.choice(UNARY), source[:1]))
            elif kind < 0.55:
                self.steps.append((choose.choice(BINARY), source))
            else:
                self.steps.append((choose.choice(self.shapes(choose)), source))
            count += 1
        last = [lambda a: a, lambda a: a.sum(0), lambda a: a @ self.weight, lambda a: a.amax(1), lambda a: a.mean()]
        numbers = [count - 1, *(choose.randrange(count) for _ in range(choose.randint(0, 4)))]
        self.outputs = [(choose.choice(last), number) for number in numbers]

    def shapes(self, choose):
        """Returns calls that map n x n matrices to n x n matrices with small values."""
        n, dim = self.size, choose.choice([0, 1])
        cut = choose.randint(1, n - 1)
        return [
            lambda a, b: a.t(),
            lambda a, b: a.softmax(dim),
            lambda a, b: a.mean(dim, keepdim=True) + b,
            lambda a, b: a.sum(dim).expand(n, n).tanh(),
            lambda a, b: a.unsqueeze(2).expand(n, n, n).mean(dim),
            lambda a, b: a.unsqueeze(dim).amax(dim),
            lambda a, b: a - a.amax(dim, keepdim=True),
            lambda a, b: torch.cat([a.narrow(dim, 0, cut), b.narrow(dim, cut, n - cut)], dim),
            lambda a, b: a.reshape(-1).reshape(n, n).tanh(),
            lambda a, b: (a @ b).tanh(),
            lambda a, b: F.linear(a, self.weight, b[0]).tanh(),
            lambda a, b: F.layer_norm(a, (n,)),
            lambda a, b: torch.lgamma(a.abs() + 1).tanh(),
            lambda a, b: a.flip(dim),  # has no op of the dialect, so PyTorch runs it
            lambda a, b: torch.where(a > b, a, b * 0.5),
        ]

    def forward(self, *values):
        values = list(values)
        for function, sources in self.steps:
            values.append(function(*(values[source] for source in sources)))
        return [function(values[number]) for function, number in self.outputs]


@pytest.mark.parametrize("seed", [pytest.param(seed, id=f"seed-{seed}") for seed in SEEDS])
def test_random_graph(seed):
    choose = random.Random(seed)
    model = Graph(seed).eval()
    inputs = tuple(torch.randn(model.size, model.size) for _ in range(model.inputs))
    options = {"targets": choose.choice([("host", "torch"), ("vulkan", "host", "torch")])}
    options["min_block_size"] = choose.choice([1, 1, 2, 4])
    program = inlay.compile(model, inputs, **options)
    names = sorted({op["label"] for op in program.report["ops"] if op["segment"] is not None})
    with torch.no_grad():
        expected = model(*inputs)
    for got, want in zip(program(*inputs), expected, strict=True):
        compare(got, want, 1e-4)
    # Again with some kinds of ops forced to a later target.
    kinds = sorted({op["name"] for op in program.report["ops"] if op["segment"] is not None})
    forced = choose.sample(kinds, min(len(kinds), 2))
    again = inlay.compile(model, inputs, **options, torch_executed_ops=forced)
    assert names
    for got, want in zip(again(*inputs), expected, strict=True):
        compare(got, want, 1e-4)
