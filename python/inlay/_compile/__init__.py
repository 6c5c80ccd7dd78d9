# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles models: options, the request to the compiler, and the public functions."""
