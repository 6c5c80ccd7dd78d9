"""Print the op examples of a dialect's reference page as one module: `op_examples.py PAGE`.

Each example becomes a function whose arguments are the operands, with the types of the example's signature. Exits with
1 if an op has no example.
"""

import pathlib
import re
import sys

TERMINATORS = {"inlay.yield"}  # they appear in the examples of the ops that they end


def split_types(text: str) -> list[str]:
    """Splits a list of types at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<([") - (char in ">)]")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def function(name: str, example: str) -> str:
    head, *signature = re.split(r"\s:\s(?=\()", example, maxsplit=1)
    operands = re.findall(r"%\w+", head.split("=", 1)[-1] if head.startswith("%") else head)
    types = re.match(r"\((.*?)\)\s*->", signature[0], re.DOTALL) if signature else None
    typed = zip(operands, split_types(types[1]), strict=True) if types else []
    arguments = ", ".join(f"{operand}: {kind}" for operand, kind in typed)
    return f"func.func @{name.replace('.', '_')}({arguments}) {{\n  {example}\n  return\n}}"


def main() -> int:
    missing = []
    for section in pathlib.Path(sys.argv[1]).read_text().split("\n### ")[1:]:
        op = re.match(r"`([\w.]+)` \(", section)
        if not op or op[1] in TERMINATORS:
            continue
        example = re.search(r"Example: `([^`]+)`|Example:\s*```mlir\n(.*?)```", section, re.DOTALL)
        if example:
            print(function(op[1], (example[1] or example[2]).strip()))
        else:
            missing.append(op[1])
    if missing:
        print("no example of " + ", ".join(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
