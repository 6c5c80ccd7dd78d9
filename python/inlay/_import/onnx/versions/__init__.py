# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions of ONNX's ops: which ones handlers take, and how nodes of older ones become nodes of newer ones."""

from .table import OLDEST, TAKEN, OpTable
from .upgrades import UPGRADES

__all__ = ["OLDEST", "TAKEN", "UPGRADES", "OpTable"]
