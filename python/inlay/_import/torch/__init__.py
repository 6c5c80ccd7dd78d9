# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports `torch.export` programs and FX graphs as text of the dialect.

`export` exports a module, `program` reads signatures, `guards` reads what is known of symbolic sizes, `walker` walks
nodes, `graph` writes text. The handlers of framework calls are in `handlers`, by topic. A call without a handler
becomes an `inlay.opaque` that the framework runs.
"""
