# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patterns that find and change parts of graphs, and the managers that run them."""
