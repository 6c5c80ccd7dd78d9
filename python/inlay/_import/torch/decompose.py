# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chooses the framework calls that are decomposed before import: Core ATen's, except those that the dialect has
whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.export import default_decompositions

from .effects import draws_random_numbers
from .sampling import sample_bicubic

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
_SPLIT = (
    aten.upsample_bicubic2d.vec,
    aten.upsample_bilinear2d.default,
    aten.upsample_bilinear2d.vec,
)


Decompositions: TypeAlias = "dict[torch._ops.OperatorBase, Callable[..., Any]]"


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
    return _adapt(table)


def _adapt(table: Decompositions) -> Decompositions:
    """Changes a table of PyTorch to what the dialect needs, and returns it."""
    for op in _KEPT:
        table.pop(op, None)
    table.update({op: decomposition_table[op] for op in _SPLIT})
    table.update(_REPLACED)
    return table


def _widen(x: torch.Tensor) -> torch.Tensor:
    """Returns 16-bit floats as float32. PyTorch computes in float32 where there is more than one rounding."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    wide = _widen(x)
    if x.dim() == 0 or x.numel() == 0:
        result = wide - wide
    else:
        shifted = wide - torch.amax(wide, [dim], keepdim=True)
        result = shifted - torch.log(torch.sum(torch.exp(shifted), [dim], keepdim=True))
    return result if half_to_float else result.to(x.dtype)


def _logsumexp(x: torch.Tensor, dim: list[int], keepdim: bool = False) -> torch.Tensor:
    if x.numel() == 0:
        return torch.log(torch.sum(torch.exp(x), dim, keepdim))
    wide = _widen(x if x.is_floating_point() else x.to(torch.get_default_dtype()))
    largest = torch.amax(wide, dim, keepdim=True)
    largest = torch.where(torch.isinf(largest), 0, largest)
    result = torch.log(torch.sum(torch.exp(wide - largest), dim, keepdim=True)) + largest
    if not keepdim:
        result = result.squeeze(dim if len(dim) else list(range(x.dim())))
    return result.to(x.dtype) if x.is_floating_point() else result


def _is_static(x: torch.Tensor) -> bool:
    """Returns true if all dims of the tensor are known."""
    return all(isinstance(size, int) for size in x.shape)


def _can_count(correction: float | None) -> bool:
    """Returns true if a correction can be subtracted from a count that is known only at a call: 0, or 1 (the
    default)."""
    return correction is None or correction in (0, 1)


def _variance_and_mean(
    x: torch.Tensor, dim: Sequence[int] | None, correction: float | None, keepdim: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the variance and the mean over `dim` (None or [] for all dims), for 16-bit floats in float32.

    The rounding error of the mean is much larger than the spread of elements that are far from 0. It is therefore
    computed as the mean of the differences, and subtracted too (Chan, Golub and LeVeque, "Algorithms for Computing the
    Sample Variance", 1983).
    """
    dims = list(range(x.dim())) if not dim else list(dim)
    count = 1
    for axis in dims:
        count *= x.shape[axis]
    correction = 1 if correction is None else correction
    freedom = count - (correction if isinstance(count, int) else int(correction))
    wide = _widen(x)
    mean = torch.mean(wide, dims, keepdim=True)
    error = torch.mean(wide - mean, dims, keepdim=True)
    # The opposite of `wide - mean - error`. With the same difference, both sums would share it, and it would be stored.
    centered = (mean - wide) + error
    total = torch.sum(centered * centered, dims, keepdim=keepdim)
    mean = mean + error
    if isinstance(freedom, torch.SymInt):
        variance = total / freedom
    else:
        variance = total * (1.0 / freedom) if freedom > 0 else total / 0.0
    return variance, mean if keepdim else mean.reshape(variance.shape)


def _variance(
    x: torch.Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> Any:
    if not x.is_floating_point() or not (_is_static(x) or _can_count(correction)):
        return NotImplemented
    return _variance_and_mean(x, dim, correction, keepdim)[0].to(x.dtype)


def _var_mean(
    x: torch.Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> Any:
    if not x.is_floating_point() or not (_is_static(x) or _can_count(correction)):
        return NotImplemented
    variance, mean = _variance_and_mean(x, dim, correction, keepdim)
    return variance.to(x.dtype), mean.to(x.dtype)


def _vector_norm(
    x: torch.Tensor,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Any:
    result = dtype or x.dtype
    if not result.is_floating_point:
        return NotImplemented
    size = torch.abs(_widen(x.to(result)))
    dims = list(range(x.dim())) if dim is None or (isinstance(dim, (list, tuple)) and not dim) else dim
    dims = [dims] if isinstance(dims, int) else list(dims)
    if ord == float("inf"):
        norm = torch.amax(size, dims, keepdim)
    elif ord == float("-inf"):
        norm = torch.amin(size, dims, keepdim)
    elif ord == 0:
        norm = torch.sum((size != 0).to(size.dtype), dims, keepdim)
    elif ord == 1:
        norm = torch.sum(size, dims, keepdim)
    elif ord == 2:
        norm = torch.sqrt(torch.sum(size * size, dims, keepdim))
    else:
        norm = torch.pow(torch.sum(torch.pow(size, ord), dims, keepdim), 1.0 / ord)
    return norm.to(result)


def _ldexp(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return x * torch.pow(2.0, other)


def _grid_sampler_2d(
    x: torch.Tensor, grid: torch.Tensor, interpolation_mode: int = 0, padding_mode: int = 0, align_corners: bool = False
) -> Any:
    """Samples with PyTorch's decomposition, but treats NaN and infinite coordinates as PyTorch's CPU kernels do.

    Without padding, they make a bilinear result NaN. Padding puts NaN, and reflection puts infinities too, on the first
    element.
    """
    sample = decomposition_table[aten.grid_sampler_2d.default]
    nearest, bicubic, zeros, reflection = 1, 2, 0, 2
    if interpolation_mode == bicubic:
        return sample_bicubic(x, grid, padding_mode, align_corners)
    if (interpolation_mode, padding_mode) == (nearest, zeros):
        return sample(x, grid, interpolation_mode, padding_mode, align_corners)
    known = torch.isfinite(grid)
    if padding_mode == zeros:
        result = sample(x, grid, interpolation_mode, padding_mode, align_corners)
        return torch.where(known.all(-1).unsqueeze(1), result, math.nan)
    if padding_mode != reflection:
        known = grid == grid
    placed = torch.where(known, grid, -1.0)  # at the first element or before it, which padding treats alike
    return sample(x, placed, interpolation_mode, padding_mode, align_corners)


# Calls whose decompositions in PyTorch's table do not fit. A function may return NotImplemented to use PyTorch's own.
_REPLACED: Decompositions = {
    aten.ldexp.Tensor: _ldexp,
    aten._log_softmax.default: _log_softmax,
    aten.grid_sampler_2d.default: _grid_sampler_2d,
    aten.linalg_vector_norm.default: _vector_norm,
    aten.logsumexp.default: _logsumexp,
    aten.var.correction: _variance,
    aten.var_mean.correction: _var_mean,
}
