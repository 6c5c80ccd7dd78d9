# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons of a compiled model with PyTorch, segment by segment and op by op."""
