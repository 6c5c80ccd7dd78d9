# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m inlay.onnx model.onnx -o model.mlir`: writes an ONNX model for the command-line tools.

The graph goes into the .mlir file, the weights into a .safetensors file beside it.
"""

import argparse
import pathlib
import sys

from .._compile.export import export
from .._import.onnx.program import example_inputs
from ..errors import ArgumentValueError, Error


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m inlay.onnx", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("-o", "--output", help="the .mlir file; by default beside the model, by its name")
    parser.add_argument(
        "--shape",
        metavar="INPUT=DIMS",
        action="append",
        default=[],
        help="dims of an input that has symbolic ones, e.g. image=1x3x224x224",
    )
    given = parser.parse_args(arguments)
    try:
        inputs = example_inputs(given.model, dict(map(_shape, given.shape))) if given.shape else None
        print(export(given.model, inputs, given.output or pathlib.Path(given.model).with_suffix(".mlir")))
    except (Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _shape(text):
    """("image", (1, 3)) for "image=1x3"; nothing after the "=" means no dims."""
    name, sign, dims = text.rpartition("=")
    parts = dims.split("x") if dims else []
    if not sign or not all(part.isascii() and part.isdigit() for part in parts):
        raise ArgumentValueError(f"expected --shape to be INPUT=DIMS as in image=1x3x224x224, but got {text!r}")
    return name, tuple(int(part) for part in parts)


if __name__ == "__main__":
    sys.exit(main())
