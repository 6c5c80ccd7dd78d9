# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions of the package. All are `inlay.Error`; argument errors are also the built-in ones they stand for."""

import difflib
import re
from collections.abc import Iterable


class Error(RuntimeError):
    """Something Inlay could not do; the message holds the compiler's or runtime's diagnostic."""


class CompileError(Error):
    """The compiler refused the graph or an option."""


class UnsupportedError(Error, NotImplementedError):
    """A model or a request that Inlay does not handle yet; the message says which part."""


class ArgumentTypeError(Error, TypeError):
    """An argument of the wrong type, dtype or device, a missing or an unknown one."""


class ArgumentValueError(Error, ValueError):
    """An argument of the right type with a wrong value: rank, sizes, range, choice."""


class SizesError(ArgumentValueError):
    """Sizes that a compiled model was not made for: out of range, or two that disagree."""


class DeviceError(Error):
    """The device is lost, unusable or out of memory."""


class UnknownNameError(ArgumentValueError, AttributeError):
    """A name that nothing goes by."""


class RewriteError(Error):
    """A change of a graph that can't be done; the graph is as it was before the rewriting that asked for it."""


class ErasedError(RewriteError, ReferenceError):
    """A handle to an op or a tensor that is no longer in its module."""


class InternalError(Error):
    """A fault of Inlay's own: please report it."""


_BY_CODE = {
    "InvalidArgument": ArgumentValueError,
    "NotFound": Error,
    "ResourceExhausted": DeviceError,
    "DeviceLost": DeviceError,
    "Unavailable": DeviceError,
    "Internal": InternalError,
}


_OPTIONS = {
    "fallback-ops": "torch_executed_ops",
    "fallback-modules": "torch_executed_modules",
    "fallback-locations": "torch_executed_locations",
    "allow-ops": "allow_ops",
    "exempt-ops": "exempt_ops",
}


_OPTION = re.compile(rf"\bin ({'|'.join(_OPTIONS)})\b")


def from_status(code: str, message: str, compiling: bool) -> Error:
    """The exception for a failed status of the C++ side; what fails while compiling is a CompileError."""
    if compiling and code in ("InvalidArgument", "NotFound"):
        return CompileError(_OPTION.sub(lambda found: f"in {_OPTIONS[found[1]]}", message))
    return _BY_CODE.get(code, Error)(message)


def did_you_mean(word: object, words: Iterable[str], cutoff: float = 0.5) -> str:
    """ "; did you mean 'x'?" for the nearest of `words`, or an empty string if none is as alike as `cutoff`."""
    near = difflib.get_close_matches(str(word), list(words), n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""
