# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports `torch.export` programs and FX graphs as text of the dialect.

`export` exports a module, `program` reads signatures, `guards` reads what is known of symbolic sizes, `walker` walks
nodes, and `graph` writes the text. The modules in `handlers` handle framework calls by topic. A call without a handler
becomes an `inlay.opaque` op, which the framework runs.
"""

from __future__ import annotations
