# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of models that are compiled once for all sizes in a range: options, errors of calls, and results."""

import itertools
import warnings

import inlay
import pytest
import torch
from conftest import compare
from inlay._compile.imported import compilation_count
from inlay_models import zoo
from torch import nn
from torch.export import Dim

TARGETS = [("vulkan", "host", "torch"), ("host", "torch"), ("torch",)]
BATCH = Dim("batch", min=1, max=8)


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def tokens(*shape):
    return torch.randint(0, 100, shape, generator=torch.Generator().manual_seed(1))


class Add(nn.Module):
    def forward(self, x, y):
        return x + y * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.norm, self.inner, self.out = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        y = self.out(torch.relu(self.inner(self.norm(x))))
        return y.softmax(-1), x.flatten(0, 1) / x.shape[0]


def check(model, compiled, *args, tolerance=1e-4, **kwargs):
    with torch.no_grad():
        want = torch.utils._pytree.tree_leaves(model(*args, **kwargs))
    got = torch.utils._pytree.tree_leaves(compiled(*args, **kwargs))
    assert len(got) == len(want)
    for mine, theirs in zip(got, want, strict=True):
        compare(mine, theirs, tolerance)


# -- Errors before compilation ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({}, TypeError, "either shape, or min_shape and max_shape"),
        ({"min_shape": (1,)}, TypeError, "together"),
        ({"min_shape": (1,), "max_shape": (2,), "shape": (2,)}, TypeError, "either shape"),
        ({"min_shape": (4,), "max_shape": (2,)}, ValueError, "at most max_shape, but got 4 and 2 in dim 0"),
        ({"min_shape": (1, 2), "max_shape": (2,)}, ValueError, "as many dims"),
        ({"min_shape": (1,), "opt_shape": (9,), "max_shape": (8,)}, ValueError, "dim 0 of opt_shape is 9.* 1 to 8"),
        ({"min_shape": (-1,), "max_shape": (8,)}, ValueError, "none below 0"),
        ({"min_shape": "12", "max_shape": (8, 8)}, TypeError, "a list of ints"),
        ({"shape": (4,), "dtype": "float32"}, TypeError, "torch.dtype"),
        ({"shape": (BATCH,), "opt_shape": (9,)}, ValueError, "opt_shape is 9"),
    ],
)
def test_ranges_that_are_none(options, error, match):
    with pytest.raises(error, match=match) as info:
        inlay.Input(**options)
    assert isinstance(info.value, inlay.Error)


@pytest.mark.parametrize(
    ("inputs", "options", "match"),
    [
        (
            (inlay.Input(shape=(BATCH,)), x(4)),
            {"dynamic_shapes": ({0: BATCH}, None)},
            "expected no dynamic_shapes with an inlay.Input",
        ),
        ((inlay.Input((0,), None, (1,)), x(4)), {}, "0 to 1, but torch.export treats"),
        (
            (x(1, 4), x(1, 4)),
            {"dynamic_shapes": ({0: BATCH}, {0: BATCH})},
            r"input 1: dim 0 \('batch'\) is 1.* 2 or",
        ),
        ((x(3, 4), x(2, 4)), {"dynamic_shapes": ({0: BATCH}, {0: BATCH})}, "'batch' is 3 in example input 1, but 2 in"),
        ((x(9, 4), x(9, 4)), {"dynamic_shapes": ({0: BATCH}, {0: BATCH})}, "9 not in range"),
        ((x(3, 4), x(4)), {"dynamic_shapes": ({0: BATCH, 1: Dim("width")}, None)}, "specialized it to be a constant"),
        ((x(3, 4), x(4)), {"dynamic_shapes": ({0: Dim.DYNAMIC, 1: Dim.DYNAMIC}, None)}, "specialized"),
        ((x(3, 4), x(3, 4)), {"dynamic_shapes": ({0: BATCH}, {0: Dim("rows")})}, "must always be equal"),
        ((x(3, 4), x(3, 4)), {"dynamic_shapes": ({0: BATCH}, {0: Dim("batch")})}, "different definitions"),
        ((x(3, 4), x(3, 4)), {"out_of_range": "eager"}, "unknown out_of_range 'eager'"),
        (
            (inlay.Input(shape=(BATCH,), opt_shape=(3,)), inlay.Input(shape=(BATCH,), opt_shape=(4,))),
            {},
            "'batch' is 3 in one opt_shape and 4 in another",
        ),
    ],
)
def test_sizes_that_contradict_one_another(inputs, options, match):
    with warnings.catch_warnings(), pytest.raises(inlay.Error, match=match) as info:
        warnings.simplefilter("ignore")
        inlay.compile(Add(), inputs, **options)
    assert isinstance(info.value, (ValueError, TypeError))


