# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps PyTorch from logging and printing failures that the caller catches and reports."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from unittest import mock

from torch.export import _trace

_KERNELS = ("torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes")
_CAPTURE = ("torch.fx.experimental.symbolic_shapes", "torch._dynamo.variables.tensor", "torch.export._trace")


@contextlib.contextmanager
def no_kernel_log() -> Iterator[None]:
    """Drops what PyTorch logs in this thread about errors of kernels and about sizes until the context closes."""
    with _dropped(_KERNELS):
        yield


@contextlib.contextmanager
def no_capture_log() -> Iterator[None]:
    """Drops what PyTorch logs in this thread about failed captures of models, as long as the context is open."""
    with _dropped(_CAPTURE):
        yield


@contextlib.contextmanager
def no_export_output() -> Iterator[None]:
    """Drops what torch.export logs and prints about a failure, as long as the context is open.

    torch.export prints the whole graph that it has captured so far. The caller holds EXPORT_LOCK.
    """
    with no_capture_log(), mock.patch.object(_trace, "print", lambda *_, **__: None, create=True):
        yield


@contextlib.contextmanager
def _dropped(names: tuple[str, ...]) -> Iterator[None]:
    """Drops the warnings and errors that this thread logs by loggers, as long as the context is open.

    The records of lower levels, which TORCH_LOGS asks for, stay.
    """
    thread = threading.get_ident()

    def is_kept(record: logging.LogRecord) -> bool:
        return record.thread != thread or record.levelno < logging.WARNING

    logs = [logging.getLogger(name) for name in names]
    for log in logs:
        log.addFilter(is_kept)
    try:
        yield
    finally:
        for log in logs:
            log.removeFilter(is_kept)
