# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of an ONNX graph during an import, and what is known of those that are computed at a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import onnx
import torch

from ...errors import UnsupportedError

# A tensor is an FX node. A sequence is a list. An optional without an element is None. A value whose structure is known
# only at a call is an FX node whose "val" is an `Unknown`.
Value: TypeAlias = "torch.fx.Node | list[Any] | None"


@dataclass(frozen=True)
class Unknown:
    """Stands for a value that is a sequence, an optional or a tensor of unknown rank. type: its type, None if that is
    unknown too."""

    type: onnx.TypeProto | None = None


class ResultType(NamedTuple):
    """The type of a tensor. A dim is an int, a torch.SymInt, or None for a size that is known only at a call."""

    dtype: torch.dtype
    dims: tuple[Any, ...]


# The type of a result of a node as far as it is known.
Outcome: TypeAlias = ResultType | Unknown


class LateError(UnsupportedError):
    """A node can't be written as calls because a value that decides it is known only at a call.

    outcomes: the types of the node's results. None if ONNX's shape inference knows them best.
    """

    def __init__(self, reason: str, outcomes: Sequence[Outcome] | None = None) -> None:
        super().__init__(reason)
        self.outcomes = outcomes


def is_unknown(value: Value) -> bool:
    """Returns true if a value, or an element of a sequence, is an `Unknown`."""
    if isinstance(value, list):
        return any(map(is_unknown, value))
    return value is not None and isinstance(value.meta["val"], Unknown)


def map_value(function: Callable[[torch.fx.Node], torch.fx.Node], value: Value) -> Value:
    """Returns a value with the results of `function` in place of its nodes."""
    if isinstance(value, list):
        return [map_value(function, element) for element in value]
    return None if value is None else function(value)
