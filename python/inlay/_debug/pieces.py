# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs a part of a graph alone, and measures the error of its results.

`difference` is the error that comparisons and bisection use.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import torch

from .._compile.imported import compile_imported
from .._compile.options import Options
from .._graph.module import Layer, Tensor
from .._program.imported import Dims, ImportedProgram, ProgramInput, TensorType

# The targets that compile code. Results of PyTorch are right by definition.
Target: TypeAlias = Literal["vulkan", "host"]

# The largest difference of a right result, relative to its largest element.
TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}
TOLERANCES |= {torch.complex128: 1e-9, torch.complex64: 1e-4}
_MIN_DIFFERENCE = sys.float_info.min


@dataclass
class Piece:
    """Layers of a graph as a separate module."""

    text: str
    arguments: list[Tensor]  # tensors of the graph that are the arguments
    results: list[Tensor]  # tensors of the graph that are the results
    weights: dict[str, torch.Tensor]  # weights that the text refers to, by key

    @classmethod
    def of(cls, layers: Sequence[Layer], weights: Mapping[str, torch.Tensor]) -> Piece:
        """Returns the module of these layers, which must be in one function and outside regions."""
        graph = layers[0]._op.graph
        text, arguments, results = graph.extract([layer._op for layer in layers])
        used = {key: tensor for key, tensor in weights.items() if f'"{key}"' in text or f"<{key}>" in text}
        return cls(text, [Tensor._of(value) for value in arguments], [Tensor._of(value) for value in results], used)

    def run(self, target: Target, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """Runs the module on one target and returns its results.

        inputs: tensors for the arguments. Raises CompileError if the target can't run the module.
        """
        return run_text(self.text, self.weights, target, inputs, [_type_of(tensor) for tensor in self.results])


def _type_of(tensor: Tensor) -> TensorType:
    """Returns the type of a result. It is only meaningful for tensors."""
    return TensorType(cast("Dims", tensor.shape), cast("torch.dtype", tensor.dtype))


def run_text(
    text: str,
    weights: dict[str, torch.Tensor],
    target: Target,
    inputs: Sequence[torch.Tensor],
    results: Sequence[TensorType],
) -> list[Any]:
    """Runs the function @forward of a module on one target and returns its results.

    weights: the weights of the module by key. inputs: the arguments. results: the types of the results.
    """
    given = [ProgramInput(f"argument{i}", tuple(tensor.shape), tensor.dtype) for i, tensor in enumerate(inputs)]
    imported = ImportedProgram.of_function(text, weights, given, results)
    compiled = compile_imported(imported, Options.make({"targets": (target,), "enabled": False}))
    return compiled.call_flat(*inputs)


def difference(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Returns the largest difference of two tensors, relative to the largest finite element of `expected`.

    The difference is infinite if the shapes differ, or if only one of the tensors has a NaN or an infinity at a place.
    """
    if got.shape != expected.shape:
        return float("inf")
    if expected.numel() == 0:
        return 0.0
    is_exact = not (expected.is_floating_point() or expected.is_complex())
    # Different integers may be equal as doubles.
    minimum = float(is_exact and not torch.equal(got, expected)) * _MIN_DIFFERENCE
    got, expected = _as_doubles(got), _as_doubles(expected)
    special = ~torch.isfinite(expected)
    same = torch.isnan(expected) & torch.isnan(got) | (expected == got)
    if not bool(torch.where(special, same, torch.isfinite(got)).all()):
        return float("inf")
    largest = float(torch.where(special, 0, expected).abs().max())
    off = float(torch.where(special, 0, got - expected).abs().max())
    return max(off / largest if largest else off, minimum)


def _as_doubles(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a dense tensor of f64. A complex number becomes two elements."""
    dense = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    return torch.view_as_real(dense.resolve_conj()).double() if dense.is_complex() else dense.double()


def is_off(share: float, dtype: torch.dtype, tolerance: float | None = None) -> bool:
    """Returns true if a relative difference is larger than `tolerance`.

    The default tolerance depends on the dtype; see TOLERANCES. It is 0 for integers and booleans.
    """
    return not share <= (TOLERANCES.get(dtype, 0.0) if tolerance is None else tolerance)
