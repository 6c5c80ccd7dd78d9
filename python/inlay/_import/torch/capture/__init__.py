# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the Python values that a forward reads or changes, which torch.export does not record."""
