# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Worker processes that take turns, so that a slower machine affects all of them.

A worker reads requests and writes answers as lines of JSON. When it is ready, it writes one object without a request.
It answers {"do": "calls", "for_ms": N} with {"times": [...]} in milliseconds, and {"do": "stop"} with its final
figures. An answer {"error": "..."} ends the worker.
"""

import contextlib
import ctypes
import json
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

READY_S, ANSWER_S = 1800.0, 600.0  # a worker that takes longer is considered hung


class WorkerError(Exception):
    """A worker failed, ended or hung. The message is one line."""


def _end_with_parent() -> None:
    """Makes the process end with its parent, since a stopped process can't notice the end of its parent."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Worker:
    """A contender in its own process, which ends with the `with` block.

    A ready process is stopped except while it answers. Otherwise its threads that spin while they wait for work would
    slow the contender whose turn it is: those of OpenMP for 10 ms, those of ONNX Runtime for 45 ms, and one thread of
    IREE's Vulkan driver forever.
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
        """Returns the first object, which the worker writes without a request, and stops the process."""
        try:
            return self.receive(READY_S)
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def receive(self, limit_s: float = ANSWER_S) -> dict[str, Any]:
        """Returns the next object. Workers write one line at a time, so a whole line follows its first byte soon."""
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
    """Returns the times of the calls of each worker by its name, and the errors of workers that failed.

    In each round each worker has one turn: uncounted calls that warm it up, then calls for turn_ms, at least one. A
    worker that fails gets no more turns.
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
