# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of nodes, and the modules that exporters say they came from."""

import ast

# What torch.onnx.export keeps of a node's modules: their paths and classes, outermost first, the node itself last.
_SCOPES, _CLASSES = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"


class Labels:
    """Gives each node a name of its own."""

    def __init__(self):
        self._used = set()

    def take(self, name):
        """`name`, or with a number behind it if it is taken."""
        unique, number = name, 0
        while unique in self._used:
            number += 1
            unique = f"{name}_{number}"
        self._used.add(unique)
        return unique


def module_stack(node):
    """What FX nodes have as "nn_module_stack": {path: (path, class)}, outermost first. An unknown class is ""."""
    found = {entry.key: entry.value for entry in node.metadata_props}
    paths, classes = _strings(found.get(_SCOPES)), _strings(found.get(_CLASSES))
    if paths:
        classes = classes if len(classes) == len(paths) else [""] * len(paths)
        return {path: (path, kind) for path, kind in list(zip(paths, classes, strict=True))[:-1]}
    return {path: (path, "") for path in _scopes(node.name)}


def _scopes(name):
    """`layer1`, `layer1.0`, `layer1.0.conv` for "/layer1/layer1.0/conv/Conv"."""
    if not name.startswith("/"):
        return []
    paths, last = [], None
    for part in name.split("/")[1:-1]:
        if last is not None and part.startswith(f"{last}."):  # a part of a list says the list's name again
            paths.append(paths[-1] + part.removeprefix(last))
        else:
            paths.append(f"{paths[-1]}.{part}" if paths else part)
        last = part
    return paths


def _strings(text):
    """A list of strings written as Python does; an empty one for anything else."""
    try:
        value = ast.literal_eval(text or "[]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else []
