# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares batches of graphs with PyTorch in every way, and finds the graphs that fail."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import inlay
import torch

from .draft import Draft
from .graph import Graph
from .kinds import all_kinds
from .reference import Expected, expected
from .ways import TARGETS, Imported, RuntimeProcess, Way, call, random_options, saved_call

# What Inlay and torch.export say about models that they refuse. A refusal is not a failure.
REFUSALS = {
    "torch.export": re.compile(r"torch\.export can't export"),
}


_OTHERS = [way for way in Way if way not in (Way.HOST, Way.VULKAN)]


@dataclass(frozen=True)
class Failure:
    """A graph that fails, or a batch if its graphs are right on their own."""

    graphs: tuple[Graph, ...]
    way: Way
    text: str
    is_error: bool


@dataclass
class Totals:
    """Counts of all that was checked. elements: elements of results, and how many of them were decided."""

    graphs: int = 0
    calls: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    kinds: Counter = field(default_factory=Counter)
    elements: int = 0
    decided: int = 0
    failures: int = 0

    def add(self, other: Totals) -> None:
        for name in ("graphs", "elements", "decided", "failures"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("calls", "refused", "kinds"):
            getattr(self, name).update(getattr(other, name))

    def __str__(self) -> str:
        calls = ", ".join(f"{count} {way}" for way, count in sorted(self.calls.items()))
        refused = ", ".join(f"{count} by {name}" for name, count in sorted(self.refused.items()))
        share = self.decided / max(1, self.elements)
        return (
            f"{self.graphs} graphs with {self.kinds.total()} steps of {len(self.kinds)} kinds; runs: {calls}; "
            f"refused: {refused or 'none'}; {share:.2%} of {self.elements} elements decided; {self.failures} failures"
        )


def draw_graphs(seeds) -> list[Graph]:
    kinds = all_kinds()
    return [Draft(seed, kinds).graph for seed in seeds]


class Refusal(Exception):
    """The model was refused. The argument names who refused it."""


class Checker:
    """Runs batches. Use it as a context manager, because it owns a process.

    in_all_ways: run each batch in all ways, and not on the host, with Vulkan first, and in one other way.
    """

    def __init__(self, in_all_ways: bool = False):
        self.totals = Totals()
        self._in_all_ways = in_all_ways
        self._process: RuntimeProcess | None = None
        self._imported: Imported | None = None

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *_) -> None:
        if self._process is not None:
            self._process.close()

    def check(self, graphs: list[Graph]) -> Iterator[Failure]:
        """Runs graphs in all ways and yields the failures."""
        self.totals.graphs += len(graphs)
        wanted = [expected(graph) for graph in graphs]
        for graph, results in zip(graphs, wanted, strict=True):
            self.totals.kinds.update(step.kind for step in graph.steps)
            self.totals.elements += sum(each.decided.numel() for each in results.values())
            self.totals.decided += sum(int(each.decided.sum()) for each in results.values())
        for way in self._ways(graphs):
            for failure in self._check_way(graphs, wanted, way):
                self.totals.failures += 1
                yield failure

    def _ways(self, graphs):
        if self._in_all_ways:
            return list(Way)
        return [Way.HOST, Way.VULKAN, _OTHERS[graphs[0].seed // len(graphs) % len(_OTHERS)]]

    def _check_way(self, graphs, wanted, way) -> Iterator[Failure]:
        if way is Way.RESIZED:
            pairs = [pair for pair in zip(graphs, wanted, strict=True) if any(x.open_dims for x in pair[0].arguments())]
            graphs, wanted = [graph for graph, _ in pairs], [results for _, results in pairs]
            if not graphs:
                return
        try:
            faults = self.run(graphs, wanted, way)
            self.totals.calls[way.name.lower()] += len(graphs)
        except Refusal as refusal:
            if len(graphs) == 1:
                self.totals.refused[str(refusal)] += 1
                return
            yield from self._halve(graphs, wanted, way)
            return
        except Exception as error:
            if len(graphs) == 1:
                yield Failure(tuple(graphs), way, _say(error), True)
                return
            found = list(self._halve(graphs, wanted, way))
            yield from found or [Failure(tuple(graphs), way, _say(error), True)]
            return
        for number, text in faults.items():
            alone = self.fault_alone(graphs[number], way)
            yield Failure((graphs[number],) if alone else tuple(graphs), way, alone or text, False)

    def _halve(self, graphs, wanted, way):
        half = len(graphs) // 2
        yield from self._check_way(graphs[:half], wanted[:half], way)
        yield from self._check_way(graphs[half:], wanted[half:], way)

    def fault_alone(self, graph: Graph, way: Way) -> str | None:
        """Returns what is wrong with a graph on its own, or None."""
        try:
            return self.run([graph], [expected(graph)], way).get(0)
        except Refusal:
            return None
        except Exception as error:
            return _say(error)

    def run(self, graphs: list[Graph], wanted: list[dict[str, Expected]], way: Way) -> dict[int, str]:
        """Runs graphs in a way. Returns what is wrong, by position. Raises Refusal, or the error of Inlay."""
        choose = random.Random(f"{graphs[0].seed} {way.name}")
        try:
            imported = self._import(graphs, way is Way.RESIZED)
            if way is Way.REWRITTEN:
                compiled = imported.compile_rewritten({"targets": TARGETS[way]})
            elif way is Way.PARTITIONED:
                compiled = imported.compile(random_options(choose, imported.for_all_targets.report))
            elif way is Way.SAVED:
                return self._run_saved(imported, wanted)
            elif way is Way.HOST:
                compiled = imported.compile({"targets": TARGETS[way]})
            else:
                compiled = imported.for_all_targets
        except inlay.UnsupportedError as error:
            raise Refusal(_who(error)) from error
        except inlay.Error as error:
            if any(pattern.search(str(error)) for pattern in REFUSALS.values()):
                raise Refusal(_who(error)) from error
            raise
        if way is Way.RESIZED:
            return self._run_resized(imported, compiled, choose)
        values = [[each.tensor for each in graph.inputs] for graph in graphs]
        return _compare(graphs, wanted, call(compiled, graphs, values))

    def _import(self, graphs, open_dims):
        """Returns the imported graphs. The same graphs are imported once for several ways."""
        last = self._imported
        if last is None or last.graphs is not graphs or last.open_dims != open_dims:
            self._imported = last = Imported(graphs, open_dims)
        return last

    def _run_saved(self, imported, wanted):
        """Saves the graphs that need no PyTorch, and runs them in the process."""
        whole = imported.for_all_targets
        left = imported.graphs_of_torch(whole)
        numbers = [number for number in range(len(imported.graphs)) if number not in left and -1 not in left]
        if not numbers:
            raise Refusal("saving")
        graphs = [imported.graphs[number] for number in numbers]
        if left:
            whole = Imported(graphs).for_all_targets
        self._process = self._process or RuntimeProcess()
        made = saved_call(self._process, whole, graphs)
        faults = _compare(graphs, [wanted[number] for number in numbers], [(results, None) for results, _ in made])
        return {numbers[number]: text for number, text in faults.items()}

    def _run_resized(self, imported, compiled, choose):
        """Calls a program with other sizes of the open dims. A graph keeps its sizes if it can't have others."""
        graphs = imported.graphs
        values = [_resize(graph, choose) for graph in graphs]
        for _ in range(len(graphs) + 1):
            wanted = [expected(graph, tensors) for graph, tensors in zip(graphs, values, strict=True)]
            try:
                return _compare(graphs, wanted, call(compiled, graphs, values))
            except inlay.ArgumentValueError as error:
                refused = _find_refused(graphs, values, str(error))
                if refused is None:
                    raise
                values[refused] = [each.tensor for each in graphs[refused].inputs]
        raise AssertionError("the sizes of every graph were refused")


def _find_refused(graphs, values, text):
    """Returns the graph whose argument an error names by its position."""
    match = re.search(r"arguments?\[(\d+)\]|input (\d+)|arg(?:uments)?_(\d+)", text)
    resized = [
        number
        for number, (graph, tensors) in enumerate(zip(graphs, values, strict=True))
        if any(each.tensor.shape != tensor.shape for each, tensor in zip(graph.inputs, tensors, strict=True))
    ]
    if match:
        place = int(next(group for group in match.groups() if group))
        for number, graph in enumerate(graphs):
            place -= len(graph.arguments())
            if place < 0:
                return number if number in resized else None
    return resized[0] if resized else None


def _resize(graph, choose):
    """Returns inputs with another size of the open dims, or those of the graph if PyTorch can't run it with others."""
    size = choose.choice([1, 2, 3, 4, 6, 9])
    tensors = []
    for each in graph.inputs:
        tensor = each.tensor
        for dim in each.open_dims:
            places = torch.arange(size) % tensor.shape[dim]
            tensor = tensor.index_select(dim, places)
        tensors.append(tensor)
    try:
        expected(graph, tensors)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return [each.tensor for each in graph.inputs]
    return tensors


def _compare(graphs, wanted, made):
    """Returns what is wrong with results, by graph."""
    faults = {}
    for number, (graph, expectation, (results, arguments)) in enumerate(zip(graphs, wanted, made, strict=True)):
        pairs = list(zip(graph.results, results, strict=True))
        if arguments is not None:
            pairs += [(each.name, tensor) for each, tensor in zip(graph.arguments(), arguments, strict=True)]
        for name, got in pairs:
            text = expectation[name].fault(got)
            if text:
                faults.setdefault(number, f"{name}: {text}")
    return faults


def _who(error):
    found = [name for name, pattern in REFUSALS.items() if pattern.search(str(error))]
    return found[0] if found else "Inlay: " + str(error).splitlines()[0][:90]


def _say(error):
    return f"{type(error).__name__}: {error}"
