"""Turns the Markdown of the repository into pages of the site.

A page of the site is a copy of a file, changed where the site's renderer differs from the repository's viewer:
links lead to pages of the site, comments are gone, fences carry no test marks, and lists are indented by four.
"""

from __future__ import annotations

import pathlib
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# Files of the root that are pages; everything else comes from docs/.
ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
ASSETS = {".svg", ".png"}
NOT_LISTED = {"__pycache__", "build"}
LANGUAGES = {
    ".cpp": "cpp",
    ".h": "cpp",
    ".hpp": "cpp",
    ".td": "tablegen",
    ".py": "python",
    ".mlir": "mlir",
    ".sh": "sh",
}
NO_MENU = "---\nhide:\n  - navigation\n---\n"
NO_SEARCH = "---\nsearch:\n  exclude: true\n---\n"

FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>```+|~~~+)(?P<info>[^\n]*)\n(?P<body>.*?)^ *(?P=marks) *$", re.DOTALL | re.MULTILINE
)
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
PICTURE = re.compile(r"^!\[[^\]]*\]\((?P<target>[^)\s]+)\)$", re.MULTILINE)
OP_HEADING = re.compile(r"^### (?P<name>`[^`]+`|\w+) \((?P<cls>[\w:]+)\)$", re.MULTILINE)
LIST_ITEM = re.compile(r"^(?P<indent> *)(?P<marker>[-*+]|\d+\.)(?P<space> +)(?=\S)")


@dataclass
class Pages:
    """Knows which file of the repository is which page of the site."""

    root: pathlib.Path
    out: pathlib.Path
    repository: str = ""  # the address of a repository's web pages; without one, source files become pages
    revision: str = "main"
    pages: dict[str, str] = field(default_factory=dict)  # from a path in the repository to one in the site
    links: dict[str, str] = field(default_factory=dict)  # the same, for files that a generated page describes
    problems: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)  # source files and folders that still need a page

    def add_all(self) -> None:
        """Adds the Markdown files and pictures of docs/ and the Markdown files of the root."""
        for name, page in ROOT_PAGES.items():
            if (self.root / name).exists():
                self.pages[name] = page
        for path in sorted((self.root / "docs").rglob("*")):
            relative = path.relative_to(self.root / "docs")
            if path.suffix in ASSETS | {".md"} and relative.parts[0] != "site":
                self.pages[f"docs/{relative}"] = str(relative)

    def write_all(self) -> None:
        """Writes every page, and then those of the source files that they link to."""
        for file, page in list(self.pages.items()):
            if pathlib.PurePath(file).suffix in ASSETS:
                target = self.out / page
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((self.root / file).read_bytes())
            elif (self.root / file).is_file():
                head = NO_MENU if page == "index.md" else ""
                self.write(page, head + self.convert((self.root / file).read_text(), file))
        while self.sources:
            self.write_source(self.sources.pop())

    def write(self, page: str, text: str) -> None:
        target = self.out / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    # Links

    def link(self, target: str, file: str) -> str:
        """Returns where `target`, a link in `file`, leads in the site."""
        path, hash_sign, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return target
        found = self.find(posixpath.normpath(posixpath.join(posixpath.dirname(file), path)))
        if not found:
            self.problems.append(f"{file}: expected a file or a folder of the repository, but got '{target}'")
            return target
        if "://" in found:
            return found + hash_sign + anchor
        if "#" in found and anchor:
            found, hash_sign = found.partition("#")[0], "#"
        return posixpath.relpath(found, posixpath.dirname(self.pages[file])) + hash_sign + anchor

    def find(self, path: str) -> str | None:
        """Returns the page, or the address, that shows a file or folder of the repository."""
        if path in self.pages:
            return self.pages[path]
        if path in self.links:
            return self.links[path]
        place = self.root / path
        if not place.exists():
            return None
        if self.repository:
            return f"{self.repository}/{'tree' if place.is_dir() else 'blob'}/{self.revision}/{path}"
        return self.add_source(path)

    def add_source(self, path: str) -> str:
        if path not in self.pages:
            suffix = "/index.md" if (self.root / path).is_dir() else ".md"
            visible = re.sub(r"(^|/)\.", r"\1", path)  # hidden files get no page
            self.pages[path] = f"source/{visible}{suffix}"
            self.sources.append(path)
        return self.pages[path]

    # Pages of source files

    def write_source(self, path: str) -> None:
        place, page = self.root / path, self.pages[path]
        if place.is_dir():
            self.write(page, f"{NO_SEARCH}\n# `{path}/`\n\n{self.list_folder(path)}\n")
            return
        language = LANGUAGES.get(place.suffix, "cmake" if place.name == "CMakeLists.txt" else "text")
        body = place.read_text(errors="replace").rstrip("\n")
        longest = max((len(marks) for marks in re.findall(r"`{3,}", body)), default=2)
        marks = "`" * (longest + 1)
        self.write(page, f'{NO_SEARCH}\n# `{path}`\n\n{marks}{language} linenums="1"\n{body}\n{marks}\n')

    def list_folder(self, path: str) -> str:
        """Returns a list of what a folder holds. Its files get pages; its folders are named only."""
        names = sorted(place.name for place in (self.root / path).iterdir() if place.name not in NOT_LISTED)
        lines = []
        for name in names:
            inside = f"{path}/{name}"
            if (self.root / inside).is_dir():
                lines.append(f"* `{name}/`")
            else:
                target = posixpath.relpath(self.add_source(inside), posixpath.dirname(self.pages[path]))
                lines.append(f"* [`{name}`]({target})")
        return "\n".join(lines)

    # Text

    def convert(self, text: str, file: str) -> str:
        """Returns the page of the site for the text of a Markdown file."""
        text = PICTURE.sub(r"[\g<0>](\g<target>)", text)  # opens in its full size
        text = OP_HEADING.sub(shorten_heading, text)
        parts = []
        for is_fence, part in split_fences(indent_lists(text)):
            parts.append(convert_fence(part) if is_fence else self.convert_links(part, file))
        return "".join(parts)

    def convert_links(self, text: str, file: str) -> str:
        spans = [match.span() for match in CODE_SPAN.finditer(text)]

        def replace(match: re.Match[str]) -> str:
            if any(start <= match.start() < end for start, end in spans):
                return match[0]
            return f"]({self.link(match['target'], file)})"

        return LINK.sub(replace, text)


