# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes requests for the extension, and shows the progress of a compilation.

`options.py` checks the options first.
"""

from __future__ import annotations

import dataclasses
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._program.imported import ImportedProgram
from .._program.report import Render
from ..errors import InternalError, UnsupportedError
from .options import PYTHON_ONLY, Options

if TYPE_CHECKING:
    from .._inlay import Request


def load_extension() -> ModuleType:
    """Returns the extension. Raises InternalError if it can't be loaded."""
    try:
        from .. import _inlay
    except ImportError as error:
        raise InternalError(
            f"the extension inlay._inlay can't be loaded ({error}): build the target InlayPython"
        ) from error
    return _inlay


def make_request(extension: ModuleType, imported: ImportedProgram, options: Options) -> Request:
    """Returns the request for a program. Raises UnsupportedError if only PyTorch can run it and is no target."""
    if imported.reasons and "torch" not in options.targets:
        raise UnsupportedError(f"only the target 'torch', which is not listed, can run this: {imported.reasons[0]}")
    request: Request = extension.Request()
    request.text = imported.text
    request.name = "forward"
    for field in dataclasses.fields(options):
        if field.name not in PYTHON_ONLY:
            setattr(request, field.name, getattr(options, field.name))
    if options.torch_executed_modules and imported.unplaced:
        places = ", ".join(dict.fromkeys(imported.unplaced))
        warnings.warn(
            f"torch_executed_modules doesn't reach modules that are called inside of {places}: the exported graph "
            "has their names only if it was exported with torch.export.export(..., strict=True)",
            stacklevel=2,
        )
    for key, tensor in imported.weights.items():
        request.add_weight(key, tensor)
    return request


def make_renderer(extension: ModuleType, imported: ImportedProgram, options: Options) -> Render:
    """Returns the function that partitions a program again and returns the report in another form."""

    def render(form: str, what_if: bool = False, sweep: bool = False) -> str:
        request = make_request(extension, imported, options)
        request.what_if, request.sweep = what_if, sweep
        report: str = extension.partition(request, form)
        return report

    return render


class Progress:
    """A progress bar for the phases of the compiler. It is shown in terminals after a second."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self, phase: str, number: int, count: int) -> None:
        """Shows phase `number` of `count`. The bar is left out if the package tqdm is missing."""
        if self._bar is None:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=count, disable=None, leave=False, delay=1, bar_format="{desc:12} {bar:30} {elapsed}")
        self._bar.set_description_str(phase, refresh=False)
        self._bar.update(max(0, number - self._bar.n))

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.close()
