# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which framework calls are split before import: Core ATen's, but not into pieces smaller than the dialect's ops."""

import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.export import default_decompositions

from .effects import draws_random_numbers

aten = torch.ops.aten

# Split by the default table although the dialect, or a handler, has them whole.
_KEPT = (
    aten._adaptive_avg_pool2d.default,
    aten._adaptive_avg_pool3d.default,
    aten._safe_softmax.default,
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

# Kept by the default table, but no ops of the dialect: compositions of reads at indices known at import.
_SPLIT = (
    aten.grid_sampler_2d.default,
    aten.upsample_bicubic2d.vec,
    aten.upsample_bilinear2d.default,
    aten.upsample_bilinear2d.vec,
)


def decompositions(graph):
    """The table for `ExportedProgram.run_decompositions`.

    Calls of the graph that draw random numbers stay whole: pieces would draw others.
    """
    table = _adapt(default_decompositions())
    for node in graph.nodes:
        if node.op == "call_function" and draws_random_numbers(node):
            table.pop(node.target, None)
    return table


def decompositions_for_tracing():
    """The table for AOTAutograd, which splits composite calls itself."""
    table = dict(core_aten_decompositions())
    for op in [op for op in table if torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())]:
        del table[op]
    return _adapt(table)


def _adapt(table):
    for op in _KEPT:
        table.pop(op, None)
    table.update({op: decomposition_table[op] for op in _SPLIT})
    table.update(_OWN)
    return table


def _log_softmax(x, dim, half_to_float):
    x = x.float() if half_to_float else x
    shifted = x - torch.amax(x, [dim], keepdim=True)
    return shifted - torch.log(torch.sum(torch.exp(shifted), [dim], keepdim=True))


def _variance(x, dim=None, *, correction=None, keepdim=False):
    dims = list(range(x.dim())) if not dim else list(dim)
    count = 1
    for axis in dims:
        count *= x.shape[axis]
    freedom = count - (1 if correction is None else correction)
    if freedom <= 0 or not x.is_floating_point():
        return NotImplemented
    centred = x - torch.mean(x, dims, keepdim=True)
    return torch.sum(centred * centred, dims, keepdim=keepdim) * (1.0 / freedom)


_OWN = {
    aten._log_softmax.default: _log_softmax,
    aten.var.correction: _variance,
}
