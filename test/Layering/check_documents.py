"""The facts of documents that can be checked: environment variables, and the files and tests that pages name."""

import pathlib
import re
from collections.abc import Iterator

from source_tree import CODE, Finding, Source

CHANGES, CHANGES_TITLE = "docs/architecture.md", "## Where to make a change"
VARIABLES, SECURITY, FACTS = "docs/guide/debug.md", "SECURITY.md", "test/Rewrite/facts.md"
INSTALLED = {"lib", "tools", "include", "python"}
NOT_INSTALLED = {("python", "tests"), ("tools", "inlay-bench")}
READ = re.compile(r'\b(?:getenv|environ(?:\.get)?)[(\[]\s*"(INLAY_\w+)"')
TEST_NAME = re.compile(r"`([A-Z]\w*)\.(\w+)`")
LIT_NAME = re.compile(r"`([\w-]+\.mlir)@(\w+)`")
PYTHON_NAME = re.compile(r"`(test_\w+\.py)::(\w+)(?:\[([^`\]]+)\])?`")


def check_variables(root: pathlib.Path, sources: list[Source]) -> Iterator[Finding]:
    """The page explains each variable that installed code reads. Tests and benchmarks may read others."""
    page = root / VARIABLES
    known = set(re.findall(r"`(INLAY_\w+)`", page.read_text())) if page.exists() else set()
    for source in sources:
        is_installed = source.name.parts[0] in INSTALLED and source.name.parts[:2] not in NOT_INSTALLED
        if not is_installed or source.name.suffix not in CODE | {".py"}:
            continue
        for number, line in enumerate(source.lines, 1):
            for name in READ.findall(line):
                if name not in known:
                    yield source.path, number, f"expected {name} to be explained in {VARIABLES}"


def has_test(suites: str, suite: str, test: str) -> bool:
    return bool(re.search(rf"TEST(?:_F|_P)?\({suite}, {test}\)", suites))


def check_security(root: pathlib.Path, suites: str) -> Iterator[Finding]:
    page = root / SECURITY
    if not page.exists():
        return
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for suite, test in TEST_NAME.findall(line):
            if not has_test(suites, suite, test):
                yield page, number, f"names the test {suite}.{test}, which doesn't exist"


def find_missing_tests(root: pathlib.Path, line: str, suites: str) -> Iterator[str]:
    """Yields the tests that a row names and that don't exist.

    A row names functions of lit files and of Python files, the latter with a case in brackets, and unit tests.
    """
    for file, name in LIT_NAME.findall(line):
        path = (root / FACTS).parent / file
        text = path.read_text() if path.exists() else ""
        if not re.search(rf"func\.func @{name}\(", text):
            yield f"{file}@{name}"
    for file, name, case in PYTHON_NAME.findall(line):
        path = next((root / "python/tests").rglob(file), None)
        text = path.read_text() if path else ""
        found = re.search(rf"^def {name}\(", text, re.MULTILINE)
        if not found or (case and case not in text):
            yield f"{file}::{name}" + (f"[{case}]" if case else "")
    for suite, test in TEST_NAME.findall(line):
        if not has_test(suites, suite, test):
            yield f"{suite}.{test}"


def check_facts(root: pathlib.Path, suites: str) -> Iterator[Finding]:
    """Each row of the tables names tests that exist, and no case has two rows."""
    page = root / FACTS
    if not page.exists():
        return
    seen = set()
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("| ") or re.match(r"\| *(?:case|fact|what it does) *\|", line):
            continue
        first, tests = (cell.strip() for cell in line.split("|")[1:3])
        if first in seen:
            yield page, number, f"expected one row for {first}, but got another"
        seen.add(first)
        if not any(pattern.search(tests) for pattern in (LIT_NAME, PYTHON_NAME, TEST_NAME)):
            yield page, number, f"expected a test of {first}, but got none"
        for name in find_missing_tests(root, tests, suites):
            yield page, number, f"names the test {name}, which doesn't exist"


# In the rows of CHANGES: a path, which has a slash or an ending, and a name in parentheses.
ROW_TOKEN = re.compile(r"`([^`]+)`|[()]")
PATH = re.compile(r"[\w.*/-]*(?:/[\w.*-]*|\w\.(?:\w+|css\.inc|js\.inc)|Makefile)")
NAME = re.compile(r"[A-Za-z_][\w-]*(?:::[A-Za-z_]\w*)*")


def find_path(root: pathlib.Path, before: pathlib.Path | None, name: str) -> pathlib.Path | None:
    """Returns the file or folder `name`, which may be given without the folder of the path `before` it."""
    folder = before.parent if before and before.is_file() else before
    for start in (root, folder):
        if start and (found := next(start.glob(name.rstrip("/")), None)):
            return found
    return None


def holds_name(path: pathlib.Path, name: str) -> bool:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in CODE | {".py"}]
    texts = [file.read_text() for file in files]
    return all(any(re.search(rf"\b{part}\b", text) for text in texts) for part in name.split("::"))


def find_wrong_tokens(root: pathlib.Path, cell: str) -> Iterator[str]:
    """Yields a message for each file that a cell names and that doesn't exist, and each name that its file lacks."""
    path: pathlib.Path | None = None
    depth = 0
    for match in ROW_TOKEN.finditer(cell):
        token = match[1]
        if token is None:
            depth += 1 if match[0] == "(" else -1
        elif token.startswith("make "):
            if not holds_name(root / "Makefile", token.removeprefix("make ")):
                yield f"names the target of `{token}`, which doesn't exist"
        elif PATH.fullmatch(token):
            path = find_path(root, path, token)
            if not path:
                yield f"names {token}, which doesn't exist"
        elif depth and path and NAME.fullmatch(token) and not holds_name(path, token):
            yield f"expected {token} in {path.relative_to(root)}, but it doesn't occur there"


def check_changes(root: pathlib.Path) -> Iterator[Finding]:
    """Each row of the table of changes names files that exist, and names that these files contain."""
    page = root / CHANGES
    is_inside = False
    for number, line in enumerate(page.read_text().splitlines() if page.exists() else [], 1):
        if line.startswith("## "):
            is_inside = line == CHANGES_TITLE
        cells = line.split("|")
        if is_inside and line.startswith("| ") and len(cells) == 5:
            for cell in cells[2:4]:
                yield from ((page, number, text) for text in find_wrong_tokens(root, cell))
        elif is_inside and line.startswith("|") and line != "|---|---|---|":
            yield page, number, "expected a row of three cells"


def check_documents(root: pathlib.Path, sources: list[Source]) -> Iterator[Finding]:
    unit_tests = (s for s in sources if s.name.parts[0] == "unittests" and s.name.suffix == ".cpp")
    suites = "\n".join("\n".join(source.lines) for source in unit_tests)
    yield from check_variables(root, sources)
    yield from check_security(root, suites)
    yield from check_facts(root, suites)
    yield from check_changes(root)
