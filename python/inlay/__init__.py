# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inlay compiles a model so that an accelerator runs all it can run well and the host runs the rest.

    compiled = inlay.compile(model, (x,))
    y = compiled(x)
    print(compiled.report)

`compiled.save(path)` writes the program to a file. `inlay.load(path)` reads the file, even if only the package
`inlay-runtime` is installed.
"""

# The wheel `inlay` has inlay._api, and the wheel `inlay-runtime` has inlay_runtime. This file is the same in both
# wheels, so that both can be installed. In this case the package of the compiler loads programs.
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or find_spec("inlay._api"):
    from ._api import *
    from ._api import __all__
else:
    from inlay_runtime import *
    from inlay_runtime import __all__
