# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes an ONNX model for the command-line tools: `python -m inlay.onnx model.onnx -o model.mlir`.

The graph is written to the .mlir file, and the weights to a .safetensors file beside it.
"""

import argparse
import pathlib
import sys
from collections.abc import Sequence

from .._compile.export import export
from .._import.onnx.program import example_inputs
from ..errors import ArgumentValueError, Error


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code. `arguments` are those of the command line if None."""
    parser = argparse.ArgumentParser(
        "python -m inlay.onnx", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("-o", "--output", help="the .mlir file; default: the name of the model with this suffix")
    parser.add_argument(
        "--shape",
        metavar="INPUT=DIMS",
        action="append",
        default=[],
        help="dims of an input with symbolic dims, e.g. image=1x3x224x224",
    )
    given = parser.parse_args(arguments)
    try:
        inputs = example_inputs(given.model, dict(map(_shape, given.shape))) if given.shape else None
        print(export(given.model, inputs, given.output or pathlib.Path(given.model).with_suffix(".mlir")))
    except (Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Returns ("image", (1, 3)) for "image=1x3". The dims of "image=" are ()."""
    name, sign, dims = text.rpartition("=")
    parts = dims.split("x") if dims else []
    if not sign or not all(part.isascii() and part.isdigit() for part in parts):
        raise ArgumentValueError(f"expected --shape to be INPUT=DIMS as in image=1x3x224x224, but got {text!r}")
    return name, tuple(int(part) for part in parts)


if __name__ == "__main__":
    sys.exit(main())
