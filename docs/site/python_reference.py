"""Writes the reference of the Python package, from its sources alone: nothing of it is imported or built.

Each public module is a page. What a page shows are the names that the module exports, wherever they are defined.
"""

from __future__ import annotations

import ast
import logging
import pathlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator

import griffe
from pages import Pages, slug

PACKAGE = "inlay"
MODULES = [
    "inlay",
    "inlay.rewrite",
    "inlay.ops",
    "inlay.debug",
    "inlay.gguf",
    "inlay.quantization",
    "inlay.generation",
    "inlay.errors",
]
WIDTH = 88
OP_HEADING = re.compile(r"^### (`inlay\.(\w+)` .*)$", re.MULTILINE)
SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns|Yields|Raises|Attributes|Examples?|Note|Warning):\s*$", re.MULTILINE
)


def write_python_reference(pages: Pages) -> list[str]:
    """Writes the pages and returns their names, in order."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    loader = griffe.GriffeLoader(search_paths=[pages.root / "python"], allow_inspection=False)
    package = loader.load(PACKAGE, submodules=True)
    loader.resolve_aliases(implicit=True)
    face = find_face(pages.root / "python" / PACKAGE / "__init__.py", package)
    modules = {path: find_module(package, face, path) for path in MODULES}
    known = {found.path for path in MODULES for _, found in exports(face if path == PACKAGE else modules[path])}
    names = []
    for path, module in modules.items():
        page = f"python/{path.replace('.', '-')}.md"
        pages.write(page, Writer(path, face if path == PACKAGE else module, module, pages, known).text())
        names.append(page)
    return names


def find_face(source: pathlib.Path, package: griffe.Module) -> griffe.Module:
    """Returns the module whose names `import inlay` gives: the first that `__init__.py` takes all names of."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level and node.module and node.names[0].name == "*":
            return package[node.module]
    return package


def find_module(package: griffe.Module, face: griffe.Module, path: str) -> griffe.Module:
    """Returns a public module, which the package may define or take from a private one."""
    if path == PACKAGE:
        return package
    name = path.removeprefix(f"{PACKAGE}.")
    for place in (package, face):
        if name in place.members:
            found = place.members[name]
            return found.final_target if found.is_alias else found
    raise SystemExit(f"expected the package to have the module '{path}', but it has none")


def exported(module: griffe.Module) -> list[str]:
    """Returns the names in `__all__`, or else those that the module defines without an underscore in front."""
    if module.exports:
        return [str(name) for name in module.exports]
    return [
        name
        for name, member in module.members.items()
        if not name.startswith("_") and not member.is_alias and not member.is_module
    ]


def exports(module: griffe.Module) -> Iterator[tuple[str, griffe.Object]]:
    """Yields what a module exports, in alphabetical order, with the object that each name stands for."""
    for name in sorted(exported(module), key=str.lower):
        member = module.members.get(name)
        if member is None:
            continue
        try:
            yield name, member.final_target if member.is_alias else member
        except griffe.AliasResolutionError:
            continue  # of the compiled extension, which has no source here


