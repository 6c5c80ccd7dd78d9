# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports TfIdfVectorizer on integers."""

from __future__ import annotations

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"TfIdfVectorizer": _handle_tf_idf}


def _handle_tf_idf(call: NodeCall) -> NodeResult:
    if call.attribute("pool_strings") is not None:
        raise call.unsupported("strings are not supported")
    pool, starts = call.attribute("pool_int64s", []), call.attribute("ngram_counts")
    columns, mode = call.attribute("ngram_indexes"), call.attribute("mode")
    weights = call.attribute("weights") or [1.0] * len(columns)
    lengths = call.attribute("min_gram_length"), call.attribute("max_gram_length")
    skips = call.attribute("max_skip_count")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise ArgumentValueError(f"{call.place}: expected the mode TF, IDF or TFIDF, but got {mode!r}")
    if not 1 <= lengths[0] <= lengths[1] or lengths[1] > len(starts) or skips < 0 or min(columns, default=0) < 0:
        raise ArgumentValueError(
            f"{call.place}: expected lengths in [1, {len(starts)}], and a max_skip_count and ngram_indexes of 0 or more"
        )
    ends = [*starts[1:], len(pool)]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    total = sum(size // (1 + number) for number, size in enumerate(sizes))
    if starts[:1] != [0] or any(size < 0 or size % (1 + number) for number, size in enumerate(sizes)):
        raise ArgumentValueError(f"{call.place}: ngram_counts {starts} do not divide a pool of {len(pool)} numbers")
    if not total == len(columns) == len(weights):
        raise ArgumentValueError(f"{call.place}: expected {total} numbers in ngram_indexes and weights")
    given = [torch.tensor(values, dtype=torch.int64) for values in (pool, starts, columns)]
    return call.library(
        "tf_idf",
        call[0],
        *map(call.constant, given),
        call.constant(torch.tensor(weights)),
        max(columns, default=-1) + 1,
        *lengths,
        skips,
        mode,
    )
