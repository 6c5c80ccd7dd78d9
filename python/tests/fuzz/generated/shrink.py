# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shortens graphs that fail, and writes reproducers."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator

import torch

from .campaign import Checker, Failure
from .data import spell
from .graph import DTYPES, Graph, Input, Step
from .reference import native
from .ways import TARGETS, Way


def shrink(failure: Failure, checker: Checker, trials: int) -> Failure:
    """Returns the failure with a shorter graph that fails in the same way.

    trials: how many shorter graphs to try at most. A batch that only fails together is left as it is.
    """
    if len(failure.graphs) > 1:
        return failure
    best = failure
    changed = True
    while changed and trials > 0:
        changed = False
        for graph in _shorter(best.graphs[0]):
            if trials == 0:
                break
            trials -= 1
            text = _try(graph, failure, checker)
            if text is not None:
                best, changed = dataclasses.replace(best, graphs=(graph,), text=text), True
                break
    return best


def _try(graph, failure, checker):
    """Returns what is wrong with a graph if it fails like the failure, or None."""
    try:
        native(graph, [each.tensor.clone() for each in graph.inputs])
    except (RuntimeError, IndexError, ValueError, TypeError, NameError, AttributeError):
        return None
    text = checker.fault_alone(graph, failure.way)
    return text if text is not None and _class(text) == _class(failure.text) else None


def _class(text):
    """Returns the kind of a failure: the first words of an error without names and numbers."""
    if " elements of " in text:
        return "wrong"
    return re.sub(r"[\d'\"].*", "", text)[:40]


def _shorter(graph: Graph) -> Iterator[Graph]:
    """Yields graphs that are shorter in one way, the shortest first."""
    if len(graph.results) > 1:
        for name in graph.results:
            yield dataclasses.replace(graph, results=(name,)).without_dead_parts()
    yield from _single_steps(graph)
    yield from _cut(graph)
    for step in graph.steps:
        if step.name is None:
            yield _with_steps(graph, [each for each in graph.steps if each is not step])
    yield from _bypass(graph)
    yield from _smaller(graph)
    yield from _simpler(graph)


def _with_steps(graph, steps):
    return dataclasses.replace(graph, steps=tuple(steps)).without_dead_parts()


def _single_steps(graph):
    """Yields a graph of each step, with the values of its operands as inputs."""
    if len(graph.steps) < 2 or any(step.name is None for step in graph.steps):
        return
    values = native(graph, [each.tensor.clone() for each in graph.inputs])
    known = {each.name for each in graph.inputs}
    for step in reversed(graph.steps):
        made = dict.fromkeys(name for name in step.operands if name not in known)
        inputs = (*graph.inputs, *(Input(name, values[name].clone()) for name in made))
        yield _with_steps(dataclasses.replace(graph, inputs=inputs, results=(step.name,)), [step])


def _cut(graph):
    """Replaces the results of steps by inputs with their values, the last steps first."""
    if any(step.name is None for step in graph.steps):
        return
    values = native(graph, [each.tensor.clone() for each in graph.inputs])
    for number in reversed(range(len(graph.steps))):
        step = graph.steps[number]
        if step.name in graph.results:
            continue
        steps = [each for each in graph.steps if each is not step]
        inputs = (*graph.inputs, Input(step.name, values[step.name].clone()))
        yield _with_steps(dataclasses.replace(graph, inputs=inputs), steps)


def _bypass(graph):
    """Replaces the results of steps by operands of the same type."""
    values = native(graph, [each.tensor.clone() for each in graph.inputs])
    for step in graph.steps:
        for operand in step.operands if step.name else ():
            one, other = values[step.name], values[operand]
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                continue
            names = {step.name: operand}
            steps = [_renamed(each, names) for each in graph.steps if each is not step]
            results = tuple(names.get(name, name) for name in graph.results)
            yield _with_steps(dataclasses.replace(graph, results=results), steps)


def _renamed(step: Step, names: dict[str, str]) -> Step:
    return dataclasses.replace(step, operands=tuple(names.get(name, name) for name in step.operands))


