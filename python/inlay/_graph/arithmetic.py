# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that tensors of a graph, and what stands for them in a pattern, have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Operand = TypeVar("_Operand", bound="Arithmetic")


def _operator(name: str, swapped: bool = False) -> Callable[[_Operand, _Operand | float], _Operand]:
    def make(self: _Operand, other: _Operand | float) -> _Operand:
        return self._combine(name, other, self) if swapped else self._combine(name, self, other)

    return make


class Arithmetic:
    """Operators by what `_combine` makes of an op's name and its operands."""

    __slots__ = ()

    def _combine(self, name: str, *operands: Any) -> Any:
        raise NotImplementedError

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("div"), _operator("div", swapped=True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", swapped=True)
    __matmul__, __rmatmul__ = _operator("matmul"), _operator("matmul", swapped=True)
