# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the file of a model, and the files beside it that hold the bytes of its tensors."""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, cast

import onnx
from google.protobuf.message import DecodeError

from ..._paths import StrPath
from ...errors import ArgumentTypeError, ArgumentValueError
from .embedded import EMBEDDED, copy_model, parse

# Offset, bytes there, and what a file with these bytes is.
_OTHERS = (
    (0, b"\x1f\x8b", "it is compressed with gzip, so unpack it first"),
    (0, b"\x28\xb5\x2f\xfd", "it is compressed with Zstandard, so unpack it first"),
    (0, b"PK\x03\x04", "it is a zip archive, such as an archive of PyTorch: unpack it, or export the model to ONNX"),
    (0, b"version https://git-lfs", "it is a pointer of Git LFS: run `git lfs pull` to get the model"),
    (0, b"<", "it is a text such as XML or HTML, perhaps the message of a failed download"),
    (4, b"ORTM", "it has the format of ONNX Runtime (.ort), so use the ONNX file from which it was made"),
    (4, b"TFL3", "it is a TensorFlow Lite model"),
)


@dataclass(frozen=True)
class TensorFiles:
    """The bytes of tensors that a parsed model does not contain.

    folder: the folder of external data, None if the model is not a file. read: returns the bytes that `embedded` left
    out of a model, given their place and number, or how many there are if it is another number.
    """

    folder: pathlib.Path | None = None
    read: Callable[[str, int], bytearray | int] | None = None


class LoadedModel(NamedTuple):
    """A model that the import may change. files: has the bytes of its large tensors. name: the model, for messages."""

    proto: onnx.ModelProto
    files: TensorFiles
    name: str


def load(model: object) -> LoadedModel:
    """Loads a model from a path, or takes the given ModelProto.

    Raises ArgumentValueError for a file that can't be read or is not an ONNX model, ArgumentTypeError for other values.
    """
    if isinstance(model, onnx.ModelProto):
        try:
            copied, large = copy_model(model)
        except UnicodeDecodeError:  # the check of the model names the text that is not UTF-8
            copied, large = onnx.ModelProto(), []
            copied.CopyFrom(model)
        return LoadedModel(copied, TensorFiles(read=functools.partial(_read_tensor, large)), "the ONNX model")
    try:
        path = pathlib.Path(cast("StrPath", model))
    except TypeError:
        raise ArgumentTypeError(
            f"expected the path of an ONNX model or an onnx.ModelProto, but got {type(model).__name__}"
        ) from None
    if path.is_dir():
        names = sorted(file.name for file in path.glob("*.onnx"))[:3]
        raise ArgumentValueError(
            f"{str(path)!r} is a folder, but expected an ONNX file"
            + (f": give one of its files, for example {', '.join(names)}" if names else "")
        )
    try:
        with path.open("rb") as file:
            start = file.read(32)
            kind = next((reason for at, wanted, reason in _OTHERS if start[at : at + len(wanted)] == wanted), None)
            parsed = _parse(file, start) if kind is None else onnx.ModelProto()
    except (OSError, ValueError) as error:  # ValueError: the path has a NUL byte
        cause = (error.strerror or error) if isinstance(error, OSError) else error
        raise ArgumentValueError(f"can't read the model {str(path)!r}: {cause}") from error
    except DecodeError as error:
        raise ArgumentValueError(f"{str(path)!r} is not an ONNX model, or is truncated: {error}") from error
    if kind is not None:
        raise ArgumentValueError(f"{str(path)!r} is not an ONNX model: {kind}")
    if not parsed.HasField("graph"):
        raise ArgumentValueError(f"{str(path)!r} is not an ONNX model: it has no graph")
    return LoadedModel(parsed, TensorFiles(path.parent, functools.partial(_read_part, path)), repr(str(path)))


def _parse(file: BinaryIO, start: bytes) -> onnx.ModelProto:
    """Returns the model in a file, without the bytes of its large tensors if possible. Raises DecodeError.

    start: the bytes that were read from the file already, in which a pipe can't go back.
    """
    parsed = None
    if file.seekable():
        file.seek(0)
        parsed = parse(file)
        file.seek(len(start))
    if parsed is None:
        parsed = onnx.ModelProto()
        parsed.ParseFromString(start + file.read())
    return parsed


