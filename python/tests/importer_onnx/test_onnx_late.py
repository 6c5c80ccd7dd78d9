# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares ONNX models whose structure is known only at a call with ONNX Runtime."""

import inlay
import numpy as np
import pytest
import torch
from conftest import compare

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx_control import parse  # noqa: E402
from onnx_late import MODELS, X  # noqa: E402
from onnx_models import run_onnxruntime  # noqa: E402

HOST = ("host", "torch")


def check(run, model, inputs):
    got = run(*inputs)
    got = got if isinstance(got, (list, tuple)) else [got]
    for mine, want in zip(got, run_onnxruntime(model, inputs), strict=True):
        compare(mine, torch.from_numpy(np.array(want)), 1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_results(name):
    text, sets = MODELS[name]
    model = parse(text)
    compiled = inlay.compile(model, targets=HOST)
    for inputs in sets:
        check(compiled, model, inputs)


def test_a_saved_program_runs_nodes_at_a_call(tmp_path):
    text, sets = MODELS["cumulative sum"]  # a file can't hold a model whose results have dims that depend on data
    model = parse(text)
    inlay.compile(model, targets=HOST).save(tmp_path / "model.inlay", allow_framework=True)
    loaded = inlay.load(tmp_path / "model.inlay")
    for inputs in sets:
        check(loaded, model, inputs)


def test_the_reason_is_given():
    with pytest.raises(inlay.UnsupportedError, match=r"'torch'.*\(Tile .*the value of repeats is known only at a call"):
        inlay.compile(parse(MODELS["tile"][0]), targets=("host",))


def test_a_branch_that_is_invalid_for_these_dims():
    model = parse(
        """
        g (float[2,3] x, bool c) => (float[2,3] y) <int64[2] s = {4,4}> {
          y = If(c) <
            then_branch = one () => (float[2,3] a) { a = Relu(x) },
            else_branch = two () => (float[2,3] b) { [wrong] b = Reshape(x, s) }
          >
        }
        """
    )
    compiled = inlay.compile(model, targets=HOST)
    assert torch.equal(compiled(X, torch.tensor(True)), X.relu())
    with pytest.raises(inlay.Error, match=r"'wrong'.*is invalid for input"):
        compiled(X, torch.tensor(False))


def test_a_weight_of_a_body_is_replaced():
    compiled = inlay.compile(parse(MODELS["branches of other dims"][0]), targets=HOST)
    (name,) = compiled.state_dict()
    compiled.load_state_dict({name: torch.ones(4, 3)})
    assert torch.equal(compiled(X, torch.tensor(False)), -1 - torch.cat([X, X]))


def test_another_rank_than_the_file_declares():
    text = MODELS["rank"][0].replace("(float[n] z)", "(float[n,m] y)").replace("z = Reshape(y, flat)", "")
    compiled = inlay.compile(parse(text), targets=HOST)
    assert torch.equal(compiled(X, torch.tensor(True)), X.relu())
    with pytest.raises(inlay.Error, match=r"expected 'y' to be float32\[\?x\?\], but got float32\[3\]"):
        compiled(X, torch.tensor(False))


SEQUENCES = """
g (seq(float[n,3]) x, optional(float[2,3]) o) => (seq(float[n,3]) y, float[m,3] z, bool has) <int64 last = {-1}> {
  first = SequenceAt(x, last)
  y = SequenceInsert(x, first)
  z = ConcatFromSequence <axis = 0> (y)
  has = OptionalHasElement(o)
}
"""


def test_sequences_and_optionals_as_inputs_and_outputs():
    model = parse(SEQUENCES)
    compiled = inlay.compile(model, ([X, X + 1], None), targets=HOST)
    y, z, has = compiled([X, X + 1], None)
    assert (
        isinstance(y, list) and [torch.equal(one, X + add) for one, add in zip(y, (0, 1, 1), strict=True)] == [True] * 3
    )
    assert torch.equal(z, torch.cat(y)) and not has
    assert inlay.compile(model, ([X], X), targets=HOST)([X], X)[2]
    with pytest.raises(inlay.UnsupportedError, match="input 'x' is a sequence: give example inputs"):
        inlay.compile(model, targets=HOST)


def test_the_most_iterations_are_an_option():
    model = parse(
        """
        g (int64 n, float[1] x) => (float["d"] y) {
          y = Loop(n, "", x) <body = one (int64 i, bool c, float["a"] s) => (bool d, float["b"] t) {
            d = Identity(c)
            t = Concat<axis = 0>(s, x)
          }>
        }
        """
    )
    compiled = inlay.compile(model, targets=HOST, max_loop_iterations=4)
    check(compiled, model, [torch.tensor(4), torch.ones(1)])
    with pytest.raises(inlay.Error, match=r"\(Loop.*ran 4 times without ending, which is its limit.*max_loop_iter"):
        compiled(torch.tensor(5), torch.ones(1))
