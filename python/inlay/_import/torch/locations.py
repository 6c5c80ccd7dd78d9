# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes locations: the name of a node, the modules that it came from, and the line in the user's source."""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

import torch

from ..._dialect.text import quote

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_ATTRIBUTE = re.compile(r"_modules\['([^']*)'\]|\['([^']*)'\]|\[(\d+)\]|([^.\[\]]+)")


class ModulePlace(NamedTuple):
    """A module of the model: its path, "" for the root, and its qualified class name."""

    path: str
    cls: str


class SourceLine(NamedTuple):
    """A line of a source file."""

    file: str
    line: int


def module_stack(node: torch.fx.Node) -> list[ModulePlace]:
    """Returns the modules that `node` came from, outermost first."""
    stack: list[ModulePlace] = []
    for path, cls in (node.meta.get("nn_module_stack") or {}).values():
        name = cls if isinstance(cls, str) else f"{cls.__module__}.{cls.__qualname__}"
        if (place := ModulePlace(_clean_path(path), name)) not in stack:
            stack.append(place)
    return stack


def _clean_path(path: str) -> str:
    """Returns the path of a module as users write it, `layer1.0`.

    PyTorch appends `@1` for a second call, Dynamo writes `L['self']._modules['layer1'][0]`, and a strict export writes
    `_export_root.layer1.0` in the graphs that control flow calls.
    """
    path = path.partition("@")[0]
    if path.partition(".")[0] == "_export_root":
        return path.partition(".")[2]
    if not path.startswith("L["):
        return path
    parts = [next(part for part in match if part) for match in _ATTRIBUTE.findall(path.removeprefix("L"))]
    return ".".join(parts[1:])


def source_line(node: torch.fx.Node) -> SourceLine | None:
    """Returns the innermost frame outside PyTorch in the node's stack trace; None if there is none."""
    found = _FRAME.findall(node.meta.get("stack_trace") or "")
    frames = [frame for frame in found if "/torch/" not in frame[0] and not frame[0].startswith("<")]
    return SourceLine(frames[-1][0], int(frames[-1][1])) if frames else None


def print_location(name: str, node: torch.fx.Node, portable: bool = False, call: str | None = None) -> str:
    """Returns `loc("conv1")`, with the source line inside and the module stack as metadata of a fused location, if
    known.

    portable: True to leave out the folder of the source file, which exists only on this machine. call: the call that
    the op is a part of, "aten::hardswish".
    """
    text = quote(name)
    if line := source_line(node):
        text += f"({quote(pathlib.PurePath(line.file).name if portable else line.file)}:{line.line}:0)"
    metadata = [f"inlay.call = {quote(call)}"] if call else []
    if stack := module_stack(node):
        pairs = ", ".join(f"[{quote(path)}, {quote(cls)}]" for path, cls in stack)
        metadata.append(f"inlay.module = [{pairs}]")
    if metadata:
        text = f"fused<{{{', '.join(metadata)}}}>[{text}]"
    return f"loc({text})"
