# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and calls programs for a long time, and checks that memory, files and threads stay flat.

    python python/tests/soak/soak.py --calls 1000000 --compiles 10000

Prints a table with a row per tenth of each phase, and the growth per call or compile over the second half of its rows.
Exits with 1 if a process grows by more than LIMITS.
"""

import argparse
import ctypes
import gc
import os
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

import inlay
import torch
from torch import nn

PAGE = os.sysconf("SC_PAGE_SIZE")
# Bytes per call or compile over the second half of a phase.
LIMITS = {"calls": 16, "compiles": 2048, "exports": 8192, "models": 8192}


@dataclass(frozen=True)
class Use:
    """The memory of the process in bytes, and the numbers of its open files and threads."""

    memory: int
    files: int
    threads: int

    @staticmethod
    def now() -> "Use":
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # so that memory that is free does not count
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return Use(pages * PAGE, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))


def soak(name: str, count: int, step: Callable[[], object], rows: int = 10) -> bool:
    """Runs `step` `count` times. Returns true if the second half of the run grows by less than the limit."""
    step()
    uses = [Use.now()]
    print(f"{name:>10}  {'MiB':>8} {'files':>6} {'threads':>8}")
    for row in range(rows):
        for _ in range(count // rows):
            step()
        uses.append(Use.now())
        print(
            f"{(row + 1) * (count // rows):10}  {uses[-1].memory / 2**20:8.1f} {uses[-1].files:6} {uses[-1].threads:8}"
        )
        sys.stdout.flush()
    middle, last = uses[rows // 2], uses[-1]
    steps = (rows - rows // 2) * (count // rows)
    growth = (last.memory - middle.memory) / steps
    is_flat = growth < LIMITS[name] and last.files <= middle.files and last.threads <= middle.threads
    print(f"{name}: {growth:.0f} bytes each, {'flat' if is_flat else f'more than {LIMITS[name]}'}\n", flush=True)
    return is_flat


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layer(x)) + x


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--compiles", type=int, default=10_000)
    parser.add_argument("--exports", type=int, default=0, help="exports of new models by PyTorch alone")
    parser.add_argument("--models", type=int, default=0, help="exports and compiles of new models")
    parser.add_argument("--targets", default="host", help="targets, separated by commas")
    options = parser.parse_args()
    targets = tuple(options.targets.split(","))
    torch.set_num_threads(1)
    model, x = Model().eval(), torch.ones(4, 16)
    program = torch.export.export(model, (x,))
    compiled = inlay.compile(program, targets=targets)
    is_flat = True
    with torch.no_grad():
        if options.calls:
            is_flat &= soak("calls", options.calls, lambda: compiled(x))
        if options.exports:
            is_flat &= soak("exports", options.exports, lambda: torch.export.export(Model().eval(), (x,)))
        if options.models:
            is_flat &= soak("models", options.models, lambda: inlay.compile(Model().eval(), (x,), targets=targets)(x))
        if options.compiles:
            is_flat &= soak("compiles", options.compiles, lambda: inlay.compile(program, targets=targets)(x))
    return 0 if is_flat else 1


if __name__ == "__main__":
    sys.exit(main())
