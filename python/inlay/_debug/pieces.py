# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of a graph compiled and run by itself, and how far its results are off."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from .._compile.driver import compile_imported
from .._compile.options import Options
from .._graph.module import Layer, Tensor
from .._program.imported import ImportedProgram, ProgramInput, TensorType

# Largest difference, as a share of a result's largest element, that counts as right.
TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}
TOLERANCES |= {torch.complex128: 1e-9, torch.complex64: 1e-4}
_LEAST = sys.float_info.min


@dataclass
class Piece:
    """Some layers as a module of their own."""

    text: str
    arguments: list[Tensor]  # the tensors outside that its arguments stand for
    results: list[Tensor]  # likewise
    weights: dict[str, torch.Tensor]  # by key, those it names

    @classmethod
    def of(cls, layers: Sequence[Layer], weights: Mapping[str, torch.Tensor]) -> Piece:
        """The piece of these layers, which are of one function and not in a region."""
        graph = layers[0]._op.graph
        text, arguments, results = graph.extract([layer._op for layer in layers])
        used = {key: tensor for key, tensor in weights.items() if f'"{key}"' in text or f"<{key}>" in text}
        return cls(text, [Tensor._of(value) for value in arguments], [Tensor._of(value) for value in results], used)

    def run(self, target: str, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Its results on one target alone, from tensors for its arguments; CompileError if it can't run there."""
        types = [TensorType(one.shape, one.dtype) for one in self.results]
        return run_text(self.text, self.weights, target, inputs, types)


def run_text(
    text: str,
    weights: dict[str, torch.Tensor],
    target: str,
    inputs: Sequence[torch.Tensor],
    results: Sequence[TensorType],
) -> list[torch.Tensor]:
    """Runs @forward of a module on one target."""
    given = [ProgramInput(f"argument{i}", tuple(tensor.shape), tensor.dtype) for i, tensor in enumerate(inputs)]
    imported = ImportedProgram.of_function(text, weights, given, results)
    compiled = compile_imported(imported, Options.make({"targets": (target,), "enabled": False}))
    return compiled.call_flat(*inputs)


def difference(got: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference as a share of the largest finite element expected; infinite if NaN or an infinity stands
    where none is expected, or the other way round."""
    if got.shape != expected.shape:
        return float("inf")
    if expected.numel() == 0:
        return 0.0
    is_exact = not (expected.is_floating_point() or expected.is_complex())
    least = float(is_exact and not torch.equal(got, expected)) * _LEAST  # what doubles don't tell apart
    got, expected = _as_doubles(got), _as_doubles(expected)
    special = ~torch.isfinite(expected)
    same = torch.isnan(expected) & torch.isnan(got) | (expected == got)
    if not bool(torch.where(special, same, torch.isfinite(got)).all()):
        return float("inf")
    largest = float(torch.where(special, 0, expected).abs().max())
    off = float(torch.where(special, 0, got - expected).abs().max())
    return max(off / largest if largest else off, least)


def _as_doubles(tensor):
    dense = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    return torch.view_as_real(dense.resolve_conj()).double() if dense.is_complex() else dense.double()


def is_off(share: float, dtype: torch.dtype, tolerance: float | None = None) -> bool:
    """Whether a difference is more than `tolerance`, by default what the dtype allows: nothing for integers."""
    return not share <= (TOLERANCES.get(dtype, 0.0) if tolerance is None else tolerance)
