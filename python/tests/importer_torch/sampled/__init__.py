# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of PyTorch that the tests draw samples of, with a file for each family.

Each file has a list OPS. New files are found automatically.
"""

import importlib
import pkgutil


def all_ops():
    """Returns the entries of all files, ordered by file and list."""
    files = sorted(info.name for info in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in files if name != "entry"]
    return [entry for module in modules for entry in module.OPS]
