# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout: nothing in evaluation. In training PyTorch's own, so that the random numbers are its own, too."""

from .effects import draws_random_numbers

_NAMES = ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")


def handlers():
    """ATen name -> handler."""
    return dict.fromkeys(_NAMES, _handle_dropout)


def _handle_dropout(walker, call):
    return None if draws_random_numbers(call.node) else walker.tensor(call["input"])
