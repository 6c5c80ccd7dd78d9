# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles, loads and calls programs for a long time, and checks that memory, files and threads stay flat.

    python python/tests/soak/soak.py --calls 1000000 --compiles 10000 --sessions 100000 --loads 10000
    python python/tests/soak/soak.py --minutes 10 --targets vulkan,host

Prints a table with a row per tenth of each phase, and the growth per step over the second half of its rows. Exits with
1 if a process grows by more than LIMITS. With `--minutes`, each phase ends after its part of the time at the latest.
"""

import argparse
import ctypes
import gc
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

import inlay
import torch
from torch import nn

PAGE = os.sysconf("SC_PAGE_SIZE")
# Bytes per step over the second half of a phase.
LIMITS = {"calls": 16, "sessions": 64, "loads": 1024, "compiles": 2048, "exports": 8192, "models": 8192}
# Growth that does not count, however few the steps are: pages that the allocator and the interpreter keep.
SLACK = 1 << 20


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


def soak(name: str, count: int, step: Callable[[], object], seconds: float, rows: int = 10) -> bool:
    """Runs `step` `count` times, but at most for `seconds`. Returns true if the second half of the run is flat."""
    step()
    uses, steps = [Use.now()], [0]
    print(f"{name:>10}  {'MiB':>8} {'files':>6} {'threads':>8}")
    for row in range(1, rows + 1):
        end = time.monotonic() + seconds / rows
        done = steps[-1]
        while done < count * row // rows and time.monotonic() < end:
            step()
            done += 1
        uses.append(Use.now())
        steps.append(done)
        print(f"{done:10}  {uses[-1].memory / 2**20:8.1f} {uses[-1].files:6} {uses[-1].threads:8}", flush=True)
    middle, last = uses[rows // 2], uses[-1]
    counted, grown = steps[-1] - steps[rows // 2], last.memory - middle.memory
    is_flat = (
        counted > 0
        and grown <= SLACK + LIMITS[name] * counted
        and last.files <= middle.files
        and last.threads <= middle.threads
    )
    limit = f"more than {LIMITS[name]}, or more files or threads"
    print(f"{name}: {grown / max(counted, 1):.0f} bytes each, {'flat' if is_flat else limit}\n", flush=True)
    return is_flat


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layer(x)) + x


class Total(nn.Module):
    """Has a state."""

    def forward(self, x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
        total.add_(x)
        return total * 2


def use_session(compiled: inlay.CompiledModule, x: torch.Tensor) -> None:
    """Makes a session, which is closed after two calls."""
    session = compiled.new_session()
    session(x)
    session.load_state_dict({"total": x})
    session(x)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--compiles", type=int, default=10_000)
    parser.add_argument("--sessions", type=int, default=100_000, help="sessions of two calls each")
    parser.add_argument("--loads", type=int, default=10_000, help="programs that are loaded from a file and called")
    parser.add_argument("--exports", type=int, default=0, help="exports of new models by PyTorch alone")
    parser.add_argument("--models", type=int, default=0, help="exports and compiles of new models")
    parser.add_argument("--targets", default="host", help="targets, separated by commas")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="the time for all phases")
    options = parser.parse_args()
    targets = tuple(options.targets.split(","))
    torch.set_num_threads(1)
    model, x = Model().eval(), torch.ones(4, 16)
    program = torch.export.export(model, (x,))
    compiled = inlay.compile(program, targets=targets)
    total = inlay.compile(Total(), (x, x.clone()), targets=targets, states="total")
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.inlay"
        compiled.save(path)
        gc.freeze()  # so that collections needn't visit what the imports made
        phases: dict[str, Callable[[], object]] = {
            "calls": lambda: compiled(x),
            "sessions": lambda: use_session(total, x),
            "loads": lambda: inlay.load(path)(x),
            "exports": lambda: torch.export.export(Model().eval(), (x,)),
            "models": lambda: inlay.compile(Model().eval(), (x,), targets=targets)(x),
            "compiles": lambda: inlay.compile(program, targets=targets)(x),
        }
        counts = {name: getattr(options, name) for name in phases if getattr(options, name)}
        seconds = options.minutes * 60 / max(len(counts), 1)
        are_flat = [soak(name, count, phases[name], seconds) for name, count in counts.items()]
        return 0 if all(are_flat) else 1


if __name__ == "__main__":
    sys.exit(main())
