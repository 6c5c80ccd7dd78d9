# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python operators for tensors of a graph and for symbols of a pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Operand = TypeVar("_Operand", bound="Arithmetic")


def _operator(name: str, swapped: bool = False) -> Callable[[_Operand, _Operand | float], _Operand]:
    """Returns the method for a binary operator. The operands of a reflected operator are swapped."""

    def make(self: _Operand, other: _Operand | float) -> _Operand:
        result: _Operand = self._combine(name, other, self) if swapped else self._combine(name, self, other)
        return result

    return make


class Arithmetic:
    """Base class with the operators. A subclass implements `_combine`."""

    __slots__ = ()

    def _combine(self, name: str, *operands: Any) -> Any:
        """Makes the graph op `name` of the operands and returns its result."""
        raise NotImplementedError

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("div"), _operator("div", swapped=True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", swapped=True)
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", swapped=True)
