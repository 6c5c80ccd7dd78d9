# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks paths and other text that users pass."""

from __future__ import annotations

import os
from typing import TypeAlias

from .errors import ArgumentTypeError, ArgumentValueError

StrPath: TypeAlias = str | os.PathLike[str]


def path_text(path: StrPath, name: str) -> str:
    """Returns the path as text for the runtime.

    name: the name of the argument, for messages.
    Raises ArgumentTypeError for a path that is not text, and ArgumentValueError for one with NUL or invalid UTF-8.
    """
    try:
        text = os.fspath(path)
    except TypeError as error:
        raise ArgumentTypeError(f"expected {name} to be a str or os.PathLike, but got {type(path).__name__}") from error
    if not isinstance(text, str):
        raise ArgumentTypeError(f"expected {name} to be a path of type str, but got type {type(text).__name__}")
    return plain_text(text, name)


def plain_text(text: str, name: str) -> str:
    """Returns the text for the runtime.

    name: the name of the argument, for messages.
    Raises ArgumentTypeError for another type than str, and ArgumentValueError for text with NUL or invalid UTF-8.
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"expected {name} to be a str, but got {type(text).__name__}")
    if "\0" in text:
        raise ArgumentValueError(f"expected {name} to have no NUL characters, but got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentValueError(f"expected {name} to be valid UTF-8, but got {text!r}") from error
    return text
