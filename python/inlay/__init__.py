# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inlay compiles a model so that an accelerator runs all it can run well and the host runs the rest.

compiled = inlay.compile(model, (x,))
y = compiled(x)
print(compiled.report)

What is compiled can be saved, and `inlay.load` runs it where there is no compiler too.
"""

# The wheel `inlay` holds inlay._api, the wheel `inlay-runtime` holds inlay_runtime. This file is the same in both, so
# that both can be installed. The compiler's package then loads programs.
from importlib.util import find_spec

if find_spec("inlay._api"):
    from ._api import *
    from ._api import __all__
else:
    from inlay_runtime import *
    from inlay_runtime import __all__
