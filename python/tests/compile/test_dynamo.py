# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of `torch.compile(model, backend="inlay")`."""

import math
import subprocess
import sys
import warnings

import inlay
import pytest
import torch
from conftest import compare
from torch import nn
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, a):
        return self.second(self.first(a).exp()) + 1


class Broken(Two):
    """A model that PyTorch captures as two graphs."""

    def forward(self, a):
        a = self.first(a)
        torch._dynamo.graph_break()
        return self.second(a)


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def compiled_graphs(monkeypatch):
    """Returns a list to which each CompiledModule of the backend is added."""
    from inlay._compile import dynamo

    made = []
    original = dynamo.compile_imported

    def remember(*args, **kwargs):
        made.append(original(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(dynamo, "compile_imported", remember)
    return made


def test_the_backend_is_found_by_its_name():
    code = (
        "import torch\n"
        "assert 'inlay' in torch._dynamo.list_backends()\n"
        "f = torch.compile(lambda a: a * 2 + 1, backend='inlay', options={'targets': ['host']})\n"
        "print(f(torch.ones(3)).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[3.0, 3.0, 3.0]", done.stderr


def test_parameters_may_change():
    model = Two().eval()
    compiled = torch.compile(model, backend="inlay", options={"targets": ["host", "torch"]})
    with torch.no_grad():
        compare(compiled(x(2, 4)), model(x(2, 4)), 1e-5)
        model.first.weight.add_(1)
        compare(compiled(x(2, 4)), model(x(2, 4)), 1e-5)


def test_training():
    model = Two()
    compiled = torch.compile(model, backend="inlay")
    compiled(x(2, 4)).sum().backward()
    got = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model(x(2, 4)).sum().backward()
    for grad, parameter in zip(got, model.parameters(), strict=True):
        compare(grad, parameter.grad, 1e-5)


@pytest.mark.parametrize(
    ("function", "dims"),
    [
        (lambda x: torch.nn.functional.group_norm(x, 2), (2, 4, 6, 6)),
        (lambda x: torch.nn.functional.layer_norm(x, (6,)), (2, 4, 6)),
        (lambda x: torch.nn.functional.batch_norm(x, None, None, training=True), (2, 4, 6)),
        (lambda x: torch.nn.functional.max_pool2d(x, 2), (2, 4, 6, 6)),
        (lambda x: x.median(1)[0].exp(), (3, 5)),
    ],
    ids=["group norm", "layer norm", "batch norm", "pool", "median"],
)
def test_calls_of_training_are_taken_apart(function, dims, compiled_graphs):
    ours, theirs = (torch.linspace(-1, 1, math.prod(dims)).reshape(dims).sin().requires_grad_() for _ in range(2))
    compiled = torch.compile(function, backend="inlay", options={"targets": ["host", "torch"]})
    for run, given in ((compiled, ours), (function, theirs)):
        (run(given) ** 3).sum().backward()
    compare(ours.grad, theirs.grad, 1e-5)
    assert len(compiled_graphs) == 2
    assert all(op["target"] == "host" for graph in compiled_graphs for op in graph.report["ops"])


@pytest.mark.parametrize(
    "norm",
    [
        lambda x, *parameters: nn.functional.layer_norm(x, (4,), *parameters),
        lambda x, *parameters: nn.functional.group_norm(x.mT, 2, *parameters),
        lambda x, *parameters: nn.functional.batch_norm(x.mT, None, None, *parameters, training=True),
    ],
    ids=["layer norm", "group norm", "batch norm"],
)
def test_norms_of_short_floats_train_parameters_in_float32(norm, compiled_graphs):
    compiled, results = torch.compile(norm, backend="inlay", options={"targets": ["host"]}), []
    for run in (compiled, norm):
        inputs = [tensor.clone().requires_grad_() for tensor in ((x(3, 5, 4) + 9).bfloat16(), x(4) + 1, x(4))]
        result = run(*inputs)
        (result.float() * torch.arange(60.0).view_as(result)).sum().backward()
        results.append([result.detach(), *(tensor.grad for tensor in inputs)])
    for got, want in zip(*results, strict=True):
        assert got.dtype == want.dtype
        compare(got.float() / want.abs().max(), want.float() / want.abs().max(), 1e-2)
    assert len(compiled_graphs) == 2


def test_batch_norm_of_inference_has_statistics_without_elements(compiled_graphs):
    def function(x, mean, variance):
        return torch.native_batch_norm(x, None, None, mean, variance, False, 0.1, 1e-5)

    inputs = x(2, 4, 6), x(4), x(4) ** 2
    compiled = torch.compile(function, backend="inlay", options={"targets": ["host"]})
    for got, wanted in zip(compiled(*inputs), function(*inputs), strict=True):
        compare(got, wanted, 1e-5)
    assert len(compiled_graphs) == 1


@pytest.mark.parametrize("index", [torch.tensor(-1), torch.tensor([[2, 0]])], ids=["number", "matrix"])
def test_take_is_one_graph(index, compiled_graphs):
    compiled = torch.compile(torch.take, backend="inlay", options={"targets": ["host"]}, fullgraph=True)
    compare(compiled(x(2, 3), index), torch.take(x(2, 3), index), 0)
    assert len(compiled_graphs) == 1


@pytest.mark.parametrize("dynamic", [False, True])
def test_whole_numbers_of_linspace_are_those_of_pytorch(dynamic, compiled_graphs):
    def function(a):
        return torch.linspace(0, 7, a.shape[0], dtype=torch.uint8) + a

    compiled = torch.compile(function, backend="inlay", options={"targets": ["host"]}, dynamic=dynamic)
    compare(compiled(torch.zeros(50)), function(torch.zeros(50)), 0)
    assert len(compiled_graphs) == 1


def test_graph_breaks_make_several_graphs(compiled_graphs):
    model = Broken().eval()
    options = {"targets": ["host", "torch"], "torch_executed_modules": ["second"]}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = torch.compile(model, backend="inlay", options=options)
        compare(compiled(x(2, 4)), model(x(2, 4)), 1e-5)
    assert len(compiled_graphs) == 2


def test_guards_are_respected(compiled_graphs):
    @torch.compile(backend="inlay", options={"targets": ["host"]}, dynamic=False)
    def function(a, flag):
        return a * 2 if flag else a - 1

    compare(function(x(3), True), x(3) * 2, 0)
    compare(function(x(3), False), x(3) - 1, 0)
    compare(function(x(5), True), x(5) * 2, 0)
    compare(function(x(3).double(), True), x(3).double() * 2, 0)
    assert len(compiled_graphs) == 4
    function(x(3), True)
    assert len(compiled_graphs) == 4


@pytest.mark.filterwarnings("error:inlay")
def test_a_number_may_be_any_int(compiled_graphs):
    compiled = torch.compile(lambda a, n: torch.arange(n + 9) * a.sum() * n, backend="inlay", dynamic=True)
    for number in (3, 5, 7, 0, -2, 1):
        compare(compiled(x(4), number), torch.arange(number + 9) * x(4).sum() * number, 1e-6)
    assert len(compiled_graphs) <= 3


@pytest.mark.parametrize(
    "options, match",
    [
        ({"min_blocksize": 2}, "did you mean 'min_block_size'"),
        ({"targets": ["vulcan"]}, "did you mean 'vulkan'"),
        ({"torch_executed_ops": [3]}, "the name of an op"),
        ("host", "expected options to be a dict, but got 'host'"),
    ],
)
def test_wrong_options(options, match):
    compiled = torch.compile(lambda a: a * 2, backend="inlay", options=options)
    with pytest.raises(Exception, match=match):
        compiled(x(3, 4))


def test_a_mode_is_refused():
    compiled = torch.compile(lambda a: a * 2, backend="inlay", mode="max-autotune")
    with pytest.raises(Exception, match="mode='max-autotune' is for the default backend of PyTorch: use options"):
        compiled(x(3))


@pytest.mark.parametrize(
    "option",
    [
        {"torch_executed_ops": ["aten::exp"]},
        {"torch_executed_ops": {torch.ops.aten.exp}},
        {"torch_executed_modules": ["second"]},
        {"torch_executed_modules": [nn.ReLU]},
        {"min_block_size": 100},
        {"enabled": True, "require_full_compilation": True, "targets": ["host"]},
    ],
    ids=str,
)
def test_settings(option, compiled_graphs):
    model = Two().eval()
    with torch.no_grad():
        compiled = torch.compile(model, backend="inlay", options={"targets": ["vulkan", "host", "torch"], **option})
        compare(compiled(x(2, 4)), model(x(2, 4)), 1e-5)
    codes = {code for _, code, _ in compiled_graphs[0].report.reasons()}
    wanted = {"torch_executed_ops": "fallback-op", "torch_executed_modules": "fallback-module"}
    wanted["min_block_size"] = "min-block-size"
    assert {code for name, code in wanted.items() if name in option} <= codes


def test_a_name_that_matches_nothing_in_a_graph_is_told():
    model = Two().eval()
    compiled = torch.compile(model, backend="inlay", options={"torch_executed_modules": ["secnd"]})
    with torch.no_grad(), pytest.warns(UserWarning, match="'secnd' in torch_executed_modules .*did you mean 'second'"):
        compare(compiled(x(2, 4)), model(x(2, 4)), 1e-5)


def test_what_cannot_be_full_is_an_error():
    options = {"targets": ["vulkan", "host"], "require_full_compilation": True}
    compiled = torch.compile(lambda a: a.exp().lgamma(), backend="inlay", options=options)
    with pytest.raises(Exception, match="lgamma"):
        compiled(x(3))


def test_random_numbers_are_those_of_pytorch():
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).train()
    compiled = torch.compile(model, backend="inlay")
    results = []
    for function in (compiled, model):
        torch.manual_seed(5)
        with torch.no_grad():
            results.append(function(x(3, 4)))
    compare(*results, 1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.permute(2, 0, 3, 1) * 2,
        lambda a: (a.permute(0, 2, 3, 1).exp(), a + 1),
        lambda a: a.to(memory_format=torch.channels_last).exp(),
        lambda a: a.unsqueeze(1).transpose(0, 2).sin(),
        lambda a: a[:, ::2].cos(),
        lambda a: a[0, 0].t().exp().as_strided((2, 3), (3, 1)) * 1,
    ],
)
def test_results_of_any_size_lie_in_memory_as_those_of_pytorch(compiled_graphs, function):
    compiled = torch.compile(function, backend="inlay", dynamic=True)
    for size in (3, 4, 6):
        image = x(2, size, size + 2, size + 3)
        got, want = (one if isinstance(one, tuple) else (one,) for one in (compiled(image), function(image)))
        for ours, theirs in zip(got, want, strict=True):
            compare(ours, theirs, 1e-5)
            assert ours.stride() == theirs.stride()
    assert len(compiled_graphs) == 1


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad])
def test_results_lie_in_memory_as_those_of_pytorch(mode):
    def function(a):
        b = a.permute(0, 2, 3, 1) * 2
        torch._dynamo.graph_break()
        return b.permute(0, 3, 1, 2).view(-1), b

    image = x(2, 3, 4, 5).requires_grad_(mode is torch.enable_grad)
    with mode():
        got, want = torch.compile(function, backend="inlay")(image), function(image)
    for ours, theirs in zip(got, want, strict=True):
        compare(ours.detach(), theirs.detach(), 1e-6)
        assert ours.stride() == theirs.stride()


