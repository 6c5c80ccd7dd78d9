# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports models as programs: from torch.export, FX graphs and ONNX."""

from __future__ import annotations
