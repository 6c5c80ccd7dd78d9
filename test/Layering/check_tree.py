"""Check the rules of the source tree: `check_tree.py [ROOT]`.

arrows    a folder includes only what ARROWS lets it; the runtime includes nothing of MLIR or LLVM
sizes     files, tool mains and functions stay below LIMITS
passes    flag, class, file, test and debug type of each pass follow from one another
text      every source starts with the licence, diagnostics read alike, nothing names a machine or a ticket
python    the package's folders import what check_python.py lets them, without circles
documents every INLAY_* variable that code reads is in VARIABLES, and every test that SECURITY and FACTS name exists

Prints `path:line: what is wrong` for each finding and exits 1 if there are any.
"""

import pathlib
import re
import sys
from collections.abc import Iterator

from check_python import check_python

PHASES = ["Import", "Rewrite", "Partition", "Shape", "Convert", "Stitch"]
DIALECTS = ["Support", "Dialect"]

# What a folder of include/inlay and lib may include besides itself. Phases are siblings: they meet in the IR alone.
ARROWS = {
    "Support": [],
    "Dialect": ["Support"],
    **dict.fromkeys(PHASES, DIALECTS),
    "Target": [*DIALECTS, "Convert"],
    "Pipeline": [*DIALECTS, *PHASES, "Target"],
    "Runtime": [],
    "Execution": [*DIALECTS, *PHASES, "Target", "Pipeline", "Runtime"],
    "CAPI": ["Support", "Rewrite", "Pipeline", "Execution", "Runtime"],
    "Testing": [*DIALECTS, *PHASES, "Target", "Pipeline", "Runtime"],
}
# Folders inside a folder are siblings too, except for these: (who, may include).
INNER_ARROWS = {
    ("Dialect/Plan", "Dialect/Inlay"),
    ("Runtime/Vulkan", "Runtime/Core"),
    ("Runtime/Host", "Runtime/Core"),
    ("Runtime/Container", "Runtime/Core"),
    ("Runtime/Report", "Runtime/Core"),
    ("Runtime/Report", "Runtime/Container"),
    *(("Runtime/Loader", f"Runtime/{inner}") for inner in ("Core", "Host", "Vulkan", "Container")),
    *(("Runtime/CAPI", f"Runtime/{inner}") for inner in ("Core", "Loader", "Container")),
}
SPLIT_INSIDE = {"Dialect", "Target", "Runtime"}
NO_LLVM = {"Runtime"}

LIMITS = {".cpp": 600, ".td": 400, ".h": 400, ".py": 600}
TOOL_MAIN_LIMIT = 60
FUNCTION_LIMIT = 80

SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
CODE = {".cpp", ".h", ".td"}
ROOTS = ["include", "lib", "tools", "unittests", "test", "python", "docs", "cmake"]
SKIP = {"__pycache__", ".pytest_cache", "build", "node_modules"}

Finding = tuple[pathlib.Path, int, str]


def folder_of(path: pathlib.PurePath) -> str:
    """`Runtime/Vulkan` for a file or an include path below it; just `Partition` where folders inside aren't split."""
    parts = path.parts[:-1]
    if not parts:
        return ""
    return "/".join(parts[:2]) if parts[0] in SPLIT_INSIDE else parts[0]


def may_include(source: str, wanted: str) -> bool:
    if source == wanted or (source, wanted) in INNER_ARROWS:
        return True
    top, wanted_top = source.split("/")[0], wanted.split("/")[0]
    if top == wanted_top:  # what lies beside the inner folders is for all of them
        return wanted == top
    return wanted_top in ARROWS.get(top, [])


def check_arrows(path: pathlib.Path, inside: pathlib.PurePath, lines: list[str]) -> Iterator[Finding]:
    source = folder_of(inside)
    if not source:
        return
    if source.split("/")[0] not in ARROWS:
        yield path, 1, f"folder '{source}' has no entry in ARROWS"
        return
    for number, line in enumerate(lines, 1):
        include = re.match(r'\s*#?\s*include\s+["<]([^">]+)[">]', line)
        if not include:
            continue
        name = pathlib.PurePath(include[1])
        if name.parts[0] in ("mlir", "llvm", "mlir-c", "llvm-c") and source.split("/")[0] in NO_LLVM:
            yield path, number, f"{source} must not include '{name}': it knows no MLIR"
        if name.parts[0] == "inlay":
            wanted = folder_of(pathlib.PurePath(*name.parts[1:]))
            if not may_include(source, wanted):
                yield path, number, f"{source} must not include '{name}': no arrow from {source} to {wanted}"


def check_sizes(path: pathlib.Path, lines: list[str], is_main: bool) -> Iterator[Finding]:
    limit = TOOL_MAIN_LIMIT if is_main else LIMITS.get(path.suffix)
    if limit and len(lines) > limit:
        yield path, limit, f"expected at most {limit} lines, but got {len(lines)}"


