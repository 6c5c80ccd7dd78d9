# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The public names of `inlay` if the compiler is installed."""

from . import debug, ops, quantization, rewrite
from ._compile.driver import compile, load, partition
from ._compile.export import export
from ._import.examples import Input
from ._program.compiled import CompiledModule
from ._program.report import Report
from ._program.session import Session
from .errors import (
    ArgumentTypeError,
    ArgumentValueError,
    CompileError,
    DeviceError,
    ErasedError,
    Error,
    InternalError,
    ModelWarning,
    RewriteError,
    SizesError,
    UnsupportedError,
)
from .quantization import Recipe, quantize
from .rewrite import Module, import_module, parse, replace_modules

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
    "ModelWarning",
    "Module",
    "Recipe",
    "Report",
    "RewriteError",
    "Session",
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
    "quantization",
    "quantize",
    "replace_modules",
    "rewrite",
]
