# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inlay compiles a model so that an accelerator runs all it can run well and the host runs the rest.

compiled = inlay.compile(model, (x,))
y = compiled(x)
print(compiled.report)

What is compiled can be saved, and `inlay.load` runs it where there is no compiler too.
"""

# The wheel `inlay` has all of inlay.api; the wheel `inlay-runtime` has inlay_runtime. This file is the same in both, so
# that they can stand side by side, in which case programs are loaded by the compiler's package.
from importlib.util import find_spec

if find_spec("inlay.api"):
    from .api import *
    from .api import __all__
else:
    from inlay_runtime import *
    from inlay_runtime import __all__
