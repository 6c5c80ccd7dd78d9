# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rule libraries on parts of real models: the number of rewrites by each rule, and results equal to PyTorch's."""

import collections
import dataclasses
import json
import math
import subprocess

import inlay
import pytest
import torch
from conftest import INLAY_OPT
from inlay._compile.imported import compile_imported
from inlay._compile.options import Options
from inlay._import.torch.export import export_program
from inlay._import.torch.program import import_program
from inlay.errors import ArgumentValueError, RewriteError
from inlay.rewrite import RewritePatternManager, pattern
from torch import nn
from torch.nn import functional

LIBRARIES = "cleanup,fusions"


class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class LlamaBlock(nn.Module):
    """RMS norm, rotary embedding, causal attention and SwiGLU, each of several ops as in models."""

    def __init__(self, size=32, heads=4, hidden=64, length=6):
        super().__init__()
        self.heads, self.head = heads, size // heads
        self.norm1, self.norm2 = RMSNorm(size), RMSNorm(size)
        self.q, self.k, self.v, self.o = (nn.Linear(size, size, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(size, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, size, bias=False)
        speeds = 10000 ** (-torch.arange(0, self.head, 2) / self.head)
        angles = torch.outer(torch.arange(length).float(), speeds).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, self.head).transpose(1, 2)

    def turn(self, x):
        half = self.head // 2
        turned = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * self.cos + turned * self.sin

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = self.turn(self.split(self.q(y))), self.turn(self.split(self.k(y))), self.split(self.v(y))
        unseen = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        scores = (q * self.head**-0.25) @ (k.transpose(-2, -1) * self.head**-0.25) + unseen
        attention = scores.softmax(-1) @ v
        x = x + self.o(attention.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        gate = self.gate(y)
        return x + self.down(gate * torch.sigmoid(gate) * self.up(y))


class BertBlock(nn.Module):
    """An encoder block with layer norm, softmax and GELU, each of several ops."""

    def __init__(self, size=32, heads=4, hidden=64):
        super().__init__()
        self.heads, self.head = heads, size // heads
        self.q, self.k, self.v, self.o = (nn.Linear(size, size) for _ in range(4))
        self.up, self.down = nn.Linear(size, hidden), nn.Linear(hidden, size)
        self.scale1, self.shift1, self.scale2, self.shift2 = (nn.Parameter(torch.rand(size)) for _ in range(4))

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, self.head).permute(0, 2, 1, 3)

    @staticmethod
    def norm(x, weight, bias):
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        return centred / torch.sqrt(variance + 1e-12) * weight + bias

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head)
        powers = torch.exp(scores - scores.amax(-1, keepdim=True))
        attention = (powers / powers.sum(-1, keepdim=True)) @ v
        x = self.norm(x + self.o(attention.permute(0, 2, 1, 3).reshape(x.shape)), self.scale1, self.shift1)
        y = functional.linear(x, self.up.weight) + self.up.bias
        y = y * 0.5 * (1 + torch.erf(y / math.sqrt(2)))
        return self.norm(x + self.down(y), self.scale2, self.shift2)


