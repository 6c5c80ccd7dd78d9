"""The rules of the Python package: the arrows between its folders, no circles of imports, and small folders."""

import ast
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

PACKAGE = pathlib.PurePath("python/inlay")
EXTENSION = "_inlay"

# The modules and folders of the package that each one may import besides itself.
BASE = ["errors", "_paths"]
ARROWS = {
    "errors": [],
    "_paths": ["errors"],
    "_dialect": BASE,
    "_graph": [*BASE, EXTENSION, "_dialect", "_program"],
    "_rewrite": [*BASE, EXTENSION, "_dialect", "_graph"],
    "_program": [*BASE, EXTENSION, "_dialect"],
    "_import": BASE,
    "_import/torch": [*BASE, "_dialect", "_program", "_import"],
    "_import/onnx": [*BASE, "_dialect", "_program", "_import", "_import/torch"],
    "_compile": [*BASE, EXTENSION, "_dialect", "_graph", "_program", "_import", "_import/torch", "_import/onnx"],
    "_debug": [*BASE, "_dialect", "_graph", "_program", "_import", "_import/torch", "_compile"],
    "ops": ["_dialect", "_graph"],
    "rewrite": [EXTENSION, "_graph", "_rewrite", "_compile"],
    "debug": ["_debug"],
    "onnx": [*BASE, "_import/onnx", "_compile"],
    "_api": ["errors", "ops", "rewrite", "debug", "_import", "_program", "_compile"],
    "__init__": ["_api"],
    "__main__": [EXTENSION],
}
MOST_FILES = 20  # in a folder

Finding = tuple[pathlib.Path, int, str]


@dataclass(frozen=True)
class Import:
    """An import of another module of the package; `is_for_types`: the type checker alone makes it."""

    module: str
    line: int
    is_for_types: bool


@dataclass
class Module:
    """A module of the package, by its name without `inlay.`."""

    path: pathlib.Path
    imports: list[Import] = field(default_factory=list)


def unit_of(name: str) -> str:
    """`_import/torch` for `_import.torch.program`; the longest entry of ARROWS, else the first part of the name."""
    parts = name.split(".")
    inner = "/".join(parts[:2])
    return inner if inner in ARROWS else parts[0]


def read_modules(package: pathlib.Path) -> dict[str, Module]:
    modules = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        modules[name] = Module(path)
    for name, module in modules.items():
        module.imports = list(find_imports(name, module.path, modules))
    return modules


def find_imports(name: str, path: pathlib.Path, modules: dict[str, Module]) -> Iterator[Import]:
    """Every import of the package's own modules, those inside of functions included."""
    tree = ast.parse(path.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        for wanted in imported_names(node, name, path.name == "__init__.py"):
            found = wanted if wanted in modules else wanted.rpartition(".")[0]
            if wanted.split(".")[0] == EXTENSION:
                found = EXTENSION
            if found and found != name:
                yield Import(found, node.lineno, id(node) in for_types)


def imported_names(node: ast.AST, name: str, is_package: bool) -> Iterator[str]:
    """The names that a statement imports from the package, as `folder.module.name`."""
    if isinstance(node, ast.Import):
        yield from (one.name.removeprefix("inlay.") for one in node.names if one.name.startswith("inlay."))
    elif isinstance(node, ast.ImportFrom) and node.level:
        parts = name.split(".") if name != "__init__" else []
        parts = parts if is_package else parts[:-1]
        parts = parts[: len(parts) - node.level + 1] + (node.module.split(".") if node.module else [])
        yield from (".".join([*parts, one.name]) for one in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "inlay":
        yield from (".".join([*node.module.split(".")[1:], one.name]) for one in node.names)


def check_arrows(modules: dict[str, Module]) -> Iterator[Finding]:
    for name, module in modules.items():
        source = unit_of(name)
        if source not in ARROWS:
            yield module.path, 1, f"'{source}' has no entry in ARROWS of check_python.py"
            continue
        for one in module.imports:
            wanted = unit_of(one.module)
            if wanted != source and wanted not in ARROWS[source]:
                yield module.path, one.line, f"{source} must not import '{one.module}': no arrow to {wanted}"


def check_circles(modules: dict[str, Module]) -> Iterator[Finding]:
    """One finding for each import that closes a circle. Imports for the type checker alone don't count."""
    finished: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> Iterator[Finding]:
        path.append(name)
        for one in modules[name].imports:
            if one.is_for_types or one.module not in modules or one.module in finished:
                continue
            if one.module in path:
                circle = [*path[path.index(one.module) :], one.module]
                yield modules[name].path, one.line, f"closes a circle of imports: {' -> '.join(circle)}"
            else:
                yield from visit(one.module)
        finished.add(path.pop())

    for name in modules:
        if name not in finished:
            yield from visit(name)


def check_folders(package: pathlib.Path) -> Iterator[Finding]:
    for folder in sorted({path.parent for path in package.rglob("*.py")}):
        count = len(list(folder.glob("*.py")))
        if count > MOST_FILES:
            yield folder, 1, f"expected at most {MOST_FILES} files in a folder, but got {count}"


def check_extension(root: pathlib.Path, modules: dict[str, Module]) -> Iterator[Finding]:
    """The extension imports modules of the package by name."""
    for path in sorted((root / "python/src").glob("*.*")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in re.findall(r'import_\("inlay\.([\w.]+)"\)', line):
                if name not in modules:
                    yield path, number, f"imports 'inlay.{name}', which doesn't exist"


def check_python(root: pathlib.Path) -> Iterator[Finding]:
    package = root / PACKAGE
    if not package.exists():
        return
    modules = read_modules(package)
    yield from check_arrows(modules)
    yield from check_circles(modules)
    yield from check_folders(package)
    yield from check_extension(root, modules)