def test_only_a_module_runs_what_is_out_of_range():
    exported = torch.export.export(Add(), (x(3), x(3)))
    with pytest.raises(inlay.ArgumentTypeError, match=r"expected a torch.nn.Module with out_of_range"):
        inlay.compile(exported, out_of_range="torch")


# -- Calls ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_every_size(targets):
    model, before = Net().eval(), compilation_count()
    shapes = ({0: BATCH, 1: Dim("length", min=1, max=40)},)
    compiled = inlay.compile(model, (x(3, 6, 8),), dynamic_shapes=shapes, targets=targets)
    assert compiled.symbols == {"batch": (1, 8), "length": (1, 40)}
    for batch, length in itertools.product((1, 2, 3, 7, 8), (1, 2, 6, 39, 40)):
        check(model, compiled, x(batch, length, 8))
    assert compilation_count() == before + 1


@pytest.mark.parametrize(
    ("args", "match"),
    [
        ((x(9, 4), x(9, 4)), r"argument 'x' \(place 1\): dim 0 \('batch'\) is 9, but expected 1 to 8"),
        ((x(0, 4), x(0, 4)), r"argument 'x' \(place 1\): dim 0 \('batch'\) is 0, but expected 1 to 8"),
        (
            (x(3, 4), x(2, 4)),
            r"argument 'y' \(place 2\): dim 0 \('batch'\) is 2, but expected 3, as dim 0 of arg",
        ),
        ((x(3, 5), x(3, 5)), r"argument 'x' \(place 1\): expected float32\[batchx4\], but got float32\[3x5\]: dim 1"),
        ((x(3), x(3)), "expected rank 2"),
    ],
)
def test_sizes_are_checked(args, match):
    compiled = inlay.compile(Add(), (x(3, 4), x(3, 4)), dynamic_shapes=({0: BATCH}, {0: BATCH}), targets=TARGETS[1])
    with pytest.raises(inlay.ArgumentValueError, match=match):
        compiled(*args)
    check(Add(), compiled, x(8, 4), x(8, 4))


def test_pytorch_runs_what_is_out_of_range():
    model = Net().eval()
    shapes, targets = ({0: BATCH},), TARGETS[1]
    compiled = inlay.compile(model, (x(3, 6, 8),), dynamic_shapes=shapes, out_of_range="torch", targets=targets)
    for batch in (1, 8, 9, 100):
        check(model, compiled, x(batch, 6, 8))
    other = Net().eval()
    nn.init.ones_(other.out.weight)
    compiled.load_state_dict(other.state_dict())
    for batch in (8, 9):
        check(other, compiled, x(batch, 6, 8))
    with pytest.raises(inlay.ArgumentValueError, match="dim 1 differs"):  # all sizes are constant
        compiled(x(3, 7, 8))


def test_profiles():
    model = Net().eval()
    profile = inlay.Input(min_shape=(1, 1, 8), opt_shape=(4, 16, 8), max_shape=(8, 64, 8))
    compiled = inlay.compile(model, [profile], targets=TARGETS[1])
    assert compiled.symbols == {"x[0]": (1, 8), "x[1]": (1, 64)}
    for batch, length in itertools.product((1, 2, 4, 8), (1, 2, 16, 63, 64)):
        check(model, compiled, x(batch, length, 8))
    with pytest.raises(inlay.SizesError, match=r"dim 1 \('x\[1\]'\) is 65, but expected 1 to 64"):
        compiled(x(1, 65, 8))


def test_the_library_takes_products_of_every_size():
    model = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 64)).eval()
    batch = torch.export.Dim("batch", min=1, max=64)
    compiled = inlay.compile(model, (torch.randn(4, 64),), targets=("host",), dynamic_shapes=({0: batch},))
    kernels = compiled.report["segments"][0]["kernels"]
    assert [kernel["kind"] for kernel in kernels].count("contraction") == 2
    for size in (1, 3, 64):
        x = torch.randn(size, 64)
        torch.testing.assert_close(compiled(x), model(x))


def test_inputs_with_the_same_dim_share_its_symbol():
    one = inlay.Input(shape=(BATCH, 4))
    compiled = inlay.compile(Add(), {"x": one, "y": one}, targets=TARGETS[1])
    assert compiled.symbols == {"batch": (1, 8)}
    for batch in (1, 2, 8):
        check(Add(), compiled, x=x(batch, 4), y=x(batch, 4))
    with pytest.raises(inlay.SizesError, match="is 2, but expected 3"):
        compiled(x(3, 4), x(2, 4))


