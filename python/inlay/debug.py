# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tools that compare a compiled model with PyTorch.

`compare` runs every segment on every target and finds the first op whose result differs too much:

    print(inlay.debug.compare(model, (x,)))
"""

from ._debug.comparison import Comparison, SegmentComparison, compare
from ._debug.reproducer import reproduce

__all__ = ["Comparison", "SegmentComparison", "compare", "reproduce"]
