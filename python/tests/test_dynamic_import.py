# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import with dims that are symbols: what is made, that it computes what PyTorch does at sizes other than the example's,
that every dim can be inferred, and that nothing is assumed of a size besides its range. Nothing is compiled."""

import itertools
import re
import subprocess

import inlay
import pytest
import torch
from conftest import INLAY_OPT
from inlay.compiler import export_program, import_model
from inlay.importer import import_program
from inlay.importer.guards import find_shape_env
from inlay.models import zoo
from inlay.shapes import make_examples
from replay import Replay
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

pytree = torch.utils._pytree
BATCH, LENGTH = Dim("batch", min=1, max=8), Dim("length", min=1, max=32)


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def tokens(*shape):
    return torch.randint(0, 100, shape, generator=torch.Generator().manual_seed(1))


class Call(nn.Module):
    """A module around a function."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, a, b=None):
        parts = dict(self.named_children())
        return self.function(a, **parts) if b is None else self.function(a, b, **parts)


def find_env(exported):
    return find_shape_env(node.meta.get("val") for node in exported.graph.find_nodes(op="placeholder"))


@pytest.fixture
def replays(monkeypatch):
    """Imports a model with dynamic shapes and checks that this assumed nothing; the Replay."""

    def make(model, args, shapes, kwargs=None):
        examples = make_examples(model, args, kwargs or {}, shapes)
        with torch.no_grad():
            exported = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
        env = find_env(exported)
        known = [guard.expr for guard in env.guards]
        replay = Replay(monkeypatch, exported, examples.profiles)
        assert [guard.expr for guard in env.guards] == known
        return replay

    return make


