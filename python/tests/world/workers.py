# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs cases in another process, which is replaced if it crashes or takes too long."""

from __future__ import annotations

import enum
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import NamedTuple


class Verdict(enum.Enum):
    """The result of a case."""

    PASSED = "passed"
    REFUSED = "refused"  # UnsupportedError
    FAILED = "failed"  # another error of Inlay's
    RAISED = "raised"  # an exception that isn't Inlay's
    WRONG = "wrong"  # other results than expected
    ENDED = "ended"  # the process crashed or took too long


class Outcome(NamedTuple):
    """The result of a case, and the reason if it did not pass.

    ops: (target, number of its ops). graphs: the number of graphs that were compiled. calls: (call that PyTorch ran,
    number of ops that hold it).
    """

    verdict: Verdict
    reason: str = ""
    ops: tuple[tuple[str, int], ...] = ()
    graphs: int = 0
    calls: tuple[tuple[str, int], ...] = ()


# Returns a function that runs the case of a name.
MakeRunner = Callable[[], Callable[[str], Outcome]]


def _serve(connection: Connection, make_runner: MakeRunner) -> None:
    """Runs the cases whose names arrive, and sends the outcomes."""
    run = make_runner()
    while (name := connection.recv()) is not None:
        connection.send(run(name))


class _Worker:
    """A process that runs cases."""

    def __init__(self, make_runner: MakeRunner, seconds: float) -> None:
        """seconds: the time limit of a case."""
        self._seconds = seconds
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make_runner), daemon=True)
        self._process.start()
        theirs.close()

    def run(self, name: str) -> Outcome:
        """Returns the outcome of a case. The worker has ended if the verdict is ENDED."""
        self._connection.send(name)
        if not self._connection.poll(self._seconds):
            self._process.kill()
            self._process.join()
            return Outcome(Verdict.ENDED, f"no result after {self._seconds:.0f} s")
        try:
            outcome: Outcome = self._connection.recv()
        except EOFError:
            self._process.join()
            return Outcome(Verdict.ENDED, f"the process ended with status {self._process.exitcode}")
        return outcome

    def stop(self) -> None:
        """Ends the process."""
        if self._process.is_alive():
            self._connection.send(None)
            self._process.join(self._seconds)


def run_all(names: Iterable[str], make_runner: MakeRunner, seconds: float) -> Iterator[tuple[str, Outcome]]:
    """Runs cases in a worker process. Returns their outcomes by name. seconds: the time limit of a case."""
    worker = _Worker(make_runner, seconds)
    for name in names:
        outcome = worker.run(name)
        if outcome.verdict is Verdict.ENDED:
            worker = _Worker(make_runner, seconds)
        yield name, outcome
    worker.stop()
