# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Detects the use of a device after a fork.

A forked process has the memory of the driver but not its threads. A call would wait forever, so it is an error.
"""

import os

from ..errors import DeviceError

_is_open = _is_lost = False


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


os.register_at_fork(after_in_child=_after_fork)
