# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the import of models with symbolic dims. Nothing is compiled.

They check the ops, the results at other sizes than those of the example, the inference of every dim, and that the
import assumes nothing of a size besides its range.
"""

import itertools
import re
import subprocess

import inlay
import pytest
import torch
from conftest import INLAY_OPT, compare
from inlay._compile.model import import_model
from inlay._import.examples import make_examples
from inlay._import.torch.export import export_module, export_program
from inlay._import.torch.guards import find_shape_env
from inlay._import.torch.program import import_program
from inlay._program.conditions import conditions_text
from inlay_models import zoo
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
    """Returns a function that imports a model with dynamic shapes as a Replay and checks that no guard was added."""

    def make(model, args, shapes, kwargs=None):
        examples = make_examples(model, args, kwargs or {}, shapes)
        exported, shape_profiles, *_ = export_module(model, examples, may_split_dims=True)
        env = find_env(exported)
        known = [guard.expr for guard in env.guards]
        replay = Replay(monkeypatch, exported, shape_profiles)
        assert [guard.expr for guard in env.guards] == known
        return replay

    return make


def infer(text):
    """Returns the module after shape inference by inlay-opt, and the lines with results that have unknown dims."""
    done = subprocess.run(
        [INLAY_OPT, "--inlay-shape-infer", "--mlir-print-local-scope"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    made = [line.strip() for line in done.stdout.splitlines() if " = inlay." in line]
    open_ones = [line for line in made if re.search(r"-> .*tensor<[^>]*\?", line)]
    return done.stdout, [line for line in open_ones if "inlay.dims" not in line]


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
    """Returns true if the guards of the export accept the sizes."""
    try:
        replay.measure(*args)
    except inlay.SizesError:
        return False
    return True


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.t().exp().as_strided((1, 2), (2, 1)),
        lambda a: a.t().exp().as_strided((a.shape[0], 2), (a.shape[1], 1)),
        lambda a: a.t().exp().as_strided((a.shape[0], 1), (a.shape[1], 1), a.shape[1] - 1),
        lambda a: torch.bernoulli(torch.sigmoid(a.t())),
        lambda a: F.dropout(a.t()[1:], 0.5),
        lambda a: F.dropout(a[:, ::2].t(), 0.5),
        lambda a: F.dropout(a.expand(2, *a.shape), 0.5),
    ],
)
def test_memory_is_read_in_its_order(replays, function):
    model = Call(function)
    replay = replays(model, (x(3, 6),), ({0: Dim.DYNAMIC(min=1, max=8), 1: Dim.DYNAMIC(min=2, max=32)},))
    for batch, length in ((1, 3), (5, 7), (8, 32)):
        torch.manual_seed(0)
        want = model(x(batch, length))
        torch.manual_seed(0)
        compare(replay(x(batch, length))[0], want, 1e-5)


def test_memory_with_gaps_is_not_read():
    model = Call(lambda a: a.exp()[:, ::2].as_strided((1, 2), (2, 1)))
    with pytest.raises(inlay.UnsupportedError, match=r"reads memory outside of its operand"):
        import_model(model, (x(3, 6),), ({0: BATCH, 1: Dim.DYNAMIC},))


def test_a_buffer_is_not_set_to_a_tensor_of_any_size():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", torch.zeros(3))

        def forward(self, a):
            self.kept = a.sum(1)
            return a * 2

    with pytest.raises(inlay.UnsupportedError, match=r"sets buffer 'kept', float32\[3\], to float32\[\w+\]"):
        import_model(Model(), (x(3, 6),), ({0: BATCH},))


# -- Text -------------------------------------------------------------------------------------------------------------


def test_text():
    class Model(nn.Module):
        def forward(self, a, b):
            return torch.cat([a, b]).reshape(-1, 2), a[:, : a.shape[1] // 2] / a.shape[0]

    half = Dim("half", min=1, max=64)
    shapes = ({0: BATCH, 1: 2 * half}, {0: Dim("rows", min=1), 1: 2 * half})
    program = import_program(export_program(Model(), (torch.ones(3, 6), torch.ones(2, 6)), shapes))
    conditions = f", inlay.conditions = {conditions_text(program.interface.conditions, program.interface.symbols)}"
    assert conditions in program.text
    text = re.sub(r' loc\((#?|")\w*"?\)|\n#.*|, typically \d+', "", program.text.replace(conditions, ""))
    assert text.splitlines() == [
        "module {",
        "  func.func public @forward(%arg0: tensor<?x?xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (s0, 2 * s1)>},"
        " %arg1: tensor<?x?xf32> {inlay.dims = affine_map<()[s0, s1, s2] -> (s2, 2 * s1)>})"
        ' -> (tensor<?x2xf32>, tensor<?x?xf32>) attributes {inlay.symbols = [#inlay.symbol<"batch", 1 to 8>,'
        ' #inlay.symbol<"half", 1 to 64>, #inlay.symbol<"rows", 1 to 9223372036854775807>]} {',
        "    %0 = inlay.cat %arg0, %arg1 dim 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        "    %1 = inlay.reshape %0 shape [-1, 2] : (tensor<?x?xf32>) -> tensor<?x2xf32>",
        "    %2 = inlay.slice %arg0 dim 1 start 0 end ? step 1 sizes affine_map<()[s0, s1, s2] -> (s1)>"
        " {inlay.dims = [affine_map<()[s0, s1, s2] -> (s0, s1)>]} : (tensor<?x?xf32>) -> tensor<?x?xf32>",
        "    %3 = inlay.size sizes affine_map<()[s0, s1, s2] -> (s0)> : () -> tensor<i64>",
        "    %4 = inlay.cast %3 to f32 : (tensor<i64>) -> tensor<f32>",
        "    %5 = inlay.div %2, %4 : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>",
        "    return %1, %5 : tensor<?x2xf32>, tensor<?x?xf32>",
        "  }",
        "}",
    ]


@pytest.mark.parametrize(
    ("shapes", "symbols"),
    [
        ({0: BATCH}, [("batch", 1, 8, 3)]),
        ({0: Dim("rows")}, [("rows", 0, None, 3)]),
        ({0: Dim("rows", max=5)}, [("rows", 0, 5, 3)]),
        ({0: Dim.AUTO}, [("a[0]", 2, None, 3)]),
        ({0: Dim.DYNAMIC(min=1, max=8)}, [("a[0]", 1, 8, 3)]),
        ({0: BATCH, 1: Dim.DYNAMIC}, [("batch", 1, 8, 3), ("a[1]", 2, None, 6)]),
        ({1: 2 * Dim("half", min=1)}, [("half", 1, None, 3)]),
    ],
)
def test_symbols(shapes, symbols):
    table = import_model(Call(lambda a: a + 1), (x(3, 6),), (shapes,)).program.interface.symbols.table
    limit = 2**63 - 1
    assert [(one.name, one.min, None if one.max == limit else one.max, one.typical) for one in table] == symbols


@pytest.mark.parametrize("size", [0, 1, 2, 5, 8, 9])
def test_ranges_are_those_of_the_export(replays, size):
    """The import accepts the sizes that the export accepts, and has the same results."""
    for shapes in ({0: Dim("rows")}, {0: BATCH}, {0: Dim("rows", min=2, max=8)}):
        model = Call(lambda a: (a.softmax(1) + a.shape[0], a.sum(0), a.reshape(-1)))
        exported = export_program(model, (x(3, 4),), (shapes,))
        replay = replays(model, (x(3, 4),), (shapes,))
        try:
            exported.module()(x(size, 4))
        except AssertionError:
            with pytest.raises(inlay.SizesError):
                replay(x(size, 4))
            continue
        if (
            size >= replay.program.interface.symbols.table[0].min
        ):  # the guards of torch accept sizes of 0 and 1 for every Dim
            replay.check(model, x(size, 4))


def test_conditions_of_the_export_are_checked(replays):
    def halves(a):
        return a[:, : a.shape[1] // 2] * 2 if a.shape[1] % 2 == 0 else a

    replay = replays(Call(halves), (x(3, 6),), ({1: Dim.AUTO},))
    replay.check(Call(halves), x(3, 10))
    with pytest.raises(inlay.SizesError, match=r"argument 'a'.* is 7|expected sizes for which"):
        replay(x(3, 7))


def test_equalities_that_the_export_assumed_hold_for_dims(replays):
    """`stack` needs equal dims, which the algebra of sizes does not show: the number of columns is even."""
    model = Call(lambda a: torch.stack((a[:, 0::2], a[:, 1::2]), 2).reshape(a.shape))
    replay = replays(model, (x(3, 6),), ({1: Dim.AUTO},))
    assert not replay.opaque and "sizes affine_map<()[s0] -> (s0 floordiv 2)>" in replay.program.text
    assert infer(replay.program.text)[1] == []
    replay.check(model, x(3, 10))
    with pytest.raises(inlay.SizesError):
        replay(x(3, 7))


def test_sizes_that_depend_on_data_are_left_to_pytorch(replays):
    model = Call(lambda a: (a.exp()[a > 0] * 2).sum() + a.shape[0])
    replay = replays(model, (x(3, 4),), ({0: BATCH},))
    assert replay.opaque == ["torch::calls"] and "add" in replay.made
    assert re.search(
        r"the result of node 'index' depends on data \(test_dynamic_import.py:\d+\)", replay.program.reasons[0]
    )
    for size in (1, 2, 8):
        replay.check(model, x(size, 4))


@torch.library.custom_op("inlay_tests::spread", mutates_args=())
def spread(a: torch.Tensor, rows: int) -> torch.Tensor:
    return a.expand(rows, *a.shape).clone()


spread.register_fake(lambda a, rows: a.new_empty(rows, *a.shape))


def test_calls_left_to_pytorch_get_their_sizes(replays):
    model = Call(lambda a: spread(a, a.shape[1] * 2) + a.shape[0])
    replay = replays(model, (x(3, 6),), ({0: BATCH, 1: LENGTH},))
    assert replay.opaque == ["inlay_tests::spread"]
    assert "sizes affine_map<()[s0, s1] -> (2 * s1)> {inlay.dims = [" in replay.program.text
    for batch, length in itertools.product((1, 2, 8), (1, 2, 32)):
        replay.check(model, x(batch, length))


# -- Models -----------------------------------------------------------------------------------------------------------

SIZES = {"batch": BATCH, "length": LENGTH, "target": Dim("target", min=1, max=16), "past": Dim("past", min=1, max=32)}
TOKENS, CACHE = {0: "batch", 1: "length"}, {0: "batch", 2: "past"}
TEXT = {
    "bert": {"input_ids": TOKENS, "attention_mask": TOKENS},
    "gpt2": {"input_ids": TOKENS},
    "llama": {"input_ids": TOKENS},
    "mixtral": {"input_ids": TOKENS},
    "t5": {"input_ids": TOKENS, "decoder_input_ids": {0: "batch", 1: "target"}},
    "llama_cached": ({0: "batch"}, [(CACHE, CACHE)] * 2),
}
MODELS = {**TEXT, **dict.fromkeys(("vit_b16", "resnet18", "lstm"), ({0: "batch"},))}


def is_dims(value):
    return isinstance(value, dict) and all(isinstance(key, int) for key in value)


def resize(leaf, dims, sizes):
    """Returns a tensor like `leaf` with these sizes."""
    wanted = [sizes[dims[dim]] if dim in dims else size for dim, size in enumerate(leaf.shape)]
    return x(*wanted) if leaf.is_floating_point() else tokens(*wanted)


@pytest.mark.parametrize("name", MODELS)
def test_models(replays, name):
    example, shapes = zoo.make(name, tiny=True), MODELS[name]
    leaves, spec = pytree.tree_flatten(example.kwargs or example.args)
    dims = pytree.tree_leaves(shapes, is_leaf=is_dims)
    wishes = pytree.tree_map(lambda one: {dim: SIZES[key] for dim, key in one.items()}, shapes, is_leaf=is_dims)

    def make(**sizes):
        made = [resize(leaf, one, sizes) for leaf, one in zip(leaves, dims, strict=True)]
        made = pytree.tree_unflatten(made, spec)
        if "attention_mask" in made:
            seen = torch.arange(sizes["length"]) <= sizes["length"] // 2
            made["attention_mask"] = seen.expand(sizes["batch"], -1) * 1
        return ((), made) if isinstance(made, dict) else (made, {})

    args, kwargs = make(batch=2, length=16, target=6, past=8)
    replay = replays(example.model, args, wishes, kwargs)
    assert not replay.opaque and not replay.program.reasons and not replay.program.interface.conditions
    assert infer(replay.program.text)[1] == []
    for batch, length in itertools.product((1, 2, 5, 8), (1, 2, 7, 31, 32) if name in TEXT else (1,)):
        args, kwargs = make(batch=batch, length=length, target=min(length, 16), past=length)
        replay.check(example.model, *args, tolerance=1e-4, **kwargs)
