# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways in which a batch of graphs is compiled and run."""

from __future__ import annotations

import enum
import functools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import inlay
import torch
from inlay._compile.imported import compile_imported
from inlay._compile.model import import_model
from inlay._compile.modules import import_rewritten
from inlay._compile.options import Options
from torch.utils import _pytree as pytree

from .graph import Batch, Graph

LIBRARIES = ("cleanup", "fusions", "kernels", "expansions")


class Way(enum.Enum):
    """A way to compile and run a batch."""

    HOST = "the host alone"
    VULKAN = "Vulkan first"
    PARTITIONED = "random targets, fallbacks and sizes of segments"
    REWRITTEN = "after the rules of all libraries"
    SAVED = "saved, and run by the runtime package in another process"
    RESIZED = "compiled for open dims, and called with other sizes"


TARGETS = {
    Way.HOST: ("host", "torch"),
    Way.VULKAN: ("vulkan", "host", "torch"),
    Way.REWRITTEN: ("vulkan", "host", "torch"),
    Way.RESIZED: ("vulkan", "host", "torch"),
}


class Imported:
    """Graphs that are imported together, and what they compute."""

    def __init__(self, graphs: list[Graph], open_dims: bool = False):
        self.graphs, self.open_dims = graphs, open_dims
        self.model = Batch(graphs).eval()
        arguments = tuple(each.tensor for graph in graphs for each in graph.arguments())
        shapes = None
        if open_dims:
            auto = torch.export.Dim.AUTO
            dims = [dict.fromkeys(each.open_dims, auto) or None for graph in graphs for each in graph.arguments()]
            shapes = (tuple(dims),)
        with torch.no_grad():
            self.imported = import_model(self.model, arguments, shapes)

    @functools.cached_property
    def for_all_targets(self):
        """The compiled graphs, with Vulkan first."""
        return self.compile({"targets": TARGETS[Way.VULKAN]})

    def compile(self, options):
        return compile_imported(self.imported.program, Options.make(options), self.imported.convention)

    def compile_rewritten(self, options):
        module = inlay._graph.module.parse(self.imported.program.text)
        module._imported = self.imported
        manager = inlay.rewrite.RewritePatternManager()
        for library in LIBRARIES:
            manager.add_library(library)
        manager.rewrite(module)
        rewritten = import_rewritten(module)
        return compile_imported(rewritten.program, Options.make(options), rewritten.convention)

    def graphs_of_torch(self, compiled) -> set[int]:
        """Returns the positions of graphs with an op on PyTorch."""
        pairs = re.findall(r'\["graphs\.(\d+)", "[^"]*"\]\]\}>\["([^"]+)"', self.imported.program.text)
        owners = {label: int(number) for number, label in pairs}
        labels = [op["label"] for op in compiled.report["ops"] if op.get("target") == "torch"]
        return {owners.get(label, -1) for label in labels}


def random_options(choose: random.Random, report) -> dict:
    """Returns random options of partitioning. report: of a compilation for all targets."""
    names = sorted({op["name"] for op in report["ops"] if op["segment"] is not None})
    targets = choose.choice([("vulkan", "host", "torch"), ("vulkan", "host", "torch"), ("host", "torch")])
    return {
        "targets": targets,
        "torch_executed_ops": choose.sample(names, min(len(names), choose.randint(0, max(1, len(names) // 3)))),
        "min_block_size": choose.choice([1, 1, 2, 3, 5]),
        "strategy": choose.choice(["levels", "in-order", "torch-tensorrt", "cost"]),
    }


def call(compiled, graphs: list[Graph], values: list[list[torch.Tensor]]):
    """Calls a compiled batch.

    values: the inputs of each graph. Returns for each graph its results and its arguments after the call.
    """
    given = [
        [value.clone() for each, value in zip(graph.inputs, tensors, strict=True) if not each.is_weight]
        for graph, tensors in zip(graphs, values, strict=True)
    ]
    results = compiled(*(tensor for tensors in given for tensor in tensors))
    return list(zip(results, given, strict=True))


class RuntimeProcess:
    """A process that has the runtime package, NumPy and torch, but not the compiler."""

    def __init__(self):
        script = pathlib.Path(__file__).with_name("runtime_process.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        )
        self._folder = tempfile.TemporaryDirectory()

    def run(self, compiled, arguments: list[torch.Tensor]) -> list[torch.Tensor]:
        """Saves the program, and loads and runs it in the process. Raises RuntimeError with its error."""
        folder = pathlib.Path(self._folder.name)
        compiled.save(folder / "batch.inlay")
        torch.save(compiled.program_arguments(arguments)[0], folder / "arguments.pt")
        self._process.stdin.write(f"{folder}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if answer != "done":
            raise RuntimeError(f"the runtime process: {answer or 'it ended'}")
        return torch.load(folder / "results.pt")

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()


def saved_call(process: RuntimeProcess, compiled, graphs: list[Graph]):
    """Runs a compiled batch in the process. Returns the same as `call`."""
    given = [[each.tensor.clone() for each in graph.arguments()] for graph in graphs]
    flat = [tensor for tensors in given for tensor in tensors]
    results = process.run(compiled, flat)
    leaves = compiled.assemble(flat, results, {})
    spec = pytree.tree_structure(tuple(tuple(0 for _ in graph.results) for graph in graphs))
    return list(zip(pytree.tree_unflatten(leaves, spec), given, strict=True))
