# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs: what is imported, how it is called, and the compiled model that runs it."""
