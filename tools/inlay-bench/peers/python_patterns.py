# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measure the cost of patterns in Python: of writing and compiling them, and of calls of Python functions and classes.

    python_patterns.py [--layers N] [--json FILE]

Prints a table, and writes the same figures with the command to FILE.
"""

import argparse
import json
import sys
import time

import inlay
from inlay.rewrite import AnalysisPatternManager, PatternAnalyzer, PatternRewriter, RewritePatternManager, pattern

REPEATS = 5


def make_graph(layers):
    """Returns a graph in which neg and relu alternate."""
    lines = ["func.func @forward(%v0: tensor<4xf32>) -> tensor<4xf32> {"]
    for number in range(layers):
        name = "neg" if number % 2 else "relu"
        lines.append(f"  %v{number + 1} = inlay.{name} %v{number} : (tensor<4xf32>) -> tensor<4xf32>")
    return "\n".join([*lines, f"  return %v{layers} : tensor<4xf32>", "}"])


def best(function, repeats=REPEATS):
    """Returns the minimum of several runs of `function`, which returns the processor seconds of a run."""
    return min(function() for _ in range(repeats))


def timed(function, *args):
    start = time.process_time()
    function(*args)
    return time.process_time() - start


def make_pattern(number):
    """Returns a pattern that fails at the third level. The number makes patterns differ."""
    built = pattern(f"p{number}", benefit=number % 7)(
        lambda op, x, w, b: op.tanh(op.sigmoid(op.relu(op.matmul(x, w) + b) * (number + 2)))
    )
    return built.to(lambda op, x, w, b: op("my.fused", x, w, b, number=number))


def compile_patterns(count):
    manager = RewritePatternManager()
    return timed(lambda: [manager.add(f"p{number}", make_pattern(number)) for number in range(count)])


def rename(constraint=None):
    traced = pattern("p")(lambda op, x: op.relu(x)).to(lambda op, x: op.abs(x))
    return traced.constraint(constraint) if constraint else traced


class NeverMatches(PatternRewriter):
    def match(self, layer):
        return False

    def rewrite(self, layer):
        pass


class Rename(PatternRewriter):
    def match_and_rewrite(self, layer):
        layer.replace_with(inlay.ops.abs(layer.input))
        return True


class Find(PatternAnalyzer):
    def match(self, layer):
        return False


def run(text, graph_pattern):
    """Returns the seconds of one run of a pattern over a new graph."""
    manager = RewritePatternManager()
    manager.add("p", graph_pattern)
    module = inlay.parse(text)
    return timed(manager.rewrite, module)


def analyze(text):
    manager = AnalysisPatternManager()
    manager.add("p", Find("find", {"relu"}))
    module = inlay.parse(text)
    return timed(manager.analyze, module)


def measure(layers):
    text, half = make_graph(layers), layers / 2
    compile_patterns(1)  # the first call also creates the context
    plain = best(lambda: run(text, rename()))
    asked = best(lambda: run(text, rename(lambda x: True)))
    refused = best(lambda: run(text, rename(lambda x: False)))
    tried = best(lambda: run(text, NeverMatches("p", {"relu"}, separate_match_rewrite=True)))
    rewritten = best(lambda: run(text, Rename("p", {"relu"})))
    return {
        "ms to write and compile one pattern": best(lambda: compile_patterns(1)) * 1e3,
        "ms to write and compile 256 patterns": best(lambda: compile_patterns(256), 3) * 1e3,
        "us per rewrite of a traced pattern": plain / half * 1e6,
        "us per call of a Python constraint that holds": (asked - plain) / half * 1e6,
        "us per call of a Python constraint that doesn't": refused / half * 1e6,
        "us per call of a class's match": tried / half * 1e6,
        "us per rewrite of a class": rewritten / half * 1e6,
        "us per call of an analyzer's match": best(lambda: analyze(text)) / half * 1e6,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=20000)
    parser.add_argument("--json")
    options = parser.parse_args()
    figures = measure(options.layers)
    for name, figure in figures.items():
        print(f"{name:50} {figure:10.3f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"command": " ".join(sys.argv), "layers": options.layers, "figures": figures}, file, indent=2)


if __name__ == "__main__":
    main()
