# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of `torch.compile(model, backend="inlay")`."""

import subprocess
import sys
import warnings

import inlay
import pytest
import torch
from conftest import compare
from torch import nn


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


def test_a_size_that_no_tensor_tells_runs_in_pytorch():
    compiled = torch.compile(lambda a, n: a * n, backend="inlay", dynamic=True)
    with pytest.warns(UserWarning, match="runs in PyTorch: no dim of an input determines the size") as caught:
        for size in (3, 5, 7):
            compare(compiled(x(4), size), x(4) * size, 0)
    assert len([warning for warning in caught if "inlay" in str(warning.message)]) == 1


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


__all__ = ["inlay"]