def test_memory_is_read_in_its_order():
    def function(a):
        return (a.t() * 2).as_strided((4,), (1,)), torch.nn.functional.dropout(a.t() * 2, 0.5, True)

    results = []
    for one in (torch.compile(function, backend="inlay"), function):
        torch.manual_seed(0)
        results.append(one(x(3, 4)))
    for got, want in zip(*results, strict=True):
        compare(got, want, 1e-6)


def test_written_buffers_are_the_models_own():
    model, other = (nn.BatchNorm1d(4).train() for _ in range(2))
    compiled = torch.compile(model, backend="inlay", options={"targets": ["host", "torch"]})
    with torch.no_grad():
        compare(compiled(x(3, 4)), other(x(3, 4)), 1e-5)
    for name, tensor in other.state_dict().items():
        compare(model.state_dict()[name], tensor, 1e-5)


@torch.library.custom_op("inlay_dynamo_tests::double", mutates_args=())
def double(a: torch.Tensor) -> torch.Tensor:
    return a * 2


@double.register_fake
def _(a):
    return torch.empty_like(a)


@torch.library.custom_op("inlay_dynamo_tests::increment", mutates_args=("a",))
def increment(a: torch.Tensor) -> None:
    a.add_(1)


def write(a):
    b = a * 1
    increment(b)
    return b * 2


