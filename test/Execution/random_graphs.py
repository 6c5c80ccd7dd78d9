# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare random graphs of the dialect's ops with PyTorch, op by op.

    random_graphs.py [--inlay-run PATH] [--count N] [--seed S] [--keep DIR] [--no-vulkan]

Each graph runs split over Vulkan and the host, and on the host alone with its kernel library and without. A seed
determines the graph (its ops, shapes, dtypes, inputs and results) and the options of partitioning. A graph that fails
is reduced to its first ops that still fail, and DIR keeps it. The script prints the command that runs it.
"""

import argparse
import contextlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy
import torch
from inlay import ops
from inlay._dialect.text import ELEMENT_TYPES
from inlay._import.torch.graph import GraphBuilder
from safetensors.torch import save_file

# Files with the same graph for other targets.
TARGETS = {"no-library.mlir": "#inlay.host<library = false>"}
DTYPES = {name: dtype for dtype, name in ELEMENT_TYPES.items()}
SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 64, 65]
MOST_ELEMENTS = 6000
# The relative error that rounding may cause: the unit in the last place times the allowance of targets per op.
ROUNDING = {torch.float64: 2e-14, torch.float32: 4e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}
# Ops that only move or select elements: their results are as exact as their operands.
EXACT = {"abs", "neg", "relu", "maximum", "minimum", "amax", "max_pool", "reshape", "permute", "expand", "slice", "cat",
         "floor", "ceil"}  # fmt: skip
FLOAT_UNARY = ["abs", "ceil", "cos", "erf", "exp", "floor", "gelu", "lgamma", "log", "neg", "reciprocal", "relu",
               "rsqrt", "sigmoid", "silu", "sin", "sqrt", "tanh"]  # fmt: skip
FLOAT_BINARY = ["add", "sub", "mul", "div", "pow", "maximum", "minimum"]
INTEGER_UNARY = ["abs", "neg", "relu"]
INTEGER_BINARY = ["add", "sub", "mul", "maximum", "minimum"]


def reference(name, operands, attributes):
    """Computes the op `name` by its definition in the dialect."""
    op = ops.table()[name]
    scope = {"torch": torch}
    scope.update({argument.name: value for argument, value in zip(op.operands, operands, strict=True)})
    for argument in op.attributes:
        value = attributes.get(argument.name, False if argument.kind is ops.Kind.UNIT else None)
        scope[argument.name] = DTYPES[value] if argument.kind is ops.Kind.TYPE else value
    return eval(op.reference, scope)


@dataclass
class Node:
    """A value of the graph with its expected tensor, computed in its dtype and, for floats, in double precision."""

    value: object
    tensor: torch.Tensor
    wide: torch.Tensor
    exact: bool

    @property
    def shape(self):
        return list(self.tensor.shape)

    @property
    def dtype(self):
        return self.tensor.dtype

    @property
    def rank(self):
        return self.tensor.dim()

    def slack(self):
        """Returns the largest allowed error of an element: the rounding error of PyTorch with a margin."""
        if not self.dtype.is_floating_point or self.tensor.numel() == 0:
            return 0.0
        error = float((self.tensor.double() - self.wide).abs().max())
        return 20 * error + ROUNDING[self.dtype] * max(float(self.wide.abs().max()), 1e-6)


def widen(tensor):
    return tensor.double() if tensor.dtype.is_floating_point else tensor


class Refused(Exception):
    """The drawn op does not fit its operands, so another one is drawn."""


class Generator:
    """A random graph."""

    def __init__(self, seed, most_ops):
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)
        self.builder = GraphBuilder()
        self.nodes, self.arguments, self.used, self.names = [], [], set(), set()
        self.dtype = DTYPES[self.random.choice(["f32"] * 8 + ["f64", "f16", "i32", "i64", "i8"])]
        count = self.random.randint(2, 14)
        self.leaf(self.draw_shape())
        done = 0
        for _ in range(20 * count):
            if done == min(count, most_ops):
                break
            done += self.step()
        self.size = done
        self.results = self.draw_results()

    # Shapes and leaves

    def draw_shape(self, rank=None):
        rank = self.random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5]) if rank is None else rank
        while True:
            shape = [self.random.choice(SIZES) for _ in range(rank)]
            if torch.Size(shape).numel() <= MOST_ELEMENTS:
                return shape

    def leaf(self, shape, dtype=None, positive=False):
        dtype = dtype or self.dtype
        if dtype == torch.bool:
            tensor = torch.rand(shape, generator=self.torch) > 0.5
        elif dtype.is_floating_point:
            tensor = torch.randn(shape, generator=self.torch, dtype=torch.float64)
            tensor = (tensor.abs() + 0.25 if positive else tensor).to(dtype)
        else:
            tensor = torch.randint(-9, 10, shape, generator=self.torch).to(dtype)
        kind = self.random.choice(["argument", "argument", "weight", "splat"])
        if kind == "argument" and dtype == torch.bfloat16:  # NumPy's files have no bfloat16
            kind = "splat"
        name = f'loc("x{len(self.nodes)}")'
        if kind == "argument":
            value = self.builder.argument(shape, dtype, f'loc("x{len(self.arguments)}")')
            self.arguments.append(tensor)
        elif kind == "weight":
            value = self.builder.literal(name[5:-2], tensor.contiguous())
        else:
            tensor = torch.full(shape, tensor.flatten()[0].item(), dtype=dtype)
            value = self.builder.splat(tensor.flatten()[0].item(), shape, dtype)
        node = Node(value, tensor, widen(tensor), exact=True)
        self.nodes.append(node)
        return node

    def pick(self, test=lambda node: True):
        """Returns a random value that passes the test, preferably a recent one."""
        found = [node for node in self.nodes if test(node)]
        if not found:
            raise Refused
        return self.random.choice(found[-4:] if self.random.random() < 0.6 else found)

    # Ops

    def add(self, name, operands, attributes):
        """Adds the op. Raises Refused if the size or the condition of its result rules out a comparison."""
        flat = [part for each in operands if each is not None for part in (each if isinstance(each, list) else [each])]

        def values(pick):
            return [
                None if each is None else [pick(part) for part in each] if isinstance(each, list) else pick(each)
                for each in operands
            ]

        try:
            narrow = reference(name, values(lambda node: node.tensor), attributes)
            wide = reference(name, values(lambda node: node.wide), attributes)
        except (RuntimeError, IndexError, ValueError, TypeError):
            raise Refused from None
        if name == "cast" and narrow.dtype.is_floating_point:
            wide = values(lambda node: node.wide)[0].double()
            wide = narrow.double() if not flat[0].dtype.is_floating_point else wide
        if not 0 < narrow.numel() <= MOST_ELEMENTS or narrow.dim() > 6:
            raise Refused
        node = Node(None, narrow, wide, exact=all(part.exact for part in flat) and name in EXACT)
        self.check_condition(name, flat[0], node)
        if name == "cast":
            order = list(ROUNDING)
            widens = narrow.dtype in order and flat[0].dtype in order and order.index(narrow.dtype) < order.index(
                flat[0].dtype)  # fmt: skip
            node.exact = flat[0].exact and (widens or not narrow.dtype.is_floating_point)
        node.exact |= not narrow.dtype.is_floating_point
        location = f'loc("{name}.{len(self.nodes)}")'
        inputs = values(lambda part: part.value)
        node.value = self.builder.op(name, inputs, attributes, narrow.shape, narrow.dtype, location)
        self.nodes.append(node)
        self.used.update(id(part) for part in flat)
        self.names.add(f"inlay.{name}")

    def check_condition(self, name, source, node):
        if node.dtype.is_floating_point:
            if not torch.isfinite(node.wide).all() or float(node.wide.abs().max()) > 1e4:
                raise Refused
            if node.slack() > 60 * ROUNDING[node.dtype] * max(float(node.wide.abs().max()), 1e-3):
                raise Refused
        jumps = name in ("floor", "ceil") or (name == "cast" and not node.dtype.is_floating_point)
        if jumps and source.dtype.is_floating_point:
            if float(source.wide.abs().max()) > 100:
                raise Refused
            distance = (source.wide - source.wide.round()).abs()
            if not source.exact and float(distance.min()) < 2 * source.slack():
                raise Refused

    def step(self):
        """Draws an op and adds it if it fits its operands. Returns true if it does."""
        families = [self.unary] * 4 + [self.binary] * 4 + [self.reduction, self.softmax, self.norm, self.matmul,
                    self.linear, self.conv, self.conv, self.pool, self.reshape, self.permute, self.permute,
                    self.expand, self.slice, self.slice, self.cat, self.cast]  # fmt: skip
        before = len(self.nodes)
        try:
            self.random.choice(families)()
            return True
        except Refused:
            del self.nodes[before:]  # leaves drawn for the op; its arguments stay and are unused
            return False

    def unary(self):
        node = self.pick(lambda node: node.dtype != torch.bool)
        names = FLOAT_UNARY if node.dtype.is_floating_point else INTEGER_UNARY
        self.add(self.random.choice(names), [node], {})

    def binary(self):
        node = self.pick(lambda node: node.dtype != torch.bool)
        name = self.random.choice(FLOAT_BINARY if node.dtype.is_floating_point else INTEGER_BINARY)

        def broadcasts(other):
            if other.dtype != node.dtype:
                return False
            try:
                return torch.Size(torch.broadcast_shapes(node.shape, other.shape)).numel() <= MOST_ELEMENTS
            except RuntimeError:
                return False

        if self.random.random() < 0.5:
            other = self.pick(broadcasts)
        else:
            shape = [1 if self.random.random() < 0.3 else size for size in node.shape]
            shape = shape[self.random.randint(0, len(shape)) :] if self.random.random() < 0.3 else shape
            if self.random.random() < 0.2:
                shape = [self.random.choice([1, 2, 3]), *shape]
            other = self.leaf(shape, node.dtype, positive=name in ("div", "pow"))
        operands = [node, other]
        if name not in ("div", "pow") and self.random.random() < 0.5:
            operands.reverse()
        if name == "pow" and bool((node.wide <= 0.05).any()):
            raise Refused
        self.add(name, operands, {})

    def dims(self, rank):
        """Returns some dims, some of them counted from the end."""
        chosen = self.random.sample(range(rank), self.random.randint(1, rank))
        return [dim - rank if self.random.random() < 0.3 else dim for dim in chosen]

    def reduction(self):
        node = self.pick(lambda node: node.rank and node.dtype != torch.bool)
        attributes = {"dims": self.dims(node.rank)}
        if self.random.random() < 0.5:
            attributes["keepdim"] = True
        names = ["sum", "amax"] + (["mean"] if node.dtype.is_floating_point else [])
        self.add(self.random.choice(names), [node], attributes)

    def softmax(self):
        node = self.pick(lambda node: node.dtype.is_floating_point and node.rank)
        self.add("softmax", [node], {"dim": self.random.randrange(-node.rank, node.rank)})

    def norm(self):
        if self.random.random() < 0.5:
            node = self.pick(lambda node: node.dtype.is_floating_point and node.rank)
            shape = node.shape[self.random.randrange(node.rank) :]
            deviation = node.wide.flatten(node.rank - len(shape)).std(-1, correction=0)
            if bool((deviation < 0.05).any()):  # the rounding errors of the mean would dominate the result
                raise Refused
            parts = [self.leaf(shape, node.dtype) for _ in range(2)]
            self.add("layer_norm", [node, *parts], {"eps": self.random.choice([1e-5, 1e-2])})
        else:
            node = self.pick(lambda node: node.dtype.is_floating_point and node.rank >= 2)
            parts = [self.leaf(node.shape[1:2], node.dtype, positive=i == 3) for i in range(4)]
            self.add("batch_norm", [node, *parts], {"eps": 1e-5})

    def matmul(self):
        node = self.pick(lambda node: node.rank >= 2 and node.dtype != torch.bool)
        columns = self.random.choice(SIZES)
        leading = [1 if self.random.random() < 0.3 else size for size in node.shape[:-2]]
        leading = leading[self.random.randint(0, len(leading)) :]
        if self.random.random() < 0.5:
            self.add("matmul", [node, self.leaf([*leading, node.shape[-1], columns], node.dtype)], {})
        else:
            self.add("matmul", [self.leaf([*leading, columns, node.shape[-2]], node.dtype), node], {})

    def linear(self):
        node = self.pick(lambda node: node.rank >= 1 and node.dtype.is_floating_point)
        columns = self.random.choice(SIZES)
        bias = self.leaf([columns], node.dtype) if self.random.random() < 0.6 else None
        self.add("linear", [node, self.leaf([columns, node.shape[-1]], node.dtype), bias], {})

    def conv(self):
        node = self.pick(lambda node: node.rank in (3, 4, 5) and node.dtype.is_floating_point)
        spatial = node.rank - 2
        groups = self.random.choice([g for g in range(1, node.shape[1] + 1) if node.shape[1] % g == 0])
        outputs = groups * self.random.choice([1, 1, 2, 3])
        kernel = [self.random.choice([1, 2, 3, 3, 5]) for _ in range(spatial)]
        if outputs > 70:
            raise Refused
        weight = self.leaf([outputs, node.shape[1] // groups, *kernel], node.dtype)
        bias = self.leaf([outputs], node.dtype) if self.random.random() < 0.5 else None
        attributes = {"stride": [self.random.choice([1, 1, 2, 3]) for _ in kernel],
                      "padding": [self.random.choice([0, 1, 2]) for _ in kernel],
                      "dilation": [self.random.choice([1, 1, 2]) for _ in kernel], "groups": groups}  # fmt: skip
        self.add("conv", [node, weight, bias], attributes)

    def pool(self):
        node = self.pick(lambda node: node.rank == 4 and node.dtype.is_floating_point)
        kernel = [self.random.choice([1, 2, 3, 5]) for _ in range(2)]
        attributes = {"kernel": kernel, "stride": [self.random.choice([1, 2, 3]) for _ in kernel],
                      "padding": [self.random.randint(0, size // 2) for size in kernel]}  # fmt: skip
        name = self.random.choice(["max_pool", "avg_pool"])
        if name == "max_pool":
            attributes["dilation"] = [self.random.choice([1, 1, 2]) for _ in kernel]
        elif self.random.random() < 0.5:
            attributes["count_include_pad"] = True
        if self.random.random() < 0.4:
            attributes["ceil_mode"] = True
        self.add(name, [node], attributes)

    def reshape(self):
        node = self.pick()
        rest, shape = node.tensor.numel(), []
        for _ in range(self.random.randint(0, 4)):
            size = self.random.choice([d for d in range(1, min(rest, 70) + 1) if rest % d == 0])
            shape.append(size)
            rest //= size
        if rest > 1 or not shape:
            shape.append(rest)
        self.random.shuffle(shape)
        if shape and self.random.random() < 0.3:
            shape[self.random.randrange(len(shape))] = -1
        self.add("reshape", [node], {"shape": shape})

    def permute(self):
        node = self.pick(lambda node: node.rank >= 2)
        dims = self.random.sample(range(node.rank), node.rank)
        self.add("permute", [node], {"dims": [d - node.rank if self.random.random() < 0.2 else d for d in dims]})

    def expand(self):
        node = self.pick()
        shape = [self.random.choice([1, 2, 3, 5]) if size == 1 else size for size in node.shape]
        leading = [self.random.choice([1, 2, 3])] if self.random.random() < 0.4 else []
        self.add("expand", [node], {"shape": leading + [-1 if self.random.random() < 0.2 else size for size in shape]})

    def slice(self):
        node = self.pick(lambda node: node.rank >= 1)
        dim = self.random.randrange(node.rank)
        size = node.shape[dim]
        start, end = self.random.randint(-size - 1, size - 1), self.random.randint(-size, size + 2)
        end = 2**63 - 1 if self.random.random() < 0.3 else end
        attributes = {"dim": dim - node.rank if self.random.random() < 0.3 else dim, "start": start, "end": end,
                      "step": self.random.choice([1, 1, 2, 3])}  # fmt: skip
        self.add("slice", [node], attributes)

    def cat(self):
        node = self.pick(lambda node: node.rank >= 1)
        dim = self.random.randrange(node.rank)

        def fits(other):
            a, b = list(node.shape), list(other.shape)
            return other.dtype == node.dtype and len(a) == len(b) and a[:dim] + a[dim + 1 :] == b[:dim] + b[dim + 1 :]

        parts = [node, *(self.pick(fits) for _ in range(self.random.randint(0, 2)))]
        if self.random.random() < 0.4:
            shape = list(node.shape)
            shape[dim] = self.random.choice([1, 2, 5])
            parts.append(self.leaf(shape, node.dtype))
        self.random.shuffle(parts)
        self.add("cat", [parts], {"dim": dim - node.rank if self.random.random() < 0.3 else dim})

    def cast(self):
        node = self.pick()
        to = self.random.choice(["f32", "f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "i1"])
        if DTYPES[to] == node.dtype:
            raise Refused
        self.add("cast", [node], {"dtype": to})

    def draw_results(self):
        """Returns the results: all values without users, and at random others, which may be arguments or repeated."""
        for node in [node for node in self.nodes if node.dtype == torch.bfloat16 and id(node) not in self.used]:
            with contextlib.suppress(Refused):
                self.add("cast", [node], {"dtype": "f32"})
        results = [node for node in self.nodes if id(node) not in self.used and node.dtype != torch.bfloat16]
        if self.random.random() < 0.3:
            printable = [node for node in self.nodes if node.dtype != torch.bfloat16]
            results += self.random.choices(printable, k=self.random.randint(1, 3))
        return results


# Running


class Wrong(Exception):
    """A run failed or computed a wrong result."""


def write(graph, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    attributes = {"inlay.weights": "weights.safetensors"} if graph.builder.weights else {}
    text = graph.builder.module([node.value for node in graph.results], attributes)
    graph.names = {name for name in graph.names if f"{name} " in text}  # the builder omits ops without users
    (folder / "graph.mlir").write_text(text)
    for name, target in TARGETS.items():
        given = "module attributes {" if text.startswith("module attributes {") else "module {"
        more = f"module attributes {{inlay.targets = [{target}]{', ' if given != 'module {' else '} {'}"
        (folder / name).write_text(text.replace(given, more, 1))
    if graph.builder.weights:
        save_file(graph.builder.weights, folder / "weights.safetensors")
    numpy.savez(folder / "inputs.npz", **{f"x{i}": tensor.numpy() for i, tensor in enumerate(graph.arguments)})


def settings(graph, seed, vulkan):
    """Returns the ways to run the graph, as arguments of inlay-run.

    The seed and the name of an op decide if it is forced to the host, so a shorter graph forces the same ops.
    """
    ways = [["graph.mlir", "--targets=host"], *([file] for file in TARGETS)]
    if not vulkan:
        return ways
    draw = random.Random(f"{seed} split")
    strategy, least = draw.choice(["levels", "in-order"]), draw.choice([1, 1, 2, 3])
    forced = [name for name in sorted(graph.names) if random.Random(f"{seed} {name}").random() < 0.35]
    ways.append(["graph.mlir", "--targets=vulkan,host", f"--strategy={strategy}", f"--min-block-size={least}"])
    if forced:
        ways.append([*ways[-1], f"--fallback-ops={','.join(forced)}"])
    ways[-1].append("--check")  # compares each segment on Vulkan with its host version
    return ways


def run(graph, folder, tool, file, *options):
    command = [tool, str(folder / file), f"--input={folder / 'inputs.npz'}",
               f"--output={folder / 'results.npz'}", "--require-device", *options]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    shown = " ".join(command) + "\n"
    if done.returncode or done.stderr:
        raise Wrong(f"{shown}exit status {done.returncode}\n{done.stdout}{done.stderr}")
    results = numpy.load(folder / "results.npz")
    for number, node in enumerate(graph.results):
        got = torch.from_numpy(results[f"result_{number}"])
        if got.dtype != node.dtype or list(got.shape) != node.shape:
            raise Wrong(f"{shown}result {number}: expected {node.dtype}{node.shape}, but got {got.dtype}{got.shape}")
        if not node.dtype.is_floating_point:
            if not torch.equal(got, node.tensor):
                raise Wrong(f"{shown}result {number} ({node.value.name}):\n{got}\nexpected\n{node.tensor}")
            continue
        difference = (got.double() - node.wide).abs()
        if not bool((difference <= node.slack()).all()):  # NaN fails too
            where = int(torch.nan_to_num(difference, nan=float("inf")).argmax())
            raise Wrong(f"{shown}result {number} ({node.value.name} {node.value.type}), element {where}: "
                        f"{got.flatten()[where]} instead of {node.wide.flatten()[where]}, "
                        f"{difference.max()} off where {node.slack()} is allowed")  # fmt: skip


def check(seed, most_ops, options):
    """Checks the graph of the first `most_ops` ops of `seed`.

    Returns the number of its ops, and a description of the error or None.
    """
    graph = Generator(seed, most_ops)
    if not graph.results:
        return graph.size, None
    folder = options.keep / str(seed)
    write(graph, folder)
    try:
        for way in settings(graph, seed, options.vulkan):
            run(graph, folder, options.inlay_run, *way)
    except Wrong as wrong:
        return graph.size, str(wrong)
    shutil.rmtree(folder)
    return graph.size, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inlay-run", default="inlay-run")
    parser.add_argument("--count", type=int, default=300 if os.environ.get("INLAY_FULL") else 12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "random-graphs")
    parser.add_argument("--no-vulkan", dest="vulkan", action="store_false")
    options = parser.parse_args()
    torch.set_num_threads(1)
    failures = 0
    for seed in range(options.seed, options.seed + options.count):
        size, wrong = check(seed, 1000, options)
        if not wrong:
            continue
        failures += 1
        first = next((n for n in range(size) if check(seed, n, options)[1]), size)
        print(f"seed {seed}: {check(seed, first, options)[1]}", flush=True)
        print((options.keep / str(seed) / "graph.mlir").read_text(), flush=True)
    print(f"{options.count - failures} of {options.count} graphs are right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
