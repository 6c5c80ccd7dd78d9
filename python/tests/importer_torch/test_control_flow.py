# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of conditionals, loops and scans: the ops with regions, their results, and calls that PyTorch runs."""

import functools
import re

import control_programs
import inlay
import pytest
import torch
from conftest import compare, verify
from inlay._import.torch.export import export_program
from inlay._import.torch.program import import_program
from replay import Replay
from torch import nn
from torch._higher_order_ops import while_loop
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

pytree = torch.utils._pytree
TARGETS = [("vulkan", "host", "torch"), ("host", "torch"), ("torch",)]
BATCH = Dim("batch", min=2, max=8)


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def number(value):
    return torch.tensor(value)


class Call(nn.Module):
    """A module around a function."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args):
        return self.function(self, *args) if len(list(self.children())) else self.function(*args)


class Layers(nn.Module):
    """A model whose branches have own weights and one shared weight."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second, self.norm = nn.Linear(3, 3), nn.Linear(3, 3), nn.LayerNorm(3)
        self.register_buffer("offset", torch.ones(3))

    def forward(self, a):
        return torch.cond(
            a.sum() > 0,
            lambda b: self.norm(self.first(b)) + self.offset,
            lambda b: F.gelu(self.norm(self.second(b))),
            (a,),
        )