def attend(a):
    """Attention whose scores PyTorch computes by torch.vmap."""
    heads = a.view(1, 1, *a.shape)
    return flex_attention(heads, heads, heads, score_mod=lambda score, b, h, i, j: score + (i - j))


class Exp(torch.autograd.Function):
    """An exponential with a gradient of its own."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a.exp(), None

    @staticmethod
    def backward(ctx, grad, _):
        (a,) = ctx.saved_tensors
        return grad * a.exp() * 3


@pytest.mark.filterwarnings("error:inlay")
@pytest.mark.parametrize(
    "function, arguments",
    [
        (lambda a: torch.linalg.inv(a) * 2, (x(3, 3),)),
        (lambda a: (torch.linalg.solve(a, a + 1), torch.linalg.inv(a)), (x(3, 3),)),
        (lambda a, b: (a * 2, b, None if b is None else b + 1), (x(3), None)),
        (lambda tensors: [*(a * 2 for a in tensors), None], ([x(3), x(2, 3)],)),
        (lambda a: double(a) + 1, (x(3),)),
        (write, (x(3),)),
        (lambda a: Exp.apply(a)[0] * 2, (x(3),)),
        (lambda a: torch.cat([a[:0], a[:0]]), (x(3, 3),)),
        (lambda a: torch.cat([a[:0, 0], a[:0, 1]]), (x(3, 3),)),
        (lambda a, scale: a * scale + scale, (x(3), 1.5)),
        (attend, (x(4, 16),)),
    ],
    ids=[
        "inv",
        "solve",
        "none",
        "list",
        "custom",
        "custom write",
        "function",
        "cat",
        "cat vectors",
        "float",
        "flex attention",
    ],
)
def test_graphs_of_all_kinds(function, arguments, compiled_graphs):
    got = torch.compile(function, backend="inlay", options={"targets": ["host", "torch"]})(*arguments)
    want = function(*arguments)
    for ours, theirs in zip(*map(torch.utils._pytree.tree_leaves, (got, want)), strict=True):
        compare(ours, theirs, 1e-5)
    assert len(compiled_graphs) == 1


def test_an_error_that_linalg_checks_is_raised():
    compiled = torch.compile(lambda a: torch.linalg.inv(a) * 2, backend="inlay", options={"targets": ["host", "torch"]})
    with pytest.raises(Exception, match="singular"):
        compiled(torch.zeros(3, 3))


@pytest.mark.filterwarnings("error:inlay")
def test_random_numbers_of_recomputed_activations(compiled_graphs):
    def function(a):
        return checkpoint(lambda b: nn.functional.dropout(b.sin(), 0.5).exp(), a, use_reentrant=False)

    gradients = []
    for run in (torch.compile(function, backend="inlay", options={"targets": ["host", "torch"]}), function):
        a = x(4, 8).requires_grad_()
        torch.manual_seed(0)
        run(a).sum().backward()
        gradients.append(a.grad)
    compare(*gradients, 1e-5)
    assert len(compiled_graphs) == 2


@pytest.mark.filterwarnings("error:inlay")
def test_the_gradient_of_a_function():
    a = x(3).requires_grad_()
    torch.compile(lambda a: Exp.apply(a)[0] * 2, backend="inlay")(a).sum().backward()
    compare(a.grad, 6 * a.detach().exp(), 1e-5)


class Lion(torch.optim.Optimizer):
    """An optimizer that is not PyTorch's."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for parameter in self.param_groups[0]["params"]:
            state = self.state[parameter]
            mean = state.setdefault("mean", torch.zeros_like(parameter))
            parameter.add_(mean.lerp(parameter.grad, 0.1).sign_(), alpha=-0.01)
            mean.lerp_(parameter.grad, 0.01)


OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9, nesterov=True, foreach=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, 0.01, amsgrad=True, foreach=False),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, 0.01, foreach=True),
    "adagrad": lambda parameters: torch.optim.Adagrad(parameters, 0.1),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, 0.01, momentum=0.9, centered=True),
    "lion": Lion,
}


@pytest.mark.filterwarnings("error:inlay")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_optimizers(name, compiled_graphs):
    results = []
    for compiles in (True, False):
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = OPTIMIZERS[name](model.parameters())
        step = optimizer.step
        if compiles:
            step = torch.compile(step, backend="inlay", options={"targets": ["host", "torch"]})
        for _ in range(5):
            optimizer.zero_grad()
            model(x(4, 3)).pow(2).sum().backward()
            step()
        results.append([parameter.detach() for parameter in model.parameters()])
    assert compiled_graphs
    for got, want in zip(*results, strict=True):
        compare(got, want, 1e-5)


@pytest.mark.filterwarnings("error:inlay")
def test_a_dim_that_is_marked_dynamic(compiled_graphs):
    compiled = torch.compile(lambda a: a.softmax(-1) * 2, backend="inlay", options={"targets": ["host"]})
    first = x(4, 5)
    torch._dynamo.mark_dynamic(first, 0)
    for a in (first, x(7, 5), x(2, 5)):
        compare(compiled(a), a.softmax(-1) * 2, 1e-5)
    assert len(compiled_graphs) == 1


