# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses models without the bytes of their large tensors, so that these bytes are in memory only once.

`files.py` reads the bytes later, each into the memory of its tensor. The wire format of protobuf is described at
https://protobuf.dev/programming-guides/encoding, the numbers of fields in onnx.proto.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from typing import Any, BinaryIO

import onnx
from onnx import TensorProto

EMBEDDED = "inlay.embedded"  # the key in `external_data` of a tensor whose bytes were left out

_LARGE = 4096  # bytes of a tensor that are left out, at least


class _Message(enum.Enum):
    """A message of onnx.proto that may contain a large tensor."""

    MODEL = enum.auto()
    GRAPH = enum.auto()
    NODE = enum.auto()
    ATTRIBUTE = enum.auto()
    TENSOR = enum.auto()


# Number of a field -> the message in it. Tensors in bodies of control flow stay where they are.
_INNER: dict[_Message, dict[int, _Message]] = {
    _Message.MODEL: {7: _Message.GRAPH},
    _Message.GRAPH: {1: _Message.NODE, 5: _Message.TENSOR},
    _Message.NODE: {5: _Message.ATTRIBUTE},
    _Message.ATTRIBUTE: {5: _Message.TENSOR},
    _Message.TENSOR: {},
}
_OP_TYPE, _DOMAIN = 4, 7  # fields of a node
_DATA_TYPE, _RAW_DATA = 2, 9  # fields of a tensor
# Fields of a tensor that say where its elements are, if it is not one large field.
_OTHER_DATA = {4, 5, 7, _RAW_DATA, 10, 11, 13, 14}
# Field of a tensor with a packed list of elements -> the type of elements whose bytes it has.
_PACKED = {4: TensorProto.FLOAT, 10: TensorProto.DOUBLE}

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # types of fields


class _UncommonError(Exception):
    """The file is not valid, or it has a form that no exporter writes. The parser of protobuf decides about it."""


def parse(file: BinaryIO) -> onnx.ModelProto | None:
    """Returns the model in a file without the bytes of its large tensors. None if the whole file must be parsed.

    The `external_data` of such a tensor has one entry: EMBEDDED, with the offset and the number of its bytes.
    """
    try:
        text = _copy(file, os.fstat(file.fileno()).st_size, _Message.MODEL)
    except _UncommonError:
        return None
    model = onnx.ModelProto()
    model.ParseFromString(bytes(text))
    return model


def copy_model(model: onnx.ModelProto) -> tuple[onnx.ModelProto, list[TensorProto]]:
    """Returns a copy of a model without the bytes of its large tensors, and these tensors.

    The `external_data` of such a tensor has one entry: EMBEDDED, with its number among these tensors.
    """
    copied, large = onnx.ModelProto(), list[TensorProto]()
    _copy_fields(model, copied, "graph")
    _copy_fields(model.graph, copied.graph, "initializer", "node")
    for tensor in model.graph.initializer:
        _copy_tensor(tensor, copied.graph.initializer.add(), large)
    for node in model.graph.node:
        made = copied.graph.node.add()
        if node.op_type != "Constant" or node.domain:
            made.CopyFrom(node)
            continue
        _copy_fields(node, made, "attribute")
        for attribute in node.attribute:
            _copy_fields(attribute, made.attribute.add(), "t")
            if attribute.HasField("t"):
                _copy_tensor(attribute.t, made.attribute[-1].t, large)
    return copied, large


def _copy_tensor(source: TensorProto, target: TensorProto, large: list[TensorProto]) -> None:
    """Copies a tensor. Leaves out its bytes and adds it to `large` if it is large."""
    is_large = source.HasField("raw_data") and source.ByteSize() >= _LARGE and not source.external_data
    if is_large and source.data_location == TensorProto.DEFAULT:
        _copy_fields(source, target, "raw_data")
        _mark(target, str(len(large)))
        large.append(source)
    else:
        target.CopyFrom(source)


def _copy_fields(source: Any, target: Any, *left_out: str) -> None:
    """Copies the fields of a protobuf message but some."""
    for field in source.DESCRIPTOR.fields:
        if field.name in left_out:
            continue
        value = getattr(source, field.name)
        if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            getattr(target, field.name).extend(value)
        elif source.HasField(field.name):
            if field.message_type is not None:
                getattr(target, field.name).CopyFrom(value)
            else:
                setattr(target, field.name, value)


def _mark(tensor: TensorProto, place: str) -> None:
    """Notes where the bytes of a tensor are."""
    tensor.external_data.append(onnx.StringStringEntryProto(key=EMBEDDED, value=place))
    tensor.data_location = TensorProto.EXTERNAL


# -- The wire format --------------------------------------------------------------------------------------------------


def _copy(file: BinaryIO, end: int, message: _Message) -> bytearray:
    """Returns the bytes of a message up to offset `end` of a file, without those of large tensors.

    Raises _UncommonError.
    """
    made = bytearray()
    seen: dict[int, bytes] = {}  # number of a field that has no inner message -> its last value
    places: list[tuple[int, int]] = []  # of bytes that were left out: offset and length
    is_changed = False
    while (begin := file.tell()) < end:
        tag = _read_varint(file)
        number, kind = tag >> 3, tag & 7
        if kind != _BYTES:
            value = _read_scalar(file, kind)
            seen[number] = value
            made += _varint(tag) + value
            continue
        length = _read_varint(file)
        if file.tell() + length > end:
            raise _UncommonError
        inner = _INNER[message].get(number)
        if message is _Message.NODE and seen.get(_OP_TYPE) != b"Constant":
            inner = None
        if message is _Message.TENSOR and length >= _LARGE and _has_elements(number, seen):
            places.append((file.tell(), length))
            file.seek(length, os.SEEK_CUR)
            continue
        if inner is not None and length >= _LARGE:
            value = bytes(_copy(file, file.tell() + length, inner))
            is_changed |= len(value) != length
        else:
            value = file.read(length)
            seen[number] = value
        made += _varint(tag) + _varint(len(value)) + value
    if begin > end or (message is _Message.NODE and is_changed and seen.get(_DOMAIN)):
        raise _UncommonError
    if places:
        if len(places) > 1 or _OTHER_DATA & seen.keys():
            raise _UncommonError
        mark = TensorProto()
        _mark(mark, "{} {}".format(*places[0]))
        made += mark.SerializeToString()
    return made


def _has_elements(number: int, seen: dict[int, bytes]) -> bool:
    """Returns true if a field of a tensor has the bytes of its elements. seen: the fields before it."""
    packed = _PACKED.get(number)
    return number == _RAW_DATA or (packed is not None and seen.get(_DATA_TYPE) == _varint(packed))


def _read_scalar(file: BinaryIO, kind: int) -> bytes:
    """Returns the bytes of a number of a kind."""
    if kind == _VARINT:
        return _varint(_read_varint(file))
    size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
    value = file.read(size or 0)
    if size is None or len(value) < size:
        raise _UncommonError
    return value


def _read_varint(file: BinaryIO) -> int:
    """Reads a number of a variable number of bytes."""
    value = 0
    for shift in range(0, 64, 7):
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return value
    raise _UncommonError


def _varint(value: int) -> bytes:
    """Returns the bytes of a number."""
    made = bytearray()
    while value >= 128:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)
