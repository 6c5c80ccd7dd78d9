# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One model by one contender, in a process of its own.

model_peers.py list
model_peers.py run MODEL CONTENDER SCALE DTYPE CALLS

MODEL is a name of `inlay.models.ZOO`, SCALE "usual" or "tiny", DTYPE "f32", "f16" or "bf16". CONTENDER is a list of
Inlay's targets joined by "+", or "torch.compile". Prints one JSON object; exits with 3 if what it needs is missing.
"""

import gc
import json
import statistics
import sys
import time
import warnings

warnings.simplefilter("ignore")
try:
    import inlay
    import torch
    import transformers
    from inlay.models import ZOO, Example, make
    from torch.utils import _pytree as pytree
except ImportError:
    sys.exit(3)

transformers.logging.set_verbosity_error()
torch.set_grad_enabled(False)
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def make_example(name, scale, dtype):
    """The model, its weights and its floating-point arguments of `dtype`."""
    example = make(name, tiny=scale == "tiny")

    def convert(leaf):
        return leaf.to(dtype) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

    arguments = pytree.tree_map(convert, (example.args, example.kwargs))
    return Example(example.model.to(dtype), *arguments)


class Peak:
    """Megabytes that this process grows by at most, from here on; Linux alone counts them."""

    def __init__(self):
        gc.collect()
        try:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        except OSError:
            pass
        self._before = self._read("VmRSS")

    def megabytes(self):
        peak = self._read("VmHWM")
        return None if peak is None or self._before is None else (peak - self._before) / 1024

    @staticmethod
    def _read(field):
        try:
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith(field))
        except OSError:
            return None


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, 1e3 * (time.perf_counter() - start)


def compile_by_inlay(example, targets):
    """(function to call, figures)."""
    exported, export_ms = timed(lambda: torch.export.export(example.model, example.args, example.kwargs, strict=False))
    peak = Peak()
    compiled, compile_ms = timed(lambda: inlay.compile(exported, targets=targets.split("+")))
    placed = [op for op in compiled.report["ops"] if op.get("segment") is not None]
    counts = compiled.report.ops_by_target()
    figures = {
        "ops": len(placed),
        **{target: counts.get(target, 0) for target in ("vulkan", "host", "torch")},
        "opaque": sum(op["name"].startswith("aten.") or "::" in op["name"] for op in placed),
        "segments": len(compiled.report["segments"]),
        "export_ms": export_ms,
        "compile_ms": compile_ms,
        "compile_mb": peak.megabytes(),
    }
    return compiled, figures


def compile_by_torch(example):
    """torch.compile works at the first call."""
    peak = Peak()
    compiled = torch.compile(example.model)
    _, compile_ms = timed(lambda: example(compiled))
    return compiled, {"compile_ms": compile_ms, "compile_mb": peak.megabytes()}


def difference(expected, got):
    """The largest difference of any result, as a share of that result's largest element."""

    def leaves(results):
        return [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]

    shares = [0.0]
    for ours, theirs in zip(leaves(got), leaves(expected), strict=True):
        largest = max(float(theirs.double().abs().max()), 1e-30)
        share = float((ours.double() - theirs.double()).abs().max()) / largest
        shares.append(float("inf") if share != share else share)
    return max(shares)


def run(name, contender, scale, dtype, calls):
    example = make_example(name, scale, DTYPES[dtype])
    expected = example()
    if contender == "torch.compile":
        compiled, figures = compile_by_torch(example)
    else:
        compiled, figures = compile_by_inlay(example, contender)
    got, figures["first_ms"] = timed(lambda: example(compiled))
    figures["difference"] = difference(expected, got)
    ours, eager = [], []
    for _ in range(int(calls)):  # by turns: a machine that slows down slows both
        ours.append(timed(lambda: example(compiled))[1])
        eager.append(timed(example)[1])
    figures["latency_ms"], figures["eager_ms"] = statistics.median(ours), statistics.median(eager)
    figures["parameters"] = sum(parameter.numel() for parameter in example.model.parameters())
    return figures


def main(command, *arguments):
    print(json.dumps({"models": list(ZOO)} if command == "list" else run(*arguments)))


main(*sys.argv[1:])
