# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs: the imported model, its calling convention, and the compiled module that runs it."""
