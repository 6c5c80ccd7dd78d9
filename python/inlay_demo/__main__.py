# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the demo. Exits with 1 if a result differs from PyTorch's, and with 2 if a model can't be loaded.

The weights and the picture come from the packages in requirements-demo.txt. Nothing is downloaded.
"""

import sys

from . import picture, sentences
from .measure import ModelUnavailableError

PARTS = (sentences.show, picture.show)


def main() -> int:
    """Runs the demo and returns its exit code."""
    status = 0
    for number, show in enumerate(PARTS):
        if number:
            print(f"\n{'-' * 100}\n")
        try:
            status = status or (0 if show() else 1)
        except ModelUnavailableError as error:
            print(f"demo: {error}", file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
