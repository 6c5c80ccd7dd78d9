# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a sample of the architectures of transformers. `make test-world` runs all, and those of other libraries."""

from __future__ import annotations

import random

import pytest
import torch

pytest.importorskip("transformers")

import zoo_cases
from known import problem
from workers import Outcome, Verdict
from zoo import case_name, known_failures, list_models, main, table, table_of_calls
from zoo_cases import Route, run_model
from zoo_models.language import list_transformers
from zoo_models.model import Instance

TARGETS = ("host", "torch")
KNOWN = known_failures()
SAMPLE = random.Random(1).sample(list_transformers(), 3)
CASES = [(model, Route.COMPILE if number % 3 else Route.DYNAMO) for number, model in enumerate(SAMPLE)]


@pytest.mark.parametrize(("model", "route"), CASES, ids=[case_name(model.name, route) for model, route in CASES])
def test_architecture(model, route):
    # A case that is listed may pass here: `make test-world` finds those too.
    name = case_name(model.name, route)
    assert name in KNOWN or not problem(name, run_model(model.make, route, TARGETS), {})


def test_the_list_names_cases():
    assert set(KNOWN) <= {case_name(model.name, route) for model in list_models() for route in Route}


@pytest.mark.parametrize("route", Route)
def test_a_model_that_passes(route):
    outcome = run_model(lambda: Instance(torch.nn.Softmax(0), (torch.randn(3),)), route, TARGETS)
    assert (outcome.verdict, outcome.graphs, sum(dict(outcome.ops).values())) == (Verdict.PASSED, 1, 1)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda a: a.softmax(0) * 1.0001, "the result differs by"),
        (lambda a: a.softmax(0).double(), "the result is"),
        (lambda a: a.softmax(0)[:2], "the result is"),
        (lambda a: (a.softmax(0),), "the result has other parts"),
        (lambda a: a.softmax(0).log().log(), "the result has NaNs or infinities"),
        (lambda a: torch.tensor([0.2, 0.3, 0.5]), "the result differs by"),
    ],
)
def test_other_results_are_wrong(function, reason, monkeypatch):
    monkeypatch.setattr(zoo_cases, "_compile", lambda *_: function)
    outcome = run_model(lambda: Instance(torch.nn.Softmax(0), (torch.randn(3),)), Route.COMPILE, TARGETS)
    assert outcome.verdict is Verdict.WRONG and outcome.reason.startswith(reason)


def test_nans_of_the_reference_alone_do_not_count():
    class Widens(torch.nn.Module):
        def forward(self, a):
            return a if a.dtype == torch.float32 else a / 0 - a / 0

    outcome = run_model(lambda: Instance(Widens(), (torch.randn(3),)), Route.COMPILE, TARGETS)
    assert outcome.verdict is Verdict.PASSED


def test_numbers_below_the_normal_ones_may_become_zero(monkeypatch):
    monkeypatch.setattr(zoo_cases, "_compile", lambda *_: torch.zeros_like)
    outcome = run_model(
        lambda: Instance(torch.nn.Identity(), (torch.tensor([1e-40, 1e-41, 0.0]),)), Route.COMPILE, TARGETS
    )
    assert outcome.verdict is Verdict.PASSED


def test_results_of_the_first_call_are_not_accepted_for_the_second(monkeypatch):
    a = torch.randn(3)
    monkeypatch.setattr(zoo_cases, "_compile", lambda *_: lambda _: a.softmax(0))
    outcome = run_model(lambda: Instance(torch.nn.Softmax(0), (a,)), Route.COMPILE, TARGETS)
    assert outcome.verdict is Verdict.WRONG


def test_a_model_that_fails_in_pytorch():
    outcome = run_model(lambda: Instance(torch.nn.Linear(2, 2), (torch.ones(3),)), Route.COMPILE, TARGETS)
    assert outcome.verdict is Verdict.RAISED and outcome.reason.startswith("in PyTorch: RuntimeError")


def test_the_table_has_totals():
    ops = (("host", 3), ("torch", 1))
    text = table({"a/b compile": Outcome(Verdict.PASSED, "", ops, 2), "a/c compile": Outcome(Verdict.WRONG, "x")})
    head, line, total = text.splitlines()
    assert head.split()[:3] == ["cases", "passed", "refused"]
    assert line.split() == ["a", "compile", "2", "1", "0", "0", "0", "1", "0", "2", "4", "25.000%"]
    assert total.split()[1:] == line.split()[2:]


def test_the_calls_that_pytorch_runs():
    class Sorts(torch.nn.Module):
        def forward(self, a):
            return torch.linalg.qr(a)[0].relu(), torch.unique(a)

    outcome = run_model(lambda: Instance(Sorts(), (torch.randn(4, 4),)), Route.COMPILE, TARGETS)
    assert outcome.verdict is Verdict.PASSED
    assert {call for call, _ in outcome.calls} >= {"aten::linalg_qr", "aten::_unique2"}
    assert "torch::calls" not in dict(outcome.calls) and "aten::relu" not in dict(outcome.calls)


def test_the_table_of_calls_starts_with_the_most_frequent():
    outcomes = {
        "a/b compile": Outcome(Verdict.PASSED, calls=(("aten::x", 1), ("aten::y", 5))),
        "a/c compile": Outcome(Verdict.PASSED, calls=(("aten::x", 2),)),
    }
    assert table_of_calls(outcomes, 1).splitlines()[1].split(maxsplit=3) == ["2", "3", "aten::x", "(a/b, a/c)"]


def test_outcomes_are_written_and_read(tmp_path, capsys):
    file = tmp_path / "outcomes.jsonl"
    arguments = ["-k", "^torch/nn.(ReLU|Bilinear)$", "--routes", "compile"]
    assert main([*arguments, "--json", str(file), "--verbose"]) == 0
    ran = capsys.readouterr().out
    assert main(["--read", str(file), "--verbose"]) == 0
    assert capsys.readouterr().out == ran and "torch/nn.ReLU compile passed" in ran


def test_a_run_that_was_stopped_goes_on(tmp_path, capsys, monkeypatch):
    file = tmp_path / "outcomes.jsonl"
    file.write_text('{"name": "torch/nn.ReLU compile", "verdict": "wrong", "reason": "earlier"}\n')
    names = []

    def run_all(cases, *_):
        names.extend(cases)
        return [(name, Outcome(Verdict.PASSED)) for name in cases]

    monkeypatch.setattr("zoo.run_all", run_all)
    assert main(["-k", "^torch/nn.(ReLU|Bilinear)$", "--routes", "compile", "--json", str(file)]) == 1
    assert names == ["torch/nn.Bilinear compile"] and len(file.read_text().splitlines()) == 2
    assert "torch/nn.ReLU compile wrong: earlier" in capsys.readouterr().out
