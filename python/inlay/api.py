# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `import inlay` gives where the compiler is installed."""

from . import debug, ops, rewrite
from .compiler import compile, load, partition
from .errors import (
    ArgumentTypeError,
    ArgumentValueError,
    CompileError,
    DeviceError,
    ErasedError,
    Error,
    InternalError,
    RewriteError,
    SizesError,
    UnsupportedError,
)
from .exporting import export
from .module import CompiledModule
from .report import Report
from .rewrite import Module, import_module, parse, replace_modules
from .shapes import Input

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "CompileError",
    "CompiledModule",
    "DeviceError",
    "ErasedError",
    "Error",
    "Input",
    "InternalError",
    "Module",
    "Report",
    "RewriteError",
    "SizesError",
    "UnsupportedError",
    "compile",
    "debug",
    "export",
    "import_module",
    "load",
    "ops",
    "parse",
    "partition",
    "replace_modules",
    "rewrite",
]
