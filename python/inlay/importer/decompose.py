# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which framework calls are split before import: Core ATen's, but not into pieces smaller than the dialect's ops."""

import torch
from torch._decomp import core_aten_decompositions
from torch.export import default_decompositions

aten = torch.ops.aten

# Split by the default table although the dialect, or a handler, has them whole.
_KEPT = (
    aten._safe_softmax.default,
    aten.gelu.default,
    aten.layer_norm.default,
    aten.linear.default,
    aten.matmul.default,
    aten.max_pool2d.default,
    aten.silu.default,
)


def decompositions():
    """The table for `ExportedProgram.run_decompositions`."""
    table = default_decompositions()
    for op in _KEPT:
        table.pop(op, None)
    table.update(_OWN)
    return table


def decompositions_for_tracing():
    """The table for AOTAutograd, which splits composite calls itself."""
    table = dict(core_aten_decompositions())
    for op in _KEPT:
        table.pop(op, None)
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


def _group_norm(x, weight, bias, n, channels, spatial, groups, eps):
    grouped = x.reshape(n, groups, channels // groups * spatial)
    mean = torch.mean(grouped, [2], keepdim=True)
    centred = grouped - mean
    rstd = torch.rsqrt(torch.mean(centred * centred, [2], keepdim=True) + eps)
    result = (centred * rstd).reshape(x.shape)
    affine = [1, channels] + [1] * (x.dim() - 2)
    if weight is not None:
        result = result * weight.reshape(affine)
    if bias is not None:
        result = result + bias.reshape(affine)
    return result, mean.reshape(n, groups), rstd.reshape(n, groups)


_OWN = {
    aten._log_softmax.default: _log_softmax,
    aten.var.correction: _variance,
    aten.native_group_norm.default: _group_norm,
}
