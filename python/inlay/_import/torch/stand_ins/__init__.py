# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces values that the dialect can't hold by others that stand for them, in an FX graph before import."""

from __future__ import annotations
