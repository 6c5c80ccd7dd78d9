# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares compiled models with PyTorch."""

import concurrent.futures
import os
import subprocess
import sys
import threading
import time

import inlay
import inlay_models as models
import pytest
import torch
from conftest import compare
from torch import nn
from torch.nn import functional as F

aten = torch.ops.aten


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def check(model, inputs, tolerance=1e-5, **options):
    """Compiles and runs a function, compares the results with PyTorch, and returns the compiled module."""
    compiled = inlay.compile(model, inputs, **options)
    with torch.no_grad():
        expected = model(*inputs)
    got = compiled(*inputs)
    flat, spec = torch.utils._pytree.tree_flatten(expected)
    given, given_spec = torch.utils._pytree.tree_flatten(got)
    assert spec == given_spec
    for a, b in zip(given, flat, strict=True):
        compare(a, b, tolerance)
    return compiled


# -- Models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids="-".join)
@pytest.mark.parametrize("name", models.ALL)
def test_models(name, targets):
    model, inputs = models.ALL[name]()
    with torch.no_grad():
        scale = float(model(*inputs).abs().max())
    check(model, inputs, tolerance=1e-4 * min(scale, 1.0), targets=targets)


FORCED = {
    "resnet18": {"torch_executed_ops": ["aten.relu"], "torch_executed_modules": ["layer3"]},
    "encoder": {"torch_executed_ops": ["aten.gelu"], "torch_executed_modules": ["layers.1"]},
}


@pytest.mark.parametrize("name", FORCED)
def test_split_models(name):
    model, inputs = models.ALL[name]() if name != "resnet18" else models.resnet18(image=64)
    compiled = check(model, inputs, tolerance=1e-4, targets=("vulkan", "host"), **FORCED[name])
    counts = compiled.report.ops_by_target()
    assert counts["vulkan"] > 10 and counts["host"] > 10
    codes = {code for _, code, _ in compiled.report.reasons()}
    assert {"fallback-op", "fallback-module"} <= codes


def test_one_example_for_two_inputs_leaves_them_two():
    example, other = x(4, 4), x(3, 4, 4)[0]
    compiled = inlay.compile(Function(lambda a, b: a - b), (example, example), targets=("host",))
    assert torch.equal(compiled(other, example), other - example)
    assert torch.equal(compiled(other, other), torch.zeros(4, 4))


def test_dependencies_make_few_segments():
    model, inputs = models.dependencies()
    compiled = check(model, inputs, targets=("vulkan", "host"))
    # add, mul, div | lgamma x 3 | cat
    assert [segment["target"] for segment in compiled.report["segments"]] == ["vulkan", "host", "vulkan"]


def test_a_model_may_be_exported_already():
    model, inputs = models.encoder()
    exported = torch.export.export(model, inputs, strict=False)
    compare(inlay.compile(exported)(*inputs), model(*inputs).detach(), 1e-4)
    compare(inlay.compile(exported.run_decompositions(), None)(*inputs), model(*inputs).detach(), 1e-4)


# -- The target torch -------------------------------------------------------------------------------------------------


def test_calls_without_an_op_run_in_pytorch():
    model = Function(lambda a, i: a.exp().neg().exp()[i].erfinv().sort(-1))
    compiled = check(model, (x(4, 5), torch.tensor([3, 0])))
    targets = {op["label"]: op["target"] for op in compiled.report["ops"]}
    assert targets["erfinv"] == "torch" and targets["exp"] != "torch"


def test_embedding_and_masks():
    class Text(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(11, 8)
            self.out = nn.Linear(8, 3)

        def forward(self, tokens):
            a = self.embed(tokens)
            return self.out(F.scaled_dot_product_attention(a, a, a, is_causal=True))

    check(Text(), (torch.tensor([[1, 5, 10, 0]]),))


def test_without_pytorch_an_opaque_call_is_an_error():
    with pytest.raises(inlay.CompileError, match="aten::erfinv"):
        inlay.compile(Function(lambda a: a.erfinv()), (x(4),), targets=("vulkan", "host"))


def test_a_failure_in_pytorch_is_the_cause():
    compiled = inlay.compile(Function(torch.linalg.cholesky), (torch.eye(3),))
    with pytest.raises(inlay.Error, match="linalg") as info:
        compiled(-torch.eye(3))
    assert isinstance(info.value.__cause__, RuntimeError)
    compare(compiled(4 * torch.eye(3)), 2 * torch.eye(3), 1e-6)


# -- Options ----------------------------------------------------------------------------------------------------------


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, a):
        return self.second(self.first(a).exp()) + 1


