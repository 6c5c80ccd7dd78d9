# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run random cases of an op in several ways and compare each result with the expected one, in double precision.

A way is the attribute of the Vulkan target to compile for. None stands for the target of the device, "" for the host
alone.
"""

import argparse
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

import numpy
import torch


class Case:
    """A random op with its inputs and its expected result.

    Subclasses set `text` (the op), `inputs` and `types` (its operands), `result` (the type of its result), `expected`
    (the result in double precision) and `allowed` (the largest error, relative to the largest element).
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)
        self.inputs, self.types = [], []

    def module(self, targets):
        """Returns the text of a module. `targets` are attributes, or None if the command line names the targets."""
        arguments = ", ".join(f'%a{i}: {type} loc("x{i}")' for i, type in enumerate(self.types))
        attributes = f"attributes {{inlay.targets = [{targets}]}} " if targets else ""
        return (f"module {attributes}{{\nfunc.func public @forward({arguments}) -> {self.result} {{\n  {self.text}\n"
                f"  return %r : {self.result}\n}}\n}}\n")  # fmt: skip


def run(case, folder, tool, way, vulkan):
    """Runs the case in one way. Returns a description of the error, or None if the result is right."""
    (folder / "graph.mlir").write_text(case.module(f"{vulkan}, #inlay.host" if vulkan else None))
    command = [*shlex.split(tool), str(folder / "graph.mlir"), f"--output={folder / 'result.npz'}"]
    command += [f"--input={folder / 'inputs.npz'}"]
    command += ["--targets=host"] if vulkan == "" else ["--require-device", "--require-full-compilation"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    shown = f"{way}: {' '.join(command)}\n"
    if done.returncode or done.stderr:
        return f"{shown}exit status {done.returncode}\n{done.stdout}{done.stderr}"
    got = torch.from_numpy(numpy.load(folder / "result.npz")["result_0"]).double()
    finite = case.expected[torch.isfinite(case.expected)].abs()
    slack = case.allowed * max(1e-3, float(finite.max()) if finite.numel() else 0)
    if not torch.allclose(got, case.expected, rtol=0, atol=slack, equal_nan=True):
        difference = (got - case.expected).abs()
        where = int(torch.nan_to_num(difference, nan=float("inf")).argmax())
        return (f"{shown}element {where}: {got.flatten()[where]} instead of {case.expected.flatten()[where]}, "
                f"where {slack} is allowed\n{(folder / 'graph.mlir').read_text()}")  # fmt: skip
    return None


def make_parser(name):
    """Returns a parser with the options of all these scripts. `name` is the default folder for cases that fail."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inlay-run", default="inlay-run", help="command that runs inlay-run")
    parser.add_argument("--count", type=int, default=200 if os.environ.get("INLAY_FULL") else 12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / name)
    return parser


def run_all(options, make_case, ways):
    """Runs the case of each seed in all ways. Exits with 1 if a result is wrong."""
    torch.set_num_threads(1)
    failures = 0
    for seed in range(options.seed, options.seed + options.count):
        case, folder = make_case(seed), options.keep / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        numpy.savez(folder / "inputs.npz", **{f"x{i}": tensor.numpy() for i, tensor in enumerate(case.inputs)})
        wrong = [run(case, folder, options.inlay_run, way, vulkan) for way, vulkan in ways.items()]
        for text in filter(None, wrong):
            print(f"seed {seed}, {text}", flush=True)
        failures += any(wrong)
        if not any(wrong):
            shutil.rmtree(folder)
    print(f"{options.count - failures} of {options.count} ops are right")
    sys.exit(1 if failures else 0)