class Writer:
    """Writes the page of a module. `face` has its exported names, `module` its docstring; `known` are the objects that
    the pages show."""

    def __init__(self, path: str, face: griffe.Module, module: griffe.Module, pages: Pages, known: set[str]):
        self.path, self.face, self.module, self.pages, self.known = path, face, module, pages, known

    def text(self) -> str:
        groups: dict[str, list[tuple[str, griffe.Object]]] = defaultdict(list)
        for name, member in exports(self.face):
            groups[kind_of(member)].append((name, member))
        parts = [f"# `{self.path}`", docstring(self.module)]
        if groups["modules"]:
            parts += ["## Modules", "\n".join(self.module_lines(groups["modules"]))]
        if self.path == f"{PACKAGE}.ops":
            parts += ["## Ops of graphs", self.op_list()]
        for title in ("Functions", "Classes", "Values"):
            if groups[title.lower()]:
                parts.append(f"## {title}")
                parts += [self.entry(name, member) for name, member in groups[title.lower()]]
        return "\n\n".join(part for part in parts if part) + "\n"

    def module_lines(self, modules: Iterable[tuple[str, griffe.Object]]) -> Iterator[str]:
        for name, member in modules:
            path = f"{PACKAGE}.{name}"
            shown = f"[`{path}`]({path.replace('.', '-')}.md)" if path in MODULES else f"`{path}`"
            summary = (member.docstring.value if member.docstring else "").split("\n\n")[0].replace("\n", " ")
            yield f"* {shown}: {escape(summary)}"

    def op_list(self) -> str:
        """Returns a list of the dialect's ops, each of which the module has as a function."""
        reference = (self.pages.root / "docs/reference/dialect-inlay.md").read_text()
        links = [
            f"[`{op}`](../reference/dialect-inlay.md#{slug(heading)})"
            for heading, op in sorted(OP_HEADING.findall(reference), key=lambda found: found[1])
        ]
        return (
            "Each graph op of the dialect is a function of this module. Its arguments are the op's operands and "
            "attributes, by the names that the dialect's reference gives.\n\n" + ", ".join(links) + "."
        )

    def entry(self, name: str, member: griffe.Object) -> str:
        anchor = f"{self.path}.{name}"
        if isinstance(member, griffe.Class):
            return self.class_entry(name, anchor, member)
        parts = [f"### `{name}` {{ #{anchor} }}", code(signature(name, member)), docstring(member)]
        return "\n\n".join(part for part in parts if part)

    def class_entry(self, name: str, anchor: str, cls: griffe.Class) -> str:
        bases = [str(base) for base in cls.bases if not str(base).split(".")[-1].startswith("_")]
        parts = [f"### `{name}` {{ #{anchor} }}", code(f"class {name}" + (f"({', '.join(bases)})" if bases else ""))]
        if "__init__" in cls.members and cls.members["__init__"].parameters:
            parts[-1] = code(signature(name, cls.members["__init__"], prefix="class "))
        parts.append(docstring(cls))
        for member_name, member in sorted(
            public_members(cls, self.known).items(), key=lambda item: item[1].is_function
        ):
            parts.append(f"#### `{member_name}` {{ #{anchor}.{member_name.strip('_')} }}")
            parts.append(code(signature(member_name, member)))
            parts.append(docstring(member))
        return "\n\n".join(part for part in parts if part)


def kind_of(member: griffe.Object) -> str:
    if member.is_module:
        return "modules"
    if member.is_class:
        return "classes"
    return "functions" if member.is_function else "values"


def public_members(cls: griffe.Class, known: set[str]) -> dict[str, griffe.Object]:
    """Returns the public methods, properties and attributes of a class, with those of bases that no page shows."""
    found: dict[str, griffe.Object] = {}
    for base in reversed(cls.mro()):
        if base.path not in known:
            found.update(base.members)
    found.update(cls.members)
    return {
        name: member.final_target if member.is_alias else member
        for name, member in found.items()
        if is_public(name) and not member.is_class and (member.docstring or is_declared(member))
    }


def is_public(name: str) -> bool:
    return name == "__call__" or not name.startswith("_")


def is_declared(member: griffe.Object) -> bool:
    """Returns true for what a reader has use for even without a docstring: methods, properties, annotated fields."""
    return member.is_function or "property" in member.labels or bool(getattr(member, "annotation", None))


def signature(name: str, member: griffe.Object, prefix: str = "") -> str:
    if not isinstance(member, griffe.Function):
        annotation = f": {member.annotation}" if getattr(member, "annotation", None) else ""
        value = getattr(member, "value", None)
        shown = f" = {value}" if value is not None and len(str(value)) <= 60 and "property" not in member.labels else ""
        return f"{name}{annotation}{shown}"
    arguments = list(parameters(member))
    result = f" -> {member.returns}" if member.returns and prefix == "" else ""
    prefix = prefix or ("async def " if "async" in member.labels else "def ")
    line = f"{prefix}{name}({', '.join(arguments)}){result}"
    if len(line) <= WIDTH:
        return line
    return f"{prefix}{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){result}"


