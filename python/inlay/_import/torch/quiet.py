# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps PyTorch from logging and printing failures that the caller catches and reports."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from unittest import mock

import torch


@contextlib.contextmanager
def no_kernel_log() -> Iterator[None]:
    """Keeps PyTorch from logging errors of kernels that an import catches, as long as the context is open."""
    with _disabled("torch._subclasses.fake_tensor"):
        yield


@contextlib.contextmanager
def no_capture_log() -> Iterator[None]:
    """Keeps PyTorch from logging and printing why it can't capture a model, as long as the context is open.

    torch.export prints the whole graph that it has captured so far.
    """
    with (
        _disabled("torch.fx.experimental.symbolic_shapes", "torch._dynamo.variables.tensor", "torch.export._trace"),
        mock.patch.object(torch.export._trace, "print", lambda *_, **__: None, create=True),
    ):
        yield


@contextlib.contextmanager
def _disabled(*names: str) -> Iterator[None]:
    """Disables the loggers of modules as long as the context is open."""
    logs = [logging.getLogger(name) for name in names]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
        yield
    finally:
        for log, disabled in zip(logs, before, strict=True):
            log.disabled = disabled