def _read_tensor(tensors: Sequence[onnx.TensorProto], place: str, size: int) -> bytearray | int:
    """Returns the `size` bytes of one of several tensors, or how many it has. place: its number."""
    data = tensors[int(place)].raw_data
    return bytearray(data) if len(data) == size else len(data)


def _read_part(path: pathlib.Path, place: str, size: int) -> bytearray | int:
    """Returns `size` bytes of a file. place: their offset and how many there are, the result if it is not `size`."""
    offset, length = map(int, place.split())
    if length != size:
        return length
    return _read_bytes(path, offset, size)


def read_data(tensor: onnx.TensorProto, files: TensorFiles, size: int, subject: str) -> bytearray:
    """Returns the `size` bytes of a tensor that is not in its model.

    Raises ArgumentValueError, naming the tensor by `subject`.
    """
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if EMBEDDED not in entries or files.read is None:
        return read_external(entries, files.folder, size, subject)
    try:
        data = files.read(entries[EMBEDDED], size)
    except (IndexError, OSError, ValueError) as error:
        raise ArgumentValueError(f"can't read {subject}: {error}") from error
    got = data if isinstance(data, int) else len(data)
    if isinstance(data, int) or got != size:
        raise ArgumentValueError(f"expected {size} bytes of data for {subject}, but got {got}")
    return data


def read_external(entries: Mapping[str, str], folder: pathlib.Path | None, size: int, subject: str) -> bytearray:
    """Returns the `size` bytes of a tensor that are in another file.

    entries: the tensor's `external_data`: "location", "offset" and "length". The file must be in `folder`, also if
    links are followed.
    Raises ArgumentValueError, naming the tensor by `subject`.
    """
    if folder is None:
        raise ArgumentValueError(
            f"the bytes of {subject} are in another file, {entries.get('location')!r}: give the model's path instead, "
            "or read the model with onnx.load, which reads them too"
        )
    path = _find(entries.get("location", ""), folder, subject)
    offset = _number(entries, "offset", 0, subject)
    length = _number(entries, "length", size, subject)
    if length != size:
        raise ArgumentValueError(f"expected {size} bytes of data for {subject}, but its external data has {length}")
    try:
        data = _read_bytes(path, offset, size)
    except OSError as error:
        raise ArgumentValueError(f"can't read the external data of {subject} in {str(path)!r}: {error}") from error
    if isinstance(data, int):
        raise ArgumentValueError(
            f"expected {size} bytes at offset {offset} of {str(path)!r} for {subject}, but got {data}"
        )
    return data


def _read_bytes(path: pathlib.Path, offset: int, size: int) -> bytearray | int:
    """Returns `size` bytes of a file, or how many there are if it has fewer. Raises OSError."""
    with path.open("rb") as file:
        got = max(0, os.fstat(file.fileno()).st_size - offset)
        data = bytearray(size if got >= size else 0)
        if data:
            file.seek(offset)
            got = file.readinto(data)
    return data if got >= size else got


def _find(location: str, folder: pathlib.Path, subject: str) -> pathlib.Path:
    """Returns the path of an external file. Raises ArgumentValueError if it is missing or outside of the folder."""
    relative = pathlib.PurePath(location)
    outside = f"the external data of {subject} is in {location!r}, but expected a file in the model's folder"
    if not location or "\0" in location:
        raise ArgumentValueError(
            f"expected the name of a file for the external data of {subject}, but got {location!r}"
        )
    if relative.is_absolute() or ".." in relative.parts or pathlib.PureWindowsPath(location).drive:
        raise ArgumentValueError(outside)
    path = pathlib.Path(os.path.realpath(folder / relative))
    if not path.is_relative_to(os.path.realpath(folder)):
        raise ArgumentValueError(f"{outside}: a link leads to {str(path)!r}")
    if not path.is_file():
        raise ArgumentValueError(f"the external data of {subject} is missing: no file {str(path)!r}")
    return path


def _number(entries: Mapping[str, str], key: str, default: int, subject: str) -> int:
    """Returns a number of `external_data`. Raises ArgumentValueError unless it is 0 or more."""
    try:
        value = int(entries.get(key, default))
    except ValueError:
        value = -1
    if value < 0:
        raise ArgumentValueError(
            f"the external data of {subject} has the {key} {entries[key]!r}, but expected a number of bytes"
        )
    return value
