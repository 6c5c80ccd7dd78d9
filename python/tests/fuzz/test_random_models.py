# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sample of the random models. `models.py` runs more of them."""

import itertools
import os

import pytest
import torch
from generated.campaign import Checker, draw_graphs
from generated.graph import Graph, Input, Precision, Step
from generated.reference import expected
from generated.shrink import shrink, write_reproducer
from generated.ways import Way

FULL = bool(os.environ.get("INLAY_FULL"))
FIRSTS = range(0, 400 if FULL else 16, 8)


@pytest.mark.parametrize("first", FIRSTS)
def test_random_models(first):
    with Checker(in_all_ways=FULL) as checker:
        failures = list(checker.check(draw_graphs(range(first, first + 8))))
    assert not failures, "\n".join(f"seed {each.graphs[0].seed}, {each.way.value}: {each.text}" for each in failures)


def graph_of(*steps, inputs, results):
    made = [Step("step", text, operands, precision, name) for name, text, operands, precision in steps]
    return Graph(0, tuple(Input(name, tensor) for name, tensor in inputs.items()), tuple(made), results)


def difference(one, other):
    """Returns the graph of `one - other`."""
    inputs = {"x": torch.tensor([one]), "y": torch.tensor([other])}
    steps = [("v", "torch.exp({0})", ("x",), Precision.COMPUTED), ("w", "{0} - {1}", ("v", "y"), Precision.ROUNDED)]
    return graph_of(*steps, inputs=inputs, results=("w",))


def test_cancellation_widens_the_bound():
    narrow, wide = (expected(difference(1.0, other))["w"] for other in (-5.0, 2.718281))
    assert float(narrow.slack / narrow.center.abs()) < 1e-5
    assert float(wide.slack / wide.center.abs()) > 1e-2


def test_an_error_beyond_the_bound_is_a_fault():
    right = expected(difference(1.0, -5.0))["w"]
    assert right.fault(right.tensor) is None
    assert "elements of torch.float32[1] are wrong" in right.fault(right.tensor + 1e-4)
    assert "are wrong" in right.fault(torch.full_like(right.tensor, torch.nan))
    assert right.fault(right.tensor.double()).startswith("expected torch.float32[1], but got torch.float64[1]")


def test_integers_and_special_values_are_exact():
    inputs = {"x": torch.tensor([1.0, torch.inf, torch.nan])}
    graph = graph_of(("v", "{0}.isnan().long() * 2", ("x",), Precision.EXACT), inputs=inputs, results=("v", "x"))
    found = expected(graph)
    assert found["v"].fault(torch.tensor([0, 0, 2])) is None
    assert "element 2 is 1, expected 2" in found["v"].fault(torch.tensor([0, 0, 1]))
    assert "element 1" in found["x"].fault(torch.tensor([1.0, 3.0, torch.nan]))


def test_a_sum_that_overflows_in_another_order_is_undecided():
    most = torch.finfo(torch.float32).max
    inputs = {"x": torch.tensor([[most, -most, most], [1.0, -1.0, 1.0]])}
    found = expected(graph_of(("v", "{0}.sum(1)", ("x",), Precision.SUMMED), inputs=inputs, results=("v",)))["v"]
    assert found.decided.tolist() == [False, True]


def test_the_side_of_a_jump_is_undecided_after_rounding_errors():
    steps = [("v", "torch.exp({0})", ("x",), Precision.COMPUTED), ("w", "{0} > 2.7182817", ("v",), Precision.EXACT)]
    found = expected(graph_of(*steps, inputs={"x": torch.tensor([1.0, 3.0])}, results=("w",)))["w"]
    assert found.decided.tolist() == [False, True]


def test_a_failure_is_shortened_to_the_wrong_step(monkeypatch, tmp_path):
    """The wrong step is an absolute value that a faulty checker reports."""
    drawn = (draw_graphs([seed])[0] for seed in itertools.count())
    graph = next(graph for graph in drawn if any(step.kind == "abs" for step in graph.steps[1:-1]))
    checker = Checker()

    def fault(graph, way):
        return "1 of 1 elements of x are wrong" if any(step.kind == "abs" for step in graph.steps) else None

    def run(graphs, wanted, way):
        return {number: text for number, graph in enumerate(graphs) if (text := fault(graph, way))}

    monkeypatch.setattr(checker, "run", run)
    (failure, *_) = checker.check([graph])
    shorter = shrink(failure, checker, 100)
    assert [step.kind for step in shorter.graphs[0].steps] == ["abs"]
    assert shorter.way is Way.HOST
    path = write_reproducer(shorter, tmp_path)
    assert "torch.abs(" in path.read_text()
    compile(path.read_text(), path, "exec")


def test_graphs_are_determined_by_their_seeds():
    assert [graph.source() for graph in draw_graphs(range(20))] == [graph.source() for graph in draw_graphs(range(20))]
