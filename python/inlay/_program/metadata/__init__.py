# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The description of a compiled model in a container: written by `saving.py` and read by `restoring.py`."""
