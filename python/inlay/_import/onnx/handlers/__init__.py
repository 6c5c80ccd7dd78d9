# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ONNX ops by topic. The function `handlers` of each module returns a dict from op names to handlers."""

from __future__ import annotations
