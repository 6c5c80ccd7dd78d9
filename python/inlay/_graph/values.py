# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python values that attributes stand for, beyond numbers, text, flags, lists and dicts."""

import enum
import math
import numbers
import sys
from collections.abc import Iterable

import torch

from .._dialect.ops import Kind
from .._dialect.text import ELEMENT_TYPES, dtype_name, print_float, quote, scalar_literal
from ..errors import ArgumentTypeError, ArgumentValueError, did_you_mean

_DTYPES = {text: dtype for dtype, text in ELEMENT_TYPES.items()}
_NAMES = {dtype_name(dtype): text for dtype, text in ELEMENT_TYPES.items()}
_ENUM, _TUPLE = "python.enum", "python.tuple"


def encode(value, what):
    """What stands for `value` among plain values; the extension asks for what it doesn't know."""
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
        f"expected {what} to be a number, a string, a flag, a dtype, None, or lists and dicts of these, but got "
        f"{type(value).__name__} {value!r:.60}"
    )


def element_text(dtype):
    """`f16` for torch.float16, "float16" and "f16"."""
    if isinstance(dtype, torch.dtype) and dtype in ELEMENT_TYPES:
        return ELEMENT_TYPES[dtype]
    if isinstance(dtype, str):
        if dtype in _NAMES:
            return _NAMES[dtype]
        if dtype in _DTYPES:
            return dtype
        raise ArgumentValueError(f"unknown dtype {dtype!r}{did_you_mean(dtype, [*_NAMES, *_DTYPES])}")
    raise ArgumentTypeError(f"expected a dtype like torch.float16, but got {dtype!r}")


def float_text(value, element):
    """A float as a literal of that element type, in hexadecimal if it isn't finite."""
    value = float(value)
    if math.isfinite(value):
        return print_float(value)
    if decode(element) is None or not decode(element).is_floating_point:
        raise ArgumentValueError(f"expected a number that {element} has, but got {value}")
    return scalar_literal(value, decode(element))


def print_attribute(key, value, kind):
    """A Python value as the text of an attribute of that Kind, or of any if it is None."""
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
    if isinstance(value, (list, tuple)) and all(isinstance(one, int) for one in value):
        return f"array<i64: {', '.join(map(str, value))}>" if value else "array<i64>"
    raise ArgumentTypeError(f"expected a number, a string or integers for attribute '{key}', but got {value!r}")


def check_integer(what, value, least=-(2**63)):
    """The value as an int of 64 bits, from `least`."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value < 2**63:
        start = " of 64 bits" if is_whole and abs(value) >= 2**63 else f" from {least}" if least > -(2**63) else ""
        raise ArgumentValueError(f"expected {what} to be an integer{start}, but got {value!r:.80}")
    return int(value)


def check_number(what, value, least=-math.inf):
    """The value as a float, from `least`; NaN, which equals nothing, is none."""
    try:
        number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not number >= least:
        start = f" from {least:g}" if least > -math.inf else ""
        raise ArgumentValueError(f"expected {what} to be a number{start}, but got {value!r:.80}")
    return number


def check_flag(what, value):
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"expected {what} to be True or False, but got {value!r:.80}")
    return value


def check_text(what, value, may_be_empty=False):
    if not isinstance(value, str):
        raise ArgumentTypeError(f"expected {what} to be a string, but got {value!r:.80}")
    if not value and not may_be_empty:
        raise ArgumentValueError(f"expected {what} to be a string that isn't empty, but got ''")
    return value


def decode(text):
    """The torch dtype for a type that is an attribute; None where PyTorch has none."""
    return _DTYPES.get(text)


def dtype_of(element):
    """The torch dtype of an element type; its text where PyTorch has none."""
    return _DTYPES.get(element, element)


def type_text(result):
    """A type's text from what stands for it: the text, a tensor of the same type, or (dtype, shape)."""
    if isinstance(result, str):
        return result
    if isinstance(result, (tuple, list)) and len(result) == 2:
        dtype, shape = result
        if not isinstance(shape, Iterable):
            raise ArgumentTypeError(f"expected a shape of integers, but got {shape!r:.80}")
        return f"tensor<{''.join(f'{_dim(dim)}x' for dim in shape)}{element_text(dtype)}>"
    if hasattr(result, "type"):
        return result.type
    raise ArgumentTypeError(f"expected a result's type as text, a tensor, or (dtype, shape), but got {result!r}")


def _dim(dim):
    if isinstance(dim, bool) or not isinstance(dim, numbers.Integral):
        raise ArgumentTypeError(f"expected a shape of integers, but got {dim!r} in it")
    if dim < -1:
        raise ArgumentValueError(f"expected sizes of at least 0, or -1 for one that isn't known, but got {dim}")
    return "?" if dim == -1 else int(dim)


def flatten(structure, leaf):
    """A structure of lists, tuples and dicts as plain values; `leaf(value)` is what stands for what isn't one."""
    if isinstance(structure, tuple):
        return {_TUPLE: [flatten(element, leaf) for element in structure]}
    if isinstance(structure, list):
        return [flatten(element, leaf) for element in structure]
    if isinstance(structure, dict):
        return {key: flatten(element, leaf) for key, element in structure.items()}
    return leaf(structure)


def unflatten(plain, leaf):
    """The structure that `flatten` made plain; `leaf(value)` as there."""
    if isinstance(plain, list):
        return [unflatten(element, leaf) for element in plain]
    if isinstance(plain, dict):
        if set(plain) == {_TUPLE}:
            return tuple(unflatten(element, leaf) for element in plain[_TUPLE])
        if set(plain) == {_ENUM}:
            return _find_enum(plain[_ENUM])
        return {key: unflatten(element, leaf) for key, element in plain.items()}
    return leaf(plain)


def _find_enum(text):
    """The member of an enum of a module that is loaded: text of a graph must neither import nor reach anything else."""
    module, _, path = str(text).partition(":")
    path, _, member = path.rpartition(".")
    found = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, "__dict__", {}).get(name)
    if isinstance(found, enum.EnumMeta) and member in found.__members__:
        return found.__members__[member]
    raise ArgumentValueError(f"expected a member of an enum of a module that is imported, but got {text!r:.80}")
