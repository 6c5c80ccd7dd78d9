# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure a model that is compiled once for ranges of sizes, and compare it with compilations for one size.

size_peers.py list
size_peers.py run MODEL TARGETS SCALE CALLS

MODEL is a key of SYMBOLS, TARGETS a list of Inlay's targets joined by "+", SCALE "usual" or "tiny". Prints a JSON
object {"rows": [...]}. Exits with 3 if a package is missing.
"""

import itertools
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
    from inlay._compile.imported import compilation_count
    from inlay_models import make
    from torch.export import Dim
    from torch.utils import _pytree as pytree
except ImportError:
    sys.exit(3)

transformers.logging.set_verbosity_error()
torch.set_grad_enabled(False)
# The open sizes of each model, with (minimum, maximum) for the tiny and for the usual scale.
IMAGE = {"batch": ((1, 20), (1, 8))}
TEXT = {"batch": ((1, 8), (1, 4)), "length": ((1, 32), (1, 128))}
SYMBOLS = {
    "resnet18": IMAGE,
    "vit_b16": IMAGE,
    "bert": TEXT,
    "gpt2": TEXT,
    "llama": TEXT,
    "llama_cached": {"batch": ((1, 8), (1, 4)), "past": ((1, 32), (1, 128))},
    "t5": {"batch": ((1, 8), (1, 4)), "source": ((1, 32), (1, 128)), "target": ((1, 16), (1, 64))},
}


def tokens(*shape):
    return torch.randint(0, 100, shape, generator=torch.Generator().manual_seed(1))


class Sized:
    """A model with inputs of any size."""

    def __init__(self, name, tiny):
        self.name, self._example = name, make(name, tiny=tiny)
        self.model = self._example.model
        self.ranges = {symbol: ends[0 if tiny else 1] for symbol, ends in SYMBOLS[name].items()}

    def inputs(self, sizes):
        """Returns (args, kwargs) for sizes by the names of symbols."""
        batch, args, kwargs = sizes["batch"], self._example.args, self._example.kwargs or {}
        if "length" in sizes:
            return (), {
                key: tokens(batch, sizes["length"]) if key == "input_ids" else torch.ones(batch, sizes["length"]).long()
                for key in kwargs
            }
        if self.name == "t5":
            return (), {
                "input_ids": tokens(batch, sizes["source"]),
                "decoder_input_ids": tokens(batch, sizes["target"]),
            }
        if self.name == "llama_cached":
            caches = [
                tuple(torch.randn(batch, part.shape[1], sizes["past"], part.shape[3]) for part in pair)
                for pair in args[1]
            ]
            return (tokens(batch, 1), caches), {}
        return (torch.randn(batch, *args[0].shape[1:]),), {}

    def dynamic_shapes(self):
        dims = {symbol: Dim(symbol, min=ends[0], max=ends[1]) for symbol, ends in self.ranges.items()}
        kwargs = self._example.kwargs or {}
        if "length" in dims:
            return {key: {0: dims["batch"], 1: dims["length"]} for key in kwargs}
        if self.name == "t5":
            batch = dims["batch"]
            return {"input_ids": {0: batch, 1: dims["source"]}, "decoder_input_ids": {0: batch, 1: dims["target"]}}
        if self.name == "llama_cached":
            cache = {0: dims["batch"], 2: dims["past"]}
            return ({0: dims["batch"]}, [(cache, cache) for _ in self._example.args[1]])
        return ({0: dims["batch"]},)

    def sizes(self, count):
        """Returns at least `count` sets of sizes if the ranges allow it. They contain the ends of all ranges."""
        for steps in itertools.count(2):
            choices = []
            for low, high in self.ranges.values():
                step = (high - low) / (steps - 1)
                choices.append(sorted({low, high, *(round(low + number * step) for number in range(steps))}))
            sets = list(itertools.product(*choices))
            if len(sets) >= count or steps > count:
                break
        return [dict(zip(self.ranges, chosen, strict=True)) for chosen in sets]


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, 1e3 * (time.perf_counter() - start)


def difference(expected, got):
    """Returns the largest difference relative to the largest element of the same result."""
    shares = [0.0]
    pairs = zip(pytree.tree_leaves(got), pytree.tree_leaves(expected), strict=True)
    for ours, theirs in (pair for pair in pairs if isinstance(pair[1], torch.Tensor)):
        if ours.shape != theirs.shape:
            return float("inf")
        share = float((ours.double() - theirs.double()).abs().max()) / max(float(theirs.double().abs().max()), 1e-30)
        shares.append(float("inf") if share != share else share)
    return max(shares)


def compile_at(sized, sizes, targets, dynamic_shapes=None):
    args, kwargs = sized.inputs(sizes)
    return timed(lambda: inlay.compile(sized.model, kwargs or args, dynamic_shapes=dynamic_shapes, targets=targets))


def compare_latency(sized, compiled, targets, sizes, calls):
    """Returns the figures at one set of sizes, compared with a compilation for these sizes only."""
    fixed, compile_ms = compile_at(sized, sizes, targets)
    args, kwargs = sized.inputs(sizes)
    ours, theirs = [], []
    for number in range(calls + 1):  # the two alternate; the first calls create state that later ones reuse
        for function, times in ((compiled, ours), (fixed, theirs)):
            elapsed = timed(lambda function=function: function(*args, **kwargs))[1]
            if number:
                times.append(elapsed)
    latency, fixed_latency = statistics.median(ours), statistics.median(theirs)
    return {
        "at": " x ".join(f"{symbol} {size}" for symbol, size in sizes.items()),
        "fixed_compile_ms": compile_ms,
        "latency_ms": latency,
        "fixed_ms": fixed_latency,
        "ratio": latency / fixed_latency,
    }


def run(name, targets, scale, calls):
    sized, targets, before = Sized(name, scale == "tiny"), targets.split("+"), compilation_count()
    middle = {symbol: max(2 + number, high // 2) for number, (symbol, (_, high)) in enumerate(sized.ranges.items())}
    compiled, compile_ms = compile_at(sized, middle, targets, sized.dynamic_shapes())
    every = sized.sizes(20 if scale == "tiny" else 2)
    worst = 0.0
    for sizes in every:
        args, kwargs = sized.inputs(sizes)
        worst = max(worst, difference(sized.model(*args, **kwargs), compiled(*args, **kwargs)))
    shared = {
        "sizes": len(every),
        "compilations": compilation_count() - before,
        "difference": worst,
        "compile_ms": compile_ms,
    }
    ends = [{symbol: ends[0] for symbol, ends in sized.ranges.items()}, middle]
    ends.append({symbol: ends[1] for symbol, ends in sized.ranges.items()})
    return [{**shared, **compare_latency(sized, compiled, targets, sizes, int(calls))} for sizes in ends]


def main(command, *arguments):
    print(json.dumps({"models": list(SYMBOLS)} if command == "list" else {"rows": run(*arguments)}))


main(*sys.argv[1:])