def parameters(function: griffe.Function) -> Iterator[str]:
    kinds = griffe.ParameterKind
    is_method = function.parent is not None and function.parent.is_class and "staticmethod" not in function.labels
    shown = list(function.parameters)[1:] if is_method else list(function.parameters)
    starred = False
    for position, parameter in enumerate(shown):
        if parameter.kind is kinds.keyword_only and not starred:
            starred = True
            yield "*"
        stars = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(parameter.kind, "")
        starred = starred or stars == "*"
        annotation = f": {parameter.annotation}" if parameter.annotation else ""
        default = "" if stars or parameter.default is None else (" = " if annotation else "=") + str(parameter.default)
        yield f"{stars}{parameter.name}{annotation}{default}"
        following = shown[position + 1].kind if position + 1 < len(shown) else None
        if parameter.kind is kinds.positional_only and following is not kinds.positional_only:
            yield "/"


def code(text: str) -> str:
    return f"```python\n{text}\n```"


# Docstrings


def docstring(member: griffe.Object) -> str:
    """Returns a docstring as Markdown: its parameters become a list, its examples code."""
    if not member.docstring:
        return ""
    names = {parameter.name.lstrip("*") for parameter in getattr(member, "parameters", None) or []}
    text = textwrap.dedent(member.docstring.value).strip()
    if SECTION.search(text):
        return "\n\n".join(google_sections(member))
    parts, options = [], []
    for paragraph in re.split(r"\n{2,}", text):
        rest, found = split_parameters(paragraph, names)
        options += found
        if rest:
            parts.append(paragraph_text(rest))
        if found:
            parts.append(definition_list(found))
    return "\n\n".join(join_code(parts))


def split_parameters(paragraph: str, names: set[str]) -> tuple[str, list[tuple[str, str]]]:
    """Parts lines of the form `name: text`, whose names are parameters, from the rest of a paragraph."""
    rest: list[str] = []
    found: list[tuple[str, str]] = []
    for line in paragraph.split("\n"):
        named = re.match(r"(\*{0,2}\w+(?:, \w+)*): (.+)", line)
        if named and {name.strip("* ") for name in named[1].split(",")} <= names:
            found.append((named[1], named[2]))
        elif found and line.startswith(" "):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            rest.append(line)
    return "\n".join(rest), found


def definition_list(items: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"`{name}`\n:   {escape(text)}" for name, text in items)


def google_sections(member: griffe.Object) -> Iterator[str]:
    for section in member.docstring.parse("google"):
        if section.kind is griffe.DocstringSectionKind.text:
            yield from join_code([paragraph_text(part) for part in re.split(r"\n{2,}", section.value)])
        elif section.kind is griffe.DocstringSectionKind.examples:
            yield code("\n".join(text for _, text in section.value))
        elif isinstance(section.value, list):
            yield f"**{section.kind.value.capitalize()}**"
            for item in section.value:
                name = getattr(item, "name", "") or str(getattr(item, "annotation", "") or "result")
                yield f"`{name}`\n:   {escape(' '.join(item.description.split()))}"
        else:
            yield escape(str(getattr(section.value, "description", section.value)))


def paragraph_text(paragraph: str) -> str:
    if all(line.startswith("    ") or not line.strip() for line in paragraph.split("\n")) or is_python(paragraph):
        return code(textwrap.dedent(paragraph))
    return escape(paragraph)


def is_python(paragraph: str) -> bool:
    """Returns true for statements, which a docstring may show without indenting them."""
    if "\n" not in paragraph:
        return False
    try:
        ast.parse(paragraph)
    except SyntaxError:
        return False
    return True


def join_code(parts: list[str]) -> list[str]:
    """Joins blocks of code that a blank line parted."""
    joined: list[str] = []
    for part in parts:
        if joined and part.startswith("```") and joined[-1].startswith("```"):
            joined[-1] = joined[-1].removesuffix("\n```") + "\n\n" + part.removeprefix("```python\n")
        else:
            joined.append(part)
    return joined


def escape(text: str) -> str:
    """Escapes what Markdown would read as markup, outside of code spans."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else escape_prose(part) for part in parts)


def escape_prose(text: str) -> str:
    return re.sub(r"(?<!^)([*_\[])", r"\\\1", text.replace("<", "&lt;"))
