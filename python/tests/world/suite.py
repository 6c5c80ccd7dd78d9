# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ONNX's own test suite: `python suite.py --targets host,torch [-k PATTERN] [--listed] [--update]`.

The suite is the one of the package `onnx`. Cases that are known to fail are listed in `suite_known.txt` with a reason,
those that only fail with Vulkan in `suite_known_vulkan.txt`. The run fails if a case fails that is not listed, or if a
listed case passes.
"""

from __future__ import annotations

import argparse
import collections
import functools
import os
import pathlib
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from known import problem, read_known
from suite_cases import load_cases, run_case
from workers import Outcome, Verdict, run_all

_LISTS = (
    pathlib.Path(__file__).with_name("suite_known.txt"),
    pathlib.Path(__file__).with_name("suite_known_vulkan.txt"),
)
_SECONDS = 300.0  # for a case


def known_failures(targets: Sequence[str]) -> dict[str, str]:
    """Returns the reasons of the cases that are known to fail, by name."""
    known: dict[str, str] = {}
    for path in _lists(targets):
        known.update(read_known(path))
    return known


def _lists(targets: Sequence[str]) -> tuple[pathlib.Path, ...]:
    """Returns the files that list failures on these targets. A failure that is new is added to the last one."""
    return _LISTS if "vulkan" in targets else _LISTS[:1]


def _runner(targets: Sequence[str]) -> Callable[[str], Outcome]:
    """Returns a function that runs a case on targets."""
    cases = load_cases()
    return lambda name: run_case(cases[name], targets)


def _update(outcomes: Mapping[str, Outcome], targets: Sequence[str]) -> None:
    """Rewrites the list of known failures: removes cases that passed, and adds those that failed."""
    *others, path = _lists(targets)
    elsewhere = {name for other in others for name in read_known(other)}
    head = [line for line in path.read_text().splitlines() if line.startswith("#")] if path.exists() else []
    kept = read_known(path)
    for name, outcome in outcomes.items():
        if outcome.verdict is Verdict.PASSED:
            kept.pop(name, None)
        elif name not in elsewhere and name not in kept:
            kept[name] = f"{outcome.verdict.value}: {outcome.reason[:160].strip()}"
    path.write_text("\n".join([*head, *(f"{name}: {reason}" for name, reason in sorted(kept.items()))]) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Runs ONNX's own test suite.")
    parser.add_argument("--targets", default="host,torch", help="names, separated by commas")
    parser.add_argument("-k", dest="pattern", default="", help="a regular expression that selects cases")
    parser.add_argument("--listed", action="store_true", help="run only the cases that are known to fail")
    parser.add_argument("--update", action="store_true", help="rewrite the list of known failures")
    parser.add_argument("--verbose", action="store_true", help="print all cases that did not pass")
    options = parser.parse_args(arguments)
    targets = tuple(options.targets.split(","))
    # A driver that runs on the processor needs minutes for a network.
    os.environ.setdefault("INLAY_DEVICE_TIMEOUT", str(int(_SECONDS)))
    listed = known_failures(targets)
    names = [
        name for name in load_cases() if re.search(options.pattern, name) and (name in listed or not options.listed)
    ]
    outcomes, problems, begin = {}, 0, time.monotonic()
    for name, outcome in run_all(names, functools.partial(_runner, targets), _SECONDS):
        outcomes[name] = outcome
        text = problem(name, outcome, listed)
        problems += bool(text)
        if options.verbose and not text and outcome.verdict is not Verdict.PASSED:
            text = f"{name} {outcome.verdict.value} as listed: {outcome.reason}"
        if text:
            print(text, flush=True)
    if options.update:
        _update(outcomes, targets)
    totals = collections.Counter(outcome.verdict for outcome in outcomes.values())
    counts = "  ".join(f"{verdict.value} {totals[verdict]}" for verdict in Verdict)
    print(f"{'+'.join(targets)}: {len(outcomes)} cases in {time.monotonic() - begin:.0f} s  {counts}")
    return 1 if problems and not options.update else 0


if __name__ == "__main__":
    sys.exit(main())
