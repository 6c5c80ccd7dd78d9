# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chooses the framework calls that are decomposed before import: Core ATen's, except those that the dialect has
whole."""

from __future__ import annotations

import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.export import default_decompositions

from ..effects import draws_random_numbers
from . import (
    activations,
    distances,
    indexing,
    norms,
    pointwise,
    pooling,
    products,
    quantization,
    ranges,
    reductions,
    resampling,
    scans,
    scatters,
    sorting,
    sums,
    views,
)
from .common import Decompositions

aten = torch.ops.aten

# Calls that the default table decomposes although the dialect or a handler has them whole.
_KEPT = (
    aten._adaptive_avg_pool2d.default,
    aten._adaptive_avg_pool3d.default,
    aten._safe_softmax.default,
    aten.all.default,
    aten.all.dim,
    aten.all.dims,
    aten.gelu.default,
    aten.group_norm.default,
    aten.layer_norm.default,
    aten.linear.default,
    aten.matmul.default,
    aten.max_pool2d.default,
    aten.native_group_norm.default,
    aten.rms_norm.default,
    aten.scaled_dot_product_attention.default,
    aten.silu.default,
    *(
        getattr(getattr(aten, f"{kind}{count}d"), form)
        for kind in ("upsample_nearest", "_upsample_nearest_exact")
        for count in (1, 2, 3)
        for form in ("default", "vec")
    ),
)

# Calls that the default table keeps and the dialect does not have. They become reads at indices known at import.
_SPLIT = (aten.upsample_bicubic2d.vec,)

_LATE = (distances, norms, pointwise, pooling, quantization, scans, scatters, sorting, sums, views)


def decompositions(graph: torch.fx.Graph) -> Decompositions:
    """Returns the table for `ExportedProgram.run_decompositions`.

    Calls of the graph that draw random numbers stay whole, because their pieces would draw other numbers.
    """
    table = _adapt(default_decompositions())
    for node in graph.nodes:
        if node.op == "call_function" and draws_random_numbers(node):
            table.pop(node.target, None)
    return table


def decompositions_for_tracing() -> Decompositions:
    """Returns the table for AOTAutograd, which decomposes composite calls itself."""
    table = dict(core_aten_decompositions())
    for op in [op for op in table if torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())]:
        del table[op]
    return {**_adapt(table), **norms.DECOMPOSITIONS_FOR_TRACING}


def _adapt(table: Decompositions) -> Decompositions:
    """Changes a table of PyTorch to what the dialect needs, and returns it."""
    for op in _KEPT:
        table.pop(op, None)
    table.update({op: decomposition_table[op] for op in _SPLIT})
    table.update(activations.DECOMPOSITIONS)
    table.update(indexing.DECOMPOSITIONS)
    table.update(products.DECOMPOSITIONS)
    table.update(quantization.decompositions_to_integers())
    table.update(reductions.DECOMPOSITIONS)
    table.update(resampling.DECOMPOSITIONS)
    table.update(ranges.DECOMPOSITIONS)
    return table


def late_decompositions() -> Decompositions:
    """Returns decompositions of calls that the tables above keep. They apply only if no handler takes the call.

    A function may return None for a result, which is then not available.
    """
    return {op: function for topic in _LATE for op, function in topic.DECOMPOSITIONS.items()}


__all__ = ["Decompositions", "decompositions", "decompositions_for_tracing", "late_decompositions"]
