# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a model's file, and the files beside it that hold the bytes of its tensors."""

import os
import pathlib
from typing import NamedTuple

import onnx
from google.protobuf.message import DecodeError

from ...errors import ArgumentTypeError, ArgumentValueError


class LoadedModel(NamedTuple):
    """A model. folder: that of its external data, if it is a file; name: for messages."""

    proto: onnx.ModelProto
    folder: pathlib.Path | None
    name: str


def load(model) -> LoadedModel:
    """Loads a model from a path, or takes the given ModelProto.

    Raises ArgumentValueError for a file that can't be read or is no ONNX model, ArgumentTypeError for something else.
    """
    if isinstance(model, onnx.ModelProto):
        return LoadedModel(model, None, "the ONNX model")
    try:
        path = pathlib.Path(model)
    except TypeError:
        raise ArgumentTypeError(
            f"expected the path of an ONNX model or an onnx.ModelProto, but got {type(model).__name__}"
        ) from None
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # a path may hold a zero byte
        reason = error.strerror if isinstance(error, OSError) else error
        raise ArgumentValueError(f"can't read the model {str(path)!r}: {reason}") from error
    parsed = onnx.ModelProto()
    try:
        parsed.ParseFromString(data)
    except DecodeError as error:
        raise ArgumentValueError(f"{str(path)!r} is no ONNX model, or is cut short: {error}") from error
    return LoadedModel(parsed, path.parent, repr(str(path)))


def read_external(entries, folder, size, what):
    """The `size` bytes of a tensor that are in another file, as a bytearray.

    entries: the tensor's `external_data` as a dict, "location", "offset" and "length". The file must lie in `folder`,
    links followed. Raises ArgumentValueError, naming the tensor by `what`.
    """
    if folder is None:
        raise ArgumentValueError(
            f"the bytes of {what} are in another file, {entries.get('location')!r}: give the model's path instead, or "
            "read it with onnx.load, which brings them along"
        )
    path = _find(entries.get("location", ""), folder, what)
    offset = _number(entries, "offset", 0, what)
    length = _number(entries, "length", size, what)
    if length != size:
        raise ArgumentValueError(f"expected {size} bytes of data for {what}, but its external data has {length}")
    try:
        with path.open("rb") as file:
            got = max(0, os.fstat(file.fileno()).st_size - offset)
            data = bytearray(size if got >= size else 0)
            if data:
                file.seek(offset)
                got = file.readinto(data)
    except OSError as error:
        raise ArgumentValueError(f"can't read the external data of {what} in {str(path)!r}: {error}") from error
    if got < size:
        raise ArgumentValueError(f"expected {size} bytes at offset {offset} of {str(path)!r} for {what}, but got {got}")
    return data


def _find(location, folder, what):
    """The file of that name in the folder."""
    relative = pathlib.PurePath(location)
    outside = f"the external data of {what} is in {location!r}, but must be in the model's folder"
    if not location or "\0" in location:
        raise ArgumentValueError(f"the external data of {what} has no file's name: {location!r}")
    if relative.is_absolute() or ".." in relative.parts or pathlib.PureWindowsPath(location).drive:
        raise ArgumentValueError(outside)
    path = pathlib.Path(os.path.realpath(folder / relative))
    if not path.is_relative_to(os.path.realpath(folder)):
        raise ArgumentValueError(f"{outside}: a link leads to {str(path)!r}")
    if not path.is_file():
        raise ArgumentValueError(f"the external data of {what} is missing: there is no file {str(path)!r}")
    return path


def _number(entries, key, default, what):
    try:
        value = int(entries.get(key, default))
    except ValueError:
        value = -1
    if value < 0:
        raise ArgumentValueError(f"the external data of {what} has the {key} {entries[key]!r}, but expected a number")
    return value
