# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of ATen calls by topic. The function `handlers` of each module returns a dict from ATen names to
handlers."""

from __future__ import annotations
