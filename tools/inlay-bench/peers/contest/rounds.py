# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Worker processes that take calls by turns, so that what slows the machine slows all of them.

A worker is a process that answers lines of JSON with lines of JSON. It says one object of its own accord, when it is
ready; then {"do": "calls", "for_ms": N} is answered by {"times": [...]} in milliseconds, and {"do": "stop"} by the
figures known at the end. {"error": "..."} instead of any of them ends the worker.
"""

import contextlib
import ctypes
import json
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

READY_S, ANSWER_S = 1800.0, 600.0  # what takes longer is taken for hung


class WorkerError(Exception):
    """A worker that failed, ended or hung; the message says in one line how."""


def _end_with_parent() -> None:
    """A process that stands still doesn't see that who started it is gone."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Worker:
    """One contender in a process of its own. As a context, it is gone at the end.

    Once it is ready, the process stands still but for the time it takes to answer. Threads that wait for work spin,
    and that would be at the cost of whoever has the turn: those of OpenMP for some 10 ms, of ONNX Runtime for some
    45 ms, one of IREE's Vulkan for ever.
    """

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            preexec_fn=_end_with_parent,
        )
        self.pid = self._process.pid

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):  # what was still to be said to one that is gone
                stream.close()

    def receive_ready(self) -> dict[str, Any]:
        """What it says of its own accord."""
        try:
            return self.receive(READY_S)
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def receive(self, limit_s: float = ANSWER_S) -> dict[str, Any]:
        """The next object; a worker says one line at a time, so that a first byte means a whole line soon."""
        if not select.select([self._process.stdout], [], [], limit_s)[0]:
            raise WorkerError(f"gave no answer in {limit_s:g} s")
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(f"ended with status {self._process.wait()} before it answered")
        try:
            answer = json.loads(line)
        except ValueError:
            raise WorkerError(f"expected a line of JSON, but got {line[:80]!r}") from None
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def ask(self, **request: Any) -> dict[str, Any]:
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError(f"ended with status {self._process.wait()} between two calls") from None
        try:
            return self.receive()
        finally:
            self._process.send_signal(signal.SIGSTOP)


def take_turns(
    workers: Sequence[Worker], rounds: int, turn_ms: float = 0
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """The times of each worker's calls by its name, and what went wrong with those that failed.

    In each round each worker has one turn: calls that wake it and aren't counted, then calls for turn_ms, at least one.
    A worker that fails takes part no longer.
    """
    times: dict[str, list[float]] = {worker.name: [] for worker in workers}
    errors: dict[str, str] = {}
    for _ in range(rounds):
        for worker in workers:
            if worker.name in errors:
                continue
            try:
                times[worker.name] += worker.ask(do="calls", for_ms=turn_ms)["times"]
            except WorkerError as error:
                errors[worker.name] = str(error)
    return {name: values for name, values in times.items() if name not in errors}, errors