class Counts(nn.Module):
    """A model that writes a buffer before a branch reads it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(3))

    def forward(self, a):
        self.steps.add_(1)
        return torch.cond(a.sum() > 0, lambda b: b + self.steps, lambda b: b - self.steps, (a,))


def repeat(function, count, *values):
    """Applies `function` to its result `count` times. `count` is a number or a tensor."""
    start = torch.zeros((), dtype=torch.int64)
    return while_loop(lambda i, *_: i < count, lambda i, *now: (i + 1, *function(*now)), (start, *values))[1:]


def choose_inside(a, count):
    def body(b):
        return (torch.cond(b.sum() > 0, lambda c: c * -1.5 + a, lambda c: (c * 0.5).exp(), (b,)),)

    return repeat(body, count, a)


def loop_inside(a):
    then = functools.partial(repeat, lambda c: (c * 1.5 + 1,), 3)
    return torch.cond(a.sum() > 0, lambda b: then(b)[0], lambda b: then(then(b)[0])[0], (a,))


def write_in_branch(a):
    return torch.cond(a.sum() > 0, lambda b: (b * 2).add_(1).relu_(), lambda b: b - 1, (a,))


def write_around(a):
    b = a * 2
    c = torch.cond(a.sum() > 0, lambda d: d + 1, lambda d: d - 1, (b,))
    b.add_(1)
    c.add_(b)
    return b, c


P, N = x(4, 3).abs(), -x(4, 3).abs()
BOTH = [(P,), (N,)]
# name -> (function or module, sets of arguments, expected ops with regions)
MODELS = {
    "cond": (lambda a: torch.cond(a.sum() > 0, lambda b: b.sin(), lambda b: b.cos() * 2, (a,)), BOTH, ["if"]),
    "one element": (lambda a: torch.cond(a.sum()[None] > 0, lambda b: b + 1, lambda b: b - 1, (a,)), BOTH, ["if"]),
    "several results": (
        lambda a: torch.cond(a.sum() > 0, lambda b: (b + 1, b.sum()), lambda b: (b - 1, b.amax()), (a,)),
        BOTH,
        ["if"],
    ),
    "an unused result": (
        lambda a: torch.cond(a.sum() > 0, lambda b: (b + 1, b.sum()), lambda b: (b - 1, b.amax()), (a,))[1],
        BOTH,
        ["if"],
    ),
    "unchanged": (lambda a: torch.cond(a.sum() > 0, lambda b: b.clone(), lambda b: b + 1, (a,)), BOTH, ["if"]),
    "constants": (
        lambda a: torch.cond(
            a.sum() > 0, lambda b: (torch.tensor([1.0, 2.0]), b * 1), lambda b: (torch.zeros(2), torch.ones(4, 3)), (a,)
        ),
        BOTH,
        ["if"],
    ),
    "numbers": (lambda a: torch.cond(a.sum() > 0, lambda b: (b + 1, 3), lambda b: (b - 1, 3), (a,))[0], BOTH, ["if"]),
    "nested": (
        lambda a: torch.cond(
            a.sum() > 0,
            lambda b: torch.cond(b.amax() > 1, lambda c: c * 2, lambda c: c + b, (b,)),
            lambda b: b - 1,
            (a,),
        ),
        [*BOTH, (P * 0.01,)],
        ["if", "if"],
    ),
    "weights": (Layers(), BOTH, ["if"]),
    "written in a branch": (write_in_branch, BOTH, ["if"]),
    "written around a branch": (write_around, BOTH, ["if"]),
    "while": (
        lambda a, n: repeat(lambda b: (b * 1.1 + a.mean(),), n, a),
        [(P, number(5)), (P, number(1)), (N, number(0))],
        ["while"],
    ),
    "while never": (lambda a: repeat(lambda b: (b * 1.1,), 0, a), [(P,)], ["while"]),
    "swap": (lambda a, b: repeat(lambda c, d: (d.clone(), c.clone()), 3, a, b), [(P, N)], ["while"]),
    "condition in a loop": (choose_inside, [(P, number(4)), (N, number(0)), (N, number(3))], ["if", "while"]),
    "loop in a condition": (loop_inside, BOTH, ["while", "while", "while", "if"]),
    "norms in a loop": (
        lambda a: repeat(lambda b: (F.layer_norm(b + b.std(0), (3,)).softmax(-1),), 2, a),
        [(P,)],
        ["while"],
    ),
    "scan": (lambda a: scan(lambda c, r: (c + r, c * r), torch.zeros(3), a), [(P,), (N,)], ["for"]),
    "scan backwards": (
        lambda a: scan(lambda c, r: (c + r, c * r), torch.zeros(3), a, dim=1 - 1, reverse=True),
        [(P,)],
        ["for"],
    ),
    "scan of the last dim": (lambda a: scan(lambda c, r: (c + r, c * r), torch.zeros(4), a, dim=1), [(P,)], ["for"]),
    "scan of other types": (
        lambda a: scan(lambda c, r: (c + r.sum(), (r > 0, r.to(torch.int64))), torch.zeros(()), a),
        [(P,)],
        ["for"],
    ),
    "condition in a scan": (
        lambda a: scan(
            lambda c, r: (torch.cond(r.sum() > 0, lambda p, q: p + q, lambda p, q: p - q, (c, r)), c + 1),
            torch.zeros(3),
            a,
        ),
        [(P,), (N,), (x(4, 3),)],
        ["if", "for"],
    ),
    "map": (lambda a, b: map_over(lambda r, k: (r.sin() + k, r.sum()), a, b), [(P, N[0])], ["for"]),
}
NAMES = sorted(MODELS)


@functools.cache
def exported(name):
    function, inputs, _ = MODELS[name]
    model = function if isinstance(function, nn.Module) else Call(function)
    return torch.export.export(model.eval(), inputs[0])


def check(compiled, module, sets, tolerance=1e-4):
    for inputs in sets:
        torch.manual_seed(0)
        with torch.no_grad():
            want = pytree.tree_leaves(module(*inputs))
        torch.manual_seed(0)
        got = pytree.tree_leaves(compiled(*inputs))
        assert len(got) == len(want)
        for mine, theirs in zip(got, want, strict=True):
            compare(mine, theirs, tolerance)


def text_of(function, *inputs, dynamic=None):
    program = import_program(torch.export.export(Call(function), inputs, dynamic_shapes=dynamic and (dynamic,)))
    verify(program.text)
    return program.text


# -- Imported ops -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_meaning(monkeypatch, name):
    replay = Replay(monkeypatch, exported(name))
    verify(replay.text)
    assert [one for one in replay.made if one in ("if", "while", "for")] == MODELS[name][2]
    assert replay.program.reasons == [] and replay.opaque == []
    for inputs in MODELS[name][1]:
        replay.check(exported(name).module(), *inputs)


def test_text_of_a_conditional():
    text = text_of(lambda a: torch.cond(a.sum() > 0, lambda b: (b + 1, b * 3), lambda b: (b - 1, b * 2), (a,))[0], P)
    assert re.search(
        r"%(\d+) = tensor.extract %\d+\[\] : tensor<i1>.*\n +%\d+ = scf.if %\1 -> \(tensor<4x3xf32>\)", text
    )
    assert text.count("scf.yield") == 2
    assert [one for one in re.findall(r'^#\w+ = .*\["([^"]*)"', text, re.M) if "." in one] == [
        "cond.true.add",
        "cond.false.sub",
        "cond.extract",
    ]


def test_text_of_a_loop():
    text = text_of(lambda a: choose_inside(a, 3), P)
    labels = re.findall(r'"(while_loop[^"]*)"', text)
    assert "while_loop" in labels and "while_loop.body.cond.true.mul" in labels and "while_loop.cond.lt" in labels
    assert len(labels) == len(set(labels))
    for line in re.findall(r"^#.*while_loop.*$", text, re.M):
        assert f'"{__file__}":' in line and 'inlay.module = [["", "test_control_flow.Call"]]' in line


def test_constants_are_the_functions():
    def model(a):
        return torch.cond(a.sum() > 0, lambda b: b * 3, lambda b: b + 3, (a,)) * 3

    text = text_of(model, P)
    assert text.count("inlay.constant dense<3.0>") == 1
    assert all(line.startswith("    %") for line in text.splitlines() if "inlay.constant" in line)


def test_nothing_is_made_that_nobody_needs():
    def model(a):
        unused = torch.cond(a.sum() > 0, lambda b: b * 3, lambda b: b + 3, (a,)).exp()
        return a * 2 + 0 * len(unused.shape)

    assert "scf" not in text_of(model, P)


def test_effects_stay_though_nobody_needs_the_results(monkeypatch):
    def model(a):
        torch.cond(a.sum() > 0, lambda b: b + torch.rand(3), lambda b: b * 2, (a,))
        return a + torch.rand(3)

    program = torch.export.export(Call(model), (P,))
    replay = Replay(monkeypatch, program)
    assert replay.made == ["sum", "gt", "aten::rand", "if", "aten::rand", "add"]
    assert re.search(r" scf.if %\d+ \{", replay.text)
    verify(replay.text)
    for inputs in BOTH:
        torch.manual_seed(0)
        want = program.module()(*inputs)
        torch.manual_seed(0)
        compare(replay(*inputs)[0], want, 0)


@pytest.mark.parametrize("name", ["weights", "nested", "constants", "written in a branch", "written around a branch"])
def test_nothing_is_traced_anew(monkeypatch, name):
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", lambda *args: pytest.fail("traced anew"))
    import_program(exported(name))


def test_a_branch_that_is_traced_anew_keeps_its_ops(monkeypatch):
    def model(self, a):
        def through_view(b):
            b = self.norm(self.first(b))
            b[0].add_(1)
            return b

        return torch.cond(a.sum() > 0, through_view, lambda b: F.gelu(self.first(b)), (a,))

    model = Call(model, first=nn.Linear(3, 3), norm=nn.LayerNorm(3))
    program = torch.export.export(model, (P,))
    replay = Replay(monkeypatch, program)
    assert {"linear", "layer_norm", "gelu", "if"} <= set(replay.made) and replay.opaque == []
    for inputs in BOTH:
        replay.check(program.module(), *inputs)


def test_a_known_condition_takes_its_branch(monkeypatch):
    calls = torch.ops.higher_order
    graph = make_fx(lambda a: calls.cond(True, lambda b: (b.sin(),), lambda b: (b.cos(),), (a,)))(P)
    text = control_programs.import_traced(graph, ()).text
    assert "inlay.sin" in text and "inlay.cos" not in text and "scf" not in text


def test_dims_are_kept(monkeypatch):
    def model(a):
        chosen = torch.cond(a.shape[0] > 4, lambda b: b.sin(), lambda b: b.cos(), (a,))
        return (
            chosen,
            repeat(lambda b: (b * 2 + a,), a.shape[0], a)[0],
            scan(lambda c, r: (c + r, r * 2), a[0] * 1, a)[1],
        )

    program = torch.export.export(Call(model), (x(5, 3),), dynamic_shapes=(({0: BATCH},),))
    replay = Replay(monkeypatch, program)
    assert replay.program.reasons == [] and {"if", "while", "for"} <= set(replay.made)
    assert "} {inlay.dims = [affine_map<()[s0] -> (s0, 3)>]}" in replay.text
    assert "} attributes {inlay.dims = [affine_map<()[s0] -> ()>, affine_map<()[s0] -> (s0, 3)>]}" in replay.text
    verify(replay.text)
    for size in range(2, 9):
        replay.check(program.module(), x(size, 3))


@pytest.mark.parametrize(
    ("condition", "made"),
    [
        (lambda a, b: a.shape[0] > 4, ["size", "gt"]),
        (lambda a, b: torch.sym_not(a.shape[0] == 4), ["size", "ne"]),
        (lambda a, b: 2 * a.shape[0] <= b.shape[0] + 1, ["size", "size", "le"]),
    ],
)
def test_conditions_on_sizes(monkeypatch, condition, made):
    def model(a, b):
        return torch.cond(condition(a, b), lambda c: c.sin(), lambda c: c.cos(), (a,))

    shapes = (({0: BATCH}, {0: Dim("other", min=2, max=9)}),)
    program = torch.export.export(Call(model), (x(3, 2), x(6, 2)), dynamic_shapes=shapes)
    replay = Replay(monkeypatch, program)
    assert replay.made[: len(made)] == made and replay.program.reasons == []
    for sizes in ((2, 2), (4, 7), (4, 8), (5, 8), (8, 9)):
        replay.check(program.module(), *(x(size, 2) for size in sizes))


# -- Calls that PyTorch runs ------------------------------------------------------------------------------------------

KEPT = {
    "a carried number": (
        lambda a: while_loop(lambda i, b: i < 3, lambda i, b: (i + 1, b * 2), (0, a))[1],
        r"'while_loop' is control flow \(while_loop\) that PyTorch runs: carried value 0 has type int, but expected ",
        ["torch::calls"],
    ),
    "other numbers": (
        lambda a: torch.cond(a.sum() > 0, lambda b: (b + 1, 1), lambda b: (b - 1, 2), (a,))[0],
        "'cond' is control flow .* result 1 has type SymInt, but expected a tensor",
        ["sum", "gt", "torch::calls"],
    ),
    "other sizes": (
        lambda a: torch.cond(a.sum() > 0, lambda b: b[:2] * 1, lambda b: b[:3] * 1, (a,)).sum(),
        "'cond' is control flow .* dim 0 of result 0 depends on data",
        ["sum", "gt", "torch::calls"],
    ),
    "a complex result": (
        lambda a: torch.cond(a.sum() > 0, lambda b: torch.fft.fft(b), lambda b: torch.fft.fft(b * 2), (a,)).abs(),
        "'cond' is control flow .* result 0 has dtype complex64",
        ["sum", "gt", "torch::calls"],
    ),
    "a complex value inside": (
        lambda a: torch.cond(a.sum() > 0, lambda b: torch.fft.fft(b).abs(), lambda b: b - 1, (a,)),
        "has dtype complex64",
        ["sum", "gt", "torch::calls", "sub", "if"],
    ),
    "a number inside": (
        lambda a: torch.cond(a.sum() > 0, lambda b: b * b.sum().item(), lambda b: b - 1, (a,)),
        "'item' is a number that is known only at a call",
        ["sum", "gt", "sum", "torch::calls", "sub", "if"],
    ),
    "a size inside": (
        lambda a: torch.cond(a.sum() > 0, lambda b: b.nonzero().sum() + 0.0, lambda b: b.sum(), (a,)),
        "dim 0 of the result of node 'nonzero' depends on data",
        ["sum", "gt", "torch::calls", "cast", "add", "sum", "if"],
    ),
    "a loop in a branch": (
        lambda a: torch.cond(a.sum() > 0, lambda b: KEPT["a carried number"][0](b), lambda b: b - 1, (a,)),
        "carried value 0 has type int, but expected a tensor",
        ["sum", "gt", "torch::calls", "sub", "if"],
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_pytorch_keeps(monkeypatch, name):
    function, match, made = KEPT[name]
    replay = Replay(monkeypatch, torch.export.export(Call(function), (P,)))
    verify(replay.text)
    assert re.search(match, replay.program.reasons[0]) and replay.made == made


@pytest.mark.parametrize("name", KEPT)
def test_what_pytorch_keeps_is_computed(name):
    program = torch.export.export(Call(KEPT[name][0]), (P,))
    check(inlay.compile(program, targets=("host", "torch")), program.module(), BOTH)


def test_what_cannot_be_imported_leaves_nothing(monkeypatch):
    def model(a):
        return torch.cond(a.sum() > 0, lambda b: b * 2 + 7, lambda b: b - 7, (a.exp(),)) + 1

    def refuse(walker, call):
        raise inlay.UnsupportedError("not this one")

    from inlay._import.torch import program as module

    handlers = {**module._handlers(), "sub.Tensor": refuse}
    monkeypatch.setattr(module, "_handlers", lambda: handlers)
    program = import_program(export_program(Call(model), (P,)))
    verify(program.text)
    assert "scf" not in program.text and "dense<7" not in program.text
    assert program.reasons == ["node 'cond' is control flow (cond) that PyTorch runs: not this one"]


# -- Results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
@pytest.mark.parametrize("name", NAMES)
def test_results(name, targets):
    check(inlay.compile(exported(name), targets=targets), exported(name).module(), MODELS[name][1])


def test_regions_are_compiled():
    report = inlay.partition(exported("condition in a loop"), targets=("host", "torch"))
    inside = {op["label"]: op["target"] for op in report["ops"] if op["label"].startswith("while_loop.")}
    assert inside["while_loop.body.cond.true.mul"] == "host" and "torch" not in inside.values()


@pytest.mark.parametrize("targets", TARGETS[:2], ids="-".join)
def test_every_size(targets):
    def model(a):
        chosen = torch.cond(a.shape[0] > 4, lambda b: b.sin(), lambda b: b.cos(), (a,))
        chosen = torch.cond(chosen.sum() > 0, lambda b: b * 2, lambda b: b - a, (chosen,))
        return (
            chosen,
            repeat(lambda b: (b * 0.5 + a,), a.shape[0], a)[0],
            scan(lambda c, r: (c + r, r * 2), a[0] * 1, a),
        )

    program = torch.export.export(Call(model), (x(5, 3),), dynamic_shapes=(({0: BATCH},),))
    compiled = inlay.compile(program, targets=targets)
    check(compiled, program.module(), [(x(size, 3) * sign,) for size in range(2, 9) for sign in (1, -1)])


@pytest.mark.parametrize("targets", TARGETS[:2], ids="-".join)
def test_ops_of_pytorch_alone_in_a_branch(targets):
    def model(a):
        return torch.cond(
            a.sum() > 0,
            lambda b: torch.lgamma(b.abs() + 1) + torch.rand(3),
            lambda b: F.dropout(b, 0.5, True) * torch.special.i0(b),
            (a.exp() - 1,),
        ) + torch.rand(4, 3)

    program = torch.export.export(Call(model), (P,))
    check(inlay.compile(program, targets=targets), program.module(), BOTH)


@pytest.mark.parametrize("targets", TARGETS[:2], ids="-".join)
def test_weights_of_a_branch_are_replaced(targets):
    model, other = Layers().eval(), Layers().eval()
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(1)
    compiled = inlay.compile(model, (P,), targets=targets)
    check(compiled, model, BOTH)
    compiled.load_state_dict(other.state_dict())
    check(compiled, other, BOTH)


def blocks():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, a):
            return torch.tanh(self.linear(a))

    def forward(model, a):
        return torch.cond(a.sum() > 0, lambda b: model.inside(b), lambda b: b * 2, (model.outside(a),))

    return Call(forward, inside=Block(), outside=Block()).eval()


def test_modules_in_a_branch_are_reached_where_the_export_says_them():
    model, options = blocks(), {"targets": TARGETS[1], "torch_executed_modules": ["inside"]}
    exported = torch.export.export(model, (x(2, 3),), strict=True)
    ops = inlay.compile(exported, (x(2, 3),), **options).report["ops"]
    assert [op["target"] for op in ops if op["label"].startswith("cond.true")] == ["torch", "torch"]
    options["torch_executed_modules"] = ["outside"]
    with pytest.warns(UserWarning, match="doesn't reach modules that are called inside of cond:"):
        inlay.compile(model, (x(2, 3),), **options)


def test_steps_of_a_profile_have_kinds():
    compiled = inlay.compile(Call(lambda a: map_over(lambda b: b.sin(), a)), (x(3, 4),), targets=TARGETS[1])
    assert {row[1] for row in compiled.profile(x(3, 4))} == {"for", "host", "copy"}


def test_a_condition_that_is_a_weight():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("flag", torch.tensor(True))

        def forward(self, a):
            return torch.cond(self.flag, lambda b: b + 1, lambda b: b * 2, (a,))

    model = Model()
    compiled = inlay.compile(model, (P,), targets=("host", "torch"))
    assert torch.equal(compiled(P), P + 1)
    compiled.load_state_dict({"flag": torch.tensor(False)})
    assert torch.equal(compiled(P), P * 2)


def test_buffers_are_written():
    model = Counts()
    compiled = inlay.compile(model, (P,), targets=("host", "torch"))
    for count, inputs in enumerate((P, N, P), 1):
        compare(compiled(inputs), inputs + (count if inputs is P else -count), 1e-6)


@pytest.mark.parametrize("targets", TARGETS[:2], ids="-".join)
def test_torch_compile(targets):
    def function(a, n):
        a = torch.cond(a.sum() > 0, lambda b: b * 2 + n, lambda b: (b - 1).exp(), (a,))
        return repeat(lambda b: (b * 0.5,), n, a)[0] + a

    torch._dynamo.reset()
    compiled = torch.compile(function, backend="inlay", fullgraph=True, options={"targets": list(targets)})
    for inputs, count in ((P, 3), (N, 0)):
        want = inputs * 2 + count if inputs is P else (inputs - 1).exp()
        with torch.no_grad():
            compare(compiled(inputs, number(count)), want * 0.5**count + want, 1e-4)


# -- Endless loops ----------------------------------------------------------------------------------------------------


def endless(a):
    return while_loop(lambda b: b.sum() > 0, lambda b: (b * 1,), (a,))


@pytest.mark.parametrize("targets", TARGETS[:2], ids="-".join)
def test_a_loop_without_an_end(targets):
    program = torch.export.export(Call(endless), (P,))
    compiled = inlay.compile(program, targets=targets, max_loop_iterations=100)
    with pytest.raises(inlay.Error, match="ran 100 times without ending"):
        compiled(P)
    check(compiled, program.module(), [(N,)])


def test_the_most_rounds_are_an_option():
    program = torch.export.export(Call(lambda a: repeat(lambda b: (b + 1,), 5, a)), (P,))
    check(inlay.compile(program, targets=("host", "torch"), max_loop_iterations=5), program.module(), [(P,)])
    compiled = inlay.compile(program, targets=("host", "torch"), max_loop_iterations=4)
    with pytest.raises(inlay.Error, match="ran 4 times without ending"):
        compiled(P)
