# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The request that the compiler's extension takes, and what goes on while it is worked on."""

from __future__ import annotations

import dataclasses
import warnings

from ..errors import InternalError, UnsupportedError
from .options import PYTHON_ONLY


def load_extension():
    try:
        from .. import _inlay
    except ImportError as error:
        raise InternalError(
            f"the extension inlay._inlay can't be loaded ({error}): build the target InlayPython"
        ) from error
    return _inlay


def make_request(extension, imported, options):
    if imported.reasons and "torch" not in options.targets:
        raise UnsupportedError(f"only the target 'torch', which is not listed, can run this: {imported.reasons[0]}")
    request = extension.Request()
    request.text = imported.text
    request.name = "forward"
    for field in dataclasses.fields(options):
        if field.name not in PYTHON_ONLY:
            setattr(request, field.name, getattr(options, field.name))
    if options.torch_executed_modules and imported.unplaced:
        places = ", ".join(dict.fromkeys(imported.unplaced))
        warnings.warn(
            f"torch_executed_modules doesn't reach modules that are called inside of {places}: the exported graph "
            "doesn't say which they are, unless torch.export.export is given strict=True",
            stacklevel=2,
        )
    for key, tensor in imported.weights.items():
        request.add_weight(key, tensor)
    return request


def make_renderer(extension, imported, options):
    """A function that partitions once more and gives the report in a form; for `Report`."""

    def render(form, what_if=False, sweep=False):
        request = make_request(extension, imported, options)
        request.what_if, request.sweep = what_if, sweep
        return extension.partition(request, form)

    return render


class Progress:
    """A progress bar over the compiler's phases: on a terminal, once a compilation takes longer than a second."""

    def __init__(self):
        self._bar = None

    def __enter__(self):
        return self

    def __call__(self, phase, number, count):
        if self._bar is None:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=count, disable=None, leave=False, delay=1, bar_format="{desc:12} {bar:30} {elapsed}")
        self._bar.set_description_str(phase, refresh=False)
        self._bar.update(max(0, number - self._bar.n))

    def __exit__(self, *failure):
        if self._bar is not None:
            self._bar.close()
