# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inlay compiles a model so that an accelerator runs all it can run well and the host runs the rest.

compiled = inlay.compile(model, (x,))
y = compiled(x)
print(compiled.report)
"""

from .compiler import compile, load, partition
from .errors import (
    ArgumentTypeError,
    ArgumentValueError,
    CompileError,
    DeviceError,
    Error,
    InternalError,
    UnsupportedError,
)
from .exporting import export
from .module import CompiledModule
from .report import Report

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "CompileError",
    "CompiledModule",
    "DeviceError",
    "Error",
    "InternalError",
    "Report",
    "UnsupportedError",
    "compile",
    "export",
    "load",
    "partition",
]
