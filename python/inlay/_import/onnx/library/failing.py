# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Raises the error of a branch that is invalid for the dims of its values."""

from __future__ import annotations

from typing import Any

from ....errors import ArgumentValueError


def fail(message: str) -> list[Any]:
    """Raises ArgumentValueError."""
    raise ArgumentValueError(message)
