"""The names of passes: class, flag, file, test and debug type of a pass follow from one another."""

import pathlib
import re
from collections.abc import Iterator

from source_tree import Finding, Source

PASS = re.compile(r'^def\s+(\w+)\s*:\s*(?:Interface)?Pass<\s*"([^"]+)"', re.MULTILINE)
# The passes of targets belong to a phase: its name is in their flags, and their tests lie with those of the phase.
PHASES = {"Target": "Convert"}


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def check_records(root: pathlib.Path, td: Source) -> Iterator[Finding]:
    """Checks the passes of one file.

    FormSegmentsPass is lib/Partition/Passes/FormSegments.cpp, --inlay-partition-form-segments and
    test/Partition/form-segments.mlir. The name of a class may also hold the name of the phase, which tells the closing
    checks of the phases apart.
    """
    text = "\n".join(td.lines)
    folder = td.inside.parts[0]
    phase = PHASES.get(folder, folder)
    for match in PASS.finditer(text):
        name, flag = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if not name.endswith("Pass"):
            yield td.path, line, f"expected the class of a pass to end in 'Pass', but got '{name}'"
        stem = name.removesuffix("Pass")
        short = stem.replace(phase, "", 1)
        wanted = "-".join(filter(None, ["inlay", phase.lower(), kebab(short)]))
        if flag not in (wanted, f"inlay-{phase.lower()}-{kebab(stem)}"):
            yield td.path, line, f"expected flag '{wanted}' for {name}, but got '{flag}'"
        test = flag.removeprefix(f"inlay-{phase.lower()}-") if short else phase.lower()
        sources = [f for f in (root / "lib" / folder).rglob("*.cpp") if f.stem in (stem, short)]
        if not sources:
            yield td.path, line, f"expected {name} in {short or stem}.cpp below lib/{folder}, but there is no such file"
        if not any((root / "test" / phase).rglob(f"{test}.mlir")):
            yield td.path, line, f"expected a test of {name} in test/{phase}/{test}.mlir, but there is no such file"
        for source in sources:
            debug = re.search(r'#define DEBUG_TYPE "([^"]+)"', source.read_text())
            if debug and debug[1] != flag:
                yield source, 1, f'expected DEBUG_TYPE "{flag}", but got "{debug[1]}"'
        body = text[match.end() : match.end() + text[match.end() :].find("\n}")]
        for field in ("summary", "description"):
            if f"let {field}" not in body:
                yield td.path, line, f"expected a {field} of {name}"


def check_passes(root: pathlib.Path, sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        if source.is_public and source.name.suffix == ".td":
            yield from check_records(root, source)