def infer(text):
    """The module as inlay-opt prints it with every dim inferred, and the lines with dynamic results that lack dims."""
    done = subprocess.run(
        [INLAY_OPT, "--inlay-shape-infer", "--mlir-print-local-scope"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    made = [line.strip() for line in done.stdout.splitlines() if " = inlay." in line]
    is_dynamic = [re.search(r"-> .*tensor<[^>]*\?", line) is not None for line in made]
    return done.stdout, [line for line, dynamic in zip(made, is_dynamic) if dynamic and "inlay.dims" not in line]


# -- Calls ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "made"),
    [
        (lambda a: a + 1, ["add"]),
        (lambda a: a / a.shape[0], ["size", "cast", "div"]),
        (lambda a: a * (a.shape[1] * 2 + 1), ["size", "cast", "mul"]),
        (lambda a: a.sum(1) + a.shape[0] // 2, None),
        (lambda a: a.mean((0, 1), keepdim=True), ["mean"]),
        (lambda a: a.var(1), None),
        (lambda a: a.softmax(1), ["softmax"]),
        (lambda a: a.log_softmax(1), None),
        (lambda a: a.cumsum(1), ["cumsum"]),
        (lambda a: a.argmax(), ["reshape", "argmax"]),
        (lambda a: a.reshape(-1, 4), ["reshape"]),
        (lambda a: a.reshape(a.shape[0], -1), ["reshape"]),
        (lambda a: a.view(a.shape[0], a.shape[1], 2, 2), ["reshape"]),
        (lambda a: a.flatten(), ["reshape"]),
        (lambda a: a.flatten(0, 1).unflatten(0, a.shape[:2]), ["reshape", "reshape"]),
        (lambda a: a.transpose(0, 1).reshape(a.shape[1], -1), ["permute", "reshape"]),
        (lambda a: a[:, :1].expand(-1, a.shape[1], -1), ["slice", "expand"]),
        (lambda a: a.expand(3, *a.shape), ["expand"]),
        (lambda a: a.repeat(2, 1, 3), ["reshape", "expand", "reshape"]),
        (lambda a: a.repeat(1, 1, a.shape[0]), ["reshape", "expand", "reshape"]),
        (lambda a: a[:, -1], ["slice", "reshape"]),
        (lambda a: a[-1:], ["slice"]),
        (lambda a: a[:, :-1], ["slice"]),
        (lambda a: a[:, : a.shape[0]], ["slice"]),
        (lambda a: a[:, ::2], ["slice"]),
        (lambda a: a[:, a.shape[1] // 2 :], ["slice"]),
        (lambda a: a.select(1, a.shape[1] - 1), ["slice", "reshape"]),
        (lambda a: a.narrow(1, 0, 1), ["slice"]),
        (lambda a: a.chunk(2, 2)[1], ["slice", "slice"]),
        (lambda a: a.split([1, 3], 2)[1], ["slice", "slice"]),
        (lambda a: a.unbind(2)[1], None),
        (lambda a: a.flip(1), ["flip"]),
        (lambda a: torch.cat([a, a], 1), ["cat"]),
        (lambda a: torch.cat([a, torch.ones(a.shape[0], 2, 4)], 1), ["expand", "cat"]),
        (lambda a: torch.stack([a, a], 1), ["cat", "reshape"]),
        (lambda a: F.pad(a, (1, 2)), ["pad"]),
        (lambda a: F.pad(a, (0, 0, 0, 40 - a.shape[1])), ["pad"]),
        (lambda a: a.new_zeros(a.shape[1], 3), ["expand"]),
        (lambda a: torch.full((a.shape[0],), a.shape[1]), ["size", "expand"]),
        (lambda a: torch.full_like(a, 2.0) + torch.zeros_like(a) + torch.ones_like(a), None),
        (lambda a: torch.arange(a.shape[1]), ["iota"]),
        (lambda a: torch.arange(a.shape[0], a.shape[0] + a.shape[1]), ["iota", "size", "add"]),
        (lambda a: torch.arange(0, a.shape[1], 2, dtype=torch.float32), ["iota", "mul", "cast"]),
        (lambda a: torch.arange(a.shape[1] - 1, -1, -1), ["iota", "mul", "size", "add"]),
        (lambda a: torch.ones(a.shape[1], a.shape[1]).tril(), None),
        (lambda a: torch.ones(a.shape[1], a.shape[1]).triu(1), None),
        (lambda a: a @ a.transpose(1, 2), ["permute", "matmul"]),
        (lambda a: torch.einsum("bij,bkj->bik", a, a), None),
        (lambda a: torch.where(torch.arange(a.shape[1])[:, None] > 2, a, -a), None),
        (lambda a: a.masked_fill(a > 0, float("-inf")), ["gt", "where"]),
        (lambda a: a.clamp(-1, 1) ** 2, None),
        (lambda a: a.gather(1, torch.zeros(a.shape[0], 1, 4, dtype=torch.int64)), None),
        (lambda a: a.index_select(1, torch.tensor([0, 0])), ["index_select"]),
        (lambda a: a[torch.arange(a.shape[0]), -1], None),
        (lambda a: a.scatter(1, torch.zeros(a.shape[0], 1, 4, dtype=torch.int64), a[:, -1:]), None),
        (lambda a: a.index_put((torch.tensor([0]),), a[:1]), None),
        (lambda a: a.slice_scatter(a[:, :1], 1, 0, 1), None),
        (lambda a: a.select_scatter(a[:, 0], 1, -1), None),
        (lambda a: F.layer_norm(a, (4,)), ["layer_norm"]),
        (lambda a: F.rms_norm(a, (4,)), ["rms_norm"]),
        (lambda a: F.group_norm(a.transpose(1, 2), 2), ["permute", "group_norm"]),
        (lambda a: F.instance_norm(torch.cat([a, a], 1).transpose(1, 2)), None),
        (lambda a: F.scaled_dot_product_attention(a, a, a), ["scaled_dot_product_attention"]),
        (lambda a: F.scaled_dot_product_attention(a, a, a, is_causal=True), ["scaled_dot_product_attention"]),
        (lambda a: F.interpolate(a.transpose(1, 2), scale_factor=2.0), None),
        (lambda a: F.avg_pool1d(a.transpose(1, 2), 3, 1, 1), None),
        (lambda a: F.adaptive_avg_pool1d(a.transpose(1, 2), 1), None),
        (lambda a: F.conv1d(a.transpose(1, 2), torch.ones(2, 4, 3), stride=2, padding=1), None),
        (lambda a: F.conv_transpose1d(a.transpose(1, 2), torch.ones(4, 2, 3), stride=2), None),
        (lambda a: a.sort(1).values, ["argsort", "gather"]),
        (lambda a: a.topk(1, 1).indices, ["argsort", "slice", "gather"]),
        (lambda a: a.diff(dim=1, prepend=a[:, :1]), None),
        (lambda a: a.unfold(1, 1, 1), None),
        (lambda a: torch.meshgrid(torch.arange(a.shape[0]), torch.arange(a.shape[1]), indexing="ij")[1], None),
        (lambda a: (a.shape[0], a.numel(), a * 2), ["mul"]),
        (lambda a: a.roll(1, 1), None),
        (lambda a: torch.zeros(a.shape[0], 4, dtype=torch.int64).type_as(a) + a[:, 0], None),
        (lambda a: torch.linspace(0, 1, 5) + a.sum(), None),
        (lambda a: a.std(), None),
    ],
)
def test_calls(replays, function, made):
    model = Call(function)
    replay = replays(model, (x(3, 6, 4),), ({0: Dim.DYNAMIC(min=1, max=8), 1: Dim.DYNAMIC(min=1, max=32)},))
    assert made is None or replay.made == made
    assert not replay.opaque
    assert infer(replay.program.text)[1] == []
    for batch, length in itertools.product((1, 2, 8), (1, 2, 5, 32)):
        if is_in_range(replay, x(batch, length, 4)):
            replay.check(model, x(batch, length, 4), tolerance=1e-4)


def is_in_range(replay, *args):
    """Whether export's own conditions let sizes pass."""
    try:
        replay.measure(*args)
    except inlay.SizesError:
        return False
    return True
