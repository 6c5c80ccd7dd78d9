# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types and constants in MLIR's textual form.

`_import/torch/graph.py` writes ops, and `_graph/values.py` converts values of graphs in memory.
"""

import math
import struct
from collections.abc import Sequence
from typing import Any

import torch

from ..errors import InternalError, UnsupportedError

ELEMENT_TYPES = {
    torch.bool: "i1",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
}


def print_float(value: float) -> str:
    """Returns a float literal that MLIR parses to exactly `value`, which must be finite."""
    if not math.isfinite(value):
        raise InternalError(f"no decimal literal for {value}")
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{exponent}" if exponent else mantissa


def quote(text: str) -> str:
    """Returns a string literal of MLIR's textual form."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escaped = []
    for byte in text.encode("utf-8"):
        plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\'
        escaped.append(chr(byte) if plain else f"\\{byte:02X}")
    return '"' + "".join(escaped) + '"'


def element_type(dtype: torch.dtype, name: str) -> str:
    """Returns the element type for a torch dtype. Raises UnsupportedError if there is none.

    name: the name of the value, for the message.
    """
    try:
        return ELEMENT_TYPES[dtype]
    except KeyError:
        names = ", ".join(dtype_name(known) for known in ELEMENT_TYPES)
        raise UnsupportedError(f"{name} has dtype {dtype_name(dtype)}, but expected one of {names}") from None


def tensor_type(shape: Sequence[object], dtype: torch.dtype, name: str = "a tensor") -> str:
    """Returns a type such as `tensor<2x3xf32>`. A dim that is no int is printed as `?`."""
    dims = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in shape)
    return f"tensor<{dims}{element_type(dtype, name)}>"


def dtype_name(dtype: torch.dtype) -> str:
    """Returns `float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def has_no_shape(tensor: torch.Tensor) -> bool:
    """Returns true for a nested tensor of layout torch.strided, whose `shape` raises RuntimeError."""
    return tensor.is_nested and tensor.layout == torch.strided


def tensor_text(dtype: torch.dtype, shape: Sequence[object]) -> str:
    """Returns a type for messages: `float32[2x3]`, or `float32` for rank 0."""
    return dtype_name(dtype) + (f"[{'x'.join(str(dim) for dim in shape)}]" if len(shape) else "")


def scalar_literal(value: float, dtype: torch.dtype) -> str:
    """Returns one element as a literal of a `dense` attribute. Floats are rounded to `dtype`; integers wrap around."""
    if dtype == torch.bool:
        return "true" if value else "false"
    if not dtype.is_floating_point:
        limits = torch.iinfo(dtype)
        return str((int(value) - limits.min) % (1 << limits.bits) + limits.min)
    rounded = torch.tensor(value, dtype=torch.float64).to(dtype)
    number = float(rounded)
    if math.isfinite(number):
        return print_float(number)
    width = rounded.element_size()
    bits = rounded.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[width]).item() % (1 << 8 * width)
    return f"0x{bits:0{2 * width}X}"


def dense_literal(tensor: torch.Tensor) -> str:
    """Returns `dense<...>` for a small tensor."""
    return "dense<>" if tensor.numel() == 0 else f"dense<{_nested(tensor.tolist(), tensor.dtype)}>"


def _nested(values: Any, dtype: torch.dtype) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_nested(value, dtype) for value in values)}]"
    return scalar_literal(values, dtype)


def double_bits(value: float) -> int:
    """Returns the 64 bits of a float as an int. As a key, they distinguish -0.0 from 0.0, and NaN equals itself."""
    (bits,) = struct.unpack("<q", struct.pack("<d", float(value)))
    return int(bits)
