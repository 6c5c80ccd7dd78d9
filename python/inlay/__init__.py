# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inlay compiles a model so that an accelerator runs all it can run well and the host runs the rest.

compiled = inlay.compile(model, (x,))
y = compiled(x)
print(compiled.report)
"""

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
