# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads ONNX tensors as PyTorch tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import onnx
import torch
from onnx import TensorProto, numpy_helper

from ...errors import ArgumentValueError, UnsupportedError
from .files import TensorFiles, read_data

DTYPES: dict[int, torch.dtype] = {
    TensorProto.BOOL: torch.bool,
    TensorProto.UINT8: torch.uint8,
    TensorProto.UINT16: torch.uint16,
    TensorProto.UINT32: torch.uint32,
    TensorProto.UINT64: torch.uint64,
    TensorProto.INT8: torch.int8,
    TensorProto.INT16: torch.int16,
    TensorProto.INT32: torch.int32,
    TensorProto.INT64: torch.int64,
    TensorProto.FLOAT16: torch.float16,
    TensorProto.BFLOAT16: torch.bfloat16,
    TensorProto.FLOAT: torch.float32,
    TensorProto.DOUBLE: torch.float64,
    TensorProto.FLOAT8E4M3FN: torch.float8_e4m3fn,
    TensorProto.FLOAT8E4M3FNUZ: torch.float8_e4m3fnuz,
    TensorProto.FLOAT8E5M2: torch.float8_e5m2,
    TensorProto.FLOAT8E5M2FNUZ: torch.float8_e5m2fnuz,
    TensorProto.FLOAT8E8M0: torch.float8_e8m0fnu,
}
FLOATS8 = frozenset(dtype for dtype in DTYPES.values() if dtype.is_floating_point and dtype.itemsize == 1)


class NarrowType(NamedTuple):
    """A type of integers of less than 8 bits. PyTorch can't compute with these, so an element takes a byte here."""

    number: int  # TensorProto.DataType
    dtype: torch.dtype
    bits: int

    def limits(self) -> tuple[int, int]:
        """Returns the lowest and the highest value."""
        if self.dtype == torch.uint8:
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1


NARROW_TYPES = {
    one.number: one
    for one in (
        NarrowType(TensorProto.INT4, torch.int8, 4),
        NarrowType(TensorProto.UINT4, torch.uint8, 4),
        NarrowType(TensorProto.INT2, torch.int8, 2),
        NarrowType(TensorProto.UINT2, torch.uint8, 2),
    )
}
_NARROW = "inlay_narrow"  # the key of an FX node's NarrowType in its metadata


def mark_narrow(node: torch.fx.Node, number: int) -> torch.fx.Node:
    """Notes that the elements of an FX node have a type of less than 8 bits, if `number` is one. Returns the node.

    number: a TensorProto.DataType.
    """
    if number in NARROW_TYPES:
        node.meta[_NARROW] = NARROW_TYPES[number]
    return node


def narrow_type(node: torch.fx.Node) -> NarrowType | None:
    """Returns the type of an FX node with elements of less than 8 bits; None for other nodes."""
    found: NarrowType | None = node.meta.get(_NARROW)
    return found


def keep_narrow(sources: Iterable[object], results: Iterable[object]) -> None:
    """Notes the types of results that have elements of a node's inputs of less than 8 bits."""
    types = {found.dtype: found for node in sources if isinstance(node, torch.fx.Node) and (found := narrow_type(node))}
    if not types:
        return
    for result in results:
        if isinstance(result, torch.fx.Node) and isinstance(result.meta["val"], torch.Tensor):
            found = types.get(result.meta["val"].dtype)
            if found is not None and _NARROW not in result.meta:
                result.meta[_NARROW] = found


# Fields with the elements of a tensor without raw_data. The other types, 16-bit floats and small integers, use
# int32_data.
_FIELDS: dict[int, str] = {
    TensorProto.INT64: "int64_data",
    TensorProto.UINT32: "uint64_data",
    TensorProto.UINT64: "uint64_data",
    TensorProto.FLOAT: "float_data",
    TensorProto.DOUBLE: "double_data",
}


_DATA = ("raw_data", "int32_data", *dict.fromkeys(_FIELDS.values()))  # all fields of elements that are numbers


def dtype_of(number: int, subject: str) -> torch.dtype:
    """Returns the dtype of a TensorProto.DataType. Raises UnsupportedError, naming `subject`, if Inlay has none."""
    if number in NARROW_TYPES:
        return NARROW_TYPES[number].dtype
    if number not in DTYPES:
        known = TensorProto.DataType.values()
        name = TensorProto.DataType.Name(number).lower() if number in known else str(number)
        raise UnsupportedError(f"{subject} has elements of type {name}, which Inlay can't take")
    return DTYPES[number]


def type_number(dtype: torch.dtype) -> int:
    """Returns the TensorProto.DataType of a dtype."""
    return next(number for number, known in DTYPES.items() if known == dtype)