def check_functions(paths: list[pathlib.Path]) -> Iterator[Finding]:
    try:
        import lizard
    except ImportError:  # the rest works without it
        return
    for path in paths:
        for function in lizard.analyze_file(str(path)).function_list:
            if function.nloc > FUNCTION_LIMIT:
                text = f"expected functions of at most {FUNCTION_LIMIT} lines, but {function.name} has {function.nloc}"
                yield path, function.start_line, text


DIAGNOSTIC = re.compile(r"(?:emit(?:Op)?(?:Error|Warning|Remark)|emitOptionalError|notifyMatchFailure)\(([^;]*)")

# What a line may not hold: anywhere, in C++ and Python code (comments aside), in libraries, in the runtime.
ANYWHERE = [
    (r"(?<![\w.])/(?:work|root|home)/\w", "names a path of one machine"),
    (r"(?i)\bissue #?\d+", "names a ticket"),
    (r"\bTODO\b|\bFIXME\b", "leaves a to-do"),
]
IN_LIBRARIES = [
    (r"\busing namespace std\b", "opens namespace std"),
    (r"\bcl::(?:opt|list|bits)\b", "declares a command-line option in a library: use a pass option"),
    (r"\breport_fatal_error\b|\babort\(\)|\bstd::exit\b", "ends the process instead of reporting"),
]
IN_RUNTIME = [(r"\bthrow\b(?!\()|\bassert\(", "throws or asserts: the runtime returns a Status")]
IN_VULKAN = [(r"(?<![\w.>\"])vk[A-Z]\w*\(", "calls Vulkan around the function tables")]


def check_text(path: pathlib.Path, lines: list[str], inside: pathlib.PurePath | None) -> Iterator[Finding]:
    if path.suffix in CODE and (not lines or lines[0] != f"// {SPDX}"):
        yield path, 1, f"expected '// {SPDX}' in the first line"
    code_rules = []
    if inside is not None:
        code_rules = IN_LIBRARIES + (IN_RUNTIME if inside.parts[0] == "Runtime" else [])
        code_rules = code_rules + (IN_VULKAN if inside.parts[:2] == ("Runtime", "Vulkan") else [])
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        yield from ((path, number, what) for pattern, what in ANYWHERE if re.search(pattern, line))
        yield from ((path, number, what) for pattern, what in code_rules if re.search(pattern, code))
        if line != line.rstrip():
            yield path, number, "has blanks at its end"
    if path.suffix == ".cpp":
        yield from check_diagnostics(path, lines)


def check_diagnostics(path: pathlib.Path, lines: list[str]) -> Iterator[Finding]:
    """Diagnostics start in lower case and have no full stop."""
    for number, line in enumerate(lines, 1):
        for call in DIAGNOSTIC.finditer(line):
            strings = re.findall(r'"((?:[^"\\]|\\.)*)"', call[1])
            if strings and re.match(r"[A-Z][a-z]", strings[0]):
                yield path, number, f"expected a diagnostic to start in lower case, but got '{strings[0]}'"
            if strings and re.search(r"[a-z]\.$", strings[-1]):
                yield path, number, f"expected a diagnostic without full stop, but got '{strings[-1]}'"


PASS = re.compile(r'^def\s+(\w+)\s*:\s*(?:Interface)?Pass<\s*"([^"]+)"', re.MULTILINE)


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def check_passes(root: pathlib.Path, td: pathlib.Path, text: str) -> Iterator[Finding]:
    """FormSegmentsPass is lib/Partition/FormSegments.cpp, --inlay-partition-form-segments and form-segments.mlir.

    The class may also hold the phase's name, which keeps the closing checks of the phases apart."""
    phase = td.relative_to(root / "include/inlay").parts[0]
    for match in PASS.finditer(text):
        name, flag = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if not name.endswith("Pass"):
            yield td, line, f"expected the class of a pass to end in 'Pass', but got '{name}'"
        stem = name.removesuffix("Pass")
        short = stem.replace(phase, "", 1)
        wanted = "-".join(filter(None, ["inlay", phase.lower(), kebab(short)]))
        if flag not in (wanted, f"inlay-{phase.lower()}-{kebab(stem)}"):
            yield td, line, f"expected flag '{wanted}' for {name}, but got '{flag}'"
        test = flag.removeprefix(f"inlay-{phase.lower()}-") if short else phase.lower()
        sources = [f for f in (root / "lib" / phase).rglob("*.cpp") if f.stem in (stem, short)]
        if not sources:
            yield td, line, f"expected {name} in lib/{phase}/{short or stem}.cpp, but there is no such file"
        if not any((root / "test" / phase).rglob(f"{test}.mlir")):
            yield td, line, f"expected a test of {name} in test/{phase}/{test}.mlir, but there is no such file"
        for source in sources:
            debug = re.search(r'#define DEBUG_TYPE "([^"]+)"', source.read_text())
            if debug and debug[1] != flag:
                yield source, 1, f'expected DEBUG_TYPE "{flag}", but got "{debug[1]}"'
        body = text[match.end() : match.end() + text[match.end() :].find("\n}")]
        for field in ("summary", "description"):
            if f"let {field}" not in body:
                yield td, line, f"expected a {field} of {name}"


