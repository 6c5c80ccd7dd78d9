# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the tests again with one library that holds all mutants.

The build with the mutants consists of links to the files of an existing build, which must be up to date, and of what
depends on the mutated sources. The compiler and the linker run with the commands of the existing build.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Collection

from cpp_mutants import CppMutator
from mutant import Mutants

ROOT = pathlib.Path(__file__).parents[2]
ERROR = re.compile(r"^(?P<file>[^\s:]+):(?P<row>\d+):\d+:\s+(?:error|required)", re.MULTILINE)
INCLUDE = re.compile(r'^#include "(?P<path>[^"]+)"$', re.MULTILINE)
# The options before the names of the files that a command writes.
OUTPUT = re.compile(r"(?<=\s-o )\S+|(?<=/ar qc )\S+")
SOURCE = re.compile(r"(?<=\s-c )\S+")
# Mutants that don't compile are removed in this many rounds at most.
ROUNDS = 8


class MutatedBuild:
    """Holds the mutants of one library in `folder`. `build` is the existing build."""

    def __init__(self, build: pathlib.Path, folder: pathlib.Path) -> None:
        self.build = build
        self.folder = folder
        self.sources = folder / "mutated"

    def make(self, files: list[str], mutants: Mutants, targets: list[str], jobs: int) -> None:
        """Mutates the files and builds the targets. Rows whose mutants do not compile are dropped."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.build, self.folder, copy_function=os.symlink, ignore=self.is_left_out)
        commands = self.list_commands(targets)
        for _ in range(ROUNDS):
            self.mutate(files, mutants)
            log = self.run(self.select(commands, files), jobs)
            if log is None:
                return
            bad = self.find_errors(log) & {(mutant.file, mutant.row) for mutant in mutants.all}
            if not bad:
                sys.exit(f"{log[-8000:]}\nthe mutants don't build")
            print(f"mutants of {len(bad)} lines don't compile", flush=True)
            mutants.dropped |= bad
        sys.exit("the mutants don't build")

    def is_left_out(self, folder: str, names: list[str]) -> Collection[str]:
        """Leaves out folders of the existing build that are not part of it: files of tests and of this program."""
        return names if pathlib.Path(folder) == self.build / "test" else {"mutation", "mutation-env", "logs", "mypy"}

    def list_commands(self, targets: list[str]) -> list[str]:
        """Returns the commands that build the targets, in order. Only those of the compiler and the linker matter."""
        tool = ["ninja", "-C", self.build, "-t", "commands", *targets]
        lines = subprocess.run(tool, capture_output=True, text=True, check=True).stdout.splitlines()
        return [line for line in lines if OUTPUT.search(line)]

    def mutate(self, files: list[str], mutants: Mutants) -> None:
        mutants.clear()
        mutator = CppMutator(mutants)
        for file in files:
            text = mutator.mutate(file, (ROOT / file).read_text(), str(ROOT / "test/Mutation/Mutation.h"))
            write(self.sources / file, text)

    def select(self, commands: list[str], files: list[str]) -> list[str]:
        """Returns the commands whose inputs depend on the files, with the names of the mutated sources."""
        selected, changed = [], set()
        for command in commands:
            output = OUTPUT.findall(command)[-1]
            source = SOURCE.search(command)
            if source:
                mutated = self.replace_source(pathlib.Path(source[0]), files)
                if not mutated:
                    continue
                command = SOURCE.sub(f"{mutated} -iquote {self.find_folder(mutated)}", command)
            elif not changed.intersection(command.split()):
                continue
            changed.add(output)
            selected.append(command)
        return selected

    def replace_source(self, source: pathlib.Path, files: list[str]) -> pathlib.Path | None:
        """Returns the mutated form of a source, which may include several of the files. Returns nothing if it has
        none."""
        if source.is_relative_to(ROOT) and str(source.relative_to(ROOT)) in files:
            return self.sources / source.relative_to(ROOT)
        if "Unity" not in source.parts:
            return None
        text = INCLUDE.sub(
            lambda match: f'#include "{self.replace_source(pathlib.Path(match["path"]), files) or match["path"]}"',
            source.read_text(),
        )
        if str(self.sources) not in text:
            return None
        together = self.sources / source.relative_to(self.build)
        write(together, text)
        return together

    def find_folder(self, mutated: pathlib.Path) -> pathlib.Path:
        """Returns the original folder of a mutated source, which has its private headers."""
        included = INCLUDE.search(mutated.read_text())
        path = pathlib.Path(included["path"]) if "Unity" in mutated.parts and included else mutated
        return (ROOT / path.relative_to(self.sources)).parent

    def run(self, commands: list[str], jobs: int) -> str | None:
        """Runs the commands. Sources are compiled `jobs` at a time. Returns the output if one fails."""
        for command in commands:
            for output in OUTPUT.findall(command):
                (self.folder / output).unlink(missing_ok=True)  # the link to the existing file
                (self.folder / f"{output}.d").unlink(missing_ok=True)
        compiling = [command for command in commands if SOURCE.search(command)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            logs = [log for log in pool.map(self.execute, compiling) if log is not None]
        for command in commands if not logs else []:
            if command not in compiling and (log := self.execute(command)) is not None:
                return log
        return "".join(logs) if logs else None

    def execute(self, command: str) -> str | None:
        """Runs one command. Returns its output if it fails."""
        result = subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return f"{command}\n{result.stdout}" if result.returncode else None

    def find_errors(self, log: str) -> set[tuple[str, int]]:
        """Returns the files and rows that errors of the compiler name."""
        found = set()
        for match in ERROR.finditer(log):
            path = (self.folder / match["file"]).resolve()  # ccache makes paths relative
            if path.is_relative_to(self.sources):
                found.add((str(path.relative_to(self.sources)), int(match["row"])))
        return found


def write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
