# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts and checks Python values that become attributes and types of a graph.

`_dialect/text.py` writes types and constants for the importer.
"""

from __future__ import annotations

import enum
import math
import numbers
import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch

from .._dialect.ops import Kind
from .._dialect.text import ELEMENT_TYPES, dtype_name, print_float, quote, scalar_literal
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean

_DTYPES = {text: dtype for dtype, text in ELEMENT_TYPES.items()}
_NAMES = {dtype_name(dtype): text for dtype, text in ELEMENT_TYPES.items()}
_ENUM, _TUPLE = "python.enum", "python.tuple"


def encode(value: object, name: str) -> Any:
    """Returns the plain value or attribute for `value`. The extension calls this for values that it can't convert.

    name: the name of the value, for messages. Raises ArgumentTypeError if there is no attribute for it.
    """
    from .._inlay import Attribute

    if isinstance(value, torch.dtype):
        return Attribute(element_text(value))
    if isinstance(value, enum.Enum):
        kind = type(value)
        return {_ENUM: f"{kind.__module__}:{kind.__qualname__}.{value.name}"}
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise ArgumentTypeError(
        f"expected {name} to be a number, a string, a flag, a dtype, None, or lists and dicts of these, but got "
        f"{type(value).__name__} {value!r:.60}"
    )


def element_text(dtype: object) -> str:
    """Returns the element type as text: `f16` for torch.float16, "float16" and "f16"."""
    if isinstance(dtype, torch.dtype) and dtype in ELEMENT_TYPES:
        return ELEMENT_TYPES[dtype]
    if isinstance(dtype, str):
        if dtype in _NAMES:
            return _NAMES[dtype]
        if dtype in _DTYPES:
            return dtype
        raise ArgumentValueError(f"unknown dtype {dtype!r}{did_you_mean(dtype, [*_NAMES, *_DTYPES])}")
    raise ArgumentTypeError(f"expected a dtype like torch.float16, but got {dtype!r}")


def float_text(value: float, element: str) -> str:
    """Returns a float as a literal of that element type, in hexadecimal if it is not finite."""
    value = float(value)
    if math.isfinite(value):
        return print_float(value)
    dtype = decode(element)
    if dtype is None or not dtype.is_floating_point:
        raise ArgumentValueError(f"expected a number that {element} can hold, but got {value}")
    return scalar_literal(value, dtype)


def print_attribute(key: str, value: Any, kind: Kind | None) -> str:
    """Returns a Python value as the text of attribute `key` of that kind, or of any kind if `kind` is None."""
    if kind is Kind.TYPE or (kind is None and type(value).__name__ == "dtype"):
        return str(value)
    if value is True or value is False:
        return "unit" if kind is Kind.UNIT else str(value).lower()
    if isinstance(value, int) and kind in (None, Kind.I64):
        return f"{value} : i64"
    if isinstance(value, (int, float)) and kind in (None, Kind.F64):
        return f"{float_text(value, 'f64')} : f64"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, (list, tuple)) and all(isinstance(number, int) for number in value):
        return f"array<i64: {', '.join(map(str, value))}>" if value else "array<i64>"
    raise ArgumentTypeError(f"expected a number, a string or integers for attribute '{key}', but got {value!r}")


def check_integer(name: str, value: Any, minimum: int = -(2**63)) -> int:
    """Returns the value as an int. Raises ArgumentValueError if it is not a 64-bit integer of at least `minimum`.

    name: the name of the value, for the message.
    """
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not minimum <= value < 2**63:
        start = " of 64 bits" if is_whole and abs(value) >= 2**63 else f" from {minimum}" if minimum > -(2**63) else ""
        raise ArgumentValueError(f"expected {name} to be an integer{start}, but got {value!r:.80}")
    return int(value)


def check_number(name: str, value: Any, minimum: float = -math.inf) -> float:
    """Returns the value as a float. Raises ArgumentValueError if it is NaN, below `minimum` or not a number."""
    try:
        number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not number >= minimum:
        start = f" from {minimum:g}" if minimum > -math.inf else ""
        raise ArgumentValueError(f"expected {name} to be a number{start}, but got {value!r:.80}")
    return number


def check_flag(name: str, value: object) -> bool:
    """Returns the value if it is a bool. Raises ArgumentTypeError otherwise."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"expected {name} to be True or False, but got {value!r:.80}")
    return value


