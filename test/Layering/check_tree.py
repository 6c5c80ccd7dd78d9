"""Check the rules of the source tree: `check_tree.py [ROOT]`.

layers     libraries and folders include along the arrows of a table; private and public headers are what they are for
sizes      files, mains of tools, functions and folders stay below limits
python     folders of the Python package import along the arrows of a table, without circles
passes     flag, class, file, test and debug type of each pass follow from one another
text       license, head comments, diagnostics, comments; nothing names a machine, a ticket or a package mirror
documents  every INLAY_* variable that code reads is explained, and the files and tests that pages name exist

Each topic is a module check_TOPIC.py beside this file. Prints `path:line: message` for each finding and exits with 1 if
there are any.
"""

import pathlib
import sys
from collections.abc import Iterator

from check_documents import check_documents
from check_layers import check_layers
from check_passes import check_passes
from check_python import check_python
from check_sizes import check_sizes
from check_text import check_text
from source_tree import Finding, read_sources


def check_tree(root: pathlib.Path) -> Iterator[Finding]:
    sources = read_sources(root)
    yield from check_layers(sources)
    yield from check_sizes(root, sources)
    yield from check_passes(root, sources)
    yield from check_python(root)
    yield from check_text(sources)
    yield from check_documents(root, sources)


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    findings = sorted(set(check_tree(root)))
    for path, line, text in findings:
        print(f"{path.relative_to(root)}:{line}: {text}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
