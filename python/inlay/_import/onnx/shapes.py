# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dims of an ONNX model that may differ from call to call, and numbers that follow from them."""

from dataclasses import dataclass

import numpy as np
import torch
from torch.export import Dim
from torch.export import dynamic_shapes as torch_shapes
from torch.utils._sympy.numbers import int_oo

from ...errors import ArgumentTypeError, ArgumentValueError, did_you_mean
from ..examples import Input

_TYPICAL = 16  # what a size is traced with that nobody has given an example of


@dataclass(frozen=True)
class OpenDim:
    """A dim that may differ: dims of one name are one size. typical: what code is made for, 0 if unknown."""

    name: str
    min: int = 1
    max: int | None = None
    typical: int = 0

    @property
    def hint(self):
        """A size to trace with."""
        size = max(2, self.min, self.typical or _TYPICAL)
        return size if self.max is None else min(size, self.max)


def open_dims(names, dims, inputs, dynamic_shapes):
    """[{dim: OpenDim}] of the inputs of a model.

    names, dims: of the graph's inputs (a dim is an int, or its name, or dims are None); inputs: examples and `Input`s
    in order, None if there are none, when all symbolic dims may differ; dynamic_shapes: as the user gave them.
    Raises ArgumentTypeError for dynamic_shapes of another form than the inputs.
    """
    asked = _by_name(names, dynamic_shapes)
    found = []
    for number, (name, sizes) in enumerate(zip(names, dims, strict=True)):
        one = {}
        if inputs is None:
            one = {dim: OpenDim(size) for dim, size in enumerate(sizes or ()) if isinstance(size, str) and size != "?"}
        elif isinstance(inputs[number], Input):
            one = _from_input(name, sizes, inputs[number])
        for dim, wish in _pairs(asked.get(name)):
            made = _from_wish(wish, name, dim, sizes, None if inputs is None else inputs[number])
            if made is not None:
                one[dim] = made
        found.append(one)
    return found


def _by_name(names, shapes):
    if shapes is None:
        return {}
    if isinstance(shapes, (tuple, list)) and len(shapes) <= len(names):
        return dict(zip(names, shapes, strict=False))
    if not isinstance(shapes, dict):
        raise ArgumentTypeError(f"expected dynamic_shapes by the names of inputs ({', '.join(names)})")
    for name in shapes:
        if name not in names:
            raise ArgumentTypeError(f"dynamic_shapes has an unknown input {name!r}{did_you_mean(str(name), names)}")
    return shapes


def _pairs(wishes):
    if not wishes:
        return []
    return list(wishes.items() if isinstance(wishes, dict) else enumerate(wishes))


def _name_of(name, dim, sizes):
    known = sizes[dim] if sizes and dim < len(sizes) else "?"
    return known if isinstance(known, str) and known != "?" else f"{name}[{dim}]"


def _from_input(name, sizes, given):
    found = {}
    for dim in range(given.rank):
        low, high = given.range_of(dim)
        if low == high:
            continue
        wish = None if given.shape is None else given.shape[dim]
        called = wish.__name__ if isinstance(wish, Dim) else _name_of(name, dim, sizes)
        found[dim] = OpenDim(called, low, high, 0 if given.opt_shape is None else given.opt_shape[dim])
    return found


def _from_wish(wish, name, dim, sizes, example):
    typical = example.shape[dim] if isinstance(example, torch.Tensor) and dim < example.dim() else 0
    if isinstance(wish, torch_shapes._DerivedDim):
        raise ArgumentValueError(f"dim {dim} of input {name!r}: a Dim computed from another is not supported yet")
    if isinstance(wish, Dim):
        return OpenDim(wish.__name__, wish.min, None if wish.max == int_oo else int(wish.max), typical)
    if isinstance(wish, torch_shapes._DimHint) and wish.type != torch_shapes._DimHintType.STATIC:
        return OpenDim(_name_of(name, dim, sizes), 1 if wish.min is None else wish.min, wish.max, typical)
    return None


# -- Numbers ----------------------------------------------------------------------------------------------------------


class SizeFunction:
    """Computes an expression of sizes; what the target of a call in an FX graph must be like."""

    __name__ = "size"

    def __init__(self, expr):
        self.symbols = sorted(expr.free_symbols, key=str)
        self._expr = expr

    def __call__(self, *values):
        return int(self._expr.subs(dict(zip(self.symbols, values, strict=True))))


def as_array(values, shape):
    """Numbers, some of which are torch.SymInts, as an array."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def _slice(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * dim + (slice(start, end, step),)]


# ATen calls on tensors of sizes -> what they do to an array.
_CALLS = {
    "add.Tensor": lambda a, b: a + b,
    "add.Scalar": lambda a, b: a + b,
    "cat": lambda parts, dim=0: np.concatenate(parts, dim),
    "index.Tensor": lambda x, indices: x[tuple(slice(None) if one is None else one.astype(int) for one in indices)],
    "mul.Tensor": lambda a, b: a * b,
    "reshape": lambda x, shape: x.reshape(shape),
    "select.int": lambda x, dim, index: np.asarray(np.take(x, index, dim), dtype=object),
    "slice.Tensor": _slice,
    "sub.Tensor": lambda a, b: a - b,
    "to.dtype": lambda x, dtype: x if dtype in (torch.int32, torch.int64) else None,
}
_DIVISIONS = ("div.Tensor_mode", "floor_divide")


def compute(name, args, kwargs):
    """The array that a call gives for arrays of numbers; None if it isn't known."""
    if name in _DIVISIONS:  # sizes aren't negative
        return args[0] // args[1]
    if name not in _CALLS or kwargs:
        return None
    result = _CALLS[name](*args)
    return None if result is None else np.asarray(result, dtype=object)