def slug(heading: str) -> str:
    """Returns the anchor that the site, like the repository's viewer, gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def shorten_heading(match: re.Match[str]) -> str:
    """Moves the class of an op or a type from the heading below it, so that the table of contents stays readable."""
    anchor = slug(match["name"] + " (" + match["cls"] + ")")
    return f"### {match['name']} {{ #{anchor} }}\n\nC++ class: `{match['cls'].removeprefix('::')}`"


def split_fences(text: str) -> Iterator[tuple[bool, str]]:
    """Yields the code fences of a text and what stands between them, without comments."""
    position = 0
    while True:
        fence, comment = FENCE.search(text, position), COMMENT.search(text, position)
        found = min((match for match in (fence, comment) if match), key=lambda match: match.start(), default=None)
        if not found:
            yield False, text[position:]
            return
        yield False, text[position : found.start()]
        if found is fence:
            yield True, found[0]
        position = found.end()


def convert_fence(text: str) -> str:
    """Replaces the marks of a test (`sh run`, `text out`, `python file=name`) by a title or by nothing."""
    match = FENCE.match(text)
    assert match
    language, *marks = match["info"].split() or ["text"]
    names = [mark.removeprefix("file=") for mark in marks if mark.startswith("file=")]
    title = f' title="{names[0]}"' if names else ""
    rest = text[match.start("body") :]
    return f"{match['indent']}{match['marks']}{language}{title}\n{rest}"


def indent_lists(text: str) -> str:
    """Indents what belongs to a list item by four columns for each level, and parts lists from paragraphs.

    The repository's viewer takes the column of an item's text for its indentation; the site's renderer takes four."""
    lines: list[str] = []
    columns: list[int] = []  # of the text of each open item
    fence = ""
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if fence:
            lines.append(shift(line, columns))
            if line.strip() == fence:
                fence = ""
            continue
        item = LIST_ITEM.match(line)
        if line.strip() and (item or not lines or not lines[-1].strip()):
            while columns and indent < columns[-1]:
                columns.pop()
        if item:
            if lines and lines[-1].strip() and not columns and not re.match(r" *([-*+]|\d+\.) ", lines[-1]):
                lines.append("")
            lines.append("    " * len(columns) + item["marker"] + " " + line[item.end() :])
            columns.append(item.end())
            continue
        if opening := re.match(r" *(```+|~~~+)", line):
            while columns and indent < columns[-1]:
                columns.pop()
            fence = opening[1]
        lines.append(shift(line, columns))
    return "\n".join(lines)


def shift(line: str, columns: list[int]) -> str:
    if not columns or not line.strip():
        return line
    indent = len(line) - len(line.lstrip(" "))
    return "    " * len(columns) + " " * max(0, indent - columns[-1]) + line.lstrip(" ")
