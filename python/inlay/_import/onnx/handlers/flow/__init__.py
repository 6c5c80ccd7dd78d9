# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of control flow, sequences and optionals."""

from . import control, loops, sequences

TOPICS = (control, loops, sequences)
