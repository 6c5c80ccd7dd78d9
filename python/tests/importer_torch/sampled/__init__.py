# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which of PyTorch's operators the tests draw samples of, one file per family. Each file has a list OPS; a new file is
found by itself."""

import importlib
import pkgutil


def all_ops():
    """The entries of all files, by file and then as listed."""
    files = sorted(info.name for info in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in files if name != "entry"]
    return [entry for module in modules for entry in module.OPS]
