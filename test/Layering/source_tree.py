"""The files of the source tree, as the checks read them."""

import pathlib
from collections.abc import Iterator
from dataclasses import dataclass

CODE = {".cpp", ".h", ".td"}
SCRIPTS = {".py", ".sh"}
TEXT = {".mlir", ".md", ".test", ".txt", ".cmake", ".in", ".json", ".toml", ".yml", ".yaml", ".supp", ""}
ROOTS = [".ci", ".github", "include", "lib", "tools", "unittests", "test", "python", "docs", "cmake"]
SKIP = {"__pycache__", ".pytest_cache", "build", "node_modules"}
# These tests hold text that breaks the rules.
FINDS = "-finds.test"

Finding = tuple[pathlib.Path, int, str]


@dataclass(frozen=True)
class Source:
    """One file: `name` is its path from the root of the tree."""

    path: pathlib.Path
    name: pathlib.PurePath
    lines: list[str]

    @property
    def is_code(self) -> bool:
        return self.name.suffix in CODE

    @property
    def is_public(self) -> bool:
        return self.name.parts[:2] == ("include", "inlay")

    @property
    def inside(self) -> pathlib.PurePath | None:
        """The path inside include/inlay or lib, or None for a file that belongs to no library."""
        if self.is_public:
            return pathlib.PurePath(*self.name.parts[2:])
        return pathlib.PurePath(*self.name.parts[1:]) if self.name.parts[0] == "lib" else None


def find_files(root: pathlib.Path) -> Iterator[pathlib.Path]:
    yield from (path for path in sorted(root.iterdir()) if path.is_file() and path.name != ".git")
    for top in ROOTS:
        yield from (path for path in sorted((root / top).rglob("*")) if path.is_file())


def read_sources(root: pathlib.Path) -> list[Source]:
    sources = []
    for path in find_files(root):
        name = path.relative_to(root)
        is_text = path.suffix in CODE | SCRIPTS | TEXT and not path.name.endswith(FINDS)
        if is_text and not SKIP & set(name.parts):
            sources.append(Source(path, name, path.read_text().splitlines()))
    return sources