@pytest.mark.parametrize(
    "option, moved",
    [
        ({"torch_executed_ops": ["aten::relu"]}, ["relu"]),
        ({"torch_executed_ops": ["aten.relu.default"]}, ["relu"]),
        ({"forced_fallback_ops": [aten.exp]}, ["exp"]),
        ({"torch_executed_ops": ["aten.linear"]}, ["linear", "linear_1"]),
        ({"torch_executed_modules": ["second"]}, ["linear_1", "relu"]),
        ({"torch_executed_modules": ["second.1"]}, ["relu"]),
        ({"torch_executed_modules": ["ReLU"]}, ["relu"]),
        ({"torch_executed_modules": [nn.ReLU]}, ["relu"]),
        ({"torch_executed_modules": ["torch.nn.modules.activation.ReLU"]}, ["relu"]),
        ({"torch_executed_modules": ["torch.nn.modules.activation.*"]}, ["relu"]),
        ({"torch_executed_locations": ["linear*"]}, ["linear", "linear_1"]),
        ({"torch_executed_locations": "exp"}, ["exp"]),
        ({"allow_ops": ["aten::linear", aten.add]}, ["exp", "relu"]),
        ({"allow_ops": ["aten::linear@vulkan"]}, ["exp", "relu", "add"]),
    ],
    ids=str,
)
def test_forced_parts_leave_the_accelerator(option, moved):
    compiled = check(Two(), (x(2, 4),), targets=("vulkan", "host"), **option)
    assert {
        op["label"] for op in compiled.report["ops"] if op["target"] == "host" and op["segment"] is not None
    } == set(moved)


@pytest.mark.parametrize(
    ("option", "match"),
    [
        ({"torch_executed_modules": ["["]}, r"malformed glob '\[' in torch_executed_modules:"),
        ({"torch_executed_ops": [""]}, r"in torch_executed_ops, but got an empty one"),
    ],
)
def test_options_go_by_their_names_here(option, match):
    with pytest.raises(inlay.CompileError, match=match):
        inlay.compile(nn.ReLU(), (x(2, 4),), targets=("host", "torch"), **option)


def forced(function, *inputs, ops, targets=("vulkan", "host", "torch")):
    """Returns the labels of the ops by target if `ops` are forced to PyTorch. Also checks the results."""
    compiled = check(Function(function), inputs, targets=targets, torch_executed_ops=ops)
    placed = [op for op in compiled.report["ops"] if op["segment"] is not None]
    return {target: {op["label"] for op in placed if op["target"] == target} for target in targets}


@pytest.mark.parametrize("targets", [("vulkan", "host", "torch"), ("vulkan", "torch")], ids="+".join)
def test_forced_ops_run_in_pytorch(targets):
    placed = forced(lambda a: a.exp().relu() + 1, x(3), ops=["aten::relu"], targets=targets)
    assert placed["torch"] == {"relu"} and placed["vulkan"] == {"exp", "add"}


