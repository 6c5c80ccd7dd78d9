# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products and convolutions of random shapes on Vulkan, by all kinds of kernels, against PyTorch; some operands
have NaN and infinities.

    random_products.py [--inlay-run PATH] [--count N] [--seed S] [--keep DIR] [--subgroup-size N]
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import numpy
import torch
from torch.nn import functional

SIZES = [1, 1, 2, 3, 4, 7, 8, 12, 16, 17, 31, 33, 64, 100, 129]
# Relative to the largest element that PyTorch computes in double.
ALLOWED = 4e-6


def list_ways(lanes):
    subgroup = f'subgroup_size = {lanes}, features = ["subgroup-broadcast"'
    return {
        "by this device": None,
        "by subgroups": f'#inlay.vulkan<{subgroup}], kind = "software">',
        "by subgroups from texels": f'#inlay.vulkan<{subgroup}, "texel-reads"], kind = "software">',
        "by subgroups, small tiles": f'#inlay.vulkan<{subgroup}], kind = "discrete", max_workgroup_count = 100>',
        "by invocations": "#inlay.vulkan",
    }


class Case:
    """One op with its operands, `inputs`, and what it should compute, `expected`, in double."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)
        self.inputs, self.types = [], []
        self.expected = self.random.choice([self.matmul, self.matmul, self.linear, self.convolution])()

    def size(self):
        return self.random.choice(SIZES)

    def tensor(self, shape, spoil=False):
        """An argument; its values in double."""
        value = torch.randn(shape, generator=self.torch)
        if spoil and self.random.random() < 0.2:
            value.view(-1)[self.random.randrange(value.numel())] = self.random.choice([float("nan"), float("inf")])
        self.inputs.append(value)
        self.types.append(f"tensor<{'x'.join(map(str, [*shape, 'f32']))}>")
        return value.double()

    def call(self, text, result):
        operands = ", ".join(f"%a{i}" for i in range(len(self.types)))
        self.result = f"tensor<{'x'.join(map(str, [*result.shape, 'f32']))}>"
        self.text = text.replace("OPERANDS", operands) + f" : ({', '.join(self.types)}) -> {self.result}"
        return result

    def matmul(self):
        rows, columns, inner = self.size(), self.size(), self.random.choice([*SIZES, 300])
        batch = self.random.choice([[], [], [3], [2, 3]])
        left, right = self.random.choice([(batch, batch), (batch, []), (batch, [1] * len(batch))])
        result = self.tensor([*left, rows, inner], spoil=True) @ self.tensor([*right, inner, columns], spoil=True)
        return self.call("%r = inlay.matmul OPERANDS", result)

    def linear(self):
        shape = [*self.random.choice([[], [3]]), self.size()]
        inner, features = self.random.choice([*SIZES, 512]), self.size()
        value, weight = self.tensor([*shape, inner], spoil=True), self.tensor([features, inner])
        bias = self.tensor([features]) if self.random.random() < 0.5 else None
        return self.call("%r = inlay.linear OPERANDS", functional.linear(value, weight, bias))

    def convolution(self):
        groups = self.random.choice([1, 1, 2, 4])
        channels, outputs = (groups * self.random.choice([1, 2, 3, 8]) for _ in range(2))
        kernel = [self.random.choice([1, 2, 3, 5]) for _ in range(2)]
        stride, dilation = self.random.choice([1, 1, 2]), self.random.choice([1, 1, 2])
        padding = [self.random.randint(0, extent // 2) for extent in kernel]
        size = [self.random.choice([9, 12, 14, 28]) for _ in range(2)]
        value = self.tensor([self.random.choice([1, 2]), channels, *size], spoil=True)
        weight = self.tensor([outputs, channels // groups, *kernel])
        bias = self.tensor([outputs]) if self.random.random() < 0.5 else None
        text = (f"%r = inlay.conv OPERANDS stride [{stride}, {stride}] padding {padding} "
                f"dilation [{dilation}, {dilation}] groups {groups}")  # fmt: skip
        return self.call(text, functional.conv2d(value, weight, bias, stride, padding, dilation, groups))

    def module(self, targets):
        arguments = ", ".join(f'%a{i}: {type} loc("x{i}")' for i, type in enumerate(self.types))
        attributes = f"attributes {{inlay.targets = [{targets}]}} " if targets else ""
        return (f"module {attributes}{{\nfunc.func public @forward({arguments}) -> {self.result} {{\n  {self.text}\n"
                f"  return %r : {self.result}\n}}\n}}\n")  # fmt: skip


def run(case, folder, tool, way, vulkan):
    """What is wrong with the case, run this way; None if nothing is."""
    (folder / "graph.mlir").write_text(case.module(f"{vulkan}, #inlay.host" if vulkan else None))
    command = [tool, str(folder / "graph.mlir"), f"--output={folder / 'result.npz'}"]
    command += [f"--input={folder / 'inputs.npz'}", "--require-device", "--require-full-compilation"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    shown = f"{way}: {' '.join(command)}\n"
    if done.returncode or done.stderr:
        return f"{shown}exit status {done.returncode}\n{done.stdout}{done.stderr}"
    got = torch.from_numpy(numpy.load(folder / "result.npz")["result_0"]).double()
    finite = case.expected[torch.isfinite(case.expected)].abs()
    slack = ALLOWED * max(1e-3, float(finite.max()) if finite.numel() else 0)
    if not torch.allclose(got, case.expected, rtol=0, atol=slack, equal_nan=True):
        difference = (got - case.expected).abs()
        where = int(torch.nan_to_num(difference, nan=float("inf")).argmax())
        return (f"{shown}element {where}: {got.flatten()[where]} instead of {case.expected.flatten()[where]}, "
                f"where {slack} is allowed\n{(folder / 'graph.mlir').read_text()}")  # fmt: skip
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inlay-run", default="inlay-run")
    parser.add_argument("--count", type=int, default=200 if os.environ.get("INLAY_FULL") else 12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "random-products")
    parser.add_argument("--subgroup-size", type=int, default=8, help="the device's")
    options = parser.parse_args()
    torch.set_num_threads(1)
    failures = 0
    for seed in range(options.seed, options.seed + options.count):
        case, folder = Case(seed), options.keep / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        numpy.savez(folder / "inputs.npz", **{f"x{i}": tensor.numpy() for i, tensor in enumerate(case.inputs)})
        ways = list_ways(options.subgroup_size)
        wrong = [run(case, folder, options.inlay_run, way, vulkan) for way, vulkan in ways.items()]
        for text in filter(None, wrong):
            print(f"seed {seed}, {text}", flush=True)
        failures += any(wrong)
        if not any(wrong):
            shutil.rmtree(folder)
    print(f"{options.count - failures} of {options.count} ops are right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
