# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Detects the use of a device after a fork, and renews locks there.

A forked process has the memory of its parent but only the thread that forked. A call of a driver would wait forever, so
it is an error. A lock that another thread held would stay locked forever.
"""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

from ..errors import DeviceError

_is_open = _is_lost = False
_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()


class ForkLock:
    """Like threading.RLock, but a forked process can take it even if another thread of its parent held it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.was_interrupted = False  # True in a forked process if another thread of its parent held the lock
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def renew_after_fork(self) -> None:
        """Makes a new lock unless the old one is free or held by this thread, which is the one that forked."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock, self.was_interrupted = threading.RLock(), True


def note_device() -> None:
    """Notes that this process uses a device."""
    global _is_open
    _is_open = True


def refuse_lost_device() -> None:
    """Raises DeviceError if this process was forked from a process that used a device."""
    if _is_lost:
        raise DeviceError(
            "this process can't use the device, because it was forked from a process that uses it: start processes by "
            'spawning (multiprocessing.set_start_method("spawn")), fork before the first compilation for the device, '
            'or remove "vulkan" from the targets'
        )


def _after_fork() -> None:
    global _is_lost
    _is_lost = _is_open
    for lock in list(_locks):
        lock.renew_after_fork()


os.register_at_fork(after_in_child=_after_fork)
