# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps that are drawn, with a file for each family.

Each file has a list KINDS of functions with weights. A function draws operands and adds one or more steps to a draft.
New files are found automatically.
"""

import importlib
import pkgutil


def all_kinds():
    """Returns the functions and weights of all files."""
    files = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return [kind for name in files for kind in importlib.import_module(f"{__name__}.{name}").KINDS]
