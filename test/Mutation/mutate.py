#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutation testing of our own code: `mutate.py SUITE... [--sample SHARE] [--jobs N]`.

All mutants of a suite are compiled into one build, each behind a switch. A mutant is killed if a unit test or a lit
test that reaches it fails, crashes or exceeds its limits. equivalents.toml lists mutants that no test can kill, with
the reason. Prints the survivors and the score of each suite: the share of killed mutants among those that are not
equivalent. Exits with 1 if a score is below --score, or if a test fails without a mutant.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import sys
from dataclasses import dataclass

import tomllib
from mutant import Mutant, Mutants
from mutated_build import ROOT, MutatedBuild
from tests import Case, LitTests, UnitTests, is_killed, measure


@dataclass(frozen=True)
class Suite:
    """A folder of sources and the tests that are nearest to it."""

    sources: str
    program: str  # unit tests
    lit: str = ""  # folder of lit tests
    left_out: tuple[str, ...] = ()  # start of the names of tests that don't run


# These take long, and many-alike measures time.
LARGE = tuple(f"Partition/{name}" for name in ("deep-chain", "many-alike", "report-large", "what-if-random"))
SUITES = {
    "Scheduling": Suite("lib/Scheduling", "InlaySchedulingTests", left_out=("CostPlacement.TakesAMillionNodes",)),
    "Core": Suite("lib/Runtime/Core", "InlayRuntimeCoreTests", left_out=("LoadTimeTest.",)),  # fails on a busy machine
    "Container": Suite("lib/Runtime/Container", "InlayRuntimeContainerTests"),
    "Partition": Suite(
        "lib/Partition", "InlayPartitionTests", "Partition", tuple(f"Partition/{name}" for name in LARGE)
    ),
    "Rewrite": Suite("lib/Rewrite", "InlayRewriteTests", "Rewrite"),
}
LIT_TOOLS = ("inlay-opt", "inlay-compile", "inlay-partition-diff")  # those that tests of the suites run


def read_equivalents(path: pathlib.Path) -> collections.Counter[tuple[str, str, str]]:
    """Returns how often each equivalent change is listed. Each entry must have a reason."""
    entries = tomllib.loads(path.read_text()).get("equivalent", [])
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for entry in entries:
        if not entry["reason"].strip():
            sys.exit(f"{path}: expected a reason for {entry['line']!r}")
        for change in entry["changes"]:
            counts[entry["file"], entry["line"], change] += 1
    return counts


def list_sources(folder: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.cpp"))


def measure_cases(suite: Suite, build: MutatedBuild, count: int, environment: dict[str, str]) -> list[Case]:
    """Returns the tests of the suite with what they reach. A test that fails without a mutant ends the program."""
    programs: list[UnitTests | LitTests] = [UnitTests(build.folder / "unittests" / suite.program)]
    if suite.lit:
        programs.append(LitTests(build, suite.lit))
    cases = [Case(program, name) for program in programs for name in program.list_names(environment)]
    cases = [case for case in cases if not case.name.startswith(suite.left_out)]
    for case in cases:
        if not measure(case, count, environment):
            sys.exit(f"{case.name} fails without a mutant")
    return cases


def read_killed(log: pathlib.Path) -> set[tuple[str, str, str]]:
    """Returns the keys all of whose mutants were killed according to the log of an earlier run."""
    keys: dict[bool, set[tuple[str, str, str]]] = {False: set(), True: set()}
    for entry in map(json.loads, log.read_text().splitlines() if log.exists() else []):
        keys[entry["killed"]].add((entry["file"], entry["line"], entry["change"]))
    return keys[True] - keys[False]


def run_suite(name: str, options: argparse.Namespace) -> tuple[list[Mutant], list[Mutant]]:
    """Returns the mutants of a suite and those that survive."""
    suite, mutants = SUITES[name], Mutants(options.sample)
    build = MutatedBuild(options.build, options.folder / name)
    build.make(list_sources(suite.sources), mutants, [suite.program, *(LIT_TOOLS if suite.lit else ())], options.jobs)
    environment = {"OMP_NUM_THREADS": "1", "MALLOC_PERTURB_": "165"}
    cases = measure_cases(suite, build, mutants.last, environment)
    reached = frozenset().union(*(case.reached for case in cases))
    skipped = frozenset().union(*(case.skipped for case in cases)) - reached
    mutants.all = [mutant for mutant in mutants.all if mutant.number not in skipped]
    print(f"{name}: {len(mutants.all)} mutants, {len(reached)} reached by {len(cases)} tests", flush=True)
    log_file = options.folder / f"{name}.jsonl"
    killed = read_killed(log_file) if options.keep_killed else set()

    def kill(mutant: Mutant) -> bool:
        reaches = mutant.number in reached
        return reaches and (mutant.key in killed or is_killed(mutant.number, cases, environment))

    # In random order, so that the results of a run that is ended early are a fair sample.
    order = random.Random(0).sample(mutants.all, len(mutants.all))
    survivors: list[Mutant] = []
    with (
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
        log_file.open("w") as log,
    ):
        for mutant, is_dead in zip(order, pool.map(kill, order), strict=True):
            print(
                json.dumps({"killed": is_dead, "reached": mutant.number in reached, **vars(mutant)}),
                file=log,
                flush=True,
            )
            if not is_dead:
                survivors.append(mutant)
    return mutants.all, survivors


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], help="default: all")
    parser.add_argument("--sample", type=float, default=1, help="share of the places that are mutated, 0 to 1")
    parser.add_argument("--score", type=float, default=95, help="least score of a suite in percent")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep-killed", action="store_true", help="run only mutants that the last run didn't kill")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="an up-to-date build of the tests")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.folder = options.build / "mutation"
    listed = read_equivalents(pathlib.Path(__file__).with_name("equivalents.toml"))
    lowest = 100.0
    for name in options.suites or SUITES:
        mutants, survivors = run_suite(name, options)
        left, open_survivors = listed.copy(), []
        for mutant in survivors:
            if left[mutant.key] > 0:
                left[mutant.key] -= 1
            else:
                open_survivors.append(mutant)
        print(*open_survivors, sep="\n")
        equivalent = len(survivors) - len(open_survivors)
        score = 100 - 100 * len(open_survivors) / max(1, len(mutants) - equivalent)
        print(
            f"{name}: {len(mutants)} mutants, {equivalent} equivalent, {len(open_survivors)} survivors, {score:.1f} %"
        )
        lowest = min(lowest, score)
    return 1 if lowest < options.score else 0


if __name__ == "__main__":
    sys.exit(main())
