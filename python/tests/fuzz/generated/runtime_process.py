# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs saved programs with the runtime package. Each line of the input names a folder with a program and arguments."""

import pathlib
import sys

import inlay_runtime
import ml_dtypes
import torch

assert "inlay" not in sys.modules


def to_array(tensor):
    """Returns the NumPy array of a tensor. NumPy has bfloat16 from ml_dtypes."""
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def to_tensor(array):
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def run(folder):
    program = inlay_runtime.load(folder / "batch.inlay")
    results = program(*map(to_array, torch.load(folder / "arguments.pt")))
    results = results if isinstance(results, tuple) else (results,)
    torch.save([to_tensor(result) for result in results], folder / "results.pt")


for line in sys.stdin:
    try:
        run(pathlib.Path(line.strip()))
        print("done", flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)
