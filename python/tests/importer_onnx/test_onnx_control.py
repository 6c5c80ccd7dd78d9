# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of If, Loop and Scan of ONNX: the ops with regions that replace them, and their results."""

import inlay
import pytest
import torch
from conftest import compare, verify
from inlay.onnx import import_onnx
from replay import Replay

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from inlay._import.onnx import program as onnx_program  # noqa: E402
from onnx_control import MODELS, REFUSED, YES, X, parse  # noqa: E402
from onnx_models import run_onnxruntime  # noqa: E402

TARGETS = [("vulkan", "host", "torch"), ("host", "torch"), ("torch",)]


def check(run, model, inputs):
    got = run(*inputs)
    got = got if isinstance(got, (list, tuple)) else [got]
    for mine, want in zip(got, run_onnxruntime(model, inputs), strict=True):
        compare(mine, torch.from_numpy(want.copy()), 1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_meaning(monkeypatch, name):
    text, sets, made = MODELS[name]
    model = parse(text)
    program = onnx_program.build(model)
    reference = program.make_eager()
    for inputs in sets:
        check(reference, model, inputs)
    replay = Replay(monkeypatch, program)
    verify(replay.text)
    assert [one for one in replay.made if one in ("if", "while", "for")] == made
    assert replay.program.reasons == [] and replay.opaque == []
    for inputs in sets:
        check(replay, model, inputs)


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
@pytest.mark.parametrize("name", MODELS)
def test_results(name, targets):
    text, sets, _ = MODELS[name]
    model = parse(text)
    compiled = inlay.compile(model, targets=targets)
    for inputs in sets:
        check(compiled, model, inputs)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    text, match = REFUSED[name]
    model = parse(text)
    inputs = None if "float[a,3]" not in text else (X, torch.tensor(3))
    with pytest.raises(inlay.UnsupportedError, match=match):
        inlay.compile(model, inputs, targets=("host",))


def test_labels_and_weights():
    imported = import_onnx(parse(MODELS["if"][0]), None, None).program
    assert all(f'"{label}"' in imported.text for label in ("choose", "choose.true.Mul", "choose.false.Sub"))
    assert sorted(imported.state.tensors) == ["choose.else_branch.v", "w"]


def test_weights_of_a_branch_are_replaced():
    model = parse(MODELS["if"][0])
    compiled = inlay.compile(model, targets=("host", "torch"))
    compiled.load_state_dict({"w": torch.zeros(3), "choose.else_branch.v": torch.ones(3)})
    assert torch.equal(compiled(X, ~YES), X - 1)


def test_every_size(monkeypatch):
    text = MODELS["if in a loop"][0].replace("float[2,3]", "float[batch,3]")
    replay = Replay(monkeypatch, onnx_program.build(parse(text)))
    verify(replay.text)
    assert replay.program.reasons == [] and "inlay.dims" in replay.text
    for rows in (2, 5):
        inputs = (torch.ones(rows, 3), torch.tensor(3))
        check(replay, parse(text), inputs)


NO_ROUNDS = {
    "loop": """
        g (float[3] x) => (float[3] last, float[0,3] all) <int64 most = {0}> {
          last, all = Loop(most, , x) <
            body = round (int64 i, bool go, float[3] v) => (bool on, float[3] new, float[3] made) {
              on = Identity(go)
              new = Add(v, v)
              made = Mul(v, v)
            }
          >
        }
        """,
    "scan": """
        g (float[3] x) => (float[3] last, float[0,3] all) <float[0,3] none = {}> {
          last, all = Scan <num_scan_inputs = 1,
            body = round (float[3] v, float[3] part) => (float[3] new, float[3] made) {
              new = Add(v, part)
              made = Mul(new, part)
            }
          > (x, none)
        }
        """,
}


@pytest.mark.parametrize("name", NO_ROUNDS)
def test_no_rounds(name):
    model = parse(NO_ROUNDS[name])
    last, all_rounds = inlay.compile(model, targets=("host", "torch"))(X[0])
    assert torch.equal(last, X[0]) and all_rounds.shape == (0, 3)
