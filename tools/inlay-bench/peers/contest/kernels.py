# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single ops and short chains of ops in the shapes of real models, with their work in FLOPs and bytes.

Bytes are the minimum of memory traffic: each input, weight and result once, with four bytes per element in f32. A
multiply-add counts as two FLOPs. An exponential, a division and a comparison count as one each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FLOAT = 4


@dataclass(frozen=True)
class Kernel:
    make: Callable[[], tuple[Any, tuple[Any, ...]]]  # the module and its inputs
    flops: int
    bytes: int


def _function(function: Callable[..., Any]) -> Any:
    """Returns a module that calls `function`."""
    from torch import nn

    class Function(nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    return Function()


def _random(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    import torch

    return tuple(torch.randn(*shape) for shape in shapes)


def matmul(m: int, k: int, n: int) -> Kernel:
    """A product of m x k and k x n tensors. Neither is a constant."""
    return Kernel(
        lambda: (_function(lambda a, b: a @ b), _random((m, k), (k, n))),
        flops=2 * m * n * k,
        bytes=FLOAT * (m * k + k * n + m * n),
    )


def linear(m: int, k: int, n: int) -> Kernel:
    """A linear layer with a constant weight. With one row it is the step of a decoder for one token."""

    def make():
        from torch import nn

        return nn.Linear(k, n), _random((m, k))

    return Kernel(make, flops=2 * m * n * k, bytes=FLOAT * (m * k + k * n + n + m * n))


def linear_gelu(m: int, k: int, n: int) -> Kernel:
    def make():
        from torch import nn

        return nn.Sequential(nn.Linear(k, n), nn.GELU()), _random((m, k))

    return Kernel(make, flops=m * n * (2 * k + 6), bytes=FLOAT * (m * k + k * n + n + m * n))


def convolution(channels: int, filters: int, size: int, window: int, stride: int = 1, groups: int = 1) -> Kernel:
    def make():
        from torch import nn

        return nn.Conv2d(channels, filters, window, stride, window // 2, groups=groups), _random(
            (1, channels, size, size)
        )

    result = filters * ((size - 1) // stride + 1) ** 2
    weights = filters * (channels // groups) * window * window
    return Kernel(
        make,
        flops=result * (2 * (channels // groups) * window * window + 1),
        bytes=FLOAT * (channels * size * size + weights + filters + result),
    )


def depthwise(channels: int, size: int, window: int, stride: int = 1) -> Kernel:
    return convolution(channels, channels, size, window, stride, groups=channels)


def softmax(rows: int, columns: int) -> Kernel:
    elements = rows * columns
    return Kernel(
        lambda: (_function(lambda x: x.softmax(-1)), _random((rows, columns))),
        flops=5 * elements,
        bytes=FLOAT * 2 * elements,
    )


def layer_norm(rows: int, columns: int) -> Kernel:
    def make():
        from torch import nn

        return nn.LayerNorm(columns), _random((rows, columns))

    elements = rows * columns
    return Kernel(make, flops=7 * elements, bytes=FLOAT * (2 * elements + 2 * columns))


def attention(heads: int, length: int, width: int) -> Kernel:
    def make():
        from torch.nn import functional

        return _function(functional.scaled_dot_product_attention), _random(*[(1, heads, length, width)] * 3)

    scores = heads * length * length
    return Kernel(make, flops=scores * (4 * width + 6), bytes=FLOAT * 4 * heads * length * width)


def elementwise(elements: int) -> Kernel:
    """A chain of elementwise ops. It needs one pass over memory if it is fused, and five if not."""
    return Kernel(
        lambda: (_function(lambda a, b: ((a * b + a).relu() - b) * 0.5), _random((elements,), (elements,))),
        flops=5 * elements,
        bytes=FLOAT * 3 * elements,
    )


def add(elements: int) -> Kernel:
    return Kernel(
        lambda: (_function(lambda a, b: a + b), _random((elements,), (elements,))),
        flops=elements,
        bytes=FLOAT * 3 * elements,
    )


def negate(elements: int) -> Kernel:
    """A negation, the op that is closest to a copy: one read and one write per element."""
    return Kernel(lambda: (_function(lambda x: -x), _random((elements,))), flops=elements, bytes=FLOAT * 2 * elements)


KERNELS: dict[str, Kernel] = {
    **{f"matmul-{size}": matmul(size, size, size) for size in (64, 128, 256, 512, 1024, 2048)},
    "matmul-128x768x768": matmul(128, 768, 768),
    "matmul-128x768x3072": matmul(128, 768, 3072),
    "matmul-1x4096x4096": matmul(1, 4096, 4096),
    "linear-1x4096x4096": linear(1, 4096, 4096),
    "linear-gelu-128x768x3072": linear_gelu(128, 768, 3072),
    "conv7x7-3-64-224": convolution(3, 64, 224, 7, stride=2),
    "conv3x3-32-64-28": convolution(32, 64, 28, 3),
    "conv3x3-64-56": convolution(64, 64, 56, 3),
    "conv3x3-128-28": convolution(128, 128, 28, 3),
    "conv3x3-256-14": convolution(256, 256, 14, 3),
    "conv3x3-512-7": convolution(512, 512, 7, 3),
    "conv1x1-64-256-56": convolution(64, 256, 56, 1),
    "conv1x1-1024-256-14": convolution(1024, 256, 14, 1),
    "depthwise3x3-16-112": depthwise(16, 112, 3),
    "depthwise3x3-72-56": depthwise(72, 56, 3, stride=2),
    "depthwise5x5-120-28": depthwise(120, 28, 5),
    "depthwise5x5-960-7": depthwise(960, 7, 5),
    "softmax-512x1000": softmax(512, 1000),
    "layer-norm-128x768": layer_norm(128, 768),
    "attention-12x128x64": attention(12, 128, 64),
    "attention-12x1024x64": attention(12, 1024, 64),
    "elementwise-4m": elementwise(1 << 22),
    "add-4m": add(1 << 22),
    "negate-16m": negate(1 << 24),
}
