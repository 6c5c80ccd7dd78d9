# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package.

All derive from `inlay.Error`. Errors about arguments also derive from the built-in exception that they correspond to:

    try:
        compiled(x)
    except inlay.SizesError:  # also a ValueError
        ...
"""

import difflib
from collections.abc import Iterable


class Error(RuntimeError):
    """Base class of all errors of the package. The message contains the diagnostic of the compiler or the runtime."""


class CompileError(Error):
    """The compiler rejected the graph or an option."""


class UnsupportedError(Error, NotImplementedError):
    """Inlay does not support a part of the model or of the request. The message names the part."""


class ArgumentTypeError(Error, TypeError):
    """An argument has the wrong type or dtype, is missing or is unknown."""


class ArgumentValueError(Error, ValueError):
    """An argument has the right type but a wrong value, such as its rank, its sizes or its device."""


class SizesError(ArgumentValueError):
    """The arguments have sizes that the model was not compiled for: out of range, or in conflict with each other."""


class DeviceError(Error):
    """The device is lost, unusable or out of memory."""


class UnknownNameError(ArgumentValueError, AttributeError):
    """No op, operand, attribute or predicate has the name."""


class RewriteError(Error):
    """A graph can't be changed as requested. The graph is the same as before the rewrite that requested the change."""


class ErasedError(RewriteError, ReferenceError):
    """A handle refers to an op or a tensor that is no longer in its module."""


class ModelWarning(UserWarning):
    """A model has a defect that doesn't change its results. The message names it."""


class InternalError(Error):
    """Inlay has a bug. Please report it."""


_BY_CODE = {
    "InvalidArgument": ArgumentValueError,
    "NotFound": Error,
    "ResourceExhausted": DeviceError,
    "DeviceLost": DeviceError,
    "Unavailable": DeviceError,
    "Internal": InternalError,
}


def from_status(code: str, message: str, compiling: bool) -> Error:
    """Returns the exception for a failed status of the extension.

    If `compiling` is true, an invalid argument or a missing file is a CompileError.
    """
    if compiling and code in ("InvalidArgument", "NotFound"):
        return CompileError(message)
    return _BY_CODE.get(code, Error)(message)


def did_you_mean(word: object, words: Iterable[str], cutoff: float = 0.5) -> str:
    """Returns "; did you mean 'x'?" with the closest of `words`.

    Returns an empty string if the similarity of each word is below `cutoff` (0 to 1).
    """
    near = difflib.get_close_matches(str(word), list(words), n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""
