# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calls that a compiled program leaves to PyTorch."""

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
    """Makes the framework's calls for a program. Each thread has its own call in flight."""

    def __init__(self) -> None:
        self._calls = threading.local()

    def begin(self, kept: dict[str, Any]) -> None:
        """Says what the next call of this thread takes beside the program; what leaves the program is added."""
        self._calls.kept, self._calls.failure = kept, None

    def end(self) -> Failure | None:
        """Ends the call of this thread; returns what went wrong in PyTorch, if anything did."""
        failure = self._calls.failure
        self._calls.kept = self._calls.failure = None
        return failure

    def __call__(
        self, call: str, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], sizes: Sequence[int] = ()
    ) -> None:
        try:
            run_call(call, inputs, outputs, self._calls.kept, sizes)
        except BaseException as error:
            # Without the traceback: its frames hold tensors over memory that is the program's again.
            self._calls.failure = Failure(call, error.with_traceback(None))
            raise


def raise_failure(failure: Failure | None) -> None:
    """Raises Error for a failure, but what stops a program, as KeyboardInterrupt, as it is."""
    if failure is None:
        return
    call, error = failure
    if not isinstance(error, Exception):
        raise error
    reason = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
    raise Error(f"{describe_call(call)}, which PyTorch runs, failed: {reason}") from error
