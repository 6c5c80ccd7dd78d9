# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect's graph ops: their definitions, their text and what they compute."""
