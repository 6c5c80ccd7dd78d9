"""The layers of the Python package: which module or folder may import which, and that imports form no circle."""

import ast
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from source_tree import Finding

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
    "_packed": [*BASE, "_dialect"],
    "_gguf": [*BASE, "_dialect", "_packed"],
    "gguf": ["_gguf", "_packed"],
    "_checkpoints": [*BASE, "_dialect", "_packed"],
    "_quantize": [*BASE, "_program", "_rewrite"],
    "quantization": ["_checkpoints", "_quantize"],
    "_generation": [*BASE, "_program", "_compile"],
    "generation": [*BASE, "_generation"],
    "ops": ["_dialect", "_graph"],
    "rewrite": [EXTENSION, "_graph", "_rewrite", "_compile"],
    "debug": ["_debug"],
    "onnx": [*BASE, "_import/onnx", "_compile"],
    "_api": ["errors", "ops", "quantization", "rewrite", "debug", "_import", "_program", "_compile"],
    "__init__": ["_api"],
    "__main__": [EXTENSION],
}


@dataclass(frozen=True)
class Import:
    """An import of another module of the package. If `is_for_types`, only the type checker imports it."""

    module: str
    line: int
    is_for_types: bool


@dataclass
class Module:
    """A module of the package with its imports."""

    path: pathlib.Path
    imports: list[Import] = field(default_factory=list)


def unit_of(name: str) -> str:
    """Returns the entry of ARROWS for a module, such as `_import/torch` for `_import.torch.program`.

    Returns the first part of the name if there is no entry.
    """
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
    """Yields all imports of modules of the package, also those inside functions."""
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
    """Yields the names that a statement imports from the package, as `folder.module.name`."""
    if isinstance(node, ast.Import):
        yield from (alias.name.removeprefix("inlay.") for alias in node.names if alias.name.startswith("inlay."))
    elif isinstance(node, ast.ImportFrom) and node.level:
        parts = name.split(".") if name != "__init__" else []
        parts = parts if is_package else parts[:-1]
        parts = parts[: len(parts) - node.level + 1] + (node.module.split(".") if node.module else [])
        yield from (".".join([*parts, alias.name]) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "inlay":
        yield from (".".join([*node.module.split(".")[1:], alias.name]) for alias in node.names)


def check_arrows(modules: dict[str, Module]) -> Iterator[Finding]:
    for name, module in modules.items():
        source = unit_of(name)
        if source not in ARROWS:
            yield module.path, 1, f"'{source}' has no entry in ARROWS of check_python.py"
            continue
        for imported in module.imports:
            wanted = unit_of(imported.module)
            if wanted != source and wanted not in ARROWS[source]:
                yield module.path, imported.line, f"{source} must not import '{imported.module}': no arrow to {wanted}"


def check_circles(modules: dict[str, Module]) -> Iterator[Finding]:
    """Yields a finding for each import that closes a circle. Imports for the type checker only don't count."""
    finished: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> Iterator[Finding]:
        path.append(name)
        for imported in modules[name].imports:
            if imported.is_for_types or imported.module not in modules or imported.module in finished:
                continue
            if imported.module in path:
                circle = [*path[path.index(imported.module) :], imported.module]
                yield modules[name].path, imported.line, f"closes a circle of imports: {' -> '.join(circle)}"
            else:
                yield from visit(imported.module)
        finished.add(path.pop())

    for name in modules:
        if name not in finished:
            yield from visit(name)


def check_extension(root: pathlib.Path, modules: dict[str, Module]) -> Iterator[Finding]:
    """Checks the modules that the extension imports by name."""
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
    yield from check_extension(root, modules)
