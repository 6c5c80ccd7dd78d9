# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names nodes, and reads the modules from which exporters say that they came."""

from __future__ import annotations

import ast
from typing import TypeAlias

import onnx

# Metadata of torch.onnx.export: the paths and classes of a node's modules, outermost first, and of the node itself.
_SCOPES, _CLASSES = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"


# "nn_module_stack" of FX nodes: path -> (path, class), outermost first. The class is "" if it is unknown.
ModuleStack: TypeAlias = dict[str, tuple[str, str]]


class Labels:
    """Gives each node a unique name."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}  # name -> the highest number behind it

    def take(self, name: str) -> str:
        """Returns `name`, with a number behind it if it is already used."""
        unique, number = name, self._used.get(name, 0)
        while unique in self._used:
            number += 1
            unique = f"{name}_{number}"
        self._used[name] = number
        self._used[unique] = 0
        return unique


def module_stack(node: onnx.NodeProto) -> ModuleStack:
    """Returns the modules of a node, from the exporter's metadata or from the node's name."""
    found = {entry.key: entry.value for entry in node.metadata_props}
    paths, classes = _strings(found.get(_SCOPES)), _strings(found.get(_CLASSES))
    if paths:
        classes = classes if len(classes) == len(paths) else [""] * len(paths)
        return {path: (path, kind) for path, kind in list(zip(paths, classes, strict=True))[:-1]}
    return {path: (path, "") for path in _scopes(node.name)}


def _scopes(name: str) -> list[str]:
    """Returns the paths of modules in a node's name: `layer1`, `layer1.0`, `layer1.0.conv` for
    "/layer1/layer1.0/conv/Conv"."""
    if not name.startswith("/"):
        return []
    paths: list[str] = []
    last: str | None = None
    for part in name.split("/")[1:-1]:
        if last is not None and part.startswith(f"{last}."):  # an element of a list repeats the list's name
            paths.append(paths[-1] + part.removeprefix(last))
        else:
            paths.append(f"{paths[-1]}.{part}" if paths else part)
        last = part
    return paths


def _strings(text: str | None) -> list[str]:
    """Returns a list of strings in Python's syntax; an empty list for other texts."""
    try:
        value = ast.literal_eval(text or "[]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return value if isinstance(value, list) and all(isinstance(element, str) for element in value) else []
