# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ATen calls by topic. Each file gives them as `handlers()`: name of a call -> function."""