class ResNetBlock(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(channels)
        for norm in (self.norm1, self.norm2):
            norm.running_mean.uniform_(-1, 1)
            norm.running_var.uniform_(0.5, 2)
            nn.init.uniform_(norm.weight)
            nn.init.uniform_(norm.bias)

    def forward(self, x):
        return functional.relu(x + self.norm2(self.conv2(functional.relu(self.norm1(self.conv1(x))))))


TRANSFORMER_INPUT, IMAGE = (2, 6, 32), (1, 4, 8, 8)


def rewrite(text, tmp_path, options):
    """Returns the text after rewriting, and the number of rewrites by each rule."""
    trace = tmp_path / "trace.json"
    command = [INLAY_OPT, "--mlir-print-debuginfo", f"--inlay-rewrite={options} trace={trace}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, collections.Counter(firing["label"] for firing in json.loads(trace.read_text()))


def check(model, shape, tmp_path, options, expected):
    torch.manual_seed(0)
    model = model().eval()
    x = torch.randn(shape)
    imported = import_program(export_program(model, (x,)))
    text, fired = rewrite(imported.text, tmp_path, options)
    assert fired == expected
    compiled = compile_imported(dataclasses.replace(imported, text=text), Options.make({"targets": ("host",)}))
    with torch.no_grad():
        torch.testing.assert_close(compiled.call_flat(x)[0], model(x), rtol=1e-4, atol=1e-4)
    return text


LLAMA = {"square": 2, "attention_scale": 1, "silu": 1}
BERT = {"div_by_sqrt": 2, "layer_norm": 2, "softmax": 1, "linear_bias": 1, "gelu": 1, "permute_of_permute": 1}
RESNET = {"conv_batch_norm": 1, "conv_bias_batch_norm": 1}
CASES = [(LlamaBlock, TRANSFORMER_INPUT, LLAMA), (BertBlock, TRANSFORMER_INPUT, BERT), (ResNetBlock, IMAGE, RESNET)]


@pytest.mark.parametrize(("model", "shape", "expected"), CASES)
def test_rules_fire_and_results_stay(model, shape, expected, tmp_path):
    check(model, shape, tmp_path, f"libraries={LIBRARIES}", expected)


@pytest.mark.parametrize(("model", "shape", "expected"), CASES)
def test_each_match_passes_its_check(model, shape, expected, tmp_path):
    check(model, shape, tmp_path, f"libraries={LIBRARIES} check=each", expected)


@pytest.mark.parametrize(
    ("model", "kernels", "plugins"),
    [
        (
            LlamaBlock,
            {"rms_norm": 2, "rotary": 2, "attention_masked": 1, "swiglu": 1},
            {"rms_norm": 2, "rotary": 2, "attention": 1, "swiglu": 1},
        ),
        (BertBlock, {"scores_scale": 1, "attention": 1}, {"attention": 1}),
    ],
)
def test_kernels_are_recognised_and_expand_again(model, kernels, plugins, tmp_path):
    torch.manual_seed(0)
    imported = import_program(export_program(model().eval(), (torch.randn(TRANSFORMER_INPUT),)))
    clean, _ = rewrite(imported.text, tmp_path, f"libraries={LIBRARIES}")
    text, fired = rewrite(clean, tmp_path, "libraries=kernels")
    assert fired == kernels
    assert {name: text.count(f'inlay.plugin "{name}"') for name in plugins} == plugins
    expanded, fired = rewrite(text, tmp_path, "libraries=expansions")
    assert sum(fired.values()) == sum(plugins.values())
    assert "inlay.plugin" not in expanded


def test_manager_checks_patterns():
    manager = RewritePatternManager()
    right = pattern("twice")(lambda op, x: op.neg(op.neg(x))).to(lambda op, x: x)
    wrong = pattern("swapped")(lambda op, x, y: op.sub(x, y)).to(lambda op, x, y: op.sub(y, x))
    manager.add("twice", right)
    manager.check("twice")
    manager.add("swapped", wrong)
    with pytest.raises(RewriteError, match="pattern 'swapped' changes what is computed, with x: tensor<"):
        manager.check()
    manager.disable("swapped")
    manager.check()


def test_manager_adds_no_wrong_pattern():
    manager = RewritePatternManager()
    wrong = pattern("swapped")(lambda op, x, y: op.sub(x, y)).to(lambda op, x, y: op.sub(y, x))
    with pytest.raises(RewriteError, match="pattern 'swapped' changes what is computed"):
        manager.add("swapped", wrong, check=True)
    assert manager.labels == []
    manager.add("swapped", wrong)


def test_manager_checks_each_match():
    text = """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = inlay.neg %x : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    """
    module = inlay.parse(text)
    manager = RewritePatternManager()
    manager.add("neg_is_relu", pattern("neg_is_relu")(lambda op, x: op.neg(x)).to(lambda op, x: op.relu(x)))
    with pytest.raises(RewriteError, match="pattern 'neg_is_relu' changes what is computed"):
        manager.rewrite(module, check=True)
    assert str(module) == str(inlay.parse(text))
    assert manager.rewrite(module) == 1


def test_manager_takes_libraries():
    manager = RewritePatternManager()
    assert "layer_norm" in manager.add_library("fusions")
    module = inlay.parse("""
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = inlay.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = inlay.mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          return %1 : tensor<4xf32>
        }
    """)
    assert manager.rewrite(module) == 1
    assert "inlay.silu" in str(module)
    with pytest.raises(ArgumentValueError, match="did you mean 'fusions'"):
        manager.add_library("fusion")