@pytest.mark.parametrize("targets", TARGETS[:2], ids="-".join)
def test_no_row_is_read_where_there_is_none(targets):
    class Rows(nn.Module):
        def forward(self, a, number):
            return torch.index_select(a, 0, number)

    dims = ({0: Dim("rows", min=0, max=8)}, None)
    compiled = inlay.compile(Rows(), (x(3, 4), torch.tensor([0, 1])), dynamic_shapes=dims, targets=targets)
    check(Rows(), compiled, x(8, 4), torch.tensor([7, 0]))
    with pytest.raises(inlay.ArgumentValueError, match=r"'a': dim 0 \('rows'\) is 0, but expected 1 to 8"):
        compiled(x(0, 4), torch.tensor([0, 0]))


class Put(nn.Module):
    def forward(self, a, rows, columns, values):
        a = a.index_put((rows[:, None], columns), values)
        return a.index_put((rows,), values.new_ones(()), accumulate=True)


class WriteRows(nn.Module):
    """Writes rows from a place on, as a cache of keys does."""

    def forward(self, a, place, values):
        return a.index_copy(1, torch.arange(values.shape[1]) + place, values)


class Scatter(nn.Module):
    def forward(self, a, index, values):
        return a.scatter(1, index, values), a.scatter_reduce(1, index, values, "amax")


