# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs architectures of model libraries in tiny sizes.

python zoo.py --targets host,torch                   all architectures; prints a table of totals and all problems
python zoo.py -k '^timm/res' --routes compile        some architectures by one route
python zoo.py --sample 60                            60 architectures, chosen at random
python zoo.py --json FILE                            also adds each outcome to a file as a line of JSON; cases that the
                                                     file has do not run again
python zoo.py --read FILE                            prints the table and the problems of such a file
python zoo.py --fallbacks 30                         also prints the 30 calls that PyTorch ran in most cases

The libraries are PyTorch itself and those of requirements-world.txt. Each architecture is compiled by `inlay.compile`
and by `torch.compile`, and its results are compared with PyTorch's. The run prints a table of totals. It fails if a
case fails that `zoo_known.txt` does not list, or if a listed case passes.
"""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import json
import logging
import pathlib
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from known import problem, read_known
from workers import Outcome, Verdict, run_all
from zoo_cases import Route, run_model
from zoo_models.diffusion import list_diffusers
from zoo_models.language import list_transformers
from zoo_models.model import Model
from zoo_models.modules import list_modules
from zoo_models.vision import list_timm, list_torchvision

_KNOWN = pathlib.Path(__file__).with_name("zoo_known.txt")


def list_models() -> list[Model]:
    """Returns all architectures."""
    return [*list_modules(), *list_transformers(), *list_timm(), *list_torchvision(), *list_diffusers()]


def case_name(model: str, route: Route) -> str:
    """Returns the name of a case, such as "timm/resnet18 compile"."""
    return f"{model} {route.value}"


def known_failures() -> dict[str, str]:
    """Returns the reasons of the cases that are known to fail, by name."""
    return read_known(_KNOWN)


def table(outcomes: Mapping[str, Outcome]) -> str:
    """Returns the totals by library and route as text."""
    kinds = list(Verdict)
    heads = ["cases", *(kind.value for kind in kinds), "graphs", "ops", "in PyTorch"]
    groups: dict[str, list[Outcome]] = {}
    for name, outcome in outcomes.items():
        groups.setdefault(f"{name.partition('/')[0]} {name.rpartition(' ')[2]}", []).append(outcome)
    groups["all"] = list(outcomes.values())
    lines = [f"{'':22}" + "".join(f"{head:>11}" for head in heads)]
    for title, group in groups.items():
        counts = collections.Counter(outcome.verdict for outcome in group)
        ops = sum((collections.Counter(dict(outcome.ops)) for outcome in group), collections.Counter[str]())
        total = sum(ops.values())
        share = f"{ops['torch'] / total:.3%}" if total else ""
        cells = [len(group), *(counts[kind] for kind in kinds), sum(outcome.graphs for outcome in group), total, share]
        lines.append(f"{title:22}" + "".join(f"{cell:>11}" for cell in cells))
    return "\n".join(lines)


def _runner(targets: Sequence[str]) -> Callable[[str], Outcome]:
    """Returns a function that runs a case on targets."""
    logging.disable()  # PyTorch logs whole graphs if it can't export a model
    makers = {model.name: model.make for model in list_models()}

    def run(name: str) -> Outcome:
        model, _, route = name.rpartition(" ")
        return run_model(makers[model], Route(route), targets)

    return run


def _choose(pattern: str, sample: int, routes: Iterable[Route]) -> list[str]:
    """Returns the names of the cases. sample: the number of architectures; 0 for all."""
    names = [model.name for model in list_models() if re.search(pattern, model.name)]
    random.Random(0).shuffle(names)  # so that a run that is stopped is a sample of all
    return [case_name(name, route) for name in names[: sample or None] for route in routes]


def table_of_calls(outcomes: Mapping[str, Outcome], count: int) -> str:
    """Returns the calls that PyTorch ran in most cases as text: the number of cases, that of ops, the call, models."""
    cases: dict[str, list[str]] = {}
    ops = collections.Counter[str]()
    for name, outcome in outcomes.items():
        for call, number in outcome.calls:
            cases.setdefault(call, []).append(name)
            ops[call] += number
    lines = [f"{'cases':>7}{'ops':>7}  call"]
    for call, names in sorted(cases.items(), key=lambda item: -len(item[1]))[:count]:
        models = sorted({name.rpartition(" ")[0] for name in names})
        more = f" and {len(models) - 3} more" if len(models) > 3 else ""
        lines.append(f"{len(names):>7}{ops[call]:>7}  {call} ({', '.join(models[:3])}{more})")
    return "\n".join(lines)


def _write(path: pathlib.Path, name: str, outcome: Outcome) -> None:
    """Adds an outcome to a file."""
    with path.open("a") as file:
        file.write(json.dumps({"name": name, **outcome._asdict(), "verdict": outcome.verdict.value}) + "\n")


def _read(path: pathlib.Path) -> Iterator[tuple[str, Outcome]]:
    """Yields the outcomes of a file that `_write` wrote, by name. The last one of a name counts."""
    for line in path.read_text().splitlines():
        fields = json.loads(line)
        name, verdict = fields.pop("name"), Verdict(fields.pop("verdict"))
        yield name, Outcome(verdict, **fields)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Runs architectures of model libraries in tiny sizes.")
    parser.add_argument("--targets", default="host,torch", help="names, separated by commas")
    parser.add_argument("--routes", default="compile,dynamo", help="compile, dynamo or both")
    parser.add_argument("-k", dest="pattern", default="", help="a regular expression that selects architectures")
    parser.add_argument("--sample", type=int, default=0, help="the number of architectures, chosen at random")
    parser.add_argument("--verbose", action="store_true", help="print all cases")
    parser.add_argument("--seconds", type=float, default=600.0, help="the time limit of a case")
    parser.add_argument("--fallbacks", type=int, default=0, help="the number of calls in the table of calls to PyTorch")
    parser.add_argument("--json", type=pathlib.Path, help="the file to add outcomes to; cases in it do not run again")
    parser.add_argument("--read", type=pathlib.Path, help="a file that --json wrote; nothing runs")
    options = parser.parse_args(arguments)
    targets = tuple(options.targets.split(","))
    names = _choose(options.pattern, options.sample, [Route(name) for name in options.routes.split(",")])
    known, outcomes, problems = known_failures(), {}, {}
    file = options.read or options.json
    done = dict(_read(file)) if file and (options.read or file.exists()) else {}
    left = [] if options.read else [name for name in names if name not in done]
    runs = run_all(left, functools.partial(_runner, targets), options.seconds) if left else ()
    for name, outcome in itertools.chain(done.items(), runs):
        outcomes[name], problems[name] = outcome, problem(name, outcome, known)
        text = problems[name]
        if options.json and name not in done:
            _write(options.json, name, outcome)
        if options.verbose and not text:
            text = f"{name} {outcome.verdict.value}: {outcome.graphs} graphs, {dict(outcome.ops)} {outcome.reason}"
        if text:
            print(text, flush=True)
    if options.fallbacks:
        print(table_of_calls(outcomes, options.fallbacks))
    print(f"{'+'.join(targets)}\n{table(outcomes)}")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
