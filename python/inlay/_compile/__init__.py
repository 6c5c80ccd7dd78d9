# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From programs to compiled models: options, the request to the compiler, and the entry points."""
