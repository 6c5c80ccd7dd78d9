"""Writes the reference of the C++ and C headers from the XML that doxygen makes of them.

Each folder of headers is a page, each header a section of it, and each class, function, type or macro a subsection.
"""

from __future__ import annotations

import pathlib
import posixpath
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pages import Pages

INCLUDE = "include"
FIRST = ["inlay-c", "inlay/Pipeline", "inlay/Execution", "inlay/Partition", "inlay/Rewrite"]  # what embedders use
WIDTH = 96

DOXYFILE = """
INPUT = include/inlay include/inlay-c
FILE_PATTERNS = *.h *.hpp
RECURSIVE = YES
EXTRACT_ALL = YES
EXTRACT_STATIC = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
INPUT_FILTER = sed -E -f docs/site/escape.sed
PREDEFINED = INLAY_RUNTIME_API= MLIR_CAPI_EXPORTED= INLAY_ENUM_BASE= __cplusplus=201703L
SEARCH_INCLUDES = NO
AUTOLINK_SUPPORT = NO
SORT_MEMBER_DOCS = NO
QUIET = YES
WARNINGS = NO
"""


@dataclass
class Entity:
    """A declaration of a header: a class with its members, a function, a type, a variable or a macro."""

    name: str  # with its namespaces
    line: int
    declaration: str
    text: str
    members: list[Entity] = field(default_factory=list)


@dataclass
class Header:
    path: str
    text: str
    entities: list[Entity] = field(default_factory=list)

    @property
    def name(self) -> str:
        return pathlib.PurePath(self.path).name

    @property
    def folder(self) -> str:
        return str(pathlib.PurePath(self.path).relative_to(INCLUDE).parent)


