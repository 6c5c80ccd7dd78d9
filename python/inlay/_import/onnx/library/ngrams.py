# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers TfIdfVectorizer, which counts sequences of integers (n-grams)."""

from __future__ import annotations

import torch
from torch import Tensor


@torch.library.custom_op("inlay_onnx::tf_idf", mutates_args=())
def tf_idf(
    x: Tensor,
    pool: Tensor,
    starts: Tensor,
    columns: Tensor,
    weights: Tensor,
    width: int,
    shortest: int,
    longest: int,
    skips: int,
    mode: str,
) -> Tensor:
    """Returns, for each row, how often each n-gram occurs in it (TF), its weight if it does (IDF), or both (TFIDF).

    x: rows x numbers, or one row. pool: the n-grams, those of one number first. starts: where those of each length
    start. columns, weights: of each n-gram. width: the number of columns. shortest, longest: the lengths that count.
    skips: at most so many numbers lie between two numbers of an n-gram in a row.
    """
    rows = (x if x.dim() > 1 else x[None]).to(torch.int64)
    counts = torch.zeros(rows.shape[0], width, dtype=torch.float32)
    factors = torch.ones(width, dtype=torch.float32)
    factors[columns] = weights
    ends = [*starts.tolist()[1:], pool.numel()]
    first = 0  # number of the first n-gram of this length
    for length, (start, end) in enumerate(zip(starts.tolist(), ends, strict=True), 1):
        grams = pool[start:end].reshape(-1, length)
        if shortest <= length <= longest:
            for skip in range(1 if length == 1 else skips + 1):
                span = (length - 1) * (skip + 1) + 1
                if span <= rows.shape[1]:
                    windows = rows.unfold(1, span, 1)[:, :, :: skip + 1]
                    for number, gram in enumerate(grams, first):
                        counts[:, columns[number]] += (windows == gram).all(-1).sum(1)
        first += len(grams)
    if mode == "IDF":
        counts = counts.clamp(max=1)
    return (counts if mode == "TF" else counts * factors).reshape(*x.shape[:-1], width)


@tf_idf.register_fake
def _(
    x: Tensor, pool: Tensor, starts: Tensor, columns: Tensor, weights: Tensor, width: int, shortest: int, longest: int,
    skips: int, mode: str,
) -> Tensor:  # fmt: skip
    return x.new_empty((*x.shape[:-1], width), dtype=torch.float32)
