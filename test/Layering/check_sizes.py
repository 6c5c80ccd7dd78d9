"""The sizes of files, of the mains of tools, of functions and of folders."""

import pathlib
from collections import Counter
from collections.abc import Iterator

from source_tree import CODE, Finding, Source

LIMITS = {".cpp": 600, ".td": 400, ".h": 400, ".py": 600}
TOOL_MAIN_LIMIT = 60
FUNCTION_LIMIT = 80
FOLDER_LIMIT = 20  # source files
SORTED = {"lib", "include", "tools", "unittests", "python"}

# Folders with more source files, each with its reason. docs/architecture.md repeats the reasons.
LARGE_FOLDERS = {
    "include/inlay/Dialect/Inlay/IR": "the TableGen files of one dialect, which include each other",
    "lib/Convert/GraphToLinalg": "one file per family of ops",
    "lib/Scheduling": "one pair of files per algorithm",
}


def check_lines(source: Source) -> Iterator[Finding]:
    is_main = source.name.parts[0] == "tools" and any(line.startswith("int main(") for line in source.lines)
    limit = TOOL_MAIN_LIMIT if is_main else LIMITS.get(source.name.suffix)
    if limit and len(source.lines) > limit:
        yield source.path, limit, f"expected at most {limit} lines, but got {len(source.lines)}"


def check_functions(sources: list[Source]) -> Iterator[Finding]:
    try:
        import lizard
    except ImportError:  # the rest works without it
        return
    for source in sources:
        if source.name.suffix != ".cpp":
            continue
        for function in lizard.analyze_file(str(source.path)).function_list:
            if function.nloc > FUNCTION_LIMIT:
                text = f"expected functions of at most {FUNCTION_LIMIT} lines, but {function.name} has {function.nloc}"
                yield source.path, function.start_line, text


def check_folders(root: pathlib.Path, sources: list[Source]) -> Iterator[Finding]:
    counts = Counter(
        source.name.parent
        for source in sources
        if source.name.parts[0] in SORTED and source.name.suffix in CODE | {".py"}
    )
    for folder, count in counts.items():
        is_large, is_listed = count > FOLDER_LIMIT, str(folder) in LARGE_FOLDERS
        if is_large and not is_listed:
            yield root / folder, 1, f"expected at most {FOLDER_LIMIT} source files in a folder, but got {count}"
        if is_listed and not is_large:
            yield root / folder, 1, f"has {count} source files: remove its row from LARGE_FOLDERS of check_sizes.py"


def check_sizes(root: pathlib.Path, sources: list[Source]) -> Iterator[Finding]:
    for source in sources:
        yield from check_lines(source)
    yield from check_functions(sources)
    yield from check_folders(root, sources)
