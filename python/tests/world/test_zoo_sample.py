# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a sample of the architectures of transformers. `make test-world` runs all, and those of other libraries."""

from __future__ import annotations

import random

import pytest
import torch

pytest.importorskip("transformers")

import zoo_cases
from workers import Outcome, Verdict
from zoo import case_name, known_failures, list_models, problem, table
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
