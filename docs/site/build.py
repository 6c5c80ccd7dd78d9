"""Builds the documentation site: build.py --out FOLDER [--repository URL] [--revision NAME] [--site-url URL].

The pages are collected in FOLDER-pages, from README, docs/ and the references that are generated from the sources.
Links to source files lead to the repository's web pages if --repository names them, and otherwise to copies in the site.
"""

from __future__ import annotations

import argparse
import fnmatch
import logging
import os
import pathlib
import re
import shutil
import sys
import urllib.parse
from typing import Any

os.environ["NO_MKDOCS_2_WARNING"] = "1"  # the versions are pinned

import pygments.lexers._mapping
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config

import check_site
from cpp_reference import write_cpp_reference
from pages import Pages
from python_reference import write_python_reference

HERE = pathlib.Path(__file__).resolve().parent
INDEXES = {
    "guide/index.md": ("Guides", "Each page answers one question, and its examples run as tests."),
    "decisions/index.md": ("Decisions", "Each page records a decision, what else was possible and what follows from it."),
    "reference/index.md": ("Reference", "These pages are generated from the sources."),
    "benchmarks/index.md": ("Benchmarks", "One command measures the figures of a page anew and writes the page."),
}
TEMPLATES = ["decisions/0000-template.md"]


class Failures(logging.Handler):
    """Collects the warnings of MkDocs, each of which fails the build."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def title_of(pages: Pages, page: str) -> str:
    match = re.search(r"^# (.+)$", (pages.out / page).read_text(), re.MULTILINE)
    return match[1] if match else page


def write_indexes(pages: Pages, references: dict[str, list[str]]) -> None:
    """Writes a list of the pages for each folder, which links to a folder lead to."""
    for index, (title, text) in INDEXES.items():
        folder = index.removesuffix("/index.md")
        if (pages.out / index).exists():
            continue
        names = sorted(path.name for path in (pages.out / folder).glob("*.md") if f"{folder}/{path.name}" not in TEMPLATES)
        lines = [f"* [{title_of(pages, f'{folder}/{name}')}]({name})" for name in names]
        if folder == "reference":
            lines += [f"* [Python API](../{references['python'][0]})", f"* [C++ API](../{references['cpp'][0]})"]
        pages.write(index, f"# {title}\n\n{text}\n\n" + "\n".join(lines) + "\n")


def expand_menu(entries: list[Any], names: set[str], listed: set[str], references: dict[str, list[str]]) -> list[Any]:
    """Replaces patterns in the menu by the pages they stand for, and drops groups that are empty."""
    expanded: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            ((title, inside),) = entry.items()
            inside = references.get(inside, inside) if isinstance(inside, str) else inside
            if isinstance(inside, list):
                inside = expand_menu(inside, names, listed, references)
            if inside:
                expanded.append({title: inside})
        elif "*" in entry:
            depth = entry.count("/")
            found = [name for name in names - listed if fnmatch.fnmatch(name, entry) and name.count("/") == depth]
            expanded += sorted(found)
        else:
            expanded.append(entry)
    return expanded


def listed_pages(entries: list[Any]) -> set[str]:
    found: set[str] = set()
    for entry in entries:
        for inside in entry.values() if isinstance(entry, dict) else [entry]:
            found |= listed_pages(inside) if isinstance(inside, list) else {inside}
    return found


def collect(pages: Pages, work: pathlib.Path) -> list[Any]:
    """Writes the Markdown of the whole site and returns its menu."""
    pages.add_all()
    for index in INDEXES:
        pages.pages.setdefault(f"docs/{index.removesuffix('/index.md')}", index)
    references = {"cpp": write_cpp_reference(pages, work / "doxygen"), "python": write_python_reference(pages)}
    pages.write_all()
    write_indexes(pages, references)
    shutil.copytree(HERE / "assets", pages.out / "assets", dirs_exist_ok=True)
    menu = yaml.safe_load((HERE / "nav.yml").read_text())
    names = {str(path.relative_to(pages.out)) for path in pages.out.rglob("*.md")}
    listed = listed_pages(menu) | set(TEMPLATES)
    pages.problems += [
        f"docs/site/nav.yml: expected a page, but got '{name}'"
        for name in sorted(listed - names - set(references))
        if "*" not in name
    ]
    return expand_menu(menu, names, listed | set().union(*references.values()), references)


def render(args: argparse.Namespace, pages: Pages, menu: list[Any]) -> list[str]:
    """Makes HTML of the pages and returns what MkDocs warns of."""
    pygments.lexers._mapping.LEXERS["MlirLexer"] = ("mlir_lexer", "MLIR", ("mlir",), ("*.mlir",), ())
    failures = Failures()
    logging.getLogger("mkdocs").addHandler(failures)
    config = load_config(
        str(HERE / "mkdocs.yml"),
        docs_dir=str(pages.out),
        site_dir=str(args.out),
        nav=menu,
        site_url=args.site_url,
        repo_url=args.repository or None,
    )
    build(config)
    return failures.texts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--repository", default="", help="address of the repository's web pages")
    parser.add_argument("--revision", default="main", help="branch or commit that links to the repository show")
    parser.add_argument("--site-url", default="", help="address that the site will have")
    args = parser.parse_args()
    args.out = args.out.resolve()
    work = args.out.parent / f"{args.out.name}-pages"
    shutil.rmtree(work, ignore_errors=True)

    pages = Pages(HERE.parents[1], work / "docs", args.repository.rstrip("/"), args.revision)
    warnings = render(args, pages, collect(pages, work))
    base = urllib.parse.urlsplit(args.site_url).path.rstrip("/") + "/"
    page_count, links, broken, remote = check_site.check_site(args.out, base)
    problems = [*broken, *remote, *warnings, *pages.problems]  # those that cause others come last
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{page_count} pages, {links} links, {len(broken)} broken, {len(remote)} fetched from other hosts")
    return 1 if problems or not page_count else 0


if __name__ == "__main__":
    sys.exit(main())
