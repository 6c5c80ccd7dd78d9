# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of inputs: ordinary numbers, and numbers at which implementations are often wrong."""

from __future__ import annotations

import math

import torch

from .graph import NAMES

RECIPES = {
    "normal": 10, "positive": 4, "small integers": 3, "offset": 2, "extremes": 1, "subnormal": 1, "specials": 2,
    "equal": 1, "biased": 1, "scales": 1,
}  # fmt: skip


def draw_values(choose, generator, shape, dtype) -> torch.Tensor:
    """Returns a tensor of a random recipe."""
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < choose.choice([0.5, 0.5, 0.1, 0.9, 0, 1])
    if not dtype.is_floating_point:
        return _integers(choose, generator, shape, dtype)
    normal = torch.randn(shape, generator=generator, dtype=torch.float64)
    info = torch.finfo(dtype)
    match choose.choices(list(RECIPES), list(RECIPES.values()))[0]:
        case "positive":
            normal = normal.abs() + 0.25
        case "small integers":
            normal = (3 * normal).round()
        case "offset":
            normal = normal + 10.0 ** choose.randint(1, max(1, int(-math.log10(info.eps)) - 2))
        case "extremes":
            numbers = [info.max, -info.max, info.tiny, -info.tiny, 1.0, info.max / 2, info.eps, math.sqrt(info.max)]
            normal = _pick(generator, shape, numbers)
        case "subnormal":
            normal = normal * info.tiny / 4
        case "specials":
            special = _pick(generator, shape, [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0])
            normal = torch.where(torch.rand(shape, generator=generator) < 0.25, special, normal)
        case "equal":
            normal = torch.full(shape, choose.choice([0.0, 0.1, 1.0, -2.5]), dtype=torch.float64)
        case "biased":
            normal = torch.rand(shape, generator=generator, dtype=torch.float64) + 1
        case "scales":
            normal = normal * 10 ** (3 * torch.randn(shape, generator=generator, dtype=torch.float64)).clamp(-4, 4)
    return normal.to(dtype)


def _pick(generator, shape, numbers):
    places = torch.randint(0, len(numbers), tuple(shape), generator=generator)
    return torch.tensor(numbers, dtype=torch.float64)[places]


def _integers(choose, generator, shape, dtype):
    limits = torch.iinfo(dtype)
    if choose.random() < 0.15:
        numbers = [limits.min, limits.max, limits.min + 1, limits.max - 1, 0, 1, 2, 3]
        return torch.tensor(numbers, dtype=dtype)[torch.randint(0, 8, tuple(shape), generator=generator)]
    low, high = choose.choice([(-9, 10), (-9, 10), (0, 3), (-100, 100), (1, 12)])
    return torch.randint(max(low, limits.min), high, tuple(shape), generator=generator).to(dtype)


def spell(tensor: torch.Tensor) -> str:
    """Returns an expression for a tensor, with the names of the graph's expressions."""
    numbers = tensor.tolist()
    text = f"torch.tensor({numbers!r}, dtype={NAMES[tensor.dtype]})"
    if tensor.numel() == 0:
        text = f"torch.empty({tuple(tensor.shape)}, dtype={NAMES[tensor.dtype]})"
    return text
