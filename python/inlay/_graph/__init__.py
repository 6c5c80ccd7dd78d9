# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs in memory: modules, layers and tensors, and functions that make and change them."""
