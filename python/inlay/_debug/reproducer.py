# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes and runs reproducers: files with the ops, weights and inputs of a wrong result."""

from __future__ import annotations

import base64
import pathlib
import re
import textwrap
import zlib
from collections.abc import Sequence

import torch

from .._graph.module import Tensor, parse
from .._paths import StrPath
from .._program.imported import TensorType
from .pieces import Piece, Target, difference, is_off, run_text
from .reference import evaluate

_FILE = '''"""{summary}

Prints the error of each result. Exits with 1 if an error is larger than the tolerance.
"""

import sys

from inlay.debug import reproduce

MODULE = r"""
{text}"""

# Tensors as safetensors, compressed with zlib and encoded with base64.
TENSORS = """
{tensors}
"""

sys.exit(reproduce(MODULE, TENSORS, target={target!r}, tolerance={tolerance!r}))
'''


def write_reproducer(
    folder: StrPath,
    name: str,
    piece: Piece,
    inputs: Sequence[torch.Tensor],
    target: Target,
    tolerance: float | None,
    summary: str,
) -> pathlib.Path:
    """Writes `reproduce_<name>.py` to a folder and returns its path. summary: the first line of the file."""
    from safetensors.torch import save

    tensors = {f"weight {key}": tensor for key, tensor in piece.weights.items()}
    tensors |= {f"input {number}": tensor for number, tensor in enumerate(inputs)}
    # safetensors can't save tensors that share memory, so they are copied.
    packed = save({key: tensor.detach().clone().contiguous() for key, tensor in tensors.items()})
    encoded = base64.b64encode(zlib.compress(packed)).decode()
    path = pathlib.Path(folder) / f"reproduce_{re.sub(r'[^A-Za-z0-9_]', '_', name)}.py"
    path.write_text(
        _FILE.format(
            summary=summary,
            text=piece.text.replace('"""', '""\\"'),
            tensors="\n".join(textwrap.wrap(encoded, 116)),
            target=target,
            tolerance=tolerance,
        ),
        encoding="utf-8",
    )
    return path


def reproduce(text: str, tensors: str, target: Target, tolerance: float | None = None) -> int:
    """Runs a module on a target, compares the results with PyTorch, and prints the errors.

    Returns 0 if all errors are within the tolerance, or 1. The files that `compare` writes call this function.

    text: a module with a function @forward.
    tensors: its weights and inputs as safetensors, compressed with zlib and encoded with base64.
    target: "vulkan" or "host".
    tolerance: the largest relative error of a correct result (default: as for `compare`).
    """
    from safetensors.torch import load

    unpacked = load(zlib.decompress(base64.b64decode(tensors)))
    weights = {key.removeprefix("weight "): tensor for key, tensor in unpacked.items() if key.startswith("weight ")}
    inputs = [unpacked[f"input {number}"] for number in range(len(unpacked) - len(weights))]
    module = parse(text)
    values: dict[Tensor, torch.Tensor] = dict(zip(module.get_inputs(), inputs, strict=True))
    evaluate(module.get_layers(), values, weights)
    expected = [values[tensor] for tensor in module.get_outputs()]
    types = [TensorType(tuple(result.shape), result.dtype) for result in expected]
    got = run_text(text, weights, target, inputs, types)
    off = False
    for number, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        share = difference(ours, theirs)
        wrong = is_off(share, theirs.dtype, tolerance)
        off = off or wrong
        print(f"result {number}: off by {share:.2e} of its largest element on {target}{': WRONG' if wrong else ''}")
    return int(off)
