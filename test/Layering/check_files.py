#!/usr/bin/env python3
"""Check files of any kind: `check_files.py FILE...`.

A text file ends with exactly one line end and has no markers of a merge conflict. No file is larger than LIMIT.

Prints `path: message` for each finding and exits with 1 if there are any.
"""

import pathlib
import re
import sys
from collections.abc import Iterator

LIMIT = 256 * 1024
CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)


def check_file(path: pathlib.Path) -> Iterator[str]:
    data = path.read_bytes()
    if len(data) > LIMIT:
        yield f"expected at most {LIMIT // 1024} KiB, but got {len(data) // 1024}"
    if b"\0" in data or not data:
        return
    if not data.endswith(b"\n"):
        yield "expected a line end after the last line"
    elif data.endswith(b"\n\n"):
        yield "expected one line end after the last line, but got several"
    if CONFLICT.search(data):
        yield "has markers of a merge conflict"


def main() -> int:
    findings = [
        f"{path}: {text}"
        for path in map(pathlib.Path, sys.argv[1:])
        if path.is_file() and not path.is_symlink()
        for text in check_file(path)
    ]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
