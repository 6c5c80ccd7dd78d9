# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs as data: inputs, steps that are Python expressions, and results.

The data can be shortened, and written as the source of a model.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch._higher_order_ops import while_loop
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch.nn import functional

DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "b": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATS = [dtype for dtype in DTYPES.values() if dtype.is_floating_point]
INTEGERS = [dtype for dtype in DTYPES.values() if not dtype.is_floating_point and dtype != torch.bool]

# The names that the expressions of steps use.
_COMMON = {"torch": torch, "F": functional, "nan": math.nan, "inf": math.inf, **DTYPES}
NATIVE = _COMMON | {"cond": torch.cond, "while_loop": while_loop, "scan": scan, "map_over": map_over}


def _while_loop(go_on, body, carried):
    while go_on(*carried):
        carried = body(*carried)
    return carried


def _scan(step, carried, rows):
    made = []
    for row in rows:
        carried, result = step(carried, row)
        made.append(result)
    return carried, torch.stack(made)


# PyTorch would compile calls of its own functions, which takes long.
EAGER = _COMMON | {
    "cond": lambda test, yes, no, operands: (yes if test else no)(*operands),
    "while_loop": _while_loop,
    "scan": _scan,
    "map_over": lambda function, rows: torch.stack([function(row) for row in rows]),
}
WIDE = EAGER | {NAMES[dtype]: torch.float64 for dtype in FLOATS}


class Precision(enum.Enum):
    """The roundings of a step that computes floats."""

    EXACT = "moves, selects or compares elements"
    ROUNDED = "rounds the exact result once"
    COMPUTED = "rounds operands and results several times"
    SUMMED = "adds products or terms in any order"


@dataclass(frozen=True)
class Input:
    """An input of a graph.

    tensor: its value. is_weight: True for a buffer of the model, False for an argument.
    open_dims: the dims that may have another size in another call.
    """

    name: str
    tensor: torch.Tensor
    is_weight: bool = False
    open_dims: tuple[int, ...] = ()


@dataclass(frozen=True)
class Step:
    """A step of a graph: `name = text`, or the statement `text` if it has no name.

    text: an expression with the positions of its operands in braces: "torch.add({0}, {1})".
    """

    kind: str
    text: str
    operands: tuple[str, ...]
    precision: Precision
    name: str | None

    def line(self) -> str:
        call = self.text.format(*self.operands)
        return call if self.name is None else f"{self.name} = {call}"


@dataclass(frozen=True)
class Graph:
    """A graph. seed: the number that it was drawn from."""

    seed: int
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    results: tuple[str, ...]

    def arguments(self) -> list[Input]:
        return [each for each in self.inputs if not each.is_weight]

    def source(self) -> str:
        """Returns the source of a function of the inputs. It returns a tuple."""
        lines = [f"def forward({', '.join(each.name for each in self.inputs)}):"]
        lines += [f"    {step.line()}" for step in self.steps]
        return "\n".join([*lines, f"    return ({', '.join(self.results)},)"])

    def function(self, names=NATIVE):
        """Returns the function. names: the meaning of the names in the expressions."""
        scope = dict(names)
        exec(compile(self.source(), f"<graph {self.seed}>", "exec"), scope)
        return scope["forward"]

    def without_dead_parts(self) -> Graph:
        """Returns the graph without steps and inputs that no result and no write depends on."""
        needed, kept = set(self.results), []
        for step in reversed(self.steps):
            if step.name is None or step.name in needed:
                kept.append(step)
                needed.update(step.operands)
        inputs = [each for each in self.inputs if each.name in needed]
        return dataclasses.replace(self, inputs=tuple(inputs), steps=tuple(reversed(kept)))


class Model(nn.Module):
    """The model of a graph."""

    def __init__(self, graph: Graph):
        super().__init__()
        self._function = graph.function()
        self._names = [(each.name, each.is_weight) for each in graph.inputs]
        for each in graph.inputs:
            if each.is_weight:
                self.register_buffer(each.name, each.tensor.clone())

    def forward(self, *arguments):
        given = iter(arguments)
        return self._function(*(getattr(self, name) if fixed else next(given) for name, fixed in self._names))


class Batch(nn.Module):
    """Independent graphs in a model. It returns a tuple of the results of each."""

    def __init__(self, graphs):
        super().__init__()
        self.graphs = nn.ModuleList(map(Model, graphs))
        self._counts = [len(graph.arguments()) for graph in graphs]

    def forward(self, *arguments):
        results, start = [], 0
        for model, count in zip(self.graphs, self._counts, strict=True):
            results.append(model(*arguments[start : start + count]))
            start += count
        return tuple(results)
