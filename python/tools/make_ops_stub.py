# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the stub of `inlay.ops`: the names that the source exports, and a function for each op of the table.

    make_ops_stub.py TABLE.json OPS.py STUB.pyi

TABLE.json is what make_ops_table.py writes, OPS.py the source of `inlay.ops`.
"""

import ast
import json
import pathlib
import sys

HEAD = """
import torch

from ._inlay import Attribute
from ._graph.builder import OpFunction
from ._graph.module import Tensor

_Operand: TypeAlias = Tensor | float  # numbers become constants

opaque: OpFunction
plugin: OpFunction
"""

# Type and default of an argument by its kind, as `Op.bind` and `OpFunction` take it.
KINDS = {
    "tensor": ("_Operand", ""),
    "optional": ("_Operand | None", "None"),
    "variadic": ("_Operand | Sequence[_Operand]", ""),
    "i64": ("int | Attribute", ""),
    "i64s": ("Sequence[int] | Attribute", ""),
    "f64": ("float | Attribute", ""),
    "unit": ("bool", "False"),
    "type": ("torch.dtype | str | Attribute", ""),
    "string": ("str | Attribute", ""),
    "optional string": ("str | Attribute | None", "None"),
    "map": ("str | Attribute", ""),
    "optional map": ("str | Attribute | None", "None"),
}


def parameter(argument, with_default):
    kind, default = KINDS[argument["kind"]]
    return f"{argument['name']}: {kind}" + (f" = {default}" if default and with_default else "")


def signatures(arguments):
    """The ways to call an op: what may be left out is last, or what follows it goes by name."""
    needed = [number for number, one in enumerate(arguments) if not KINDS[one["kind"]][1]]
    last = max(needed, default=-1)
    if needed == list(range(last + 1)):
        return [[parameter(one, True) for one in arguments]]
    first = next(number for number in range(last) if number not in needed)
    by_place = [parameter(one, number > last) for number, one in enumerate(arguments)]
    by_name = [parameter(one, True) for one in arguments]
    return [by_place, [*by_name[:first], "*", *by_name[first:]]]


def op_class(op):
    """A class of its own, since an op is its name and a function."""
    ways = signatures(op["operands"] + op["attributes"])
    lines = [f"class _{op['name']}(OpFunction):", f"    {json.dumps(op['summary'])}"]
    for way in ways:
        lines += ["    @overload"] * (len(ways) > 1)
        lines.append(f"    def __call__({', '.join(['self', *way])}) -> Tensor: ...")
    return "\n".join([*lines, "", f"{op['name']}: _{op['name']}", ""])


def find_imports(source):
    """The package's own imports of a module, as text that re-exports the names."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names = [alias.name for alias in node.names if alias.name not in ("OpFunction", "op")]
            if names:
                yield f"from .{node.module} import {', '.join(f'{name} as {name}' for name in names)}"


def main(table, source, destination):
    imports = find_imports(pathlib.Path(source).read_text(encoding="utf-8"))
    parts = ["from collections.abc import Sequence", "from typing import TypeAlias, overload", *imports, HEAD]
    parts += [op_class(op) for op in json.loads(pathlib.Path(table).read_text(encoding="utf-8"))]
    pathlib.Path(destination).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
