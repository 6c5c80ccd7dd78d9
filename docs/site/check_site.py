"""Checks a built site: every link leads somewhere, and nothing is fetched from another host.

check_site.py FOLDER prints each problem, then how many pages and links there are, and exits 1 if there is a problem.
"""

from __future__ import annotations

import html.parser
import pathlib
import posixpath
import re
import sys
import urllib.parse
from dataclasses import dataclass, field

# An element that a browser loads by itself, by the attribute that says from where. A link is followed by the reader.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src"), ("use", "href")}
NOT_LOADED_LINKS = {"canonical", "prev", "next", "edit", "alternate"}
REMOTE_IN_CSS = re.compile(r"(?:url\(|@import\s+)[\"']?(?:https?:)?//[^)\"';]+")


@dataclass
class Page(html.parser.HTMLParser):
    """The anchors of a page, and where it links to."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        for name in ("href", "src"):
            if name not in values:
                continue
            is_loaded = (tag, name) in LOADED and not set(values.get("rel", "").split()) & NOT_LOADED_LINKS
            (self.loaded if is_loaded else self.links).append(values[name])


def is_remote(link: str) -> bool:
    return link.startswith("//") or (bool(re.match(r"[a-z][a-z0-9+.-]*:", link)) and not link.startswith("data:"))


def read_pages(folder: pathlib.Path) -> dict[str, Page]:
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        page = Page()
        page.feed(path.read_text())
        pages[path.relative_to(folder).as_posix()] = page
    return pages


def check_link(folder: pathlib.Path, pages: dict[str, Page], name: str, link: str, base: str) -> str | None:
    """Returns what is wrong with a link inside the site, or None. `base` is the path of the site's address."""
    path, _, anchor = urllib.parse.unquote(link).partition("#")
    path = path.partition("?")[0]
    if path.startswith(base):  # the page of errors may be shown at any address, so its links start at the root
        target = path.removeprefix(base) or "index.html"
    else:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if (folder / target).is_dir():
        target = posixpath.normpath(posixpath.join(target, "index.html"))
    if not (folder / target).exists():
        return f"{name}: expected a page of the site, but got '{link}'"
    if anchor and target in pages and anchor not in pages[target].anchors and not anchor.startswith("__"):
        return f"{name}: expected an anchor of {target}, but got '#{anchor}'"
    return None


def check_site(folder: pathlib.Path, base: str = "/") -> tuple[int, int, list[str], list[str]]:
    """Returns the number of pages and of links, the broken links, and what is fetched from other hosts."""
    pages = read_pages(folder)
    broken, remote, count = [], [], 0
    for name, page in pages.items():
        remote += [f"{name}: expected a file of the site, but got '{link}'" for link in page.loaded if is_remote(link)]
        for link in [*page.links, *page.loaded]:
            if is_remote(link) or link.startswith("data:"):
                continue
            count += 1
            if problem := check_link(folder, pages, name, link, base):
                broken.append(problem)
    for path in sorted(folder.rglob("*.css")):
        remote += [f"{path.relative_to(folder)}: fetches {found}" for found in REMOTE_IN_CSS.findall(path.read_text())]
    return len(pages), count, sorted(set(broken)), sorted(set(remote))


def main() -> int:
    pages, links, broken, remote = check_site(pathlib.Path(sys.argv[1]))
    print(*broken, *remote, sep="\n", end="\n" if broken or remote else "")
    print(f"{pages} pages, {links} links, {len(broken)} broken, {len(remote)} fetched from other hosts")
    return 1 if broken or remote or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