@pytest.mark.parametrize("targets", TARGETS[:2], ids="-".join)
def test_writes_at_indices(targets):
    rows, columns = Dim("rows", min=1, max=8), Dim("columns", min=1, max=6)
    example = (x(8, 6), torch.tensor([1, 0]), torch.tensor([3, 2, 0]), x(2, 3))
    dims = ({0: Dim("height", min=8, max=9)}, {0: rows}, {0: columns}, {0: rows, 1: columns})
    put = inlay.compile(Put(), example, dynamic_shapes=dims, targets=targets, require_full_compilation=True)
    for n, m in itertools.product((1, 2, 8), (1, 3, 6)):
        check(Put(), put, x(9, 6), torch.arange(n) - n // 2, torch.arange(m).flip(0), x(n, m))

    dims = ({0: BATCH}, None, {0: BATCH, 1: rows})
    example = (x(2, 8, 3), torch.tensor(1), x(2, 4, 3))
    write = inlay.compile(WriteRows(), example, dynamic_shapes=dims, targets=targets, require_full_compilation=True)
    for batch, n, place in ((1, 1, 7), (8, 3, 0), (3, 8, 0), (2, 5, 3)):
        check(WriteRows(), write, x(batch, 8, 3), torch.tensor(place), x(batch, n, 3))

    dims = ({0: Dim("height", min=8, max=9)}, {0: rows, 1: columns}, {0: rows, 1: columns})
    example = (x(8, 6), torch.tensor([[1, 0, 5], [2, 0, 3]]), x(2, 3))
    scatter = inlay.compile(Scatter(), example, dynamic_shapes=dims, targets=targets, require_full_compilation=True)
    for n, m in itertools.product((1, 2, 8), (1, 6)):
        check(Scatter(), scatter, x(9, 6), torch.arange(m).flip(0).repeat(n, 1), x(n, m))


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_extremes_and_their_places_are_results(targets):
    class Extremes(nn.Module):
        def forward(self, x):
            low = x.min(-1)
            return x.max(-1), low.values, low.indices, x.max(1, keepdim=True).indices

    model = Extremes().eval()
    compiled = inlay.compile(model, (x(3, 5),), targets=targets, dynamic_shapes={"x": {0: BATCH}})
    for rows in (1, 4, 8):
        check(model, compiled, x(rows, 5))


def test_sizes_are_results():
    class Model(nn.Module):
        def forward(self, a):
            return a * 2, a.shape[0], a.numel() + 1

    compiled = inlay.compile(Model(), (x(3, 4),), dynamic_shapes=({0: BATCH},), targets=TARGETS[1])
    for batch in (1, 5, 8):
        assert compiled(x(batch, 4))[1:] == (batch, 4 * batch + 1)


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_language_models(name, targets):
    example, before = zoo.make(name, tiny=True), compilation_count()
    dims = {0: BATCH, 1: Dim("length", min=1, max=32)}
    inputs = {key: tokens(2, 16) if key == "input_ids" else torch.ones(2, 16).long() for key in example.kwargs}
    compiled = inlay.compile(example.model, inputs, dynamic_shapes=dict.fromkeys(inputs, dims), targets=targets)
    for batch, length in itertools.product((1, 2, 5, 8), (1, 2, 16, 31, 32)):
        sized = {"input_ids": tokens(batch, length), "attention_mask": torch.ones(batch, length).long()}
        sized["attention_mask"][0, length // 2 + 1 :] = 0
        check(example.model, compiled, **{key: sized[key] for key in inputs})
    assert compilation_count() == before + 1


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_an_encoder_and_a_decoder(targets):
    example, before = zoo.make("t5", tiny=True), compilation_count()
    dims = {
        "input_ids": {0: BATCH, 1: Dim("source", max=32)},
        "decoder_input_ids": {0: BATCH, 1: Dim("target", max=16)},
    }
    inputs = {"input_ids": tokens(2, 16), "decoder_input_ids": tokens(2, 8)}
    compiled = inlay.compile(example.model, inputs, dynamic_shapes=dims, targets=targets)
    for batch, source, target in itertools.product((1, 3, 8), (1, 2, 31, 32), (1, 16)):
        sized = {"input_ids": tokens(batch, source), "decoder_input_ids": tokens(batch, target)}
        check(example.model, compiled, **sized)
    assert compilation_count() == before + 1


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
@pytest.mark.parametrize("name", ["resnet18", "vit_b16"])
def test_images(name, targets):
    example = zoo.make(name, tiny=True)
    image = (3, *example.args[0].shape[2:])
    compiled = inlay.compile(
        example.model, (x(2, *image),), dynamic_shapes=({0: Dim("n", min=1, max=20)},), targets=targets
    )
    for batch in range(1, 21):
        check(example.model, compiled, x(batch, *image))


class Mixed(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, a):
        return self.function(a)


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (lambda a: a.relu().reshape(a.shape[0], a.shape[1], 2, 4) * 2, {"torch_executed_ops": ["aten::reshape"]}),
        (
            lambda a: (a[:, :1].expand(-1, a.shape[1], -1) + torch.arange(a.shape[1])[:, None])[:, a.shape[1] // 2 :],
            {"torch_executed_ops": ["aten::expand", "aten::slice", "aten::arange"]},
        ),
        (lambda a: (a.exp()[a > 0] * 2).sum() + a.shape[0], {}),
        (lambda a: a.exp().median(1).values * a.shape[1], {}),
    ],
)
def test_pytorch_runs_parts_of_every_size(function, options):
    model, shapes = Mixed(function), ({0: BATCH, 1: Dim("length", min=4, max=40)},)
    compiled = inlay.compile(model, (x(3, 6, 8),), dynamic_shapes=shapes, targets=TARGETS[1], **options)
    assert compiled.report.ops_by_target()["torch"]
    for batch, length in itertools.product((1, 2, 8), (4, 7, 40)):
        check(model, compiled, x(batch, length, 8))


def test_a_cache_that_grows():
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**sizes, intermediate_size=64, vocab_size=100)
    model, before = transformers.LlamaForCausalLM(config).eval(), compilation_count()

    def start(batch):
        with torch.no_grad():
            return model(tokens(batch, 6), use_cache=True).past_key_values

    step = {"input_ids": tokens(2, 1), "past_key_values": start(2), "use_cache": True}
    cache = [{0: BATCH, 2: Dim("past", min=1, max=60)}] * 4
    shapes = {"input_ids": {0: BATCH}, "past_key_values": cache, "use_cache": None}
    compiled = inlay.compile(model, step, dynamic_shapes=shapes, targets=TARGETS[1])
    for batch in (1, 2, 8):
        mine, theirs = start(batch), start(batch)
        for number in range(5):
            token = tokens(batch, 1) + number
            with torch.no_grad():
                want = model(input_ids=token, past_key_values=theirs, use_cache=True)
            got = compiled(input_ids=token, past_key_values=mine, use_cache=True)
            compare(got.logits, want.logits, 1e-4)
            mine, theirs = got.past_key_values, want.past_key_values
            assert mine.get_seq_length() == 7 + number
    assert compilation_count() == before + 1


class Keywords(torch.nn.Module):
    def forward(self, x, **others):
        return x.relu() + others["pair"][0] * others["scale"]


def test_dims_of_arguments_that_keywords_take():
    def inputs(batch):
        return {"x": x(batch, 8), "pair": [x(batch, 8), x(3)], "scale": x(8)}

    shapes = {"x": {0: BATCH}, "pair": [{0: BATCH}, None], "scale": None}
    compiled = inlay.compile(Keywords(), inputs(2), dynamic_shapes=shapes, targets=TARGETS[1])
    assert list(compiled.symbols) == ["batch"]
    for batch in (2, 1, 7):
        compare(compiled(**inputs(batch)), Keywords()(**inputs(batch)), 1e-6)
    assert not hasattr(Keywords.forward, "__signature__")


