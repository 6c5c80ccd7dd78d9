# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists of the cases that are known to fail. A line is `case: reason`, or a comment."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from workers import Outcome, Verdict


def read_known(path: pathlib.Path) -> dict[str, str]:
    """Returns the reasons in a list by the names of cases; none if there is no such file."""
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = (line.partition(": ") for line in lines if line and not line.startswith("#"))
    return {name: reason for name, _, reason in pairs}


def problem(name: str, outcome: Outcome, known: Mapping[str, str]) -> str:
    """Returns a message if the outcome of a case is not the expected one; the empty string otherwise."""
    if outcome.verdict is Verdict.PASSED:
        return f"{name} passes: remove it from the list of known failures" if name in known else ""
    return "" if name in known else f"{name} {outcome.verdict.value}: {outcome.reason}"
