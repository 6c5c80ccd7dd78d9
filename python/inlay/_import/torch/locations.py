# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locations: a node's name, the modules it came from, and the line of the user's source."""

import pathlib
import re

from ..._dialect.text import quote

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_ATTRIBUTE = re.compile(r"_modules\['([^']*)'\]|\['([^']*)'\]|\[(\d+)\]|([^.\[\]]+)")


def module_stack(node):
    """[(path, qualified class name)] of the modules that `node` came from, outermost first; the root's path is ""."""
    stack = []
    for path, cls in (node.meta.get("nn_module_stack") or {}).values():
        name = cls if isinstance(cls, str) else f"{cls.__module__}.{cls.__qualname__}"
        if (place := (_clean_path(path), name)) not in stack:
            stack.append(place)
    return stack


def _clean_path(path):
    """`layer1.0` for `layer1.0@1` (a second call), for Dynamo's `L['self']._modules['layer1'][0]`, and for
    `_export_root.layer1.0`, as a strict export calls it in what control flow calls."""
    path = path.partition("@")[0]
    if path.partition(".")[0] == "_export_root":
        return path.partition(".")[2]
    if not path.startswith("L["):
        return path
    parts = [next(part for part in match if part) for match in _ATTRIBUTE.findall(path.removeprefix("L"))]
    return ".".join(parts[1:])


def source_line(node):
    """(file, line) of the innermost frame outside PyTorch in the node's stack trace, or None."""
    found = _FRAME.findall(node.meta.get("stack_trace") or "")
    frames = [frame for frame in found if "/torch/" not in frame[0] and not frame[0].startswith("<")]
    return (frames[-1][0], int(frames[-1][1])) if frames else None


def print_location(name, node, portable=False, call=None):
    """`loc("conv1")`, with the source line inside and the module stack as a fused location's metadata where known.

    portable: leave out the folder of the source file, which only this machine has. call: the call that an op is one
    part of, "aten::hardswish".
    """
    text = quote(name)
    if line := source_line(node):
        text += f"({quote(pathlib.PurePath(line[0]).name if portable else line[0])}:{line[1]}:0)"
    metadata = [f"inlay.call = {quote(call)}"] if call else []
    if stack := module_stack(node):
        pairs = ", ".join(f"[{quote(path)}, {quote(cls)}]" for path, cls in stack)
        metadata.append(f"inlay.module = [{pairs}]")
    if metadata:
        text = f"fused<{{{', '.join(metadata)}}}>[{text}]"
    return f"loc({text})"
