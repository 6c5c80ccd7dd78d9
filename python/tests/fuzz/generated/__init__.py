# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models that are compared with PyTorch. `models.py` in the folder above is the command."""
