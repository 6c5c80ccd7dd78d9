# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move elements: views, slices, concatenations and padding."""

import torch

from ..draft import Refused


def reshape(draft):
    x = draft.any()
    rest, shape = draft.values[x].numel(), []
    if rest == 0:
        raise Refused
    for _ in range(draft.choose.randint(0, 3)):
        size = draft.choose.choice([d for d in range(1, min(rest, 70) + 1) if rest % d == 0])
        shape.append(size)
        rest //= size
    if rest > 1 or not shape:
        shape.append(rest)
    draft.choose.shuffle(shape)
    if draft.choose.random() < 0.3:
        shape[draft.choose.randrange(len(shape))] = -1
    draft.add("reshape", f"{{0}}.reshape({shape})", x)


def permute(draft):
    x = draft.any(2)
    rank = draft.values[x].dim()
    dims = draft.choose.sample(range(rank), rank)
    text = draft.choose.choice(
        [
            f"{{0}}.permute({dims})",
            f"{{0}}.transpose({draft.dim(x)}, {draft.dim(x)})",
            f"{{0}}.movedim({draft.dim(x)}, 0)",
        ]
    )
    draft.add("permute", text, x)


def expand(draft):
    x = draft.any()
    shape = [draft.choose.choice([1, 2, 3, 5]) if size == 1 else size for size in draft.values[x].shape]
    shape = [draft.choose.choice([1, 2, 3]), *shape] if draft.choose.random() < 0.4 else shape
    draft.add("expand", f"{{0}}.expand({shape})", x)


def squeeze(draft):
    x = draft.any()
    rank = draft.values[x].dim()
    if draft.choose.random() < 0.5:
        draft.add("unsqueeze", f"{{0}}.unsqueeze({draft.choose.randint(-rank - 1, rank)})", x)
    else:
        draft.add("squeeze", "{0}.squeeze()", x)


def slice(draft):
    x = draft.any(1)
    dim = draft.choose.randrange(draft.values[x].dim())
    size = draft.values[x].shape[dim]
    if draft.choose.random() < 0.3 and size:
        draft.add("select", f"{{0}}.select({dim}, {draft.choose.randrange(-size, size)})", x)
        return
    start, end = draft.choose.randint(-size - 1, size), draft.choose.randint(-size, size + 2)
    where = ":, " * dim + f"{start}:{draft.choose.choice(['', end])}:{draft.choose.choice([1, 1, 2, 3])}"
    draft.add("slice", f"{{0}}[{where}]", x)


def cat(draft):
    x = draft.any(1)
    tensor, dim = draft.values[x], draft.dim(x)

    def fits(other):
        a, b = list(tensor.shape), list(other.shape)
        if other.dtype != tensor.dtype or len(a) != len(b):
            return False
        a[dim] = b[dim]
        return a == b

    parts = [x, *(draft.pick(fits) for _ in range(draft.choose.randint(0, 2)))]
    if draft.choose.random() < 0.6:
        shape = list(tensor.shape)
        shape[dim] = draft.choose.choice([0, 1, 2, 5])
        parts.append(draft.input(shape, tensor.dtype))
    draft.choose.shuffle(parts)
    places = ", ".join(f"{{{number}}}" for number in range(len(parts)))
    draft.add("cat", f"torch.cat([{places}], {dim})", *parts)


def stack(draft):
    x = draft.any()
    tensor = draft.values[x]
    y = draft.pick(lambda other: (other.dtype, other.shape) == (tensor.dtype, tensor.shape))
    draft.add("stack", f"torch.stack([{{0}}, {{1}}], {draft.choose.randint(-1, tensor.dim())})", x, y)


def split(draft):
    x = draft.any(1)
    dim = draft.dim(x)
    size = draft.values[x].shape[dim]
    if size < 2:
        raise Refused
    if draft.choose.random() < 0.5:
        text, count = f"torch.chunk({{0}}, 2, {dim})", 2
    else:
        cut = draft.choose.randint(1, size - 1)
        text, count = f"torch.split({{0}}, [{cut}, {size - cut}], {dim})", 2
    for number in range(count):
        draft.add("split", f"{text}[{number}]", x)


def repeat(draft):
    x = draft.any(1)
    times = [draft.choose.choice([1, 1, 2]) for _ in draft.values[x].shape]
    text = draft.choose.choice(
        [f"{{0}}.repeat({times})", f"torch.repeat_interleave({{0}}, 2, {draft.dim(x)})", f"torch.tile({{0}}, {times})"]
    )
    draft.add("repeat", text, x)


def reorder(draft):
    x = draft.any(1)
    text = draft.choose.choice(
        [f"torch.flip({{0}}, {draft.dims(x)})", f"torch.roll({{0}}, {draft.choose.randint(-3, 3)}, {draft.dim(x)})"]
    )
    draft.add(text[6:10], text, x)


def triangle(draft):
    x = draft.any(2)
    name = draft.choose.choice(["tril", "triu"])
    draft.add(name, f"torch.{name}({{0}}, {draft.choose.randint(-2, 2)})", x)


def diagonal(draft):
    x = draft.any(2)
    draft.add("diagonal", f"torch.diagonal({{0}}, {draft.choose.randint(-1, 1)}, -2, -1)", x)


def unfold(draft):
    x = draft.any(1)
    draft.add("unfold", f"{{0}}.unfold({draft.dim(x)}, {draft.choose.randint(1, 3)}, {draft.choose.randint(1, 2)})", x)


def pad(draft):
    x = draft.any(1)
    tensor = draft.values[x]
    mode = draft.choose.choice(["constant", "constant", "reflect", "replicate", "circular"])
    if mode != "constant" and (tensor.dim() not in (3, 4) or not tensor.is_floating_point()):
        mode = "constant"
    count = 1 if mode == "constant" else tensor.dim() - 2
    least = -1 if mode == "constant" else 0
    amounts = [draft.choose.randint(least, 2) for _ in range(2 * count)]
    value = ", value=1" if mode == "constant" and tensor.dtype != torch.bool else ""
    draft.add("pad", f"F.pad({{0}}, {amounts}, mode='{mode}'{value})", x)


KINDS = [
    (reshape, 3), (permute, 3), (expand, 2), (squeeze, 2), (slice, 4), (cat, 2), (stack, 1), (split, 1), (repeat, 1),
    (reorder, 1), (triangle, 1), (diagonal, 1), (unfold, 1), (pad, 2),
]  # fmt: skip
