# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ATen calls by topic. The function `handlers` of each module returns a dict from ATen names to handlers.

PyTorch decomposes many calls before the import. A handler of such a call is never used, unless `_KEPT` in
`decompose` has the call.
"""

from __future__ import annotations