def test_keys_that_are_no_names_of_parameters():
    class Model(torch.nn.Module):
        def forward(self, x, **others):
            return x * others["class"] + others["a.b"]

    inputs = {"x": x(3), "class": x(3), "a.b": x(3)}
    compare(inlay.compile(Model(), inputs, targets=TARGETS[1])(**inputs), Model()(**inputs), 1e-6)


# -- torch.compile ----------------------------------------------------------------------------------------------------


def test_torch_compile_once_for_every_size():
    before = compilation_count()
    compiled = torch.compile(Net().eval(), backend="inlay", options={"targets": ["host", "torch"]}, dynamic=True)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        for batch, length in itertools.product(
            (3, 2, 7), (6, 2, 40)
        ):  # PyTorch would make equal sizes of the first call one symbol
            check(Net().eval(), compiled, x(batch, length, 8))
    assert compilation_count() == before + 1


def test_a_dim_marked_dynamic():
    before = compilation_count()
    compiled = torch.compile(Net().eval(), backend="inlay", options={"targets": ["host", "torch"]})
    first = x(3, 6, 8)
    torch._dynamo.mark_dynamic(first, 0, min=2, max=16)
    with torch.no_grad():
        for batch in (3, 2, 9, 16):
            check(Net().eval(), compiled, first if batch == 3 else x(batch, 6, 8))
    assert compilation_count() == before + 1


def test_training_with_symbols():
    model, twin = Net(), Net()
    compiled = torch.compile(model, backend="inlay", options={"targets": ["host", "torch"]}, dynamic=True)
    for batch in (3, 5, 7):
        for function in (compiled, twin):
            sum(part.sum() for part in function(x(batch, 6, 8))).backward()
    for mine, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        compare(mine.grad, theirs.grad, 1e-4)


@pytest.mark.parametrize("targets", [("vulkan", "host"), ("host",)], ids="-".join)
def test_an_int_may_differ_from_call_to_call(targets, tmp_path):
    class Shift(nn.Module):
        def forward(self, a, n):
            return a[:, :3] * n + torch.arange(n, n + 3), n + 1

    compiled = inlay.compile(Shift(), (x(2, 4), 5), dynamic_shapes=({}, Dim.DYNAMIC), targets=targets)
    compiled.save(tmp_path / "model.inlay")
    for program in (compiled, inlay.load(tmp_path / "model.inlay")):
        assert program.symbols == {"n": (0, None)}
        for n in (5, 0, 1, 9):
            check(Shift(), program, x(2, 4), n)
        with pytest.raises(inlay.SizesError, match=r"'n' \(place 2\) is -1, but expected 0 or more"):
            program(x(2, 4), -1)
        with pytest.raises(inlay.ArgumentTypeError, match="expected an int, but got float"):
            program(x(2, 4), 5.0)


@pytest.mark.parametrize(
    "options",
    [{"scale_factor": 1.5}, {"scale_factor": 2.5, "mode": "bilinear", "align_corners": True}],
    ids=["nearest", "bilinear"],
)
def test_half_precision_is_resized_to_products_of_sizes_and_floats(options):
    class Resize(nn.Module):
        def forward(self, image):
            return nn.functional.interpolate(image, **options)

    dims = {2: Dim("height", min=2, max=32), 3: Dim("width", min=2, max=32)}
    compiled = inlay.compile(Resize(), (x(1, 2, 6, 8).half(),), dynamic_shapes=(dims,), targets=TARGETS[1])
    check(Resize(), compiled, x(1, 2, 5, 9).half(), tolerance=1e-2)


@pytest.mark.parametrize("reduce", [lambda a: a.amax(0), lambda a: a.min(0).values, lambda a: a.argmax(0)])
@pytest.mark.parametrize("targets", TARGETS[:2], ids=["vulkan", "host"])
def test_the_largest_of_no_elements_is_refused(targets, reduce):
    class Reduce(nn.Module):
        def forward(self, a):
            return reduce(a)

    shapes = ({0: Dim("n", min=0, max=9)},)
    compiled = inlay.compile(Reduce(), (x(4, 3),), dynamic_shapes=shapes, targets=targets)
    check(Reduce(), compiled, x(1, 3))
    with pytest.raises(inlay.Error, match="expected sizes for which n >= 1, but 'n' is 0"):
        compiled(x(0, 3))
