# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports a model to ONNX, once for all contenders that read it."""

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
    """The model can't be exported to ONNX. The message is that of the exporter."""


def _root(error: BaseException) -> str:
    """Returns the message of the first cause. The errors that wrap it only name the step of the export."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error)


def _export(example: Example, path: pathlib.Path) -> None:
    """Exports with the exporter for torch.export, or with the one for TorchScript if that fails."""
    arguments = {"args": example.args, "kwargs": example.kwargs or {}}
    try:
        torch.onnx.export(example.model, f=path, dynamo=True, verbose=False, external_data=True, **arguments)
    except Exception as error:
        try:
            torch.onnx.export(example.model, f=str(path), dynamo=False, **arguments)
        except Exception:
            raise ExportError(_root(error)) from error  # the error of the newer exporter is the useful one


def export_onnx(example: Example, folder: pathlib.Path) -> tuple[str, float]:
    """Returns the model file in `folder` and the milliseconds of its export. The first contender exports it."""
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
    """Returns the arguments by the names of the inputs. They are matched by name or, without names, by position."""
    by_name = {name: value.numpy() for name, value in (example.kwargs or {}).items() if isinstance(value, torch.Tensor)}
    if set(names) == set(by_name):
        return {name: by_name[name] for name in names}
    values = [value.numpy() for value in tensors((example.args, example.kwargs))]
    if len(values) != len(names):
        raise ExportError(f"expected {len(values)} inputs in ONNX, like the model has, but got {len(names)}")
    return dict(zip(names, values, strict=True))
