# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the header of a GGUF file and checks all of its counts and offsets against the size of the file.

The package `gguf` has the types of tensors and of metadata. Its own reader is not used, because it trusts the counts in
the file: a wrong one makes it loop forever or return less data than a tensor has.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import prod
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ArgumentValueError, Error, UnsupportedError

_VERSIONS = (2, 3)
_HEADER_BYTES = 24
_MAX_DIMS = 4
_MAX_NAME_BYTES = 65535
_DEFAULT_ALIGNMENT = 32


@cache
def gguf_package() -> ModuleType:
    """Returns the package `gguf`, or raises an error that says how to install it."""
    try:
        import gguf
    except ImportError as error:
        raise Error("GGUF files need the package gguf: pip install gguf") from error
    return gguf


@dataclass(frozen=True)
class GgufTensor:
    """A tensor of a GGUF file. Its bytes stay in the file until they are read.

    name: in the file. kind: the name of the type in `gguf.GGMLQuantizationType`, such as "Q4_K".
    shape: in the order of PyTorch, so the last dim is contiguous. data: the bytes, [rows, bytes of a row].
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    data: np.ndarray


@dataclass(frozen=True)
class GgufFile:
    """The contents of a GGUF file.

    path: of the file. metadata: the scalars and the short strings by key; an array or a long string is None.
    tensors: in the order of the file.
    """

    path: str
    metadata: dict[str, Any]
    tensors: list[GgufTensor]


class _Cursor:
    """A place in a file. Reads past the end of the file are errors that name the place."""

    def __init__(self, path: str, data: np.ndarray):
        self.path, self.data, self.place = path, data, 0

    def fail(self, what: str) -> ArgumentValueError:
        return ArgumentValueError(f"{self.path}: {what}, at byte {self.place}")

    def skip(self, count: int, what: str) -> int:
        """Moves on by `count` bytes, which `what` describes. Returns the place of the first one."""
        if count > len(self.data) - self.place:
            raise self.fail(
                f"expected {count} bytes of {what}, but the file ends after {len(self.data) - self.place} more; "
                "is it cut short?"
            )
        self.place += count
        return self.place - count

    def number(self, form: str, what: str) -> Any:
        """Reads one little-endian number. form: a format of `struct`."""
        return struct.unpack_from(f"<{form}", self.data.data, self.skip(struct.calcsize(form), what))[0]

    def text(self, what: str) -> str:
        """Reads a text whose length comes first."""
        count = self.number("Q", f"the length of {what}")
        if count > _MAX_NAME_BYTES:
            raise self.fail(f"expected {what} of at most {_MAX_NAME_BYTES} bytes, but got {count}")
        begin = self.skip(count, what)
        try:
            return self.data[begin : begin + count].tobytes().decode()
        except UnicodeDecodeError as error:
            raise self.fail(f"expected {what} to be UTF-8") from error


# The formats of `struct` for the types of metadata that have a fixed size.
_SCALARS = {
    "UINT8": "B",
    "INT8": "b",
    "UINT16": "H",
    "INT16": "h",
    "UINT32": "I",
    "INT32": "i",
    "FLOAT32": "f",
    "BOOL": "?",
    "UINT64": "Q",
    "INT64": "q",
    "FLOAT64": "d",
}


def _read_value(cursor: _Cursor, key: str, kind: Any) -> Any:
    """Reads a value of metadata. kind: a `GGUFValueType`. Returns scalars and short strings, and None for others."""
    types = gguf_package().GGUFValueType
    what = f"the value of '{key}'"
    if kind.name in _SCALARS:
        return cursor.number(_SCALARS[kind.name], what)
    if kind.name == "STRING":
        count = cursor.number("Q", what)
        begin = cursor.skip(count, what)
        is_short = count <= _MAX_NAME_BYTES
        return cursor.data[begin : begin + count].tobytes().decode(errors="replace") if is_short else None
    element, count = cursor.number("I", what), cursor.number("Q", what)
    name = types(element).name if element in set(types) else None
    if name in _SCALARS:
        cursor.skip(count * struct.calcsize(_SCALARS[name]), what)
    elif name == "STRING":
        if count * 8 > len(cursor.data) - cursor.place:  # Each string has at least a length.
            raise cursor.fail(f"expected at most as many strings in {what} as fit into the file, but got {count}")
        for _ in range(count):
            cursor.skip(cursor.number("Q", what), what)
    else:
        raise cursor.fail(f"expected {what} to be an array of scalars or strings, but got elements of type {element}")
    return None


def _read_metadata(cursor: _Cursor, count: int) -> dict[str, Any]:
    types = gguf_package().GGUFValueType
    metadata: dict[str, Any] = {}
    for index in range(count):
        key = cursor.text(f"the key of metadata {index}")
        if key in metadata:
            raise cursor.fail(f"expected each key of metadata once, but got '{key}' again")
        number = cursor.number("I", f"the type of '{key}'")
        if number not in set(types):
            raise cursor.fail(f"expected a type of '{key}' in [0, {max(types)}], but got {number}")
        value = metadata[key] = _read_value(cursor, key, types(number))
        if key == "general.alignment" and (types(number).name != "UINT32" or value < 1 or value & (value - 1)):
            raise cursor.fail(
                f"expected a power of two of type UINT32 for '{key}', but got {types(number).name} {value}"
            )
    return metadata


@dataclass(frozen=True)
class _Entry:
    """An entry of the table of tensors.

    place: of the entry. offset: of the data, relative to the start of the tensor data.
    """

    name: str
    place: int
    shape: tuple[int, ...]
    kind: str
    offset: int
    row_bytes: int

    @property
    def bytes(self) -> int:
        return prod(self.shape[:-1]) * self.row_bytes


def _read_entry(cursor: _Cursor, index: int) -> _Entry:
    package = gguf_package()
    place = cursor.place
    name = cursor.text(f"the name of tensor {index}")
    what = f"tensor '{name}'"
    dims = cursor.number("I", what)
    if not 1 <= dims <= _MAX_DIMS:
        raise cursor.fail(f"expected {what} to have 1 to {_MAX_DIMS} dims, but got {dims}")
    shape = tuple(cursor.number("Q", what) for _ in range(dims))[::-1]
    number, offset = cursor.number("I", what), cursor.number("Q", what)
    if number not in set(package.GGMLQuantizationType):
        raise UnsupportedError(f"{cursor.path}: expected {what} to have a type that gguf knows, but got {number}")
    kind = package.GGMLQuantizationType(number)
    block, size = package.GGML_QUANT_SIZES[kind]
    if shape[-1] % block:
        raise cursor.fail(f"expected rows of {what} to have a multiple of {block} elements for {kind.name}, "
                          f"but got shape {list(shape)}")  # fmt: skip
    if prod(max(dim, 1) for dim in shape) * size >= 1 << 63:
        raise cursor.fail(f"expected {what} to have fewer than 2^63 bytes, but got shape {list(shape)}")
    return _Entry(name, place, shape, kind.name, offset, shape[-1] // block * size)


def _check_ranges(cursor: _Cursor, entries: list[_Entry], begin: int, alignment: int) -> None:
    """Checks that the data of all tensors is in the file, aligned and disjoint."""
    for entry in entries:
        what = f"{cursor.path}: expected the data of tensor '{entry.name}'"
        if entry.offset % alignment:
            raise ArgumentValueError(f"{what} at a multiple of {alignment}, but got offset {entry.offset}")
        if begin + entry.offset + entry.bytes > len(cursor.data):
            raise ArgumentValueError(
                f"{what} in a file of {len(cursor.data)} bytes, but it takes {entry.bytes} bytes from byte "
                f"{begin + entry.offset} on; is the file cut short?"
            )
    ordered = sorted((entry for entry in entries if entry.bytes), key=lambda entry: entry.offset)
    for first, second in pairwise(ordered):
        if first.offset + first.bytes > second.offset:
            raise ArgumentValueError(
                f"{cursor.path}: expected tensors to be disjoint, but '{second.name}' begins at offset "
                f"{second.offset} inside of '{first.name}'"
            )


def _read_header(cursor: _Cursor) -> tuple[dict[str, Any], list[_Entry], int]:
    """Returns the metadata, the table of tensors, and the place where their data begins."""
    if len(cursor.data) < _HEADER_BYTES:
        raise cursor.fail(f"expected a header of {_HEADER_BYTES} bytes, but the file has {len(cursor.data)}")
    magic = cursor.data[: cursor.skip(4, "the magic number") + 4].tobytes()
    if magic != b"GGUF":
        raise ArgumentValueError(f"{cursor.path}: expected a GGUF file, which begins with b'GGUF', but got {magic!r}")
    version = cursor.number("I", "the version")
    if version not in _VERSIONS:
        raise UnsupportedError(
            f"{cursor.path}: expected a little-endian GGUF file of version 2 or 3, but got version {version}"
        )
    tensors, keys = cursor.number("Q", "the number of tensors"), cursor.number("Q", "the number of keys")
    metadata = _read_metadata(cursor, keys)
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    entries: dict[str, _Entry] = {}
    for index in range(tensors):  # Ends at the end of the file at the latest, since an entry takes bytes.
        entry = _read_entry(cursor, index)
        if entry.name in entries:
            raise ArgumentValueError(
                f"{cursor.path}: expected each tensor once, but got '{entry.name}' again, at byte {entry.place}"
            )
        entries[entry.name] = entry
    begin = -(-cursor.place // alignment) * alignment
    _check_ranges(cursor, list(entries.values()), begin, alignment)
    return metadata, list(entries.values()), begin


def read(path: str | PathLike[str]) -> GgufFile:
    """Reads a GGUF file and checks all of its header.

    The data of the tensors is mapped read-only, so it takes no memory of the process beyond the cache of files.
    Raises `ArgumentValueError` for a file that is cut short or wrong, `UnsupportedError` for another version of the
    format or an unknown type of tensor, and `OSError` if the file can't be read.
    """
    with open(path, "rb") as file:
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise ArgumentValueError(f"{path}: expected a GGUF file, but it is empty") from error
    data = np.frombuffer(mapped, dtype=np.uint8)
    metadata, entries, begin = _read_header(_Cursor(str(path), data))
    tensors = []
    for entry in entries:
        first = begin + entry.offset
        rows = data[first : first + entry.bytes].reshape(prod(entry.shape[:-1]), entry.row_bytes)
        tensors.append(GgufTensor(entry.name, entry.kind, entry.shape, rows))
    return GgufFile(str(path), metadata, tensors)
