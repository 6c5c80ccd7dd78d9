# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An imported model: the text of its graph, its weights, its interface and its calling convention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy
import torch
from torch.utils import _pytree as pytree

from .outputs import Output, ResultOutput, Tensors, Write
from .sizes import Size, Symbols
from .watch import Watch

Dims = tuple[int | Size, ...]
CARRIER_DTYPE = torch.int8  # of the tensors in whose dims a program takes ints


def program_dtype(dtype: torch.dtype) -> torch.dtype:
    """Returns the dtype with the same bits that programs have for tensors of `dtype`."""
    return torch.int8 if dtype == torch.uint8 else dtype


class TensorType(NamedTuple):
    """The dims and dtype of a tensor."""

    shape: Dims
    dtype: torch.dtype


@dataclass(frozen=True)
class ProgramInput:
    """A flat argument of the model: a tensor, or a value that was fixed at export."""

    name: str
    shape: Dims = ()
    dtype: torch.dtype | None = None  # None if the argument is no tensor
    value: Any = None  # value of an argument that is no tensor; a Size is determined by the dims of the tensors
    layout: torch.layout = torch.strided
    # True if the tensor is passed beside the program to calls of PyTorch, because the dialect has no type for it.
    is_kept: bool = False
    # True for an int that determines a symbol. The program takes a tensor without elements whose first dim is the int.
    is_carrier: bool = False

    @property
    def is_tensor(self) -> bool:
        """True if the argument is a tensor."""
        return self.dtype is not None


class Check(NamedTuple):
    """A result of the function that must be true: its number, and the message of the error if it is false."""

    number: int
    message: str


@dataclass
class Interface:
    """The inputs and outputs of calls of a program.

    The arguments of the function are the inputs that are tensors and not kept, followed by the buffers in `carried` and
    the states, which calls do not pass.
    """

    inputs: list[ProgramInput] = field(default_factory=list)  # flat arguments of the model
    outputs: list[Output] = field(default_factory=list)  # flat results of the model
    results: list[TensorType] = field(default_factory=list)  # results of the function, as the model returns them
    carried: list[str] = field(default_factory=list)  # names of the buffers that the model writes
    states: list[ProgramInput] = field(default_factory=list)  # tensors that the program keeps between calls
    writes: list[Write] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    symbols: Symbols = field(default_factory=Symbols)  # sizes that differ from call to call
    conditions: list[sympy.Basic] = field(default_factory=list)  # conditions on the symbols besides their ranges


@dataclass
class ModelState:
    """The parameters and buffers of the model, and the values of the program that are computed from them."""

    tensors: dict[str, torch.Tensor] = field(default_factory=dict)  # parameters and buffers by name
    persistent: list[str] = field(default_factory=list)  # names in the state_dict of the model
    sources: dict[str, Callable[[Tensors], torch.Tensor]] = field(default_factory=dict)  # functions for weights, by key
    decisive: set[str] = field(default_factory=set)  # names of tensors whose elements the graph depends on
    kept: dict[str, Any] = field(default_factory=dict)  # constants that are passed beside the program, by name
    kept_sources: dict[str, Callable[[Tensors], Any]] = field(default_factory=dict)  # functions for values of `kept`


@dataclass(frozen=True)
class QuantizedWeight:
    """A weight with codes of up to 8 bits.

    name: of the parameter or buffer. code: the type of the codes, such as "i4" or "float8_e4m3fn". count: the number of
    codes. label: of the op that dequantizes it at each call; None if its floats are computed at import. readers: the
    labels of the calls that read its floats.
    """

    name: str
    code: str
    count: int
    label: str | None = None
    readers: tuple[str, ...] = ()


@dataclass
class ImportedProgram:
    """The imported program: MLIR text with one public function @forward, its weights and its interface."""

    text: str
    weights: dict[str, torch.Tensor]  # contiguous tensors on the CPU by key
    interface: Interface
    state: ModelState = field(default_factory=ModelState)
    reasons: list[str] = field(default_factory=list)  # sentences that say why PyTorch runs parts of the graph
    unplaced: list[str] = field(default_factory=list)  # labels of control flow in which the modules are unknown
    quantized: list[QuantizedWeight] = field(default_factory=list)

    @classmethod
    def of_function(
        cls, text: str, weights: dict[str, torch.Tensor], inputs: Sequence[ProgramInput], results: Sequence[TensorType]
    ) -> ImportedProgram:
        """Returns the program whose inputs and outputs are those of the function."""
        outputs: list[Output] = [ResultOutput(number) for number in range(len(results))]
        return cls(text, weights, Interface(list(inputs), outputs, list(results)))

    @property
    def arguments(self) -> list[TensorType]:
        """The types of the arguments of the function."""
        given = []
        for argument in self.interface.inputs:
            if argument.is_carrier:
                given.append(TensorType((argument.value, 0), CARRIER_DTYPE))
            elif argument.dtype and not argument.is_kept:
                given.append(TensorType(argument.shape, program_dtype(argument.dtype)))
        carried = [self.state.tensors[name] for name in self.interface.carried]
        return given + [TensorType(tuple(tensor.shape), tensor.dtype) for tensor in carried]


@dataclass
class ChangedObjects:
    """The arguments that are objects and that a call changes in place.

    If there are such objects, the structure of the flat results is (result, new contents of each object).
    """

    paths: Sequence[pytree.KeyPath] = ()  # of the objects in (args, kwargs)
    # Number of an object by the number of the flat result in whose place the model returns the object itself.
    returned: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CallConvention:
    """The structures of the arguments and results in Python."""

    in_spec: pytree.TreeSpec  # structure of (args, kwargs)
    out_spec: pytree.TreeSpec  # structure of the result
    argument_names: Sequence[str] | None = None  # positional arguments first; None if they are unknown
    defaults: Mapping[str, Any] = field(default_factory=dict)  # defaults of arguments that the export left out, by name
    changed: ChangedObjects = field(default_factory=ChangedObjects)

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """The names of the positional arguments and of the keywords."""
        positional, keyword = self.in_spec.children()
        count = positional.num_children
        names = list(self.argument_names or [])
        names = names[:count] if len(names) >= count else [f"argument{i}" for i in range(count)]
        return names, list(keyword.context) if keyword.num_children else []

    @classmethod
    def of_function(cls, inputs: int, results: int, argument_names: Sequence[str] | None = None) -> CallConvention:
        """Returns the convention of a function with positional tensors and one result or a tuple of results."""
        return cls(
            in_spec=pytree.tree_structure(((0,) * inputs, {})),
            out_spec=pytree.tree_structure(0 if results == 1 else (0,) * results),
            argument_names=argument_names,
        )


@dataclass
class ImportedModel:
    """An imported model of any origin."""

    program: ImportedProgram
    convention: CallConvention
    make_eager: Callable[[], Callable[..., Any]] | None = None  # returns the model as PyTorch runs it
    watch: Watch | None = None  # checks that the model is the same as at the import


def in_order(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor whose memory has its elements in order, for code that does not know PyTorch's views."""
    return tensor.detach().resolve_neg().contiguous()
