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


class CallState:
    """The state of one call of a program.

    kept: see `Fallback.begin`. failure: the failure of a call of PyTorch, or None.
    """

    def __init__(self, kept: dict[str, Any]) -> None:
        self.kept = kept
        self.failure: Failure | None = None


class Fallback:
    """Runs the framework calls of a program. Each thread has its own state."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def is_running(self) -> bool:
        """True inside of a call of the program in this thread: a framework call may run any code."""
        return bool(self._calls)

    def begin(self, kept: dict[str, Any]) -> CallState:
        """Starts a call of the program in this thread, which may be inside of another one. Returns its state.

        kept: the values that are passed beside the program, by name. Values that leave a graph are added.
        """
        state = CallState(kept)
        self._calls.append(state)
        return state

    def end(self) -> None:
        """Ends the innermost call of the program in this thread."""
        self._calls.pop()

    @property
    def _calls(self) -> list[CallState]:
        """The calls of the program in this thread, the innermost last."""
        if not hasattr(self._local, "calls"):
            self._local.calls = []
        calls: list[CallState] = self._local.calls
        return calls

    def __call__(
        self, call: str, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], sizes: Sequence[int] = ()
    ) -> None:
        """Runs a framework call. See `run_call`."""
        state = self._calls[-1]
        try:
            run_call(call, inputs, outputs, state.kept, sizes)
        except BaseException as error:
            # The traceback is dropped: its frames hold tensors in memory that the program uses again.
            state.failure = Failure(call, error.with_traceback(None))
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
