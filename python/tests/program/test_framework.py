# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the target `torch`: results, random numbers, order of effects, and calls that only PyTorch can run."""

import gc
import threading

import inlay
import pytest
import torch
from conftest import compare
from inlay._dialect.calls import run_call
from inlay._import.torch.encoding import encode_call
from torch import nn
from torch.nn import functional as F

aten = torch.ops.aten
TARGETS = [("vulkan", "host", "torch"), ("host", "torch"), ("torch",)]
LIBRARY = torch.library.Library("inlay_tests", "DEF")
HEARD = []


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def repeat(a):
    """A loop that PyTorch runs."""
    return torch._higher_order_ops.while_loop(lambda i, b: i < 3, lambda i, b: (i + 1, b * 2), (torch.tensor(0), a))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def check(model, inputs, tolerance=1e-5, seed=None, **options):
    """Compiles a model, calls it twice and compares the results with PyTorch under the same seed."""
    compiled = inlay.compile(model, inputs, **options)
    results = []
    for function in (compiled, model):
        torch.manual_seed(seed or 0)
        with torch.no_grad():
            results.append(torch.utils._pytree.tree_leaves([function(*inputs), function(*inputs), torch.rand(1)]))
    for got, want in zip(*results, strict=True):
        compare(got, want, tolerance)
    return compiled


# -- Random numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_random_numbers_are_those_of_pytorch(targets):
    def draw(a, b):
        a = F.dropout(a * 2, 0.3, training=True)
        noise = torch.randn(4, 3)
        c = torch.bernoulli(b.sigmoid()) + F.dropout(b, 0.5, training=False)
        return a @ noise, torch.rand_like(b) + c, torch.randint(0, 9, (5,)), F.alpha_dropout(a.exp(), 0.2, True)

    check(Function(draw), (x(2, 4), x(3)), targets=targets, seed=7)


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_numbers_are_drawn_even_where_nobody_uses_them(targets):
    def draw(a):
        torch.rand(3)
        return a.exp() * torch.rand(3)

    check(Function(draw), (x(3),), targets=targets, seed=3)


def test_training_mode_draws_as_eager_does():
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.4), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 2)).train()
    compiled = check(model, (x(3, 4),), seed=11)
    assert {op["label"]: op["target"] for op in compiled.report["ops"]}["dropout"] == "torch"


# -- Effects ----------------------------------------------------------------------------------------------------------

LIBRARY.define("tell(Tensor x, str word) -> ()")
LIBRARY.define("double(Tensor x) -> (Tensor, Tensor?, int)")


@torch.library.impl(LIBRARY, "tell", "CompositeExplicitAutograd")
def _tell(tensor, word):
    HEARD.append((word, float(tensor.sum())))


torch.library.register_fake("inlay_tests::tell", lambda tensor, word: None, lib=LIBRARY)


@torch.library.custom_op("inlay_tests::split", mutates_args=())
def split(a: torch.Tensor) -> list[torch.Tensor]:
    return [a[:1] * 2, a[1:] * 3]


split.register_fake(lambda a: [a.new_empty(1), a.new_empty(a.shape[0] - 1)])


@torch.library.custom_op("inlay_tests::grow", mutates_args={"a"})
def grow(a: torch.Tensor, b: torch.Tensor) -> None:
    a.add_(b)


