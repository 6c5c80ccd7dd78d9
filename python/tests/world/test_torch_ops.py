# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a few samples of PyTorch's operator database. `make test-world` runs many of each operator."""

import dataclasses
import random

import inlay
import op_db
import op_db_dynamo
import op_db_samples
import pytest
import torch
import torch_ops as suite
from inlay._compile import dynamo

_SIZES = op_db_samples.Sizes(samples=1, elements=1000, dtypes=2)
_COUNT = 48  # operators
_COMPILED_COUNT = 8  # of them, through torch.compile

_NAMES = random.Random(0).sample(op_db_samples.names(), _COUNT)


@pytest.mark.parametrize("name", sorted(_NAMES))
def test_samples(name):
    found = suite.faults(op_db.check(name, _SIZES), suite.load_known())
    assert not found, "\n".join(map(suite.describe, found))


@pytest.mark.parametrize("name", sorted(_NAMES[:_COMPILED_COUNT]))
def test_samples_through_torch_compile(name):
    sizes = dataclasses.replace(_SIZES, targets=("compile-host",))
    found = suite.faults(op_db.check(name, sizes), suite.load_known())
    assert not found, "\n".join(map(suite.describe, found))


def test_known_exceptions_name_operators():
    names = op_db_samples.names()
    assert not [entry["op"] for entry in suite.load_known() if entry["op"] not in names]
    assert all(entry["reason"] for entry in suite.load_known())


def test_a_fault_is_reported(capsys):
    outcome = op_db_samples.Outcome("add", "float32", "host", "wrong", "(...)", "got 1, but expected 2")
    assert suite.report_faults([outcome], [], ["add"]) == 1
    covered = {"op": "add", "kind": "wrong", "dtypes": ["float32"], "reason": "..."}
    assert suite.report_faults([outcome], [covered], ["add"]) == 0
    stale = {**covered, "dtypes": ["int8"]}
    assert suite.report_faults([], [stale], ["add"]) == 1
    assert "out of date" in capsys.readouterr().out


def test_a_wrong_result_is_found(monkeypatch):
    run = op_db._run

    def spoil(samples, targets):
        for target, results, fallbacks in run(samples, targets):
            yield target, [result + 1 for result in results], fallbacks

    monkeypatch.setattr(op_db, "_run", spoil)
    sizes = op_db_samples.Sizes(samples=4, dtypes=1, targets=("host",))
    assert "wrong" in {outcome.kind for outcome in op_db.check("mul", sizes)}


def _kinds(name, target):
    sizes = op_db_samples.Sizes(samples=2, dtypes=1, targets=(target,))
    return {outcome.kind for outcome in op_db.check(name, sizes)}


def test_a_wrong_gradient_is_found(monkeypatch):
    compile_graph = dynamo._compile_graph

    def spoil(graph_module, example_inputs, options):
        run = compile_graph(graph_module, example_inputs, options)
        is_backward = any("tangents" in node.name for node in graph_module.graph.nodes)
        return dynamo.make_boxed_func(lambda *args: [leaf * 2 for leaf in run(args)]) if is_backward else run

    assert _kinds("nn.functional.silu", "compile-host") == {"right"}
    monkeypatch.setattr(dynamo, "_compile_graph", spoil)
    assert "wrong" in _kinds("nn.functional.silu", "compile-host")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (inlay.UnsupportedError("no op for aten::sin"), "refused"),
        (inlay.CompileError("too large"), "unclear"),
        (KeyError("sin"), "raised"),
    ],
)
def test_a_graph_that_runs_in_pytorch_is_reported(monkeypatch, error, kind):
    def refuse(*_args):
        raise error

    monkeypatch.setattr(dynamo, "_import_and_compile", refuse)
    assert _kinds("sin", "compile-host") == {kind}


def test_a_fault_of_torch_compile_is_foreign(monkeypatch):
    def refuse(*_args):
        raise RuntimeError("torch.compile fails")

    monkeypatch.setattr(op_db_dynamo.torch, "compile", refuse)
    assert _kinds("sin", "compile-host") == {"foreign"}


class _Tenth:
    """A sample of float16 whose result is 0.1."""

    op, dtype = "mul", torch.float16

    def results(self, exact):
        return torch.tensor([0.1], dtype=torch.float64 if exact else torch.float16)


def test_a_result_of_float64_is_right():
    assert op_db_samples.is_exact(_Tenth(), torch.tensor([0.1]).half())
    assert not op_db_samples.is_exact(_Tenth(), torch.tensor([0.11]).half())


def test_gradients_may_be_twice_as_far_from_float64_as_those_of_pytorch(monkeypatch):
    sample, exact = _Tenth(), torch.tensor([1.0], dtype=torch.float64)
    monkeypatch.setattr(op_db_dynamo, "evaluate", lambda *_args: [[exact, [exact]]])
    half = {error: torch.tensor([1 + error], dtype=torch.float16) for error in (0, 0.0625, 0.125, 0.25, torch.nan)}
    for error, is_right in ((0, True), (0.0625, True), (0.125, True), (0.25, False), (torch.nan, False)):
        got, wanted = [half[0], [half[error]]], [half[0], [half[0.0625]]]
        assert op_db_dynamo._is_as_exact(sample, got, wanted) == is_right


def test_calls_to_pytorch_are_counted():
    call = "torch::calls: aten::item on int64, aten::zeros and 1 more: node 'item' is a number"
    outcome = op_db_samples.Outcome(
        "mul", "int8", "host", "right", "(...)", fallbacks=("aten::lcm: no op for aten::lcm on int8", call)
    )
    text = suite.table_of_fallbacks([outcome], 9)
    assert "PyTorch runs calls in 1 of 1 samples" in text
    assert "1  aten::lcm: int8 (mul)" in text and "aten::zeros" in text
