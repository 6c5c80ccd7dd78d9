# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that 16-bit floats and 8-bit integers change neither where a model runs nor how exact its results are."""

import inlay
import pytest
import torch
from torch import nn
from torch.nn import functional as F

HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}
TARGETS = ("vulkan", "host")


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.project, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        query, key, value = self.project(self.norm(x)).view(2, 9, 3, 4, 8).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return x + self.out(attended.transpose(1, 2).reshape(2, 9, 32))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.gate, self.up = nn.RMSNorm(32), nn.Linear(32, 48), nn.Linear(32, 48)

    def forward(self, x):
        normed = self.norm(x)
        return F.silu(self.gate(normed)) * self.up(normed)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3, groups=8),
            nn.MaxPool2d(2),
            nn.GroupNorm(2, 8),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
        )

    def forward(self, x):
        return self.layers(x)


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 16)

    def forward(self, numbers):
        rows = self.table(numbers)
        sums = torch.zeros(2, 4, 16, dtype=rows.dtype).scatter_add(1, (numbers % 4)[..., None].expand(-1, -1, 16), rows)
        return torch.cumsum(sums, 1), rows.sort(-1).values, rows.argmax(-1)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router, self.weight = nn.Linear(16, 4), nn.Parameter(torch.randn(4, 16, 8))

    def forward(self, x):
        shares, chosen = torch.topk(torch.softmax(self.router(x), -1), 2)
        return (torch.einsum("bi,beio->beo", x, self.weight[chosen]) * shares[..., None]).sum(1)


class Loop(nn.Module):
    def forward(self, x):
        return torch.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, torch.tanh(y) * 2), (torch.tensor(0), x))[1]


MODELS = {
    "attention": (Attention, lambda: torch.randn(2, 9, 32)),
    "gated": (Gated, lambda: torch.randn(5, 32)),
    "convolutions": (Convolutions, lambda: torch.randn(2, 3, 12, 12)),
    "embedded": (Embedded, lambda: torch.arange(14).reshape(2, 7)),
    "experts": (Experts, lambda: torch.randn(3, 16)),
    "loop": (Loop, lambda: torch.randn(4, 5)),
}


def make(name, dtype):
    torch.manual_seed(0)
    create, draw = MODELS[name]
    model, x = create().eval(), draw()
    return model.to(dtype), x.to(dtype) if x.is_floating_point() else x


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def largest_errors(results, exact):
    return [float((got.double() - want.double()).abs().max()) for got, want in zip(results, exact, strict=True)]


@pytest.mark.parametrize("name", MODELS)
def test_models_have_the_same_segments_in_all_dtypes_and_small_errors(name):
    model, x = make(name, torch.float32)
    with torch.no_grad():
        placed = inlay.partition(model, (x,), targets=TARGETS)["segments"]
        for dtype in HALVES.values():
            model, x = make(name, dtype)
            compiled = inlay.compile(model, (x,), targets=TARGETS)
            assert [s["target"] for s in compiled.report["segments"]] == [s["target"] for s in placed]
            got, eager = as_tuple(compiled(x)), as_tuple(model(x))
            exact = as_tuple(model.double()(x.double() if x.is_floating_point() else x))
            # PyTorch rounds each op. A rounding to the other neighbor moves a result by one unit.
            unit = [torch.finfo(dtype).eps * float(want.double().abs().max()) for want in exact]
            for ours, theirs, one in zip(largest_errors(got, exact), largest_errors(eager, exact), unit, strict=True):
                assert ours <= max(1.1 * theirs, one), (name, dtype)
