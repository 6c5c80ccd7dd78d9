# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A difference in a file of its own: the ops, their weights and their inputs, to run anywhere."""

from __future__ import annotations

import base64
import pathlib
import re
import textwrap
import zlib
from collections.abc import Sequence
from typing import Literal

import torch

from .._graph.module import parse
from .._paths import StrPath
from .._program.imported import TensorType
from .pieces import Piece, difference, is_off, run_text
from .reference import evaluate

_FILE = '''"""{what}

Prints how far each result is off; exits with 1 if one is by more than the tolerance.
"""

import sys

from inlay.debug import reproduce

MODULE = r"""
{text}"""

# The tensors: safetensors, zlib, base64.
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
    target: str,
    tolerance: float | None,
    what: str,
) -> pathlib.Path:
    """Writes `reproduce_<name>.py` into a folder; its path."""
    from safetensors.torch import save

    tensors = {f"weight {key}": tensor for key, tensor in piece.weights.items()}
    tensors |= {f"input {number}": tensor for number, tensor in enumerate(inputs)}
    # Tensors that share memory can't be in one file.
    packed = save({key: tensor.detach().clone().contiguous() for key, tensor in tensors.items()})
    encoded = base64.b64encode(zlib.compress(packed)).decode()
    path = pathlib.Path(folder) / f"reproduce_{re.sub(r'[^A-Za-z0-9_]', '_', name)}.py"
    path.write_text(
        _FILE.format(
            what=what,
            text=piece.text.replace('"""', '""\\"'),
            tensors="\n".join(textwrap.wrap(encoded, 116)),
            target=target,
            tolerance=tolerance,
        ),
        encoding="utf-8",
    )
    return path


def reproduce(text: str, tensors: str, target: Literal["vulkan", "host"], tolerance: float | None = None) -> int:
    """Runs a module on a target and compares with what its ops mean; 0 if all results are within the tolerance, else 1.

    text: a module with @forward; tensors: its weights and inputs as `write_reproducer` packs them.
    """
    from safetensors.torch import load

    unpacked = load(zlib.decompress(base64.b64decode(tensors)))
    weights = {key.removeprefix("weight "): tensor for key, tensor in unpacked.items() if key.startswith("weight ")}
    inputs = [unpacked[f"input {number}"] for number in range(len(unpacked) - len(weights))]
    module = parse(text)
    values = dict(zip(module.get_inputs(), inputs, strict=True))
    evaluate(module.get_layers(), values, weights)
    expected = [values[tensor] for tensor in module.get_outputs()]
    got = run_text(text, weights, target, inputs, [TensorType(tuple(one.shape), one.dtype) for one in expected])
    off = False
    for number, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        share = difference(ours, theirs)
        wrong = is_off(share, theirs.dtype, tolerance)
        off = off or wrong
        print(f"result {number}: off by {share:.2e} of its largest element on {target}{': WRONG' if wrong else ''}")
    return int(off)
