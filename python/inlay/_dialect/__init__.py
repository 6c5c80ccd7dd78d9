# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The graph ops of the dialect: their definitions, their text and their meaning."""