@pytest.mark.parametrize(
    ("function", "inputs", "op"),
    [
        (nn.functional.hardswish, (x(5),), "aten.hardswish"),  # imported as several ops
        (lambda a: nn.functional.gelu(a, approximate="tanh"), (x(5),), "aten::gelu.default"),
        (lambda a: torch.nan_to_num(a), (x(5),), "aten.nan_to_num"),  # by the decomposition of PyTorch
        (lambda a, b: torch.cat([a, b, a], 1), (x(2, 3), x(2, 1)), "aten.cat"),  # any number of operands
        (lambda a, b: nn.functional.linear(a, b), (x(2, 3), x(4, 3)), "aten.linear"),  # an absent operand
        (lambda a: a.to(torch.bfloat16), (x(4),), "aten.to"),  # a type as an attribute
        (lambda a: torch.clamp(a, min=-float("inf"), max=0.5), (x(4),), "aten.clamp"),
        (
            lambda a, b: torch.zeros(3).scatter_reduce(0, b, a, "amax"),
            (x(4), torch.tensor([0, 2, 2, 0])),
            "aten.scatter_reduce",
        ),
        (lambda a: torch.sort(a, descending=True), (x(2, 5),), "aten.sort"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_whatever_is_forced_runs_in_pytorch(function, inputs, op):
    placed = forced(function, *inputs, ops=[op])
    assert placed["torch"] and not placed["vulkan"] | placed["host"]


def test_min_block_size_keeps_short_segments_off():
    model = Function(lambda a: torch.lgamma(a + 1) * 2 + 3)
    assert "vulkan" in check(model, (x(3),), targets=("vulkan", "host")).report.ops_by_target()
    small = check(model, (x(3),), targets=("vulkan", "host"), min_block_size=3)
    assert set(small.report.ops_by_target()) == {"host"}
    assert any(code == "min-block-size" for _, code, _ in small.report.reasons())


def test_exempt_ops_are_worth_a_segment():
    model = Function(lambda a: torch.lgamma(a + 1) * 2 + 3)
    kept = check(model, (x(3),), targets=("vulkan", "host"), min_block_size=3, exempt_ops=["aten::mul"])
    assert {op["name"] for op in kept.report["ops"] if op["target"] == "vulkan"} == {"inlay.mul", "inlay.add"}


def test_a_placement_is_saved_and_replayed(tmp_path):
    path, options = tmp_path / "placement.json", {"targets": ("vulkan", "host")}
    first = check(Two(), (x(2, 4),), **options, torch_executed_locations=["exp"], save_placement=path)
    again = check(Two(), (x(2, 4),), **options, placement=path)
    assert again.report["segments"] == first.report["segments"] and again.report["ops"] == first.report["ops"]
    with pytest.raises(inlay.CompileError, match="the placement is for another graph"):
        inlay.compile(Function(lambda a: a.exp()), (x(3),), **options, placement=path)


@pytest.mark.parametrize("option", [{"require_full_compilation": True}, {"enabled": False}], ids=str)
def test_full_compilation_names_the_blockers(option):
    inlay.compile(Function(lambda a: a.exp()), (x(3),), targets=("host",), **option)
    with pytest.raises(inlay.CompileError, match="lgamma"):
        inlay.compile(Function(lambda a: a.exp().lgamma()), (x(3),), targets=("vulkan", "host"), **option)


def test_a_name_that_matches_nothing_is_an_error():
    with pytest.raises(inlay.CompileError, match="aten::rleu"):
        inlay.compile(Two(), (x(2, 4),), torch_executed_ops=["aten::rleu"])
    with pytest.raises(inlay.CompileError, match=r"'secnd' in torch_executed_modules .*did you mean 'second'"):
        inlay.compile(Two(), (x(2, 4),), torch_executed_modules=["secnd"])
    with pytest.raises(inlay.CompileError, match=r"'relo' in torch_executed_locations .*did you mean 'relu'"):
        inlay.compile(Two(), (x(2, 4),), torch_executed_locations=["relo"])
    for option in ("allow_ops", "exempt_ops"):
        with pytest.raises(inlay.CompileError, match=f"'aten::rleu' in {option} .*did you mean 'aten::relu'"):
            inlay.compile(Two(), (x(2, 4),), **{option: ["aten::rleu"]})


def test_partition_reports_what_compile_does():
    options = {"targets": ("vulkan", "host"), "torch_executed_ops": ["aten::relu"]}
    report = inlay.partition(Two(), (x(2, 4),), **options)
    assert isinstance(report, inlay.Report) and "fallback-op" in str(report)
    compiled = inlay.compile(Two(), (x(2, 4),), **options).report
    assert all(segment.pop("kernels") for segment in compiled["segments"])  # fails only in the conversion
    assert report["segments"] == compiled["segments"]


def test_reports_have_other_forms_and_answer_questions(tmp_path):
    def lgamma_twice(a):
        return torch.lgamma(torch.lgamma(a.relu()).neg()).exp()

    model, options = Function(lgamma_twice), {"targets": ("vulkan", "host")}
    for report in (inlay.partition(model, (x(4),), **options), inlay.compile(model, (x(4),), **options).report):
        assert "Segment Block @0:" in report.text and "Target: vulkan" in report.text
        assert report.html.startswith("<!DOCTYPE html>") and "what_if" not in report
        assert ("<h2>Kernels</h2>" in report.html) == any("kernels" in segment for segment in report["segments"])
        (kind,) = report.what_if["kinds"]
        assert (kind["kinds"], kind["count"], kind["segments"]) == (["inlay.lgamma"], 2, 1)
        assert report.what_if["now"]["segments"] == len(report["segments"]) == 5
        assert [(row["min_block_size"], row["accelerated_ops"]) for row in report.sweep] == [(1, 3), (2, 0)]
        report.save(tmp_path / "report.html", what_if=True, sweep=True)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "<code>vulkan</code> ran more?" in page and "min_block_size" in page
        report.save(tmp_path / "report.txt")
        assert (tmp_path / "report.txt").read_text() == report.text


def test_like_results_of_unlike_arguments():
    # Reductions and products start from equal values, but their results must not share memory.
    check(Function(lambda a, b: (a.sum(0), b.sum(0), a.amax(0), b.amax(0))), (x(2, 4), x(2, 4) + 1))
    check(Function(lambda a, b: (a @ b, b @ a)), (x(4, 4), x(4, 4) + 1))


# -- Calls ------------------------------------------------------------------------------------------------------------


def test_results_keep_their_structure():
    def function(a, b):
        return {"sum": a + b["b"], "same": a, "list": [b["b"] * 2, (a.exp(), None, 3)], "copy": a.clone()}

    check(Function(function), (x(2, 3), {"b": x(2, 3)}))


def test_arguments_come_back_as_themselves_and_copies_as_copies():
    compiled = inlay.compile(Function(lambda a: (a, a.clone(), a + 1)), (x(3),))
    a = x(3)
    same, copy, _ = compiled(a)
    assert same is a and copy.data_ptr() != a.data_ptr() and torch.equal(copy, a)


def test_strided_arguments():
    compiled = inlay.compile(Function(lambda a: a * 2), (x(3, 4),))
    strided = x(4, 3).t()
    compare(compiled(strided), strided * 2, 1e-6)
    every_other = x(3, 8)[:, ::2]
    compare(compiled(every_other), every_other * 2, 1e-6)


def test_every_dtype_crosses_the_border():
    for dtype in (torch.float32, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8):
        check(Function(lambda a: (a + a, a.reshape(6))), (torch.arange(6).reshape(2, 3).to(dtype),))
    check(Function(lambda a: a.to(torch.float32) + 1), (torch.tensor([True, False, True]),))
    check(Function(lambda a: (a > 0, a + 1)), (x(5),))


def test_rank_0():
    check(Function(lambda a, b: a * b + 1), (torch.tensor(2.0), torch.tensor(3.0)))


def test_wrong_calls_name_the_argument():
    compiled = inlay.compile(Two(), (x(2, 4),))
    with pytest.raises(TypeError, match=r"missing argument 'a' \(place 1\): expected float32\[2x4\]"):
        compiled()
    with pytest.raises(ValueError, match=r"argument 'a' \(place 1\): expected float32\[2x4\], but got float32\[3x4\]"):
        compiled(x(3, 4))
    with pytest.raises(TypeError, match="float64"):
        compiled(x(2, 4).double())
    compare(compiled(a=x(2, 4)), compiled(x(2, 4)), 0)


def test_profile_names_the_steps():
    compiled = inlay.compile(Two(), (x(2, 4),), targets=("vulkan", "host"), torch_executed_ops=["aten::exp"])
    steps = compiled.profile(x(2, 4))
    assert {"engine", "host"} <= {kind for _, kind, _ in steps} and all(seconds >= 0 for _, _, seconds in steps)


def test_threads_may_call_at_a_time():
    model, inputs = models.encoder()
    compiled = inlay.compile(model, inputs, torch_executed_ops=["aten::gelu"])
    batches = [torch.randn_like(inputs[0], generator=None) for _ in range(16)]
    with torch.no_grad():
        expected = [model(batch) for batch in batches]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for got, want in zip(pool.map(compiled, batches), expected, strict=True):
            compare(got, want, 1e-4)


def test_threads_may_call_into_pytorch_at_a_time():
    compiled = inlay.compile(Function(lambda a: (a * 2).sort().values + 1), (x(64),))
    batches = [torch.randn(64) for _ in range(32)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for got, batch in zip(pool.map(compiled, batches), batches, strict=True):
            compare(got, (batch * 2).sort().values + 1, 1e-6)


def test_the_interpreter_is_free_while_a_call_runs():
    model, inputs = models.resnet18(image=224)
    compiled = inlay.compile(model, inputs, targets=("host",))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    compiled(*inputs)
    stop = time.perf_counter()
    done.set()
    ticker.join()
    assert len([t for t in ticks if start < t < stop]) >= min(5, int((stop - start) / 0.02))


def test_weights_live_as_long_as_the_program():
    def build():
        model = nn.Linear(64, 64)
        return inlay.compile(model, (x(2, 64),)), model(x(2, 64)).detach()

    compiled, expected = build()
    for _ in range(8):
        torch.randn(64, 64)
    compare(compiled(x(2, 64)), expected, 1e-5)


def test_a_process_ends_cleanly_with_a_program_alive():
    code = (
        "import torch, inlay\n"
        "kept = inlay.compile(torch.nn.Linear(4, 4), (torch.ones(1, 4),))\n"
        "print(tuple(kept(torch.ones(1, 4)).shape))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "(1, 4)"), done.stderr


def test_without_a_device_the_host_runs_all():
    code = (
        "import torch, inlay\n"
        "compiled = inlay.compile(torch.nn.ReLU(), (torch.ones(2),))\n"
        "print(compiled.report.ops_by_target(), repr(compiled.device), compiled(-torch.ones(2)).tolist())"
    )
    environment = {**os.environ, "VK_DRIVER_FILES": os.devnull}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.strip() == "{'host': 1} '' [0.0, 0.0]", done.stderr
    assert "inlay: no Vulkan device" in done.stderr


# -- Errors of compile ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model, inputs, error, text",
    [
        (nn.Linear(3, 3), (torch.ones(2, 3), torch.ones(2, 3)), TypeError, "torch.export can't export the model"),
        (nn.Linear(3, 3), {"foo": torch.ones(2, 3)}, TypeError, "torch.export can't export the model"),
        (nn.Linear(3, 3), (torch.ones(2, 5),), inlay.Error, "torch.export can't export the model"),
    ],
)
def test_models_that_cannot_be_exported(model, inputs, error, text):
    with pytest.raises(error, match=text) as raised:
        inlay.compile(model.eval(), inputs)
    assert isinstance(raised.value, inlay.Error)


class _OneHot(nn.Module):
    def forward(self, x):
        return nn.functional.one_hot(x)


def test_the_call_that_cannot_be_exported_is_named():
    with pytest.raises(inlay.Error, match=r"can't export .* while it traced aten\.one_hot\.default \(in forward at "):
        inlay.compile(_OneHot(), (torch.tensor([1, 2]),))


class _Likelihood(nn.Module):
    def forward(self, x, target, variance):
        return nn.functional.gaussian_nll_loss(x, target, variance)


def test_the_function_of_pytorch_that_reads_elements_is_named():
    where = r"while it ran gaussian_nll_loss at torch/nn/functional\.py:\d+ \(in forward at "
    with pytest.raises(inlay.Error, match=where):
        inlay.compile(_Likelihood(), (x(5), x(5), x(1).exp()))


def test_several_threads_may_compile():
    failures = []

    def work(size):
        try:
            inputs = (torch.ones(2, size),)
            model = nn.Linear(size, 5).eval()
            torch.testing.assert_close(inlay.compile(model, inputs, targets=("host",))(*inputs), model(*inputs))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(4 + number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize(
    "model",
    [nn.Linear(8, 1), nn.LayerNorm(8), nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 1), nn.LayerNorm(1))],
)
def test_weights_of_one_element(model):
    inputs = (torch.randn(4, 8),)
    torch.testing.assert_close(inlay.compile(model.eval(), inputs)(*inputs), model(*inputs))


@pytest.mark.parametrize("shape", [(2**24 + 3,), (2**23 + 3, 2), (2, 2**24 + 1)])
def test_long_sums_lose_nothing(shape):
    x = torch.ones(shape)
    model = nn.Module()
    model.forward = lambda x: (x.sum(), x.mean(-1))
    compiled = inlay.compile(model, (x,), targets=("host",))
    for mine, theirs in zip(compiled(x), (x.sum(), x.mean(-1)), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-6, atol=0)
