# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices don't survive a fork: a child process has the driver's memory without its threads, and would wait forever."""

import os

from ..errors import DeviceError

_is_open = _is_lost = False


def note_device():
    """Says that this process uses a device from now on."""
    global _is_open
    _is_open = True


def refuse_lost_device():
    """Raises DeviceError in a process that was forked from one that used a device."""
    if _is_lost:
        raise DeviceError(
            "this process was forked from one that uses the device, which is lost to it: start processes by spawning "
            '(multiprocessing.set_start_method("spawn")), fork before the first compilation for the device, or leave '
            '"vulkan" out of the targets'
        )


def _after_fork():
    global _is_lost
    _is_lost = _is_open


os.register_at_fork(after_in_child=_after_fork)
