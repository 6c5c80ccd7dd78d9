# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model as ONNX, exported once for all contenders that read it."""

import contextlib
import io
import json
import os
import pathlib
import time
from typing import Any

import torch
from inlay_models import Example
from subjects import tensors


class ExportError(Exception):
    """The model has no form in ONNX; the message is the exporter's."""


def _root(error: BaseException) -> str:
    """The words of the first cause: those around it only tell which step of the export it was."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error)


def _export(example: Example, path: pathlib.Path) -> None:
    """By the exporter of torch.export's graphs, by that of TorchScript where it fails."""
    arguments = {"args": example.args, "kwargs": example.kwargs or {}}
    try:
        torch.onnx.export(example.model, f=path, dynamo=True, verbose=False, external_data=True, **arguments)
    except Exception as error:
        try:
            torch.onnx.export(example.model, f=str(path), dynamo=False, **arguments)
        except Exception:
            raise ExportError(_root(error)) from error  # the newer one's words are the ones to act on


def export_onnx(example: Example, folder: pathlib.Path) -> tuple[str, float]:
    """The file in `folder`, and the milliseconds that making it took whoever came first."""
    path, facts = folder / "model.onnx", folder / "export.json"
    if not facts.exists():
        start, error = time.perf_counter(), None
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                _export(example, path)
        except ExportError as failure:
            error = str(failure)
        facts.write_text(json.dumps({"error": error, "export_ms": 1e3 * (time.perf_counter() - start)}))
    found = json.loads(facts.read_text())
    if found["error"] is not None:
        raise ExportError(found["error"])
    return os.fspath(path), found["export_ms"]


def feed(example: Example, names: list[str]) -> dict[str, Any]:
    """The arguments by the names of the model's inputs: by name where they have one, by position else."""
    by_name = {name: value.numpy() for name, value in (example.kwargs or {}).items() if isinstance(value, torch.Tensor)}
    if set(names) == set(by_name):
        return {name: by_name[name] for name in names}
    values = [value.numpy() for value in tensors((example.args, example.kwargs))]
    if len(values) != len(names):
        raise ExportError(f"expected {len(values)} inputs as the model has, but got {len(names)} in ONNX")
    return dict(zip(names, values, strict=True))
