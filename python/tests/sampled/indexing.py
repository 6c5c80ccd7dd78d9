# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that read or write where tensors of indices say, and those that sort."""

from .entry import Sampled

OPS = [
    Sampled("nn.functional.embedding"),
    Sampled("index_select"),
    Sampled("index_add"),
    Sampled("index_copy"),
    Sampled("index_fill"),
    Sampled("index_put"),
    Sampled("index_reduce", "prod"),
    Sampled("index_reduce", "amin"),
    Sampled("index_reduce", "amax"),
    Sampled("gather"),
    Sampled("take"),
    Sampled("take_along_dim"),
    Sampled("scatter"),
    Sampled("scatter_add"),
    Sampled("scatter_reduce", "sum"),
    Sampled("scatter_reduce", "prod"),
    Sampled("scatter_reduce", "amin"),
    Sampled("scatter_reduce", "amax"),
    Sampled("_unsafe_masked_index"),
    Sampled("sort"),
    Sampled("argsort"),
    Sampled("msort"),
    Sampled("topk"),
    Sampled("kthvalue"),
]