def _smaller(graph):
    """Shortens all dims of one size."""
    for size in sorted({size for each in graph.inputs for size in each.tensor.shape if size > 1}, reverse=True):
        for less in sorted({1, 2, size // 2, size - 1} - {0, size}):
            inputs = []
            for each in graph.inputs:
                tensor = each.tensor
                for dim, length in enumerate(each.tensor.shape):
                    tensor = tensor.narrow(dim, 0, less) if length == size else tensor
                inputs.append(dataclasses.replace(each, tensor=tensor.contiguous()))
            steps = [
                dataclasses.replace(step, text=re.sub(rf"\b{size}\b", str(less), step.text)) for step in graph.steps
            ]
            yield dataclasses.replace(graph, inputs=tuple(inputs))
            yield dataclasses.replace(graph, inputs=tuple(inputs), steps=tuple(steps))


def _simpler(graph):
    """Makes inputs arguments with fixed sizes, and their numbers simple."""
    for number, each in enumerate(graph.inputs):

        def replaced(number=number, each=each, **changes):
            inputs = list(graph.inputs)
            inputs[number] = dataclasses.replace(each, **changes)
            return dataclasses.replace(graph, inputs=tuple(inputs))

        if each.is_weight:
            yield replaced(is_weight=False)
        tensor = each.tensor
        if tensor.dtype == torch.bool or not tensor.numel():
            continue
        for simple in (torch.zeros_like(tensor), torch.ones_like(tensor)):
            if not torch.equal(tensor, simple) and not torch.equal(tensor, torch.zeros_like(tensor)):
                yield replaced(tensor=simple)
        if tensor.is_floating_point():
            rounded = torch.where(tensor.isfinite(), tensor.round().clamp(-100, 100), tensor)
            if not torch.equal(rounded.nan_to_num(), tensor.nan_to_num()):
                yield replaced(tensor=rounded)


_HEADER = '''"""{way}: {text}"""

import inlay
import torch
from torch._higher_order_ops import while_loop
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch.nn import functional as F

cond, nan, inf = torch.cond, float("nan"), float("inf")
'''


def write_reproducer(failure: Failure, folder: pathlib.Path) -> pathlib.Path:
    """Writes a Python file that runs the graphs of a failure and prints their results. Returns its path."""
    parts = [_HEADER.format(way=failure.way.value, text=failure.text.replace("\\", "/").replace('"""', "'''"))]
    parts.append("\n".join(f"{name} = {dtype}" for name, dtype in DTYPES.items()) + "\n")
    graph = failure.graphs[0]
    names = ", ".join(each.name for each in graph.inputs)
    if len(failure.graphs) > 1:
        seeds = [each.seed for each in failure.graphs]
        parts.append(f"# The graphs of the seeds {seeds[0]} to {seeds[-1]} fail together only.\n")
    parts += [f"{each.name} = {spell(each.tensor)}" for each in graph.inputs]
    parts.append(f"\n\n{graph.source()}\n\n")
    arguments = ", ".join(each.name for each in graph.arguments())
    body = ["class Model(torch.nn.Module):"]
    fixed = [each.name for each in graph.inputs if each.is_weight]
    if fixed:
        body += ["    def __init__(self):", "        super().__init__()"]
        body += [f"        self.register_buffer({name!r}, {name}.clone())" for name in fixed] + [""]
    passed = [f"self.{each.name}" if each.is_weight else each.name for each in graph.inputs]
    body += [f"    def forward(self, {arguments}):", f"        return forward({', '.join(passed)})"]
    parts.append("\n".join(body) + "\n\n")
    targets = TARGETS.get(failure.way, TARGETS[Way.VULKAN])
    given = ", ".join(f"{each.name}.clone()" for each in graph.arguments())
    parts.append(f"compiled = inlay.compile(Model(), ({given},), targets={targets!r})")
    parts.append(f"print('expected', forward({', '.join(f'{name}.clone()' for name in names.split(', '))}))")
    parts.append(f"print('got', compiled({given}))\n")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed_{graph.seed}_{failure.way.name.lower()}.py"
    path.write_text("\n".join(parts))
    return path
