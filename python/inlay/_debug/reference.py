# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph computed by PyTorch: each op of the dialect by its meaning, framework calls as given."""

import torch

from .._dialect import ops
from .._dialect.calls import run_call
from .._dialect.meaning import compute
from ..errors import UnsupportedError


def evaluate(layers, values, weights, needed=None, kept=None):
    """Computes `layers`, in their order, into `values`.

    values: inlay.Tensor -> torch tensor, to be filled; weights: key -> tensor; needed: tensors to keep, None for all;
    kept: name -> value of what goes beside the graph, to be filled as well.
    What is not kept is dropped after its last use. Raises UnsupportedError for a layer without a meaning in PyTorch.
    """
    last = {}
    if needed is not None:
        last = {tensor: layer for layer in layers for tensor in layer.get_inputs() if tensor not in needed}
    for layer in layers:
        for tensor, value in zip(layer.get_outputs(), _compute_layer(layer, values, weights, kept), strict=True):
            if needed is None or tensor in needed or tensor in last:
                values[tensor] = value
        for tensor in layer.get_inputs():
            if last.get(tensor) == layer:
                values.pop(tensor, None)


def _compute_layer(layer, values, weights, kept):
    constant = layer._op.constant
    if constant is not None:
        return [_read_constant(layer.get_outputs(0)[0], constant, weights)]
    if layer.op == "inlay.opaque" and layer.attributes.get("call"):
        results = [torch.empty(tensor.shape, dtype=tensor.dtype) for tensor in layer.get_outputs()]
        run_call(layer.attributes["call"], [values[tensor] for tensor in layer.get_inputs()], results, kept)
        return results
    name = layer.op.removeprefix("inlay.")
    if not layer.op.startswith("inlay.") or name not in ops.table():
        raise UnsupportedError(f"layer {layer.name!r}, {layer.op}, has no meaning in PyTorch to compare with")

    operands = ops.table()[name].group(values[tensor] for tensor in layer.get_inputs())
    return [compute(name, operands, layer.attributes)]


def _read_constant(tensor, data, weights):
    """A key is looked up, bytes are read."""
    if isinstance(data, str):
        return weights[data]
    if not data:
        return torch.empty(tensor.shape, dtype=tensor.dtype)
    return torch.frombuffer(bytearray(data), dtype=tensor.dtype).reshape(tensor.shape)
