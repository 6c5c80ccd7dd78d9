# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types and constants in MLIR's textual form."""

import math
import re
import struct

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
    """A float literal that MLIR parses back to exactly `value`; it must be finite."""
    if not math.isfinite(value):
        raise InternalError(f"no decimal literal for {value}")
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{exponent}" if exponent else mantissa


def quote(text: str) -> str:
    """A string literal of MLIR's textual form."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escaped = []
    for byte in text.encode("utf-8"):
        plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\'
        escaped.append(chr(byte) if plain else f"\\{byte:02X}")
    return '"' + "".join(escaped) + '"'


def element_type(dtype, what):
    """The element type for a torch dtype; UnsupportedError naming `what` if MLIR's side has none."""
    try:
        return ELEMENT_TYPES[dtype]
    except KeyError:
        names = ", ".join(dtype_name(known) for known in ELEMENT_TYPES)
        raise UnsupportedError(f"{what} has dtype {dtype_name(dtype)}, but expected one of {names}") from None


def tensor_type(shape, dtype, what="a tensor"):
    """`tensor<2x3xf32>`; a dim that is no int is `?`."""
    dims = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in shape)
    return f"tensor<{dims}{element_type(dtype, what)}>"


def dtype_name(dtype):
    """`float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")


def tensor_text(dtype, shape):
    """`float32[2x3]` for messages; `float32` for rank 0."""
    return dtype_name(dtype) + (f"[{'x'.join(str(dim) for dim in shape)}]" if len(shape) else "")


def scalar_literal(value, dtype):
    """One element as a literal of a `dense` attribute; floats are rounded to `dtype`, integers wrap around in it."""
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


def dense_literal(tensor):
    """`dense<...>` for a small tensor."""
    return "dense<>" if tensor.numel() == 0 else f"dense<{_nested(tensor.tolist(), tensor.dtype)}>"


def _nested(values, dtype):
    if isinstance(values, list):
        return f"[{', '.join(_nested(value, dtype) for value in values)}]"
    return scalar_literal(values, dtype)


def double_bits(value):
    """A float's 64 bits as an int: a key that tells -0.0 from 0.0 and NaN from itself."""
    return struct.unpack("<q", struct.pack("<d", float(value)))[0]


def with_number(text, name, number):
    """The text of a module with an integer among the module's attributes."""
    attribute = f"{name} = {number} : i64"
    text, given = re.subn(rf"(?m)^(module\b.*?){re.escape(name)} = -?\d+ : i64", rf"\1{attribute}", text, count=1)
    if given:
        return text
    text, given = re.subn(r"(?m)^(module\b[^{]*?attributes \{)", rf"\1{attribute}, ", text, count=1)
    if given:
        return text
    return re.sub(r"(?m)^(module\b[^{]*?)\{", rf"\1attributes {{{attribute}}} {{", text, count=1)
