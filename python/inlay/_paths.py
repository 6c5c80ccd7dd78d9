# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paths of files as users give them."""

from __future__ import annotations

import os
from typing import TypeAlias

from .errors import ArgumentTypeError, ArgumentValueError

StrPath: TypeAlias = str | os.PathLike[str]


def path_text(path: StrPath, what: str) -> str:
    """A path as the runtime takes it. Raises ArgumentTypeError or ArgumentValueError, naming `what`, for others."""
    try:
        text = os.fspath(path)
    except TypeError as error:
        raise ArgumentTypeError(f"expected {what} to be a str or os.PathLike, but got {type(path).__name__}") from error
    if not isinstance(text, str):
        raise ArgumentTypeError(f"expected {what} to be a path of str, but got one of {type(text).__name__}")
    if "\0" in text:
        raise ArgumentValueError(f"expected {what} to have no NUL characters, but got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentValueError(f"expected {what} to be valid UTF-8, but got {text!r}") from error
    return text
