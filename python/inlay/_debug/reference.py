# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes a graph with PyTorch: each op of the dialect by its reference expression, and framework calls directly.

`_dialect/meaning.py` computes a single op.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from typing import Any

import torch

from .._dialect import ops
from .._dialect.calls import run_call
from .._dialect.meaning import compute
from .._graph.module import Layer, Tensor
from ..errors import UnsupportedError


def evaluate(
    layers: Sequence[Layer],
    values: MutableMapping[Tensor, torch.Tensor],
    weights: Mapping[str, torch.Tensor],
    needed: Collection[Tensor] | None = None,
    kept: dict[str, Any] | None = None,
) -> None:
    """Computes `layers` in their order and adds the values of their results to `values`.

    values: the values of tensors, at first those of the inputs.
    weights: tensors by key.
    needed: the tensors whose values are kept; None for all. Other values are dropped after their last use.
    kept: the values that are passed beside the graph, by name. The values that leave it are added.
    Raises UnsupportedError for a layer that PyTorch can't compute.
    """
    last: dict[Tensor, Layer] = {}
    if needed is not None:
        last = {tensor: layer for layer in layers for tensor in layer.get_inputs() if tensor not in needed}
    for layer in layers:
        for tensor, value in zip(layer.get_outputs(), _compute_layer(layer, values, weights, kept), strict=True):
            if needed is None or tensor in needed or tensor in last:
                values[tensor] = value
        for tensor in layer.get_inputs():
            if last.get(tensor) == layer:
                values.pop(tensor, None)


def _compute_layer(
    layer: Layer,
    values: Mapping[Tensor, torch.Tensor],
    weights: Mapping[str, torch.Tensor],
    kept: dict[str, Any] | None,
) -> list[torch.Tensor]:
    """Returns the results of a layer."""
    constant = layer._op.constant
    if constant is not None:
        return [_read_constant(layer.get_outputs(0)[0], constant, weights)]
    if layer.op == "inlay.opaque" and layer.attributes.get("call"):
        results = [_make_empty(tensor) for tensor in layer.get_outputs()]
        run_call(layer.attributes["call"], [values[tensor] for tensor in layer.get_inputs()], results, kept)
        return results
    name = layer.op.removeprefix("inlay.")
    if not layer.op.startswith("inlay.") or name not in ops.table():
        raise UnsupportedError(f"PyTorch can't compute layer {layer.name!r} for the comparison: its op is {layer.op}")
    operands = ops.table()[name].group(values[tensor] for tensor in layer.get_inputs())
    return [compute(name, operands, layer.attributes)]


def _read_constant(tensor: Tensor, data: str | bytes, weights: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Returns the value of a constant. data: the key of a weight, or the elements."""
    if isinstance(data, str):
        return weights[data]
    empty = _make_empty(tensor)
    if not data:
        return empty
    return torch.frombuffer(bytearray(data), dtype=empty.dtype).reshape(empty.shape)


def _make_empty(tensor: Tensor) -> torch.Tensor:
    """Returns an uninitialized tensor. Raises UnsupportedError if PyTorch has no tensors of the type."""
    if tensor.shape is None or not isinstance(tensor.dtype, torch.dtype):
        raise UnsupportedError(f"PyTorch has no tensors of type {tensor.type}, which {tensor.name!r} has")
    return torch.empty(tensor.shape, dtype=tensor.dtype)
