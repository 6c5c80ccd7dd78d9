# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mutant: one small change of a source, which a switch turns on at run time."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Mutant:
    """`number` is that of its switch, from 1 on. `line` is the text of its line, `change` says what differs."""

    number: int
    file: str
    row: int
    line: str
    change: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies the mutant after changes of other lines. Two equal changes of one line have the same key."""
        return self.file, self.line, self.change

    def __str__(self) -> str:
        return f"{self.file}:{self.row}: {self.change}    {self.line}"


@dataclass
class Mutants:
    """Numbers the mutants of all files. A file takes the next numbers; `dropped` holds rows that did not compile. Their
    mutants keep their numbers, so that the text of other files does not change."""

    sample: float = 1
    dropped: set[tuple[str, int]] = field(default_factory=set)
    all: list[Mutant] = field(default_factory=list)
    last: int = 0  # the highest number

    def clear(self) -> None:
        self.all.clear()
        self.last = 0

    def add(self, file: str, row: int, line: str, *changes: str) -> int | None:
        """Adds mutants with consecutive numbers and returns the first one, or None if the place is not mutated. Which
        places a sample contains depends on the text of the line alone."""
        place = f"{file}\0{line}\0{changes[0]}".encode()
        share = int.from_bytes(hashlib.sha256(place).digest()[:4], "big") / 2**32
        if share >= self.sample:
            return None
        first = self.last + 1
        self.last += len(changes)
        if (file, row) in self.dropped:
            return None
        self.all += (Mutant(first + i, file, row, line, change) for i, change in enumerate(changes))
        return first
