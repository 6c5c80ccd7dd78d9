# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes ops in a graph from values and attributes of the extension.

`builder.py` has the calls that users write.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentTypeError
from .scope import changing, current_module
from .values import float_text

if TYPE_CHECKING:
    from .._inlay import Op, Value


def create(kind: str, operands: Sequence[Value], attributes: Mapping[str, Any], results: Sequence[str] | None) -> Op:
    """Makes an op in the graph of its operands, or in the current graph if it has no operands.

    kind: the full name, such as "inlay.relu".
    results: the types of its results as text, or None if the definition of the op infers them.
    """
    graph = operands[0].graph if operands else current_module()._graph
    with changing(graph):
        return graph.create(kind, list(operands), attributes, results)


def constant_value(value: float, like: Value) -> Value:
    """Makes a constant of rank 0 with the element type of `like` and returns its result."""
    from .._inlay import Attribute

    element = like.element
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(f"expected a number for a constant, but got {value!r:.80}") from None
    if element.startswith(("f", "bf")) or not math.isfinite(number):
        literal = float_text(number, element)
    else:
        literal = str(value).lower()
    attribute = Attribute(f"dense<{literal}> : tensor<{element}>")
    return create("inlay.constant", [], {"value": attribute}, [f"tensor<{element}>"]).results[0]
