# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a copy of the source tree with all mutants, and builds its unit tests."""

import pathlib
import re
import subprocess
import sys

from cpp_mutants import CppMutator
from mutant import Mutants

ROOT = pathlib.Path(__file__).parents[2]
ERROR = re.compile(r"^(?P<file>[^\s:]+):(?P<row>\d+):\d+:\s+(?:error|required)", re.MULTILINE)
# Mutants that don't compile are removed in this many rounds at most.
ROUNDS = 8


class MutatedTree:
    """A copy of the files that git knows. Files are written only if they change, so that a build stays incremental."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder
        self.build = folder / "build"  # where it is beside the sources, as usual, so that ccache knows unchanged files

    def copy(self) -> None:
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", ":!:shared"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                write(self.root / name, (ROOT / name).read_bytes())

    def mutate(self, files: list[str], mutants: Mutants) -> None:
        mutants.all.clear()
        mutator = CppMutator(mutants)
        for file in files:
            text = (ROOT / file).read_text()
            write(self.root / file, mutator.mutate(file, text, str(ROOT / "test/Mutation/Mutation.h")).encode())

    def make(self, files: list[str], mutants: Mutants, targets: list[str], jobs: int) -> None:
        """Copies, mutates and builds. Rows whose mutants do not compile are dropped."""
        self.copy()
        for _ in range(ROUNDS):
            self.mutate(files, mutants)
            log = self.compile(targets, jobs)
            if log is None:
                return
            bad = find_errors(log, self.root) & {(mutant.file, mutant.row) for mutant in mutants.all}
            if not bad:
                sys.exit(f"{log[-8000:]}\nthe mutated tree doesn't build")
            print(f"mutants of {len(bad)} lines don't compile", flush=True)
            mutants.dropped |= bad
        sys.exit("the mutated tree doesn't build")

    def compile(self, targets: list[str], jobs: int) -> str | None:
        """Returns the output if the build fails."""
        configure = ["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"]
        if not (self.build / "build.ninja").exists():
            subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        build = subprocess.run(
            ["ninja", "-C", self.build, "-j", str(jobs), "-k", "0", *targets],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return build.stdout if build.returncode else None


def find_errors(log: str, root: pathlib.Path) -> set[tuple[str, int]]:
    """Returns the files and rows that errors of the compiler name."""
    found = set()
    for match in ERROR.finditer(log):
        path = (root / "build" / match["file"]).resolve()  # ccache makes paths relative to the build folder
        if path.is_relative_to(root):
            found.add((str(path.relative_to(root)), int(match["row"])))
    return found


def write(path: pathlib.Path, data: bytes) -> None:
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
