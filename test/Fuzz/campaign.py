# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs commands on made inputs with limits on time and memory, and keeps the inputs that break them."""

from __future__ import annotations

import collections
import dataclasses
import enum
import pathlib
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

MEMORY_BYTES = 6 << 30  # of virtual memory; PyTorch maps 3 GB
CPU_SECONDS = 30
WALL_SECONDS = 300  # a busy machine must not look like a hang


class Kind(enum.Enum):
    """The outcome of a run. The last four are findings."""

    ACCEPTED = "accepted"
    REFUSED = "refused with an error"
    CRASH = "crash"
    HANG = "hang"
    MEMORY = "memory"
    WRONG = "wrong"

    @property
    def is_finding(self) -> bool:
        return self not in (Kind.ACCEPTED, Kind.REFUSED)


@dataclasses.dataclass(frozen=True)
class Outcome:
    kind: Kind
    text: str = ""  # what happened; for findings

    @property
    def key(self) -> str:
        """Equal for findings that look alike."""
        return f"{self.kind.value}: {self.text.splitlines()[0][:160] if self.text else ''}"


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_process() -> None:
    limit_memory()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))


def run_limited(command: Sequence[str], text: str = "") -> tuple[Outcome, str]:
    """Runs a command with `text` as its input. Returns the outcome and its output."""
    try:
        done = subprocess.run(
            command,
            input=text.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=WALL_SECONDS,
            preexec_fn=limit_process,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(Kind.HANG, f"no end after {WALL_SECONDS} s"), ""
    output, errors = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if "out of memory" in errors or "bad_alloc" in errors:
        return Outcome(Kind.MEMORY, "out of memory"), output
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Outcome(Kind.HANG, f"no end after {CPU_SECONDS} s of processor time"), output
    if done.returncode < 0:
        return Outcome(Kind.CRASH, f"{signal.Signals(-done.returncode).name}\n{errors[-6000:]}"), output
    if done.returncode == 0:
        return Outcome(Kind.ACCEPTED), output
    if "error" not in errors:
        return Outcome(Kind.WRONG, f"exit code {done.returncode} without an error message\n{errors[-2000:]}"), output
    return Outcome(Kind.REFUSED, errors), output


@dataclasses.dataclass
class Campaign:
    """Counts outcomes, and writes each finding that looks new to a folder."""

    name: str
    folder: pathlib.Path
    counts: collections.Counter[Kind] = dataclasses.field(default_factory=collections.Counter)
    findings: dict[str, pathlib.Path] = dataclasses.field(default_factory=dict)

    def note(self, outcome: Outcome, case: str | bytes, suffix: str) -> None:
        self.counts[outcome.kind] += 1
        if not outcome.kind.is_finding or outcome.key in self.findings:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.name}-{len(self.findings)}{suffix}"
        if isinstance(case, str):
            path.write_text(case, errors="surrogateescape")
        else:
            path.write_bytes(case)
        path.with_suffix(".txt").write_text(f"{outcome.kind.value}: {outcome.text}\n", errors="replace")
        self.findings[outcome.key] = path
        print(f"{path}: {outcome.key}", flush=True)

    def report(self) -> str:
        parts = [f"{self.counts[kind]} {kind.value}" for kind in Kind if self.counts[kind]]
        return f"{self.name}: {self.counts.total()} inputs: {', '.join(parts) or 'none'}"


def run_for(seconds: float, runs: int, seed: int, step: Callable[[random.Random], None]) -> None:
    """Calls `step` with a generator that depends on `seed` and the number of the call, until a limit is reached."""
    end = time.monotonic() + seconds
    for number in range(runs):
        if time.monotonic() >= end:
            return
        step(random.Random(f"{seed}.{number}"))