def check_text(name: str, value: object, may_be_empty: bool = False) -> str:
    """Returns the value if it is a string. Raises ArgumentTypeError or ArgumentValueError otherwise."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"expected {name} to be a string, but got {value!r:.80}")
    if not value and not may_be_empty:
        raise ArgumentValueError(f"expected {name} to be a non-empty string, but got ''")
    return value


def decode(text: str) -> torch.dtype | None:
    """Returns the torch dtype for the text of an element type, or None if PyTorch has none."""
    return _DTYPES.get(text)


def dtype_of(element: str) -> torch.dtype | str:
    """Returns the torch dtype for the text of an element type, or the text if PyTorch has none."""
    return _DTYPES.get(element, element)


def type_text(result: Any) -> str:
    """Returns the text of a type that is given as text, as a tensor of the same type, or as (dtype, shape)."""
    if isinstance(result, str):
        return result
    if isinstance(result, (tuple, list)) and len(result) == 2:
        dtype, shape = result
        if not isinstance(shape, Iterable):
            raise ArgumentTypeError(f"expected a shape of integers, but got {shape!r:.80}")
        return f"tensor<{''.join(f'{_dim(dim)}x' for dim in shape)}{element_text(dtype)}>"
    if hasattr(result, "type"):
        text: str = result.type
        return text
    raise ArgumentTypeError(f"expected a result's type as text, a tensor, or (dtype, shape), but got {result!r}")


def _dim(dim: Any) -> int | str:
    if isinstance(dim, bool) or not isinstance(dim, numbers.Integral):
        raise ArgumentTypeError(f"expected a shape of integers, but got the dim {dim!r}")
    if dim < -1:
        raise ArgumentValueError(f"expected dims of at least 0, or -1 for an unknown dim, but got {dim}")
    return "?" if dim == -1 else int(dim)


def flatten(structure: Any, leaf: Callable[[Any], Any]) -> Any:
    """Returns a structure of lists, tuples and dicts in a form without tuples. `leaf` converts the other values."""
    if isinstance(structure, tuple):
        return {_TUPLE: [flatten(element, leaf) for element in structure]}
    if isinstance(structure, list):
        return [flatten(element, leaf) for element in structure]
    if isinstance(structure, dict):
        return {key: flatten(element, leaf) for key, element in structure.items()}
    return leaf(structure)


def unflatten(plain: Any, leaf: Callable[[Any], Any]) -> Any:
    """Returns the structure that `flatten` converted. `leaf` converts the values that are not structures."""
    if isinstance(plain, list):
        return [unflatten(element, leaf) for element in plain]
    if isinstance(plain, dict):
        if set(plain) == {_TUPLE}:
            return tuple(unflatten(element, leaf) for element in plain[_TUPLE])
        if set(plain) == {_ENUM}:
            return _find_enum(plain[_ENUM])
        return {key: unflatten(element, leaf) for key, element in plain.items()}
    return leaf(plain)


def _find_enum(text: object) -> enum.Enum:
    """Returns the member of an enum for its text.

    The text comes from a graph, so it must not import a module or reach anything but enums of imported modules.
    """
    module, _, path = str(text).partition(":")
    path, _, member = path.rpartition(".")
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, "__dict__", {}).get(name)
    if isinstance(found, enum.EnumMeta) and member in found.__members__:
        value: enum.Enum = found.__members__[member]
        return value
    raise ArgumentValueError(f"expected a member of an enum of a module that is imported, but got {text!r:.80}")
