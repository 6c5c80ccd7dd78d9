# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The way in: `torch.export` programs and FX graphs become text of the dialect.

`program` reads signatures, `guards` what is known of symbolic sizes, `walker` walks nodes, `graph` writes; a handler
per framework call is in a file by topic, `attention`, `filling`, `indexing`, `layout`, `neural`, `pointwise`,
`resampling`, `softmax`, `sorting`. A call without a handler becomes an `inlay.opaque` that the framework runs.
"""

from .program import ImportedProgram, Input, Output, import_calls, import_graph, import_program
from .sizes import Size, Symbol, Symbols

__all__ = [
    "ImportedProgram",
    "Input",
    "Output",
    "Size",
    "Symbol",
    "Symbols",
    "import_calls",
    "import_graph",
    "import_program",
]
