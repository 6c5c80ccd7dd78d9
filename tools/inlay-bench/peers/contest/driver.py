# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure models or kernels in Inlay and its peers, and print a JSON object.

driver.py list SUITE --pythons=A,B     {"names": [...], "peers": [...]}
driver.py run SUITE --pythons=A,B ...  {"tables": [...], "notes": [...]}

SUITE is "models" or "kernels". If nothing can be measured, the object is {"error": "..."}.
"""

import argparse
import functools
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import catalog
from kernels import KERNELS
from rounds import WorkerError
from tables import kernel_tables, model_tables

# Each interpreter prints which modules it has. It does not import them, since some take seconds.
FIND = """
import importlib.util, sys
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # the package around it is missing
        return False
print(*filter(has, sys.argv[1:]))
"""


@functools.cache
def installed(python: str) -> frozenset[str]:
    wanted = sorted({module for contender in catalog.PEERS.values() for module in (*contender.modules, *catalog.EVERY)})
    found = subprocess.run([python, "-c", FIND, *wanted], capture_output=True, text=True, check=False)
    return frozenset(found.stdout.split())


def find_interpreter(contender: str, pythons: list[str]) -> tuple[str | None, str]:
    """Returns the first interpreter that has all modules of `contender`.

    If there is none, returns None and a text with the modules that the closest interpreter lacks.
    """
    wanted = (*catalog.EVERY, *catalog.needs(contender).modules)
    lacking = {python: [name for name in wanted if name not in installed(python)] for python in pythons}
    for python, missing in lacking.items():
        if not missing:
            return python, ""
    nearest = min(lacking, key=lambda python: len(lacking[python]))
    words = ", ".join(dict.fromkeys(lacking[nearest]))
    return None, f"'{nearest}' has no {words} ({catalog.needs(contender).hint()})"


def find_reference(pythons: list[str]) -> str:
    """Returns the interpreter of the worker for PyTorch. Restarts this script with it if this one has no numpy."""
    python, lack = find_interpreter(catalog.REFERENCE, pythons)
    if python is None:
        raise LookupError(lack)
    if importlib.util.find_spec("numpy") is None:
        os.execv(python, [python, *sys.argv])
    return python


def list_names(suite: str, pythons: list[str]) -> dict[str, Any]:
    peers = [*catalog.PEERS, *catalog.SYNONYMS]
    if suite == "kernels":
        return {"names": list(KERNELS), "peers": peers}
    python = find_reference(pythons)
    from contest import start

    with start("list", python, 1, "list", suite) as worker:
        return {"names": worker.receive_ready()["names"], "peers": peers}


def find_contenders(named: Iterable[str], pythons: list[str]) -> tuple[dict[str, str], list[str]]:
    """Returns the interpreter of each contender, PyTorch first, and a note for each contender without one."""
    contenders, notes = {}, []
    for contender in dict.fromkeys([catalog.REFERENCE, *named]):
        python, lack = find_interpreter(contender, pythons)
        if python is not None:
            contenders[contender] = python
        else:
            notes.append(f"skipped {catalog.label(contender)}: {lack}")
    return contenders, notes


def measure(options: argparse.Namespace) -> dict[str, Any]:
    reference = find_reference(options.pythons)
    from contest import Contest, Run, start

    peers = [catalog.canonical(peer) for peer in options.against]
    named = [*(f"inlay:{route}" for route in options.routes), *peers]
    contenders, notes = find_contenders(named, options.pythons)
    run = Run(options.suite, contenders, options.scale, options.threads, options.repeats, catalog.REFERENCE in peers)
    limits: dict[str, float] = {}
    if options.suite == "kernels":
        with start("limits", reference, options.threads, "limits", str(options.threads)) as worker:
            limits = worker.receive_ready()
    rows = []
    for subject in options.names:
        for dtype in options.dtypes:
            contest = Contest(run, subject, dtype)
            rows += contest.rows()
            notes += contest.notes
    tables = kernel_tables(rows, limits) if options.suite == "kernels" else model_tables(rows)
    return {"tables": tables, "notes": notes}


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["list", "run"])
    parser.add_argument("suite", choices=["models", "kernels"])
    for option in ("pythons", "names", "routes", "against", "dtypes"):
        parser.add_argument(f"--{option}", type=names, default=[])
    parser.add_argument("--scale", default="usual")
    for option in ("threads", "repeats"):
        parser.add_argument(f"--{option}", type=int, default=1)
    options = parser.parse_args()
    try:
        found = measure(options) if options.command == "run" else list_names(options.suite, options.pythons)
    except (LookupError, WorkerError) as error:
        found = {"error": str(error)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
