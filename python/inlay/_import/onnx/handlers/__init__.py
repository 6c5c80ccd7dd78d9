# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ONNX ops by topic. Each file gives them as `handlers()`: name of an op -> function."""
