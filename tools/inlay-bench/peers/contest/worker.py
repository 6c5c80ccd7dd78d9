# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run one contender with one model. rounds.py describes the protocol.

worker.py list SUITE
worker.py limits THREADS
worker.py run SETTING, a JSON object with the fields of subjects.Setting
"""

import json
import os
import pathlib
import sys
import time
from typing import Any

import numpy
import torch
from compilers import Built, build, timed
from limits import measure_limits
from memory import Peak
from subjects import Setting, make_subject, names, prepare_torch

# Idle cores are slower for a while, which would be a disadvantage for contenders whose threads don't spin.
WARM_UP_S = 0.03


class Channel:
    """Lines of JSON to and from the parent process. Output of libraries goes to standard error."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def send(self, answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=self._out, flush=True)

    def requests(self):
        return (json.loads(line) for line in sys.stdin)


def describe(error: Exception) -> str:
    """Returns the first line of an error, since those of exporters are long."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300] if lines else 'without a message'}"


def save_results(results: Any, path: pathlib.Path) -> None:
    """Saves all tensors in the order of the results, as f32, since numpy lacks some dtypes."""
    leaves = torch.utils._pytree.tree_leaves(results)
    arrays = [
        leaf.detach().to(torch.float32).cpu().numpy() if isinstance(leaf, torch.Tensor) else leaf
        for leaf in leaves
        if isinstance(leaf, torch.Tensor | numpy.ndarray)
    ]
    numpy.savez(path, *arrays)


def warm_up(built: Built) -> None:
    """Warms up threads, cores and caches with at least one call."""
    start = time.perf_counter()
    built.call()
    while time.perf_counter() - start < WARM_UP_S:
        built.call()


def take_calls(built: Built, for_ms: float) -> list[float]:
    """Calls the model for `for_ms`, at least once. Returns the times of the calls."""
    warm_up(built)
    times: list[float] = []
    while not times or sum(times) < for_ms:
        times.append(timed(built.call)[1])
    return times


def run(channel: Channel, setting: Setting) -> None:
    prepare_torch(setting.threads)
    example = make_subject(setting)
    built = build(example, setting)
    parameters = sum(parameter.numel() for parameter in example.model.parameters())
    del example  # the peak then only counts memory that the contender needs
    peak = Peak()
    results, first_ms = timed(built.call)
    save_results(results, pathlib.Path(setting.folder) / f"{setting.contender}.npz")
    del results
    channel.send({"parameters": parameters, "first_ms": first_ms, **built.figures})
    for request in channel.requests():
        if request["do"] == "stop":
            figures = {"peak_mb": peak.total()}
            if built.profile:
                warm_up(built)
                figures |= built.profile()
            channel.send(figures)
            return
        channel.send({"times": take_calls(built, request["for_ms"])})


def main(command: str, argument: str) -> None:
    channel = Channel()
    try:
        if command == "list":
            channel.send({"names": names(argument)})
        elif command == "limits":
            prepare_torch(int(argument))
            channel.send(measure_limits())
        else:
            run(channel, Setting(**json.loads(argument)))
    except Exception as error:
        channel.send({"error": describe(error)})
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
