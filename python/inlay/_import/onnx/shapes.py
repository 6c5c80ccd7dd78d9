# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dims of an ONNX model that may differ from call to call, and tensors of numbers that follow from them.

`_program/sizes.py` has the expressions of sizes, and `handlers/layout.py` the ops that return dims.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import sympy
import torch
from torch.export import Dim
from torch.export import dynamic_shapes as torch_shapes
from torch.utils._sympy import functions
from torch.utils._sympy.numbers import int_oo

from ...errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from ..examples import Input, RequestedDim
from .values import LateError

_DEFAULT_HINT = 16  # the size to trace an open dim with if there is no example


# Dims as an ONNX model has them, an int or a name ("?" if it has none) each; None if the rank is unknown.
ModelDims: TypeAlias = "Sequence[int | str] | None"

# Numbers, some of which are torch.SymInts.
NumberArray: TypeAlias = "np.ndarray[Any, np.dtype[np.object_]]"


@dataclass(frozen=True)
class OpenDim:
    """A dim whose size may differ from call to call. Dims of one name have the same size.

    min, max: the range of the size; max: None if there is no limit. typical: the size that code is optimized for, 0 if
    unknown.
    """

    name: str
    min: int = 1
    max: int | None = None
    typical: int = 0

    @property
    def hint(self) -> int:
        """The size to trace with."""
        size = max(2, self.min, self.typical or _DEFAULT_HINT)
        return size if self.max is None else min(size, self.max)


def open_dims(
    names: Sequence[str], dims: Sequence[ModelDims], inputs: Sequence[Any] | None, dynamic_shapes: Any
) -> list[dict[int, OpenDim]]:
    """Returns, for each input of a model, its open dims by number.

    names, dims: of the graph's inputs. inputs: examples and `Input`s in order; None if there are none, and then all
    symbolic dims are open. dynamic_shapes: as the user gave them.
    Raises ArgumentTypeError for dynamic_shapes of another structure than the inputs.
    """
    requests = _by_name(names, dynamic_shapes)
    found = []
    for number, (name, sizes) in enumerate(zip(names, dims, strict=True)):
        found_dims: dict[int, OpenDim] = {}
        if inputs is None:
            found_dims = {
                dim: OpenDim(_name_of(name, dim, sizes))
                for dim, size in enumerate(sizes or ())
                if isinstance(size, str)
            }
        elif isinstance(inputs[number], Input):
            found_dims = _from_input(name, sizes, inputs[number])
        for dim, requested in _pairs(requests.get(name)):
            open_dim = _from_request(requested, name, dim, sizes, None if inputs is None else inputs[number])
            if open_dim is not None:
                found_dims[dim] = open_dim
        found.append(found_dims)
    return found


def _by_name(names: Sequence[str], shapes: Any) -> Mapping[str, Any]:
    """Returns dynamic_shapes by the names of inputs."""
    if shapes is None:
        return {}
    if isinstance(shapes, (tuple, list)) and len(shapes) <= len(names):
        return dict(zip(names, shapes, strict=False))
    if not isinstance(shapes, dict):
        raise ArgumentTypeError(
            f"expected dynamic_shapes to be a dict by the names of inputs ({', '.join(names)}), but got {shapes!r:.80}"
        )
    for name in shapes:
        if name not in names:
            raise ArgumentTypeError(f"dynamic_shapes has an unknown input {name!r}{did_you_mean(str(name), names)}")
    return shapes


def _pairs(requests: Any) -> Iterable[tuple[int, RequestedDim]]:
    """Returns the dims of an input with the user's requests."""
    if not requests:
        return []
    return list(requests.items() if isinstance(requests, dict) else enumerate(requests))


def _name_of(name: str, dim: int, sizes: ModelDims) -> str:
    """Returns the name of a dim: that in the model, else "x[0]"."""
    known = sizes[dim] if sizes and dim < len(sizes) else "?"
    return known if isinstance(known, str) and known != "?" else f"{name}[{dim}]"


