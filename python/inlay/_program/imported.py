# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An imported model: the text of its graph, its weights, and what its calls take and give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from .sizes import Symbols


@dataclass(frozen=True)
class Input:
    """An argument of the model, in flat order: a tensor of these dims and dtype, or a value fixed at export.

    Dims are ints and Sizes. A value that is a Size is a number that the dims of the tensors tell.

    is_kept: the tensor goes beside the program, to calls that PyTorch makes, since the dialect can't hold it.
    """

    name: str
    shape: tuple = ()
    dtype: Any = None
    value: Any = None  # of an argument that is no tensor
    layout: Any = torch.strided
    is_kept: bool = False

    @property
    def is_tensor(self) -> bool:
        return self.dtype is not None


@dataclass(frozen=True)
class Output:
    """A result of the model, in flat order.

    kind: "result" (number `index` of the function's), "input" (argument `index`, the very tensor), "value" (`value`),
    "size" (the number that the Size `value` is), "weights" (what the function `value` gives for the tensors of the
    state), "buffer" (what the written buffer `value` held before), "kept" (the value that goes by the name `value`
    beside the program).
    copied: whether PyTorch gives a tensor of its own rather than the argument or constant itself.
    """

    kind: str
    index: int = 0
    value: Any = None
    copied: bool = False


@dataclass
class ImportedProgram:
    """An imported model: MLIR text with one public function @forward, and what the text leaves out."""

    text: str
    weights: dict  # key -> contiguous CPU tensor
    inputs: list  # of Input; the function's first arguments are those that are tensors and not kept, in order
    outputs: list  # of Output
    results: list  # (shape, dtype) of the function's results; dims are ints and Sizes
    modules: set = field(default_factory=set)  # (path, qualified class name)
    unplaced: list = field(default_factory=list)  # labels of control flow that doesn't say what modules are inside
    sources: dict = field(default_factory=dict)  # key of a weight -> function from (name -> tensor) to its value
    read: set = field(default_factory=set)  # names of weights whose elements the import depends on
    reasons: list = field(default_factory=list)  # sentences: why parts of the graph are left to PyTorch
    kept: dict = field(default_factory=dict)  # name -> constant that calls take beside the program
    kept_sources: dict = field(default_factory=dict)  # name -> function as in `sources`
    carried: list = field(default_factory=list)  # names of buffers that the model writes: the last arguments
    writes: list = field(default_factory=list)  # (name of a buffer or number of an argument, Output)
    state: dict = field(default_factory=dict)  # name -> tensor: parameters and buffers
    persistent: list = field(default_factory=list)  # names that the model's own state_dict has
    symbols: Symbols = field(default_factory=Symbols)  # sizes that are known at a call alone
    conditions: list = field(default_factory=list)  # on them, besides their ranges, of torch's expressions

    @property
    def arguments(self) -> list[tuple[tuple[int, ...], torch.dtype]]:
        """(shape, dtype) of the function's arguments."""
        given = [(one.shape, one.dtype) for one in self.inputs if one.is_tensor and not one.is_kept]
        return given + [(tuple(self.state[name].shape), self.state[name].dtype) for name in self.carried]
