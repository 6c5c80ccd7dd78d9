# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that read or write elements at indices, and operators that sort."""

import torch

from ..draft import Refused
from ..graph import Precision


def _count(draft):
    return draft.choose.choice([1, 2, 3, 5, 8])


def index_select(draft):
    x = draft.any(1)
    dim = draft.dim(x)
    index = draft.indices([_count(draft)], draft.values[x].shape[dim], draft.choose.choice([torch.int64, torch.int32]))
    draft.add("index_select", f"torch.index_select({{0}}, {dim}, {{1}})", x, index)


def gather(draft):
    x = draft.any(1)
    dim, shape = draft.dim(x), list(draft.values[x].shape)
    size, shape[dim] = shape[dim], _count(draft)
    draft.add("gather", f"torch.gather({{0}}, {dim}, {{1}})", x, draft.indices(shape, size))


def index(draft):
    x = draft.any(1)
    shape = draft.values[x].shape
    first = draft.indices(draft.shape(draft.choose.randint(0, 2)), shape[0])
    if len(shape) > 1 and draft.choose.random() < 0.5:
        second = draft.indices(list(draft.values[first].shape), shape[1])
        draft.add("index", "{0}[{1}, {2}]", x, first, second)
    else:
        draft.add("index", draft.choose.choice(["{0}[{1}]", "{0}[{1} - 1]"]), x, first)


def embedding(draft):
    table = draft.float(2, 2)
    indices = draft.indices(draft.shape(draft.choose.randint(0, 2)), draft.values[table].shape[0])
    draft.add("embedding", "F.embedding({0}, {1})", indices, table)


def scatter(draft):
    x = draft.any(1)
    tensor, dim = draft.values[x], draft.dim(x)
    shape = list(tensor.shape)
    size, shape[dim] = shape[dim], min(_count(draft), max(shape[dim], 1))
    if size < shape[dim]:
        raise Refused
    # Without repeated indices, because it is undefined which of several elements is written.
    order = torch.rand([*shape[: dim % len(shape)], size, *shape[dim % len(shape) + 1 :]], generator=draft.generator)
    indices = order.argsort(dim).narrow(dim, 0, shape[dim]).contiguous()
    source = draft.input(shape, tensor.dtype)
    draft.add(
        "scatter", f"torch.scatter({{0}}, {dim}, {{1}}, {{2}})", x, draft.input(shape, torch.int64, indices), source
    )


def scatter_reduce(draft):
    x = draft.number(1)
    tensor, dim = draft.values[x], draft.dim(x)
    shape = list(tensor.shape)
    size, shape[dim] = shape[dim], _count(draft)
    indices, source = draft.indices(shape, size), draft.input(shape, tensor.dtype)
    how = draft.choose.choice(["sum", "sum", "prod", "amax", "amin"])
    text = f"torch.scatter_reduce({{0}}, {dim}, {{1}}, {{2}}, '{how}')"
    precision = Precision.SUMMED if how in ("sum", "prod") else Precision.EXACT
    draft.add(f"scatter_{how}", text, x, indices, source, precision=precision)


def index_put(draft):
    x = draft.number(1)
    tensor = draft.values[x]
    count = _count(draft)
    indices = draft.indices([count], tensor.shape[0])
    source = draft.input([count, *tensor.shape[1:]], tensor.dtype)
    text = "torch.index_put({0}, ({1},), {2}, accumulate=True)"
    draft.add("index_put", text, x, indices, source, precision=Precision.SUMMED)


def index_add(draft):
    x = draft.number(1)
    tensor, dim = draft.values[x], draft.dim(x)
    shape = list(tensor.shape)
    size, shape[dim] = shape[dim], _count(draft)
    indices, source = draft.indices([shape[dim]], size), draft.input(shape, tensor.dtype)
    draft.add(
        "index_add", f"torch.index_add({{0}}, {dim}, {{1}}, {{2}})", x, indices, source, precision=Precision.SUMMED
    )


def one_hot(draft):
    indices = draft.indices(draft.shape(draft.choose.randint(0, 2)), 4)
    draft.add("one_hot", "F.one_hot({0}, 5)", indices)


def sort(draft):
    x = draft.any(1)
    dim, down = draft.dim(x), draft.choose.choice([True, False])
    for number in draft.choose.choice([[0], [1], [0, 1]]):
        draft.add("sort", f"torch.sort({{0}}, dim={dim}, descending={down}, stable=True)[{number}]", x)


def topk(draft):
    x = draft.number(1)
    dim = draft.dim(x)
    size = draft.values[x].shape[dim]
    if size == 0:
        raise Refused
    largest = draft.choose.choice([True, False])
    draft.add("topk", f"torch.topk({{0}}, {draft.choose.randint(1, size)}, {dim}, {largest})[0]", x)


def arange(draft):
    x = draft.number(1)
    start, step = draft.choose.randint(-3, 3), draft.choose.choice([1, 1, 2, -1])
    count = "{0}.shape[-1]"
    text = f"{{0}} + torch.arange({start}, {start} + {step} * {count}, {step})"
    draft.add("arange", text, x, precision=Precision.ROUNDED)


def lookup(draft):
    """Indices that other steps computed."""
    x, y = draft.any(1), draft.integer()
    size = draft.values[x].shape[0]
    if size == 0:
        raise Refused
    draft.add("lookup", f"{{0}}[({{1}} % {size}).long()]", x, y)


KINDS = [
    (index_select, 1), (gather, 1), (index, 1), (embedding, 1), (scatter, 1), (scatter_reduce, 1), (index_put, 1),
    (index_add, 1), (one_hot, 1), (sort, 1), (topk, 1), (arange, 1), (lookup, 1),
]  # fmt: skip