def read_tensor(proto: TensorProto, files: TensorFiles, subject: str) -> torch.Tensor:
    """Returns the tensor of a TensorProto, contiguous and with separate memory.

    files: has the bytes that are not in the model. Raises UnsupportedError for types that Inlay does not have,
    ArgumentValueError for data of the wrong size. Both name the tensor by `subject`.
    """
    dtype = dtype_of(proto.data_type, subject)
    shape = tuple(proto.dims)
    if any(dim < 0 for dim in shape):
        raise ArgumentValueError(f"{subject} has the dims {list(shape)}, but expected 0 or more in each")
    filled = [field for field in _DATA if len(getattr(proto, field))]
    if len(filled) > 1:
        raise ArgumentValueError(f"{subject} has its elements twice, as {filled[0]} and as {filled[1]}")
    count = math.prod(shape)
    if proto.data_type in NARROW_TYPES:
        return _read_narrow(proto, NARROW_TYPES[proto.data_type], files, shape, subject)
    if proto.data_location == TensorProto.EXTERNAL:
        return _from_bytes(read_data(proto, files, count * dtype.itemsize, subject), shape, dtype)
    if proto.HasField("raw_data"):
        wanted, got = count * dtype.itemsize, len(proto.raw_data)
        if got != wanted:
            raise ArgumentValueError(f"expected {wanted} bytes of data for {subject}, but got {got}")
        return _from_bytes(proto.raw_data, shape, dtype)
    got = len(getattr(proto, _FIELDS.get(proto.data_type, "int32_data")))
    if got != count:
        raise ArgumentValueError(f"expected {count} elements for {subject}, but got {got}")
    try:
        array = np.ascontiguousarray(numpy_helper.to_array(proto)).reshape(shape)
    except Exception as error:
        raise ArgumentValueError(f"can't read {subject}: {error}") from error
    return _from_bytes(array.tobytes(), shape, dtype)


def _read_narrow(
    proto: TensorProto, kind: NarrowType, files: TensorFiles, shape: tuple[int, ...], subject: str
) -> torch.Tensor:
    """Returns a tensor of elements of less than 8 bits, which a file packs into bytes from the lowest bit upwards."""
    count = math.prod(shape)
    wanted = -(-count * kind.bits // 8)
    if proto.data_location == TensorProto.EXTERNAL:
        data = bytes(read_data(proto, files, wanted, subject))
    else:
        data = proto.raw_data if proto.HasField("raw_data") else bytes(number & 255 for number in proto.int32_data)
    if len(data) != wanted:
        raise ArgumentValueError(f"expected {wanted} bytes of data for {subject}, but got {len(data)}")
    packed = torch.frombuffer(bytearray(data or b"\0"), dtype=torch.uint8).to(torch.int16)
    shifts = torch.arange(0, 8, kind.bits, dtype=torch.int16)
    numbers = ((packed[:, None] >> shifts) & (2**kind.bits - 1)).reshape(-1)[:count]
    return wrap_narrow(numbers, kind).reshape(shape)


def wrap_narrow(numbers: torch.Tensor, kind: NarrowType) -> torch.Tensor:
    """Returns the lowest bits of integers as elements of a type of less than 8 bits."""
    low, _ = kind.limits()
    wrapped: torch.Tensor = ((numbers - low) & (2**kind.bits - 1)) + low
    return wrapped.to(kind.dtype)


class ValueType(NamedTuple):
    """The type of a value. A dim is an int, or its name ("?" if it has none). dims: None if they are unknown."""

    dtype: torch.dtype
    dims: tuple[int | str, ...] | None


def type_of(value_info: onnx.ValueInfoProto, subject: str) -> ValueType:
    """Returns the type of a value. Raises UnsupportedError, naming `subject`, if it is not a tensor."""
    kind = value_info.type.WhichOneof("value")
    if kind != "tensor_type":
        raise UnsupportedError(
            f"{subject} is a {(kind or 'value of unknown type').removesuffix('_type')}, but expected a tensor"
        )
    tensor = value_info.type.tensor_type
    dims = None
    if tensor.HasField("shape"):
        dims = tuple(map(_size_of, tensor.shape.dim))
    return ValueType(dtype_of(tensor.elem_type, subject), dims)


def _size_of(dim: onnx.TensorShapeProto.Dimension) -> int | str:
    """Returns a dim of a ValueType. Some exporters write -1 for a size that is not known."""
    known = dim.HasField("dim_value") and dim.dim_value >= 0
    return dim.dim_value if known else dim.dim_param or "?"


def _from_bytes(data: bytes | bytearray, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Returns a tensor of these bytes, with the memory of a bytearray."""
    if not data:
        return torch.empty(shape, dtype=dtype)
    memory = data if isinstance(data, bytearray) else bytearray(data)
    if dtype == torch.bool:
        return torch.frombuffer(memory, dtype=torch.uint8).reshape(shape) != 0
    return torch.frombuffer(memory, dtype=dtype).reshape(shape)
