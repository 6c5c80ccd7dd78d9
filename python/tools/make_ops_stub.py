# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the stub of `inlay.ops`: the names that the source exports, and a function for each op of the table.

    make_ops_stub.py TABLE.json OPS.py STUB.pyi

make_ops_table.py writes TABLE.json. OPS.py is the source of `inlay.ops`.
"""

import ast
import json
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HEAD = """
import torch

from ._inlay import Attribute
from ._graph.builder import OpFunction
from ._graph.module import Tensor

_Operand: TypeAlias = Tensor | float  # numbers become constants

opaque: OpFunction
plugin: OpFunction
"""

# The type and the default of an argument by its kind, for `Op.bind` and `OpFunction`.
KINDS = {
    "tensor": ("_Operand", ""),
    "optional": ("_Operand | None", "None"),
    "variadic": ("_Operand | Sequence[_Operand]", ""),
    "i64": ("int | Attribute", ""),
    "optional i64": ("int | Attribute | None", "None"),
    "i64s": ("Sequence[int] | Attribute", ""),
    "f64": ("float | Attribute", ""),
    "unit": ("bool", "False"),
    "type": ("torch.dtype | str | Attribute", ""),
    "string": ("str | Attribute", ""),
    "optional string": ("str | Attribute | None", "None"),
    "map": ("str | Attribute", ""),
    "optional map": ("str | Attribute | None", "None"),
}


def parameter(argument: Mapping[str, str], with_default: bool) -> str:
    """Returns a parameter with its type, and its default if it has one and `with_default` is true."""
    kind, default = KINDS[argument["kind"]]
    return f"{argument['name']}: {kind}" + (f" = {default}" if default and with_default else "")


def signatures(arguments: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """Returns the parameters of each overload of an op.

    If optional arguments precede needed ones, one overload takes all arguments by position, and the other one takes
    the arguments from the first optional one on by name.
    """
    needed = [number for number, argument in enumerate(arguments) if not KINDS[argument["kind"]][1]]
    last = max(needed, default=-1)
    if needed == list(range(last + 1)):
        return [[parameter(argument, True) for argument in arguments]]
    first = next(number for number in range(last) if number not in needed)
    by_place = [parameter(argument, number > last) for number, argument in enumerate(arguments)]
    by_name = [parameter(argument, True) for argument in arguments]
    return [by_place, [*by_name[:first], "*", *by_name[first:]]]


def op_class(op: Mapping[str, Any]) -> str:
    """Returns the declaration of an op. It has a class of its own, because an op is a name and also a function."""
    ways = signatures(op["operands"] + op["attributes"])
    lines = [f"class _{op['name']}(OpFunction):", f"    {json.dumps(op['summary'])}"]
    for way in ways:
        lines += ["    @overload"] * (len(ways) > 1)
        lines.append(f"    def __call__({', '.join(['self', *way])}) -> Tensor: ...")
    return "\n".join([*lines, "", f"{op['name']}: _{op['name']}", ""])


def find_imports(source: str) -> Iterator[str]:
    """Yields the imports of a module from its package, in the form that re-exports the names."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names = [alias.name for alias in node.names if alias.name not in ("OpFunction", "op")]
            if names:
                yield f"from .{node.module} import {', '.join(f'{name} as {name}' for name in names)}"


def main(table: str, source: str, destination: str) -> None:
    imports = find_imports(pathlib.Path(source).read_text(encoding="utf-8"))
    parts = ["from collections.abc import Sequence", "from typing import TypeAlias, overload", *imports, HEAD]
    parts += [op_class(op) for op in json.loads(pathlib.Path(table).read_text(encoding="utf-8"))]
    pathlib.Path(destination).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