@torch.library.custom_op("inlay_tests::unknown", mutates_args=())
def unknown(a: torch.Tensor) -> torch.Tensor:
    return a * 2


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_effects_happen_once_and_in_order(targets):
    def speak(a, b):
        torch.ops.inlay_tests.tell(a, "first")
        c = b.exp() * 2
        torch.ops.inlay_tests.tell(c, "second")
        torch.ops.inlay_tests.tell(b, "third")
        return a + 1

    compiled = inlay.compile(Function(speak), (x(3), torch.zeros(2)), targets=targets)
    HEARD.clear()
    compare(compiled(torch.ones(3), torch.zeros(2)), torch.ones(3) + 1, 0)
    assert HEARD == [("first", 3.0), ("second", 4.0), ("third", 0.0)]


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_ops_of_other_libraries(targets):
    def mixed(a):
        parts = torch.ops.inlay_tests.split(a)
        b = a.clone()
        grow(b, a * 10)
        return torch.cat([parts[1] + 1, parts[0]]) * b

    check(Function(mixed), (x(4),), targets=targets)


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_checks_stay(targets):
    def checked(a):
        torch._assert_async((a > 0).all(), "expected only positive numbers")
        total = a.sum().item()
        torch._check(total < 100)
        return a * 2

    compiled = inlay.compile(Function(checked), (torch.ones(3),), targets=targets)
    compare(compiled(torch.ones(3)), torch.full((3,), 2.0), 0)
    with pytest.raises(inlay.Error, match="expected only positive numbers"):
        compiled(-torch.ones(3))
    with pytest.raises(inlay.Error, match="Runtime assertion failed"):
        compiled(torch.full((3,), 50.0))


