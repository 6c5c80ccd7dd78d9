"""The text of files: license, head comments, diagnostics, names that don't belong into the tree, and openings."""

import ast
import re
from collections.abc import Iterator

from source_tree import CODE, Finding, Source

SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
# These folders need a comment at the head of each source file and header.
COMMENTED = {"include", "lib", "tools"}
DIAGNOSTIC = re.compile(r"(?:emit(?:Op)?(?:Error|Warning|Remark)|emitOptionalError|notifyMatchFailure)\(([^;]*)")

# Patterns that a line must not match: in any file, in the code of libraries, in that of the runtime and of Vulkan.
ANYWHERE = [
    (r"(?<![\w.])/(?:work|root|home)/\w", "names a path of one machine"),
    (r"(?i)\bissue #?\d+", "names a ticket"),
    (r"\bTODO\b|\bFIXME\b", "leaves a to-do"),
    (
        r"\b(?:deb|snapshot)\.debian\.org|\barchive\.ubuntu\.com|\bfiles\.pythonhosted\.org|\bpypi\.org",
        "names the host of a package mirror: each machine has its own",
    ),
]
IN_LIBRARIES = [
    (r"\busing namespace std\b", "opens namespace std"),
    (r"\bcl::(?:opt|list|bits)\b", "declares a command-line option in a library: use a pass option"),
    (r"\breport_fatal_error\b|\babort\(\)|\bstd::exit\b", "ends the process instead of reporting"),
]
IN_RUNTIME = [(r"\bthrow\b(?!\()|\bassert\(", "throws or asserts: the runtime returns a Status")]
IN_VULKAN = [(r"(?<![\w.>\"])vk[A-Z]\w*\(", "calls Vulkan around the function tables")]


def get_code_rules(source: Source) -> list[tuple[str, str]]:
    if not source.is_code or source.inside is None:
        return []
    rules = IN_LIBRARIES
    if source.inside.parts[0] == "Runtime":
        rules = rules + IN_RUNTIME
    if source.inside.parts[:2] == ("Runtime", "Vulkan"):
        rules = rules + IN_VULKAN
    return rules


def check_lines(source: Source) -> Iterator[Finding]:
    if source.is_code and (not source.lines or source.lines[0] != f"// {SPDX}"):
        yield source.path, 1, f"expected '// {SPDX}' in the first line"
    code_rules = get_code_rules(source)
    for number, line in enumerate(source.lines, 1):
        code = line.split("//")[0]
        yield from ((source.path, number, text) for pattern, text in ANYWHERE if re.search(pattern, line))
        yield from ((source.path, number, text) for pattern, text in code_rules if re.search(pattern, code))
        if line != line.rstrip():
            yield source.path, number, "has blanks at its end"


def check_head(source: Source) -> Iterator[Finding]:
    """A comment after the license says what the file does. A file without the license has a finding already."""
    is_commented = source.name.parts[0] in COMMENTED and source.name.suffix in {".cpp", ".h"}
    if not is_commented or source.lines[:1] != [f"// {SPDX}"]:
        return
    if source.lines[1:2] != ["//"] or not re.match(r"// \w", "".join(source.lines[2:3])):
        yield source.path, 2, "expected '//' and a comment that says what the file does"


def check_diagnostics(source: Source) -> Iterator[Finding]:
    """Diagnostics start in lower case and have no full stop."""
    for number, line in enumerate(source.lines, 1):
        for call in DIAGNOSTIC.finditer(line):
            strings = re.findall(r'"((?:[^"\\]|\\.)*)"', call[1])
            if strings and re.match(r"[A-Z][a-z]", strings[0]):
                yield source.path, number, f"expected a diagnostic to start in lower case, but got '{strings[0]}'"
            if strings and re.search(r"[a-z]\.$", strings[-1]):
                yield source.path, number, f"expected a diagnostic without full stop, but got '{strings[-1]}'"


def check_text(sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        yield from check_lines(source)
        yield from check_head(source)
        if source.name.suffix == ".cpp":
            yield from check_diagnostics(source)
        yield from check_openings(source)


# A doc comment or docstring is a sentence with a subject and a verb. These words open a clause that has no head.
OPENING = re.compile(r"(What|Whether|How|Where|As|Who|Which)\b")
MEMBER_OPENING = re.compile(OPENING.pattern, re.IGNORECASE)
OPENING_TEXT = "expected a sentence such as 'Returns true if ...', but got one that opens with"


def find_doc_comments(lines: list[str]) -> Iterator[tuple[int, re.Match[str] | None]]:
    """Yields the line of each doc comment of a C++ or TableGen file, and the word that it must not open with."""
    is_inside = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if member := re.search(r"///<\s*(.*)", text):
            yield number, MEMBER_OPENING.match(member[1])
        elif text.startswith("///") and not is_inside:
            yield number, OPENING.match(text.removeprefix("///").strip())
        is_inside = text.startswith("///")


def find_docstrings(text: str) -> Iterator[tuple[int, re.Match[str] | None]]:
    """Yields the line of each definition of a Python file, and the word that its docstring must not open with."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the linter reports it
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            yield getattr(node, "lineno", 1), OPENING.match(docstring) if docstring else None


def check_openings(source: Source) -> Iterator[Finding]:
    found: Iterator[tuple[int, re.Match[str] | None]] = iter(())
    if source.name.suffix in CODE:
        found = find_doc_comments(source.lines)
    elif source.name.suffix == ".py":
        found = find_docstrings("\n".join(source.lines))
    yield from ((source.path, number, f"{OPENING_TEXT} '{word[1]}'") for number, word in found if word)
