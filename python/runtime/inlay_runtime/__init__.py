# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs that Inlay compiled on NumPy arrays, without the compiler and without a framework.

program = inlay_runtime.load("model.inlay")
y = program(x)
"""

from .library import Error, version
from .program import Program, Session, TensorInfo, load

__all__ = ["Error", "Program", "Session", "TensorInfo", "load", "version"]
