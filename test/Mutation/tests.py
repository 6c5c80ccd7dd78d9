# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs unit tests with and without mutants, within limits of time and memory."""

import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from mutated_build import ROOT, MutatedBuild

MEMORY = 4 << 30
# A run with a mutant may take this many times the processor time of the run without it, and `SLACK` more seconds. Only
# processor time counts, so that no mutant is killed because the machine is busy.
FACTOR, SLACK = 4, 4
# A run that waits for longer than this, in seconds, without using the processor hangs. So does one that uses less than
# a small part of the processor until it ends.
MAX_IDLE, LEAST_SHARE = 20, 0.02
# The first batch of tests takes this many seconds. The batches up to each later one take `GROWTH` times as long.
QUICK, GROWTH = 1.0, 4


@dataclass(frozen=True)
class UnitTests:
    """A GoogleTest program."""

    program: pathlib.Path

    def command(self, names: Sequence[str], folder: pathlib.Path) -> list[str]:
        """Returns a command that runs these tests and stops at the first that fails."""
        return [str(self.program), "--gtest_fail_fast", f"--gtest_filter={':'.join(names)}"]

    def list_names(self, environment: dict[str, str]) -> list[str]:
        listing = subprocess.run(
            [self.program, "--gtest_list_tests"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        names, suite = [], ""
        for line in listing.splitlines():
            name = line.split("#")[0].strip()
            if line.startswith(" ") and "DISABLED_" not in name:
                names.append(suite + name)
            elif name.endswith("."):
                suite = name
        return names


@dataclass(frozen=True)
class LitTests:
    """The lit tests of a folder of `test/`. They run with the tools of a build with mutants."""

    build: MutatedBuild
    folder: str

    def command(self, names: Sequence[str], folder: pathlib.Path) -> list[str]:
        """Returns a command that runs these tests and stops at the first that fails. Its files are in `folder`, so that
        several commands can run at once."""
        config = (self.build.build / "test" / "lit.site.cfg.py").read_text()
        config = config.replace(str(self.build.build), str(self.build.folder))
        config = re.sub("(?<=config.inlay_python = ).*", '""', config)  # the Python package has no mutants
        (folder / "lit.site.cfg.py").write_text(f"{config}\nconfig.test_exec_root = {str(folder)!r}\n")
        cache = (self.build.build / "CMakeCache.txt").read_text()
        lit = next(iter(re.findall("^LLVM_EXTERNAL_LIT:FILEPATH=(.*)$", cache, re.MULTILINE)), "lit")
        paths = [str(folder / name) for name in names]
        return [sys.executable, lit, "-q", "-j1", "--order=lexical", "--max-failures=1", *paths]

    def list_names(self, environment: dict[str, str]) -> list[str]:
        paths = (ROOT / "test" / self.folder).iterdir()
        return sorted(f"{self.folder}/{path.name}" for path in paths if path.suffix in (".mlir", ".test"))


@dataclass
class Case:
    """One test: its processor time, and the mutants that it reaches."""

    program: UnitTests | LitTests
    name: str
    seconds: float = 0
    reached: frozenset[int] = field(default_factory=frozenset)
    skipped: frozenset[int] = field(default_factory=frozenset)  # mutants that change nothing for their types


def run_cases(cases: Sequence[Case], environment: dict[str, str], limit: float) -> bool:
    """Runs cases of one program. Returns true if all pass within `limit` seconds of CPU time."""

    def set_limits() -> None:
        os.nice(10)  # mutants run for long, so they leave the processor to others
        cpu = int(limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            cases[0].program.command([case.name for case in cases], pathlib.Path(folder)),
            cwd=folder,
            env={**os.environ, **environment, "TEST_TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=set_limits,
            start_new_session=True,
        )
        try:
            return wait(process, MAX_IDLE + limit / LEAST_SHARE)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait(process: subprocess.Popen[bytes], most: float) -> bool:
    """Waits until the leader of a process group ends, for `most` seconds at most. Returns true if it succeeds, or false
    if the group hangs."""
    used = 0
    begin = since = time.monotonic()
    while time.monotonic() - since < MAX_IDLE and time.monotonic() - begin < most:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=1) == 0
        before, (used, is_ready) = used, count_ticks(process.pid)
        if is_ready or used != before:
            since = time.monotonic()
    return False


def count_ticks(group: int) -> tuple[int, bool]:
    """Returns the processor time of a process group, and true if one of its processes could run now."""
    ticks, is_ready = 0, False
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name of the program, which may contain spaces, ends with a parenthesis.
            state, _, group_id, *rest = file.read_text().rpartition(")")[2].split()
            if int(group_id) == group:
                ticks += sum(int(field) for field in rest[8:12])
                is_ready |= state in "RD"
    return ticks, is_ready


def measure(case: Case, mutants: int, environment: dict[str, str]) -> bool:
    """Runs a test without a mutant and notes what it reaches. Returns true if it passes."""
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(mutants + 1)
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        passes = run_cases([case], {**environment, "INLAY_MUTANTS_REACHED": file.name}, limit=300)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        case.seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        bits = pathlib.Path(file.name).read_bytes()
        case.reached = frozenset(i for i, byte in enumerate(bits) if byte & 1)
        case.skipped = frozenset(i for i, byte in enumerate(bits) if byte & 2)
    return passes


def is_killed(number: int, cases: Sequence[Case], environment: dict[str, str]) -> bool:
    """Returns true if a test fails or exceeds its limits with this mutant. Quick tests run first. The tests run in
    batches, each of which takes longer than all before it."""
    ready = sorted((case for case in cases if number in case.reached), key=lambda case: case.seconds)
    batches: dict[tuple[int, UnitTests | LitTests], list[Case]] = {}
    total, size, limit = 0.0, 0, QUICK
    for case in ready:
        total += case.seconds
        while total > limit:
            size, limit = size + 1, limit * GROWTH
        batches.setdefault((size, case.program), []).append(case)
    for batch in batches.values():
        limit = SLACK + FACTOR * sum(case.seconds for case in batch)
        if not run_cases(batch, {**environment, "INLAY_MUTANT": str(number)}, limit):
            return True
    return False
