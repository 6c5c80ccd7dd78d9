# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures one model or kernel with all contenders. Workers start one after the other, then take turns."""

import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile
from typing import Any

import catalog
import numpy
from rounds import Worker, WorkerError, take_turns
from summary import add_ratios

WORKER = pathlib.Path(__file__).with_name("worker.py")
TURNS_MS = {"models": 0, "kernels": 20}  # one call of a model, and as many calls of a kernel as fit


@dataclasses.dataclass(frozen=True)
class Run:
    """The parameters of a contest that are equal for all subjects."""

    suite: str
    contenders: dict[str, str]  # interpreter by the name of the contender
    scale: str
    threads: int
    rounds: int
    shows_reference: bool  # true if PyTorch is one of the peers and gets a row


def environment(threads: int) -> dict[str, str]:
    """Returns the environment of all workers. It sets the number of threads and disables caches of earlier runs."""
    count = str(threads)
    return {
        **os.environ,
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "INLAY_NUM_THREADS", "LP_NUM_THREADS"), count),
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        "PYTHONWARNINGS": "ignore",
    }


def start(name: str, python: str, threads: int, *arguments: str) -> Worker:
    return Worker(name, [python, os.fspath(WORKER), *arguments], environment(threads))


def difference(expected: list[numpy.ndarray], got: list[numpy.ndarray]) -> float:
    """Returns the largest difference relative to the largest element of the same result, or infinity for NaN."""
    shares = [0.0]
    for theirs, ours in zip(expected, got, strict=True):
        theirs, ours = theirs.astype(numpy.float64), ours.astype(numpy.float64)
        largest = max(float(numpy.abs(theirs).max(initial=0)), 1e-30)
        share = float(numpy.abs(ours - theirs).max(initial=0)) / largest
        shares.append(float("inf") if share != share else share)
    return max(shares)


def load_results(folder: pathlib.Path, contender: str) -> list[numpy.ndarray]:
    path = folder / f"{contender}.npz"
    with numpy.load(path) as arrays:
        results = [arrays[name] for name in arrays.files]
    path.unlink()  # results may be large, and there are many contenders
    return results


def compare(expected: list[numpy.ndarray], got: list[numpy.ndarray]) -> float:
    shapes, wanted = ([array.shape for array in arrays] for arrays in (got, expected))
    if shapes != wanted:
        raise WorkerError(f"expected results of shapes {wanted}, like those of PyTorch, but got {shapes}")
    return difference(expected, got)


class Contest:
    """All contenders with one subject."""

    def __init__(self, run: Run, subject: str, dtype: str) -> None:
        self._run, self._subject, self._dtype = run, subject, dtype
        self.notes: list[str] = []
        self._facts: dict[str, dict[str, Any]] = {}
        self._expected: list[numpy.ndarray] | None = None

    def rows(self) -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory(prefix="inlay-bench") as folder, contextlib.ExitStack() as stack:
            workers = [
                worker
                for contender in self._run.contenders
                if (worker := self._prepare(contender, pathlib.Path(folder), stack))
            ]
            if self._expected is None:
                return []
            times, errors = take_turns(workers, self._run.rounds, TURNS_MS[self._run.suite])
            for name, error in errors.items():
                self._note(name, error)
            for worker in workers:
                with contextlib.suppress(WorkerError):
                    self._facts[worker.name] |= worker.ask(do="stop")
        return self._make_rows(times)

    def _prepare(self, contender: str, folder: pathlib.Path, stack: contextlib.ExitStack) -> Worker | None:
        """Starts a worker and checks its results. PyTorch comes first, since its results are the expected ones.

        Returns None if the contender fails.
        """
        if contender != catalog.REFERENCE and self._expected is None:
            return None
        setting = {
            "contender": contender,
            "suite": self._run.suite,
            "subject": self._subject,
            "dtype": self._dtype,
            "scale": self._run.scale,
            "threads": self._run.threads,
            "folder": os.fspath(folder),
        }
        python = self._run.contenders[contender]
        worker = stack.enter_context(start(contender, python, self._run.threads, "run", json.dumps(setting)))
        try:
            facts = worker.receive_ready()
            results = load_results(folder, contender)
            if contender == catalog.REFERENCE:
                self._expected = results
            facts["difference"] = compare(self._expected, results)
        except WorkerError as error:
            self._note(contender, str(error))
            return None
        self._facts[contender] = facts
        return worker

    def _note(self, contender: str, error: str) -> None:
        self.notes.append(f"{self._subject} by {catalog.label(contender)} failed: {error}")

    def _make_rows(self, times: dict[str, list[float]]) -> list[dict[str, Any]]:
        rows = [
            {
                "subject": self._subject,
                "dtype": self._dtype,
                "contender": catalog.label(name),
                "is_peer": not catalog.is_inlay(name),
                "latency_ms": statistics.median(values),
                **self._facts[name],
            }
            for name, values in times.items()
            if name != catalog.REFERENCE or self._run.shows_reference
        ]
        if catalog.REFERENCE in times:
            add_ratios(rows, statistics.median(times[catalog.REFERENCE]))
            print(self._progress(rows), file=sys.stderr, flush=True)
            return rows
        return []

    def _progress(self, rows: list[dict[str, Any]]) -> str:
        latencies = ", ".join(f"{row['contender']} {row['latency_ms']:.3g}" for row in rows)
        return f"{self._subject} {self._dtype}: {latencies} ms"