@pytest.mark.filterwarnings("error:inlay")
def test_equal_dims_that_a_guard_shows(compiled_graphs):
    """The code clips boxes: x and y alternate in the last dim, which is even."""

    def clip(boxes):
        x_and_y = boxes[..., 0::2].clamp(0, 1), boxes[..., 1::2].clamp(0, 0.5)
        return torch.stack(x_and_y, boxes.dim()).reshape(boxes.shape)

    compiled = torch.compile(clip, backend="inlay", options={"targets": ["host"]}, dynamic=True)
    for boxes in (x(3, 6), x(5, 8), x(2, 4)):
        compare(compiled(boxes), clip(boxes), 0)
    assert 1 <= len(compiled_graphs) <= 2
    with pytest.raises(RuntimeError):  # of the guard: there is no program for an odd dim
        compiled(x(3, 7))


def test_whatever_fails_pytorch_runs_the_graph(monkeypatch):
    from inlay._compile import dynamo

    def fail(*_, **__):
        raise RuntimeError("expected at least one input")

    for name in ("import_graph", "compile_imported"):
        torch._dynamo.reset()
        with monkeypatch.context() as patch, pytest.warns(UserWarning, match="runs in PyTorch: RuntimeError: expected"):
            patch.setattr(dynamo, name, fail)
            compare(torch.compile(lambda a: a * 2, backend="inlay")(x(3)), x(3) * 2, 0)


__all__ = ["inlay"]


SLICES = {
    "rows": lambda a: a[::2].sin(),
    "both": lambda a: a[:-1:3, ::2].sin(),
    "from": lambda a: a[1::4].exp() * 2,
}


@pytest.mark.parametrize("case", SLICES)
def test_gradients_of_slices_with_steps(case):
    """The number of rows is rounded up. The backward graph writes it in another form than the forward graph."""
    compiled = torch.compile(SLICES[case], backend="inlay", dynamic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # of graphs that run in PyTorch
        for rows in (7, 8, 12):
            a, b = (x(rows, 6).requires_grad_() for _ in range(2))
            compiled(a).sum().backward()
            SLICES[case](b).sum().backward()
            torch.testing.assert_close(a.grad, b.grad)