VARIABLES, SECURITY = "docs/guide/debug.md", "SECURITY.md"
OWN = {("python", "tests"), ("tools", "inlay-bench")}
READ = re.compile(r'\b(?:getenv|environ(?:\.get)?)[(\[]\s*"(INLAY_\w+)"')
TEST_NAME = re.compile(r"`([A-Z]\w*)\.(\w+)`")


def check_variables(root: pathlib.Path, sources: list[pathlib.Path]) -> Iterator[Finding]:
    """Variables that what is installed reads; those of tests and benchmarks are their own affair."""
    table = root / VARIABLES
    known = set(re.findall(r"`(INLAY_\w+)`", table.read_text())) if table.exists() else set()
    for path in sources:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in READ.findall(line):
                if name not in known:
                    yield path, number, f"expected {name} to be explained in {VARIABLES}"


def check_security(root: pathlib.Path) -> Iterator[Finding]:
    page = root / SECURITY
    if not page.exists():
        return
    text = "\n".join(path.read_text() for path in sorted((root / "unittests").rglob("*.cpp")))
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for suite, test in TEST_NAME.findall(line):
            if not re.search(rf"TEST(?:_F|_P)?\({suite}, {test}\)", text):
                yield page, number, f"names the test {suite}.{test}, which doesn't exist"


FACTS = "test/Rewrite/facts.md"
LIT_NAME = re.compile(r"`([\w-]+\.mlir)@(\w+)`")
PYTHON_NAME = re.compile(r"`(test_\w+\.py)::(\w+)(?:\[([^`\]]+)\])?`")


def find_missing_tests(root: pathlib.Path, line: str, suites: str) -> Iterator[str]:
    """Tests that a row names: functions of lit files and of Python files, with a case in brackets, and unit tests."""
    for file, name in LIT_NAME.findall(line):
        path = (root / FACTS).parent / file
        text = path.read_text() if path.exists() else ""
        if not re.search(rf"func\.func @{name}\(", text):
            yield f"{file}@{name}"
    for file, name, case in PYTHON_NAME.findall(line):
        path = root / "python/tests" / file
        text = path.read_text() if path.exists() else ""
        found = re.search(rf"^def {name}\(", text, re.MULTILINE)
        if not found or (case and case not in text):
            yield f"{file}::{name}" + (f"[{case}]" if case else "")
    for suite, test in TEST_NAME.findall(line):
        if not re.search(rf"TEST(?:_F|_P)?\({suite}, {test}\)", suites):
            yield f"{suite}.{test}"


def check_facts(root: pathlib.Path) -> Iterator[Finding]:
    """Each row of the tables names tests that exist, and no case has two rows."""
    page = root / FACTS
    if not page.exists():
        return
    suites, seen = "\n".join(path.read_text() for path in sorted((root / "unittests").rglob("*.cpp"))), set()
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


def check_tree(root: pathlib.Path) -> Iterator[Finding]:
    sources, shipped = [], []
    files = (f for top in ROOTS for f in sorted((root / top).rglob("*")) if f.is_file())
    for path in files:
        relative = path.relative_to(root)
        if SKIP & set(relative.parts) or relative.parts[:2] == ("test", "Layering"):
            continue
        if path.suffix not in CODE | {".py", ".mlir", ".md", ".test", ".txt"}:
            continue
        lines = path.read_text().splitlines()
        inside = None
        if relative.parts[:2] == ("include", "inlay"):
            inside = pathlib.PurePath(*relative.parts[2:])
        elif relative.parts[0] == "lib":
            inside = pathlib.PurePath(*relative.parts[1:])
        if inside is not None and path.suffix in CODE:
            yield from check_arrows(path, inside, lines)
        is_main = relative.parts[0] == "tools" and any(line.startswith("int main(") for line in lines)
        yield from check_sizes(path, lines, is_main)
        yield from check_text(path, lines, inside if path.suffix in CODE else None)
        if path.suffix == ".td" and inside is not None:
            yield from check_passes(root, path, "\n".join(lines))
        if path.suffix == ".cpp":
            sources.append(path)
        is_installed = relative.parts[0] in ("lib", "tools", "include", "python") and relative.parts[:2] not in OWN
        if is_installed and path.suffix in CODE | {".py"}:
            shipped.append(path)
    yield from check_functions(sources)
    yield from check_variables(root, shipped)
    yield from check_security(root)
    yield from check_facts(root)
    yield from check_python(root)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    findings = sorted(set(check_tree(root)))
    for path, line, text in findings:
        print(f"{path.relative_to(root)}:{line}: {text}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
