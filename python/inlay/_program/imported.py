# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An imported model: the text of its graph, its weights, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy
import torch
from torch.utils import _pytree as pytree

from .outputs import Output, ResultOutput, Tensors, Write
from .sizes import Size, Symbols

Dims = tuple[int | Size, ...]


class TensorType(NamedTuple):
    """The dims and dtype of a tensor."""

    shape: Dims
    dtype: torch.dtype


@dataclass(frozen=True)
class ProgramInput:
    """An argument of the model, in flat order: a tensor of these dims and dtype, or a value fixed at export.

    A value that is a Size is a number that the dims of the tensors determine.

    is_kept: the tensor goes beside the program, to calls that PyTorch makes, since the dialect can't hold it.
    """

    name: str
    shape: Dims = ()
    dtype: torch.dtype | None = None  # None of an argument that is no tensor
    value: Any = None  # of an argument that is no tensor
    layout: torch.layout = torch.strided
    is_kept: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.dtype is not None


@dataclass
class Interface:
    """What calls of a program take and give.

    The function's arguments are the inputs that are tensors and not kept, and then the buffers in `carried`.
    """

    inputs: list[ProgramInput] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    results: list[TensorType] = field(default_factory=list)  # of the function
    carried: list[str] = field(default_factory=list)  # names of the buffers that the model writes
    writes: list[Write] = field(default_factory=list)
    symbols: Symbols = field(default_factory=Symbols)  # sizes that are known at a call alone
    conditions: list[sympy.Basic] = field(default_factory=list)  # on the symbols, besides their ranges


@dataclass
class ModelState:
    """The model's parameters and buffers, and what the program takes that is computed from them."""

    tensors: dict[str, torch.Tensor] = field(default_factory=dict)  # parameters and buffers by name
    persistent: list[str] = field(default_factory=list)  # names that the model's own state_dict has
    sources: dict[str, Callable[[Tensors], torch.Tensor]] = field(default_factory=dict)  # key of a weight -> its value
    decisive: set[str] = field(default_factory=set)  # names of tensors whose elements the import depends on
    kept: dict[str, Any] = field(default_factory=dict)  # name -> constant that calls take beside the program
    kept_sources: dict[str, Callable[[Tensors], Any]] = field(default_factory=dict)  # name -> its value


@dataclass
class ImportedProgram:
    """MLIR text with one public function @forward, and what the text leaves out."""

    text: str
    weights: dict[str, torch.Tensor]  # contiguous tensors on the CPU by key
    interface: Interface
    state: ModelState = field(default_factory=ModelState)
    reasons: list[str] = field(default_factory=list)  # sentences: why parts of the graph are left to PyTorch
    unplaced: list[str] = field(default_factory=list)  # labels of control flow that doesn't say what modules are inside

    @classmethod
    def of_function(
        cls, text: str, weights: dict[str, torch.Tensor], inputs: Sequence[ProgramInput], results: Sequence[TensorType]
    ) -> ImportedProgram:
        """The program that takes the function's arguments and gives its results."""
        outputs: list[Output] = [ResultOutput(number) for number in range(len(results))]
        return cls(text, weights, Interface(list(inputs), outputs, list(results)))

    @property
    def arguments(self) -> list[TensorType]:
        """The types of the function's arguments."""
        given = [TensorType(one.shape, one.dtype) for one in self.interface.inputs if one.dtype and not one.is_kept]
        carried = [self.state.tensors[name] for name in self.interface.carried]
        return given + [TensorType(tuple(tensor.shape), tensor.dtype) for tensor in carried]


@dataclass(frozen=True)
class CallConvention:
    """How the model is called from Python.

    in_spec: the structure of (args, kwargs); out_spec: that of the results. argument_names: positional arguments first;
    None if they aren't known. defaults: name -> default of the arguments that the model was exported without.
    """

    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec
    argument_names: Sequence[str] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_function(cls, inputs: int, results: int, argument_names: Sequence[str] | None = None) -> CallConvention:
        """Arguments by their places; the only result by itself, or a tuple of them."""
        return cls(
            in_spec=pytree.tree_structure(((0,) * inputs, {})),
            out_spec=pytree.tree_structure(0 if results == 1 else (0,) * results),
            argument_names=argument_names,
        )


@dataclass
class ImportedModel:
    """A model of any origin, imported. make_eager: returns the model as a function of the same calls, in PyTorch."""

    program: ImportedProgram
    convention: CallConvention
    make_eager: Callable[[], Callable[..., Any]] | None = None
