# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a result differs from PyTorch's: `compare` looks at every segment on every target and finds the op to blame."""

from ._debug.comparison import Comparison, SegmentComparison, compare
from ._debug.reproducer import reproduce

__all__ = ["Comparison", "SegmentComparison", "compare", "reproduce"]
