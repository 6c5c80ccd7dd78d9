# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A step from a version of an ONNX op to a newer one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from ..call import Handler, NodeCall, NodeResult

# Changes a node to the next version's form and calls the handler of that form.
Upgrade = Callable[[Handler, NodeCall], NodeResult]


@dataclass(frozen=True)
class Step:
    """A function that changes a node, and the version of the op that the node then has. op: the op, if it changes."""

    version: int
    apply: Upgrade
    op: str | None = None


def take_ints(call: NodeCall, name: str, place: int) -> None:
    """Makes an attribute with integers an input."""
    values = call.take_attribute(name)
    if values is not None:
        call.set_input(place, call.constant(torch.tensor(values, dtype=torch.int64)))