class Checked(torch.nn.Module):
    """A model that checks its argument and counts the calls that pass the check."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, a):
        torch._assert_async((a > 0).all(), "expected only positive numbers")
        torch._assert_async(a.sum() - 9)
        self.count += 1
        return a * 2, a.sum() - 9


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids="-".join)
def test_checks_run_without_pytorch(targets):
    compiled = inlay.compile(Checked(), (torch.ones(3),), targets=(*targets, "torch"))
    assert not [op for op in compiled.report["ops"] if op["target"] == "torch"]
    assert [result.tolist() for result in compiled(torch.ones(3))] == [[2.0] * 3, -6.0]
    with pytest.raises(inlay.Error, match=r"aten._assert_async of node .* failed: expected only positive numbers"):
        compiled(torch.tensor([1.0, 0.0, 1.0]))
    with pytest.raises(inlay.Error, match="expected a true value"):
        compiled(torch.full((3,), 3.0))
    assert compiled.state_dict()["count"] == 1  # a call that fails writes nothing


def test_checks_in_a_saved_program(tmp_path):
    compiled = inlay.compile(Checked(), (torch.ones(3),), targets=("host",))
    with pytest.raises(inlay.UnsupportedError, match=r"checks values at each call \(aten._assert_async of node"):
        compiled.save(tmp_path / "checked.inlay")
    compiled.save(tmp_path / "checked.inlay", allow_framework=True)
    loaded = inlay.load(tmp_path / "checked.inlay")
    assert [result.tolist() for result in loaded(torch.ones(3))] == [[2.0] * 3, -6.0]
    with pytest.raises(inlay.Error, match="expected only positive numbers"):
        loaded(-torch.ones(3))


def test_checks_among_other_effects_keep_their_order():
    def checked(a):
        torch._assert_async((a > 0).all(), "expected only positive numbers")
        torch.ops.inlay_tests.tell(a, "told")
        return a + 1

    compiled = inlay.compile(Function(checked), (torch.ones(3),), targets=("host", "torch"))
    HEARD.clear()
    with pytest.raises(inlay.Error, match="expected only positive numbers"):
        compiled(-torch.ones(3))
    assert not HEARD


def test_an_op_that_nobody_knows_is_named():
    with pytest.raises(inlay.Error, match=r"no fake impl registered for .*inlay_tests::unknown"):
        inlay.compile(Function(unknown), (x(3),))


# -- Strides ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_random_numbers_are_drawn_in_the_order_of_memory(targets):
    def draw(a):
        b = a.t() * 2
        spectrum = torch.fft.fft(F.dropout(b, 0.5, training=True)).abs()  # a part that PyTorch runs as a whole
        return F.dropout(b, 0.5, training=True), torch.rand_like(b), torch.bernoulli(b.sigmoid()), spectrum

    check(Function(draw), (x(5, 6),), targets=targets)


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_as_strided_reads_the_memory_of_the_model(targets):
    def read(a):
        b = a.t() * 2
        several = b.as_strided((4,), (1,)), b.as_strided((4,), (2,), 3), b.as_strided((), (), 2)
        part = (a * 2)[1:].as_strided((2, 2), (1, 2), 5)
        return *several, part, torch.as_strided_scatter(b, a[0], (4,), (1,)), torch.as_strided_copy(b, (4,), (1,))

    check(Function(read), (x(3, 4),), targets=targets)


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
@pytest.mark.parametrize(
    "function",
    [
        lambda a: (a * 2)[1:].as_strided((2, 2), (1, 2), 0),
        lambda a: (a * 2)[:, ::2].as_strided((3,), (1,)),
        lambda a: (a * 2)[:1].as_strided((2, 4), (4, 1)),
    ],
    ids=["before", "between", "behind"],
)
def test_memory_of_nobodys_is_not_read(targets, function):
    with pytest.raises(inlay.UnsupportedError, match=r"'as_strided' .* reads memory outside of its operand"):
        inlay.compile(Function(function), (x(3, 4),), targets=targets)


# -- Values other than tensors of known size --------------------------------------------------------------------------


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
@pytest.mark.parametrize(
    "function, inputs",
    [
        (lambda a: a * a[0].item() + 1, (x(3),)),
        (lambda a, n: (a * 2).exp() + n.item(), (x(3), torch.tensor(4))),
        (lambda a: (a.sum().item(), a.exp()), (x(3),)),
        (lambda a: a[a > 0].exp().sum() + a.sum(), (x(6),)),
        (lambda a: (a * 2).nonzero(), (x(6),)),
        (lambda a: torch.unique(a.round(), return_counts=True)[1].max() + a, (x(6),)),
        (lambda a: torch.cond(a.sum() > 0, lambda b: b * 2, lambda b: b - 1, (a.exp(),)) + 1, (x(3),)),
        (lambda a: repeat(a.exp())[1] + 1, (x(3),)),
        (lambda a: (a.exp().sort(), a.topk(2), None, 3), (x(4),)),
        (lambda a: (torch.linalg.eig(a).eigenvalues.abs().sort().values, a + 1), (x(3, 3),)),
        (lambda a: torch.view_as_complex(a).angle() * a.sum(), (x(3, 2),)),
    ],
    ids=["item", "int item", "item out", "mask", "nonzero", "unique", "cond", "while", "several", "eig", "complex"],
)
def test_the_rest_of_the_graph_stays_where_it_is(targets, function, inputs):
    compiled = inlay.compile(Function(function), inputs, targets=targets)
    torch.testing.assert_close(compiled(*inputs), function(*inputs))
    flipped = tuple(-a if a.dtype.is_floating_point else a + 1 for a in inputs)
    torch.testing.assert_close(compiled(*flipped), function(*flipped))


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_modes_inside_of_a_model(targets):
    def modes(a):
        with torch.no_grad():
            b = a * 2
        with torch.autocast("cpu", dtype=torch.bfloat16):
            c = b @ a
        return c.float() + b

    check(Function(modes), (x(3, 3),), targets=targets, tolerance=1e-2)


def test_everything_may_run_in_pytorch():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.Flatten(), nn.Linear(64, 5)).eval()
    compiled = inlay.compile(model, (x(1, 3, 6, 6),), targets=("torch",))
    with torch.no_grad():
        assert torch.equal(compiled(x(1, 3, 6, 6)), model(x(1, 3, 6, 6)))
    assert set(compiled.report.ops_by_target()) == {"torch"}
    lstm = nn.LSTM(3, 4, batch_first=True).eval()
    compiled = inlay.compile(lstm, (x(2, 5, 3),), targets=("torch",))
    torch.testing.assert_close(compiled(x(2, 5, 3)), lstm(x(2, 5, 3)))


# -- Calls ------------------------------------------------------------------------------------------------------------


def test_results_are_computed_in_place():
    text = encode_call(aten.add.Tensor, (0, 1), {}, lambda value: {"operand": value})
    output, inputs = torch.empty(3), [x(3), x(3)]
    seen = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            seen.append(str(op))
            return op(*args, **(kwargs or {}))

    with Watch():
        run_call(text, inputs, [output])
    assert seen == ["aten.add.out"] and torch.equal(output, x(3) * 2)


def test_nothing_is_left_of_a_call_that_failed():
    compiled = inlay.compile(Function(lambda a, i: a.index_select(0, i)), (x(4), torch.tensor([0])), targets=("torch",))
    for _ in range(3):
        with pytest.raises(inlay.Error, match="index"):
            compiled(x(4), torch.tensor([7]))
        compare(compiled(x(4), torch.tensor([2])), x(4)[2:3], 0)
    gc.collect()


def test_a_failure_names_the_call():
    compiled = inlay.compile(Function(lambda a, i: a.index_select(0, i)), (x(4), torch.tensor([0])), targets=("torch",))
    with pytest.raises(inlay.Error, match=r"^aten.index_select.default, which PyTorch runs, failed: IndexError: index"):
        compiled(x(4), torch.tensor([7]))


def test_what_stops_a_program_is_no_error_of_a_call(monkeypatch):
    from inlay._program import fallback

    def stop(*args):
        raise KeyboardInterrupt("stop")

    compiled = inlay.compile(Function(lambda a: a * 2), (x(4),), targets=("torch",))
    monkeypatch.setattr(fallback, "run_call", stop)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        compiled(x(4))
    monkeypatch.setattr(fallback, "run_call", run_call)
    compare(compiled(x(4)), x(4) * 2, 0)


# -- Modes around a call ----------------------------------------------------------------------------------------------


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4, 4))

    def forward(self, q):
        return F.scaled_dot_product_attention(q, q, q) @ (self.a @ self.b)


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_modes_around_a_call_change_nothing(targets):
    model, given = Product(), x(1, 3, 4)
    compiled = inlay.compile(model, (given,), targets=targets)
    with torch.no_grad():
        model.a.mul_(2)  # values that are computed from weights are computed in the call
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.device("meta"):
        got = compiled(given)
    compare(got, model(given).detach(), 1e-5)


def test_a_model_is_not_compiled_under_autocast():
    exported = torch.export.export(nn.Linear(4, 4), (x(2, 4),))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with pytest.raises(inlay.UnsupportedError, match=r"torch.autocast is on, .* inside of the model's forward"):
            inlay.compile(nn.Linear(4, 4), (x(2, 4),))
        assert inlay.compile(exported, targets=("host",))(x(2, 4)).dtype == torch.float32


# -- Threads ----------------------------------------------------------------------------------------------------------


class Long(nn.Module):
    """Computes for some tenths of a second between two framework calls."""

    def forward(self, a):
        a = torch.ops.aten.relu(a)
        for _ in range(6):
            a = a @ a * 1e-3
        return a.sum()


@pytest.mark.parametrize("target", ["host", "vulkan"])
def test_other_threads_go_on_while_a_program_runs(target):
    model, inputs = Long(), (torch.randn(1280, 1280),)
    compiled = inlay.compile(model, inputs, targets=(target, "torch"), torch_executed_ops=["aten.relu"])
    assert set(compiled.report.ops_by_target()) == {target, "torch"}
    done, ticks = threading.Event(), 0

    def call():
        compiled(*inputs)
        done.set()

    compiled(*inputs)
    thread = threading.Thread(target=call)
    thread.start()
    while not done.wait(1e-3):
        ticks += 1
    thread.join()
    assert ticks >= 5  # there would be one or two if a thread kept the interpreter lock
