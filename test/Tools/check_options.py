"""Compares what C++ and the tools have with the table of options.

check_options.py RECORDS.json SOURCE_TREE

RECORDS.json is `llvm-tblgen --dump-json` of include/inlay/Support/Options.td. Prints a line for each difference and
exits with 1 if there are any.
"""

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

FLAG = re.compile(r"^ +--([a-z-]+)")


def read_flags(lines: list[str]) -> dict[str, str]:
    """Returns the documentation of each flag in a section of a help text."""
    flags: dict[str, str] = {}
    name = ""
    for line in lines:
        if found := FLAG.match(line):
            name = found[1]
        if name:
            flags[name] = f"{flags.get(name, '')} {line}"
    return {name: " ".join(text.split()) for name, text in flags.items()}


def section(text: str, head: str, end: str) -> list[str]:
    """Returns the lines after the one that matches `head`, up to the first that matches `end`."""
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if re.search(head, line)) + 1
    last = next((number for number in range(first, len(lines)) if re.search(end, lines[number])), len(lines))
    return lines[first:last]


def compare(place: str, wanted: dict[str, str], found: dict[str, str]) -> Iterator[str]:
    """Yields the names that only one side has, and those whose documentation differs from the table."""
    for name in sorted(wanted.keys() - found.keys()):
        yield f"{place} lacks '{name}', which the table has"
    for name in sorted(found.keys() - wanted.keys()):
        yield f"{place} has '{name}', which the table lacks"
    for name in sorted(wanted.keys() & found.keys()):
        if wanted[name] not in found[name]:
            yield f"{place}: '{name}': expected '{wanted[name]}', but got '{found[name]}'"


def read_members(header: str) -> dict[str, str]:
    """Returns the members of CompileSpec except `inputs`, each without documentation."""
    (body,) = re.findall(r"^struct CompileSpec \{\n(.*?)^\};", header, re.M | re.S)
    body = re.sub(r"//.*", "", body)
    return {name: "" for name in re.findall(r"(\w+)(?: = [^;]*)?;", body) if name != "inputs"}


def check_options(table: list[dict], source: pathlib.Path) -> Iterator[str]:
    flags = {option["Flag"]: option["Sentence"] for option in table if option["IsFlag"]}

    def run(tool: str) -> str:
        return subprocess.run([tool, "--help"], check=True, capture_output=True, text=True).stdout

    yield from compare("inlay-compile", flags, read_flags(section(run("inlay-compile"), "^Compilation:", "^Generic")))
    text = run("inlay-run")
    found = read_flags(section(text, "^Compilation:", r"^\S"))
    found.pop("from", "")  # inlay-compile has it beside the options of a compilation
    found["device"] = read_flags(text.splitlines())["device"]  # inlay-run uses it too
    yield from compare("inlay-run", flags, found)
    pipeline = {option["Flag"]: option["Text"] for option in table if option["InPipeline"]}
    found = read_flags(section(run("inlay-opt"), r"^ +--inlay-partition ", r"^ {0,6}--|^  \S"))
    yield from compare("inlay-partition", pipeline, found)
    members = {option["Keyword"]: "" for option in table if option["InCpp"]}
    header = (source / "include/inlay/Execution/CompileSpec.h").read_text()
    yield from compare("CompileSpec", members, read_members(header))


def main() -> int:
    records = json.loads(pathlib.Path(sys.argv[1]).read_text())
    table = [records[name] for name in records["!instanceof"]["CompileOption"]]
    differences = list(check_options(table, pathlib.Path(sys.argv[2])))
    print(*differences, sep="\n", end="\n" if differences else "")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
