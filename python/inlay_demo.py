# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles two models for Vulkan and the host, says what ran where and why, and compares with PyTorch.

`python -m inlay_demo [MODEL...]`; exits with 1 if a result is off by more than 1e-4 of the largest one.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence

import inlay_models as models
import torch
from inlay import compile
from inlay._program.report import format_bytes

TOLERANCE = 1e-4
CALLS = 5

# Parts sent to the host on purpose, to show a split program: without them one segment would hold it all.
FORCED = {
    "resnet18": {"torch_executed_ops": ["aten.relu"], "torch_executed_modules": ["layer3"]},
    "encoder": {"torch_executed_ops": ["aten.gelu"], "torch_executed_modules": ["layers.1"]},
}


def median_time(call: Callable[[], object]) -> float:
    """Median seconds of a few calls, after one that doesn't count."""
    call()
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def show(name: str) -> bool:
    """Compiles, runs and compares one model; whether it was right."""
    model, inputs = models.ALL[name]()
    forced = FORCED.get(name, {})
    dims = ", ".join("x".join(map(str, tensor.shape)) for tensor in inputs)
    moved = ", ".join(name for names in forced.values() for name in names)
    print(f"\n== {name}, {dims}; to the host by request: {moved or 'nothing'}")

    start = time.perf_counter()
    split = compile(model, inputs, targets=("vulkan", "host"), **forced)
    seconds = time.perf_counter() - start
    host = compile(model, inputs, targets=("host",))
    print(f"device: {split.device or 'none, so all of it runs on the host'}")
    print(split.report)
    into, out = split.report.border_bytes()
    print(f"compiled in {seconds:.2f} s; across borders per call: {format_bytes(into)} in, {format_bytes(out)} out")

    with torch.no_grad():
        expected = model(*inputs)
        got = split(*inputs)
        times = {
            "split": median_time(lambda: split(*inputs)),
            "host alone": median_time(lambda: host(*inputs)),
            f"PyTorch ({torch.get_num_threads()} threads)": median_time(lambda: model(*inputs)),
        }
    print(f"median of {CALLS}: " + ", ".join(f"{what} {1e3 * t:.2f} ms" for what, t in times.items()))
    absolute = float((got - expected).abs().max())
    relative = absolute / float(expected.abs().max())
    right = relative <= TOLERANCE
    verdict = "right" if right else f"WRONG: more than {TOLERANCE}"
    print(f"largest difference from PyTorch: {absolute:.2e}, {relative:.2e} of the largest result: {verdict}")
    return right


def main(names: Sequence[str]) -> int:
    """Shows the models of these names, ResNet-18 and the encoder by default; the exit code."""
    names = names or list(FORCED)
    for name in names:
        if name not in models.ALL:
            print(f"demo: unknown model {name!r}: expected some of {', '.join(models.ALL)}", file=sys.stderr)
            return 2
    right = [show(name) for name in names]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
