# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of a model, by the source of their values in a call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from .sizes import Size


class Tensors(Protocol):
    """Tensors by name."""

    def __getitem__(self, name: str, /) -> torch.Tensor: ...


@dataclass(frozen=True)
class CallValues:
    """The values of one call after the program has run."""

    given: Sequence[Any]  # flat arguments as the caller passed them
    leaves: Sequence[Any]  # the same, checked and contiguous
    results: Sequence[torch.Tensor]  # results of the function of the program
    kept: Mapping[str, Any]  # values beside the program, by name
    sizes: Sequence[int]  # values of the symbols
    state: Tensors  # parameters and buffers


@dataclass(frozen=True)
class Output(ABC):
    """A flat result of the model."""

    copied: bool = field(default=False, kw_only=True)  # True if the result is a copy of the value

    def read(self, values: CallValues) -> Any:
        """Returns the result of a call."""
        value = self.find(values)
        return value.clone() if self.copied else value

    @abstractmethod
    def find(self, values: CallValues) -> Any:
        """Returns the value without copying it."""


@dataclass(frozen=True)
class ResultOutput(Output):
    """Result `index` of the function of the program."""

    index: int

    def find(self, values: CallValues) -> torch.Tensor:
        return values.results[self.index]


@dataclass(frozen=True)
class InputOutput(Output):
    """Flat argument `index`: the same object, or a copy of the tensor."""

    index: int

    def find(self, values: CallValues) -> Any:
        return (values.leaves if self.copied else values.given)[self.index]


@dataclass(frozen=True)
class ValueOutput(Output):
    """A constant value."""

    value: Any

    def find(self, values: CallValues) -> Any:
        return self.value


@dataclass(frozen=True)
class SizeOutput(Output):
    """A number that depends on the sizes of the arguments."""

    size: Size

    def find(self, values: CallValues) -> int:
        return self.size.evaluate(values.sizes)


@dataclass(frozen=True)
class WeightsOutput(Output):
    """A tensor that `compute` returns for the parameters and buffers."""

    compute: Callable[[Tensors], torch.Tensor]

    def find(self, values: CallValues) -> torch.Tensor:
        return self.compute(values.state)


@dataclass(frozen=True)
class BufferOutput(Output):
    """The contents of a buffer before the call wrote it."""

    name: str

    def find(self, values: CallValues) -> torch.Tensor:
        return values.state[self.name]


@dataclass(frozen=True)
class KeptOutput(Output):
    """A value with this name that calls of PyTorch return beside the program.

    is_bytes: True for a tensor of int8 that stands for one of uint8 with the same bits.
    """

    name: str
    is_bytes: bool = False

    def find(self, values: CallValues) -> Any:
        value = values.kept.get(self.name)
        return value.view(torch.uint8) if self.is_bytes and value is not None else value


@dataclass(frozen=True)
class Write:
    """A tensor that the model writes."""

    target: str | int  # name of a buffer, or number of a flat argument
    value: Output
