# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs unit tests with and without mutants, within limits of time and memory."""

import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

MEMORY = 4 << 30
# A run with a mutant may take this many times the time of the run without it, and `SLACK` more seconds.
FACTOR, SLACK = 8, 5
# Tests that take less than this, in seconds, run first.
QUICK = 1.0


@dataclass
class Case:
    """One test: its command, how long it takes, and the mutants that it reaches."""

    program: tuple[str, ...]
    name: str
    seconds: float = 0
    reached: frozenset[int] = field(default_factory=frozenset)
    skipped: frozenset[int] = field(default_factory=frozenset)  # mutants that change nothing for their types

    def run(self, environment: dict[str, str]) -> bool:
        return run_cases([self], environment, limit=300)


def run_cases(cases: Sequence[Case], environment: dict[str, str], limit: float) -> bool:
    """Runs cases of one program. Returns true if all pass within `limit` seconds of CPU time."""
    program = cases[0].program
    is_lit = program[-1] == "lit"
    names = [case.name for case in cases]
    command = (
        [*program[:-1], *names] if is_lit else [*program, "--gtest_fail_fast", f"--gtest_filter={':'.join(names)}"]
    )

    def set_limits() -> None:
        cpu = int(limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment, "TEST_TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=set_limits,
            start_new_session=True,
        )
        try:
            return process.wait(timeout=4 * limit + 20) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def list_cases(program: pathlib.Path, environment: dict[str, str]) -> list[Case]:
    """Returns the tests of a GoogleTest program."""
    listing = subprocess.run(
        [program, "--gtest_list_tests"], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout
    cases, suite = [], ""
    for line in listing.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith(" ") and "DISABLED_" not in name:
            cases.append(Case((str(program),), suite + name))
        elif name.endswith("."):
            suite = name
    return cases


def measure(case: Case, mutants: int, environment: dict[str, str]) -> bool:
    """Runs a test without a mutant and notes what it reaches. Returns true if it passes."""
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(mutants + 1)
        begin = time.monotonic()
        passes = case.run({**environment, "INLAY_MUTANTS_REACHED": file.name})
        case.seconds = time.monotonic() - begin
        bits = pathlib.Path(file.name).read_bytes()
        case.reached = frozenset(i for i, byte in enumerate(bits) if byte & 1)
        case.skipped = frozenset(i for i, byte in enumerate(bits) if byte & 2)
    return passes


def is_killed(number: int, cases: Sequence[Case], environment: dict[str, str]) -> bool:
    """Returns true if a test fails or exceeds its limits with this mutant. Quick tests run first."""
    ready = sorted((case for case in cases if number in case.reached), key=lambda case: case.seconds)
    batches: dict[tuple[bool, tuple[str, ...]], list[Case]] = {}
    total = 0.0
    for case in ready:
        total += case.seconds
        batches.setdefault((total > QUICK, case.program), []).append(case)
    for _, batch in sorted(batches.items(), key=lambda item: item[0]):
        limit = SLACK + FACTOR * sum(case.seconds for case in batch)
        if not run_cases(batch, {**environment, "INLAY_MUTANT": str(number)}, limit):
            return True
    return False