def write_cpp_reference(pages: Pages, work: pathlib.Path) -> list[str]:
    """Writes the pages and returns their names, in order. Links to a header then lead to its section."""
    headers = read_headers(pages.root, run_doxygen(pages.root, work))
    folders: dict[str, list[Header]] = {}
    for header in headers:
        folders.setdefault(header.folder, []).append(header)
    order = sorted(folders, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    for folder in order:
        for header in folders[folder]:
            pages.links[header.path] = f"{page_of(folder)}#{anchor_of(header)}"
    for folder in order:
        pages.pages[page_of(folder)] = page_of(folder)  # links in a generated page start from the page itself
        pages.write(page_of(folder), folder_page(folder, folders[folder], pages))
    pages.write("cpp/index.md", index_page(order, folders))
    return ["cpp/index.md", *map(page_of, order)]


def run_doxygen(root: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    work.mkdir(parents=True, exist_ok=True)
    text = f"{DOXYFILE}\nOUTPUT_DIRECTORY = {work}\n"
    subprocess.run(["doxygen", "-"], input=text, cwd=root, text=True, check=True)
    return work / "xml"


def title_of(folder: str) -> str:
    if folder == "inlay-c":
        return "C API"
    return folder.removeprefix("inlay/").removesuffix("/IR")


def page_of(folder: str) -> str:
    return f"cpp/{title_of(folder).lower().replace('/', '-').replace(' ', '-')}.md"


def anchor_of(header: Header) -> str:
    return header.name.lower()


# Reading


def read_headers(root: pathlib.Path, xml: pathlib.Path) -> list[Header]:
    headers = {
        str(path.relative_to(root)): Header(str(path.relative_to(root)), head_comment(path))
        for path in sorted((root / INCLUDE).rglob("*"))
        if path.suffix in (".h", ".hpp")
    }
    for file in sorted(xml.glob("*.xml")):
        compound = ElementTree.parse(file).getroot().find("compounddef")
        if compound is None:
            continue
        for path, entity in read_compound(compound):
            if path in headers:
                headers[path].entities.append(entity)
    for header in headers.values():
        header.entities = merge_overloads(sorted(header.entities, key=lambda entity: entity.line))
    return list(headers.values())


def head_comment(path: pathlib.Path) -> str:
    """Returns the comment below the licence, with its indented lines as code."""
    lines = path.read_text().splitlines()[1:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("//")), len(lines))
    text, is_code = [], False
    for line in (line.removeprefix("//").removeprefix(" ") for line in lines[:end]):
        if line.startswith("  ") != is_code and line:
            text.append("\n```\n" if is_code else "\n```cpp")
            is_code = not is_code
        text.append(line.removeprefix("  ") if is_code else line)
    if is_code:
        text.append("```")
    return "\n".join(text).strip()


def read_compound(compound: ElementTree.Element) -> Iterator[tuple[str, Entity]]:
    """Yields the declarations of one of doxygen's files, each with the header that it stands in."""
    kind, name = compound.get("kind"), compound.findtext("compoundname", "")
    if kind in ("class", "struct", "union"):
        if compound.get("prot") != "private" and "@" not in name and "<" not in name:
            yield location(compound)[0], read_class(compound, kind, name)
    elif kind in ("namespace", "file"):
        for member in compound.iter("memberdef"):
            path, line = location(member)
            is_guard = member.get("kind") == "define" and not description(member)
            if is_guard or "@" in member.findtext("name", ""):
                continue
            if kind == "file" and member.get("kind") != "define" and "::" in member.findtext("qualifiedname", ""):
                continue  # its namespace has it too
            yield path, read_member(member, member.findtext("qualifiedname") or member.findtext("name", ""), line)


def read_class(compound: ElementTree.Element, kind: str, name: str) -> Entity:
    bases = [f"{base.get('prot')} {base.text}" for base in compound.findall("basecompoundref")]
    head = f"{template(compound)}{kind} {name}" + (f" : {', '.join(bases)}" if bases else "")
    entity = Entity(name, location(compound)[1], head, description(compound))
    for section in compound.findall("sectiondef"):
        if section.get("kind", "").startswith(("private", "protected", "friend")):
            continue
        for member in section.findall("memberdef"):
            if "@" not in member.findtext("name", "") and member.get("kind") != "friend":
                entity.members.append(read_member(member, member.findtext("name", ""), location(member)[1]))
    entity.members.sort(key=lambda member: member.line)
    return entity


def read_member(member: ElementTree.Element, name: str, line: int) -> Entity:
    return Entity(name, line, declaration(member), description(member))


def location(element: ElementTree.Element) -> tuple[str, int]:
    place = element.find("location")
    return ("", 0) if place is None else (place.get("file", ""), int(place.get("line", "0")))


def plain(element: ElementTree.Element | None) -> str:
    text = "" if element is None else " ".join("".join(element.itertext()).split())
    return re.sub(r"< | (?=>)", lambda match: match[0].strip(), text).replace(" ::", "::")


def template(element: ElementTree.Element) -> str:
    found = element.find("templateparamlist")
    if found is None:
        return ""
    texts = []
    for parameter in found.findall("param"):
        text = " ".join(filter(None, [plain(parameter.find("type")), plain(parameter.find("declname"))]))
        default = plain(parameter.find("defval"))
        texts.append(f"{text} = {default}" if default else text)
    return f"template <{', '.join(texts)}>\n"


def declaration(member: ElementTree.Element) -> str:
    """Returns a declaration as C++ writes it, wrapped by its parameters if it is long."""
    kind, name, type_text = member.get("kind"), member.findtext("name", ""), plain(member.find("type"))
    if kind == "enum":
        return enum_declaration(member, name)
    if kind == "define":
        parameters = [parameter.findtext("defname", "") for parameter in member.findall("param")]
        return f"#define {name}" + (f"({', '.join(parameters)})" if parameters and parameters[0] else "")
    arguments = re.sub(r"\s*=\s*(0|default|delete)$", r" = \1", member.findtext("argsstring") or "")
    if kind == "typedef":
        is_alias = member.findtext("definition", "").startswith("using")
        return f"{template(member)}using {name} = {type_text}" if is_alias else f"typedef {type_text} {name}{arguments}"
    if kind == "variable":
        return attach(" ".join(filter(None, [type_text, f"{name}{arguments}", plain(member.find("initializer"))])))
    words = [word for word in ("static", "explicit") if member.get(word) == "yes" and word not in type_text]
    words += ["virtual"] if member.get("virt") in ("virtual", "pure-virtual") and "override" not in arguments else []
    start = " ".join([*words, type_text, name]) if type_text else " ".join([*words, name])
    start = attach(start)
    if len(start + arguments) <= WIDTH:
        return f"{template(member)}{start}{arguments}"
    end = arguments[arguments.rfind(")") :]
    return f"{template(member)}{start}(\n    " + ",\n    ".join(parameters_of(member)) + end


def attach(text: str) -> str:
    """Puts the marks of pointers and references next to the name, as the sources do."""
    return re.sub(r"(?<=[\s*&])([&*]) (?=\w)", r"\1", text)


def parameters_of(member: ElementTree.Element) -> list[str]:
    texts = []
    for parameter in member.findall("param"):
        text = f"{plain(parameter.find('type'))} {plain(parameter.find('declname'))}{plain(parameter.find('array'))}"
        default = plain(parameter.find("defval"))
        texts.append(attach(text.strip()) + (f" = {default}" if default else ""))
    return texts


def enum_declaration(member: ElementTree.Element, name: str) -> str:
    values = []
    for value in member.findall("enumvalue"):
        text = " ".join(description(value).split())
        initializer = plain(value.find("initializer"))
        shown = value.findtext("name", "") + (f" {initializer}" if initializer else "") + ","
        values.append(f"  {shown}  // {text}" if text else f"  {shown}")
    strong = "enum class" if member.get("strong") == "yes" else "enum"
    return f"{strong} {name} {{\n" + "\n".join(values) + "\n}"


def merge_overloads(entities: list[Entity]) -> list[Entity]:
    """Puts functions of one name that follow one another into one entity. What is declared twice is kept once."""
    merged: list[Entity] = []
    types = {entity.name for entity in entities if re.match(r"struct|enum|union", entity.declaration)}
    for entity in entities:
        if entity.declaration.startswith("typedef ") and entity.name in types:
            continue  # C's second name for a type
        last = merged[-1] if merged else None
        if last and last.name == entity.name and not entity.members and not last.members:
            if entity.declaration not in last.declaration:
                last.declaration += f"\n{entity.declaration}"
                last.text = "\n\n".join(filter(None, [last.text, entity.text]))
            continue
        merged.append(entity)
    return merged


# Descriptions


def description(element: ElementTree.Element) -> str:
    """Returns a comment as Markdown."""
    parts = [element.find(name) for name in ("briefdescription", "detaileddescription")]
    blocks = [block for part in parts if part is not None for para in part.findall("para") for block in blocks_of(para)]
    return "\n\n".join(block for block in blocks if block.strip())


def blocks_of(para: ElementTree.Element) -> Iterator[str]:
    text = escape(para.text or "")
    for child in para:
        if child.tag in ("itemizedlist", "orderedlist", "programlisting", "verbatim", "preformatted", "simplesect"):
            yield " ".join(text.split())
            text = ""
            yield block_of(child)
        else:
            text += inline(child)
        text += escape(child.tail or "")
    yield " ".join(text.split())


def block_of(element: ElementTree.Element) -> str:
    if element.tag in ("itemizedlist", "orderedlist"):
        items = ["\n\n".join(block for para in item.findall("para") for block in blocks_of(para)) for item in element]
        marker = "* " if element.tag == "itemizedlist" else "1. "
        return "\n".join(marker + item.strip().replace("\n", "\n    ") for item in items)
    if element.tag == "programlisting":
        lines = ["".join(flat(line)) for line in element.findall("codeline")]
        return "```cpp\n" + "\n".join(lines) + "\n```"
    if element.tag == "simplesect":
        return "\n\n".join(block for para in element.findall("para") for block in blocks_of(para))
    return "```cpp\n" + "".join(element.itertext()).strip("\n") + "\n```"


def flat(element: ElementTree.Element) -> Iterator[str]:
    """Yields the text of an element in order; doxygen writes a blank as an element."""
    yield " " if element.tag == "sp" else element.text or ""
    for child in element:
        yield from flat(child)
        yield child.tail or ""


def inline(element: ElementTree.Element) -> str:
    text = "".join(element.itertext())
    if element.tag == "computeroutput":
        return f"`{text}`"
    if element.tag in ("emphasis", "bold"):
        return f"*{escape(text)}*"
    if element.tag == "ndash":
        return "--"
    return escape(text)


def escape(text: str) -> str:
    return re.sub(r"([*_\[])", r"\\\1", text.replace("<", "&lt;"))


# Writing


def index_page(order: list[str], folders: dict[str, list[Header]]) -> str:
    rows = []
    for folder in order:
        page = page_of(folder).removeprefix("cpp/")
        names = ", ".join(f"[{header.name}]({page}#{anchor_of(header)})" for header in folders[folder])
        rows.append(f"| [{title_of(folder)}]({page}) | {names} |")
    return (
        "# C++ API\n\n"
        "These are the public headers, by folder. `find_package(Inlay)` makes them available: see "
        "[the guide to embedding](../guide/embed.md). The compiler's names are in namespace `inlay`, the runtime's in "
        "`inlay::rt`.\n\n"
        "| folder | headers |\n|---|---|\n" + "\n".join(rows) + "\n"
    )


def folder_page(folder: str, headers: list[Header], pages: Pages) -> str:
    parts, anchors = [f"# {title_of(folder)}"], Counter[str]()
    for header in headers:
        source = source_link(header, page_of(folder), pages)
        parts.append(f"## {header.name} {{ #{anchor_of(header)} }}")
        parts.append(f'```cpp\n#include "{header.path.removeprefix(INCLUDE + "/")}"\n```')
        parts += [escape_comment(header.text), f"[Source]({source})"]
        parts += [entity_text(entity, anchors) for entity in header.entities]
    return "\n\n".join(part for part in parts if part) + "\n"


def source_link(header: Header, page: str, pages: Pages) -> str:
    section = pages.links.pop(header.path)  # the source itself is wanted, not this very section
    link = pages.link(posixpath.relpath(header.path, "cpp"), page)
    pages.links[header.path] = section
    return link


def escape_comment(text: str) -> str:
    parts = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else escape(part) for part in parts)


def entity_text(entity: Entity, anchors: Counter[str]) -> str:
    """Returns the subsection of a declaration. `anchors` counts the page's: functions may be overloaded."""
    name = re.sub(r"^inlay::(?:rt::|runtime::)?", "", entity.name)
    anchor = entity.name.replace("::", ".")
    anchors[anchor] += 1
    if anchors[anchor] > 1:
        anchor += f"-{anchors[anchor]}"
    parts = [f"### `{name}` {{ #{anchor} }}", f"```cpp\n{entity.declaration}\n```", entity.text]
    if entity.members:
        parts.append(f'<div class="members" markdown>\n\n{members_text(entity.members)}\n\n</div>')
    return "\n\n".join(part for part in parts if part)


def members_text(members: list[Entity]) -> str:
    """Returns the members as code, each with its description below it; those without one share a block."""
    parts: list[str] = []
    pending: list[str] = []
    for member in members:
        pending.append(f"{member.declaration};")
        if member.text:
            parts += ["```cpp\n" + "\n".join(pending) + "\n```", member.text]
            pending = []
    if pending:
        parts.append("```cpp\n" + "\n".join(pending) + "\n```")
    return "\n\n".join(parts)