def _from_input(name: str, sizes: ModelDims, given: Input) -> dict[int, OpenDim]:
    """Returns the open dims of an `Input`."""
    found = {}
    for dim in range(given.rank):
        low, high = given.range_of(dim)
        if low == high:
            continue
        requested = None if given.shape is None else given.shape[dim]
        dim_name = requested.__name__ if isinstance(requested, Dim) else _name_of(name, dim, sizes)
        found[dim] = OpenDim(dim_name, low, high, 0 if given.opt_shape is None else given.opt_shape[dim])
    return found


def _from_request(requested: RequestedDim, name: str, dim: int, sizes: ModelDims, example: Any) -> OpenDim | None:
    """Returns the open dim for a request of the user; None for a static dim."""
    typical = example.shape[dim] if isinstance(example, torch.Tensor) and dim < example.dim() else 0
    if isinstance(requested, torch_shapes._DerivedDim):
        raise ArgumentValueError(
            f"dim {dim} of input {name!r}: a Dim that is computed from another is not supported yet"
        )
    if isinstance(requested, Dim):
        return OpenDim(
            requested.__name__, requested.min, None if requested.max == int_oo else int(requested.max), typical
        )
    if isinstance(requested, torch_shapes._DimHint) and requested.type != torch_shapes._DimHintType.STATIC:
        return OpenDim(
            _name_of(name, dim, sizes), 1 if requested.min is None else requested.min, requested.max, typical
        )
    return None


# -- Numbers ----------------------------------------------------------------------------------------------------------


class SizeFunction:
    """A function that computes an expression of sizes. It can be the target of a call in an FX graph."""

    __name__ = "size"

    def __init__(self, expr: sympy.Expr) -> None:
        self.symbols: list[sympy.Symbol] = sorted(expr.free_symbols, key=str)
        self._expr = expr

    def __call__(self, *values: int) -> int:
        return int(self._expr.subs(dict(zip(self.symbols, values, strict=True))))


# Expression of torch's -> the function of two numbers that computes it.
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.Add: operator.add,
    sympy.Mul: operator.mul,
    functions.FloorDiv: operator.floordiv,
    functions.CleanDiv: operator.floordiv,
    functions.PythonMod: operator.mod,
    functions.Mod: operator.mod,
    functions.Max: torch.sym_max,
    functions.Min: torch.sym_min,
}


def size_function(expr: sympy.Expr) -> Callable[..., Any]:
    """Returns the function of two operands that computes an expression. Raises LateError if there is none."""
    if type(expr) not in _FUNCTIONS:
        raise LateError(f"the size {expr} is known only at a call")
    return _FUNCTIONS[type(expr)]


def as_array(values: Sequence[Any], shape: Sequence[int]) -> NumberArray:
    """Returns numbers, some of which may be torch.SymInts, as an array."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1) -> Any:
    return x[(slice(None),) * dim + (slice(start, end, step),)]


# ATen call on tensors of sizes -> the same function of arrays.
_CALLS: dict[str, Callable[..., Any]] = {
    "add.Tensor": lambda a, b: a + b,
    "add.Scalar": lambda a, b: a + b,
    "cat": lambda parts, dim=0: np.concatenate(parts, dim),
    "index.Tensor": lambda x, indices: x[tuple(slice(None) if i is None else i.astype(int) for i in indices)],
    "mul.Tensor": lambda a, b: a * b,
    "reshape": lambda x, shape: x.reshape(shape),
    "select.int": lambda x, dim, index: np.asarray(np.take(x, index, dim), dtype=object),
    "slice.Tensor": _slice,
    "sub.Tensor": lambda a, b: a - b,
    "to.dtype": lambda x, dtype: x if dtype in (torch.int32, torch.int64) else None,
}
_DIVISIONS = ("div.Tensor_mode", "floor_divide")


def compute(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NumberArray | None:
    """Returns the array that a call returns for arrays of numbers; None if the function is unknown."""
    if name in _DIVISIONS:  # sizes aren't negative, so all rounding modes are the same
        quotient: NumberArray = args[0] // args[1]
        return quotient
    if name not in _CALLS or kwargs:
        return None
    result = _CALLS[name](*args)
    return None if result is None else np.asarray(result, dtype=object)
