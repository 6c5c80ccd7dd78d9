# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From models to programs: torch.export, FX graphs and ONNX."""
