# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the calls that a compiled program leaves to PyTorch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from .._dialect.calls import describe_call, run_call
from ..errors import Error


class Failure(NamedTuple):
    """An exception in PyTorch, and the text of the call that raised it."""

    call: str
    error: BaseException


class Fallback:
    """Runs the framework calls of a program. Each thread has its own state."""

    def __init__(self) -> None:
        self._calls = threading.local()

    def begin(self, kept: dict[str, Any]) -> None:
        """Starts a call of the program in this thread.

        kept: the values that are passed beside the program, by name. Values that leave a graph are added.
        """
        self._calls.kept, self._calls.failure = kept, None

    def end(self) -> Failure | None:
        """Ends the call of the program in this thread. Returns the failure of a call of PyTorch, or None."""
        failure: Failure | None = self._calls.failure
        self._calls.kept = self._calls.failure = None
        return failure

    def __call__(
        self, call: str, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], sizes: Sequence[int] = ()
    ) -> None:
        """Runs a framework call. See `run_call`."""
        try:
            run_call(call, inputs, outputs, self._calls.kept, sizes)
        except BaseException as error:
            # The traceback is dropped: its frames hold tensors in memory that the program uses again.
            self._calls.failure = Failure(call, error.with_traceback(None))
            raise


def raise_failure(failure: Failure | None) -> None:
    """Raises Error for a failure, except that KeyboardInterrupt and its like are raised as they are."""
    if failure is None:
        return
    call, error = failure
    if not isinstance(error, Exception):
        raise error
    reason = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
    raise Error(f"{describe_call(call)}, which PyTorch runs, failed: {reason}") from error
