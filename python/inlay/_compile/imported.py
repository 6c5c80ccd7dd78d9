# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles an imported program."""

from __future__ import annotations

import sys
import threading

import torch

from .._program.compiled import CompiledModule
from .._program.fallback import Fallback
from .._program.forking import note_device, refuse_lost_device
from .._program.imported import CallConvention, ImportedProgram
from .._program.report import Report
from .._program.signature import Signature
from .._program.watch import Watch
from .options import Options
from .request import Progress, load_extension, make_renderer, make_request


def compile_imported(
    imported: ImportedProgram,
    options: Options,
    convention: CallConvention | None = None,
    original: torch.nn.Module | None = None,
    watch: Watch | None = None,
) -> CompiledModule:
    """Compiles an imported program.

    convention: None for a program that is only called by `call_flat`.
    original: the module that runs calls with sizes out of range; None if they are errors.
    watch: the check that the model is the same as at the import; None if nothing can change it.
    """
    if "vulkan" in options.targets:
        refuse_lost_device()
    fallback = Fallback()
    extension = load_extension()
    with Progress() as progress:
        request = make_request(extension, imported, options)
        request.set_fallback(fallback)
        request.set_progress(progress)
        compilation = extension.compile(request)
    _compilations.add()
    if compilation.device:
        note_device()
    if compilation.notice:
        print(f"inlay: {compilation.notice}", file=sys.stderr)
    report = Report.parse(compilation.report, make_renderer(extension, imported, options))
    report.note_widened(imported.quantized)
    signature = Signature(imported.interface, convention)
    return CompiledModule(imported, compilation, fallback, report, signature, original, watch)


def compilation_count() -> int:
    """Returns the number of graphs that this process has compiled."""
    return _compilations.count


class _Counter:
    """A counter for several threads."""

    def __init__(self) -> None:
        self.count, self._lock = 0, threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.count += 1


_compilations = _Counter()
