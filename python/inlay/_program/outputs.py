# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of a model: where the value of each one comes from in a call."""

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
    """The values of one call, once the program has run.

    given: the flat arguments as they were passed; leaves: the same, checked and contiguous; results: the function's;
    kept: values beside the program, by name; sizes: the values of the symbols; state: parameters and buffers.
    """

    given: Sequence[Any]
    leaves: Sequence[Any]
    results: Sequence[torch.Tensor]
    kept: Mapping[str, Any]
    sizes: Sequence[int]
    state: Tensors


@dataclass(frozen=True)
class Output(ABC):
    """A result of the model, in flat order. copied: PyTorch returns a tensor of its own here, not the value itself."""

    copied: bool = field(default=False, kw_only=True)

    def read(self, values: CallValues) -> Any:
        """Returns the result of a call."""
        value = self.find(values)
        return value.clone() if self.copied else value

    @abstractmethod
    def find(self, values: CallValues) -> Any:
        """Returns the value itself, without a copy."""


@dataclass(frozen=True)
class ResultOutput(Output):
    """Result `index` of the program's function."""

    index: int

    def find(self, values: CallValues) -> torch.Tensor:
        return values.results[self.index]


@dataclass(frozen=True)
class InputOutput(Output):
    """Argument `index`: the very tensor, or a copy of it."""

    index: int

    def find(self, values: CallValues) -> Any:
        return (values.leaves if self.copied else values.given)[self.index]


@dataclass(frozen=True)
class ValueOutput(Output):
    """A value that is the same in every call."""

    value: Any

    def find(self, values: CallValues) -> Any:
        return self.value


@dataclass(frozen=True)
class SizeOutput(Output):
    """A number that follows from the sizes of the arguments."""

    size: Size

    def find(self, values: CallValues) -> int:
        return self.size.evaluate(values.sizes)


@dataclass(frozen=True)
class WeightsOutput(Output):
    """A tensor that `compute` makes of the parameters and buffers alone."""

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
    """A value that leaves PyTorch's calls beside the program, by this name."""

    name: str

    def find(self, values: CallValues) -> Any:
        return values.kept.get(self.name)


@dataclass(frozen=True)
class Write:
    """A tensor that the model writes. target: the name of a buffer, or the number of an argument."""

    target: str | int
    value: Output
