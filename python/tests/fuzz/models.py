# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares random models with PyTorch.

    models.py [--graphs N] [--seed S] [--together N] [--all-ways] [--seconds S] [--keep DIR] [--driver FILE]...

A graph has some steps of over 100 kinds: pointwise operators, reductions, products, windows, layout, indices, sorting,
control flow, and writes to views and arguments, on all dtypes and special values. Its results are compared with bounds
that come from double precision (generated/reference.py). Several graphs share a module. Each module runs on the host,
with Vulkan first, and in one or all of the other ways: with random options of partitioning, after the rules of all
libraries, with other sizes of open dims, and saved in a process with the runtime package only.

A seed determines a graph. A graph that fails is shortened, and DIR gets a Python file that reproduces the failure.
Each --driver is the driver file of a Vulkan driver for a process of its own. The default is the driver of the
environment. The last line has the totals.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
from generated.campaign import Checker, draw_graphs
from generated.shrink import shrink, write_reproducer


def run(options):
    """Runs the campaign in this process. Returns its totals."""
    torch.set_num_threads(1)
    started = time.monotonic()
    with Checker(options.all_ways) as checker:
        for first in range(options.seed, options.seed + options.graphs, options.together):
            if options.seconds and time.monotonic() - started > options.seconds:
                break
            seeds = range(first, min(first + options.together, options.seed + options.graphs))
            for failure in checker.check(draw_graphs(seeds)):
                print(f"seed {failure.graphs[0].seed}, {failure.way.value}: {failure.text}", flush=True)
                shorter = shrink(failure, checker, options.trials)
                print(f"  {write_reproducer(shorter, options.keep)}: {shorter.text}", flush=True)
            if options.verbose:
                print(f"{time.monotonic() - started:.0f} s: {checker.totals}", flush=True)
    return checker.totals


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=24, help="graphs in a module")
    parser.add_argument("--seconds", type=float, help="start no module after this time")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "failing-models")
    parser.add_argument("--driver", action="append", default=[], help="driver file; several run one after the other")
    parser.add_argument("--trials", type=int, default=40, help="shorter graphs to try for a failure")
    parser.add_argument("--all-ways", action="store_true", help="run each module in all ways")
    parser.add_argument("--verbose", action="store_true", help="print the totals after each module")
    options = parser.parse_args()
    if not options.driver:
        totals = run(options)
        print(totals)
        return 1 if totals.failures else 0
    status = 0
    arguments = [f"--{name}={getattr(options, name)}" for name in ("graphs", "seed", "together", "keep", "trials")]
    arguments += [f"--seconds={options.seconds}"] if options.seconds else []
    arguments += [f"--{name}" for name in ("all-ways", "verbose") if getattr(options, name.replace("-", "_"))]
    for driver in options.driver:
        print(f"driver {driver}", flush=True)
        environment = os.environ | {"VK_DRIVER_FILES": driver}
        status |= subprocess.run([sys.executable, __file__, *arguments], env=environment, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
