# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of ops of classical machine learning against ONNX Runtime."""

import inlay
import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper  # noqa: E402
from onnx_models import difference, model_of, run_onnxruntime  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
HOST = {"targets": ("host", "torch")}
ML = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 5)]


def check(node, arguments, dims, kind=FLOAT):
    """Compares a node with ONNX Runtime. dims: of the result."""
    kinds = {torch.float32: FLOAT, torch.int64: INT64}
    inputs = {name: (kinds[one.dtype], one.shape) for name, one in zip(node.input, arguments, strict=True)}
    model = model_of([node], inputs, {"y": (kind, dims)}, opsets=ML)
    compiled = inlay.compile(model, **HOST)
    assert difference(compiled(*arguments), run_onnxruntime(model, arguments)) <= 1e-5
    return model


def numbers(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_array_feature_extractor(shape):
    node = helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["y"], domain="ai.onnx.ml")
    dims = (*shape[:-1], 3) if len(shape) > 1 else (1, 3)
    check(node, [numbers(*shape), torch.tensor([4, 0, 4])], dims)


@pytest.mark.parametrize("attributes", [{}, {"threshold": -0.5}])
def test_binarizer(attributes):
    node = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    check(node, [torch.tensor([[0.0, -0.5, -0.4, 3.0]])], (1, 4))


def tensor(values, kind=FLOAT):
    return helper.make_tensor("t", kind, (len(values),), values)


def ensemble(modes, more=(), **changed):
    """Returns a node of two trees: the first has two conditions and three leaves, the second one and two."""
    attributes = {
        "n_targets": 2,
        "nodes_featureids": [0, 2, 1],
        "nodes_modes": tensor(modes, TensorProto.UINT8),
        "nodes_splits": tensor([0.0, 0.5, -0.25]),
        "nodes_truenodeids": [1, 0, 3],
        "nodes_trueleafs": [0, 1, 1],
        "nodes_falsenodeids": [2, 1, 4],
        "nodes_falseleafs": [1, 1, 1],
        "nodes_missing_value_tracks_true": [1, 0, 1],
        "leaf_targetids": [0, 1, 0, 1, 1],
        "leaf_weights": tensor([0.25, -1.0, 0.5, 0.75, 0.125]),
        "tree_roots": [0, 2],
        **dict(more),
    }
    attributes |= changed
    return helper.make_node("TreeEnsemble", ["x"], ["y"], name="it", domain="ai.onnx.ml", **attributes)


ROWS = torch.cat([numbers(20, 3), torch.tensor([[0.0, -0.25, 0.5], [float("nan")] * 3, [1.0, 0.0, float("nan")]])])


@pytest.mark.parametrize("modes", [[0, 1, 2], [3, 4, 5], [5, 0, 3]])
def test_conditions_of_trees(modes):
    check(ensemble(modes), [ROWS], (len(ROWS), 2))


@pytest.mark.parametrize("aggregate", [0, 1, 2, 3])
def test_aggregates_of_trees(aggregate):
    check(ensemble([0, 0, 0], aggregate_function=aggregate), [ROWS], (len(ROWS), 2))


def test_softmax_of_the_scores_that_are_not_zero():
    check(ensemble([0, 0, 0], post_transform=3), [ROWS], (len(ROWS), 2))


def compile_model(node):
    return inlay.compile(model_of([node], {"x": (FLOAT, (3, 3))}, {"y": (FLOAT, (3, 2))}, opsets=ML), **HOST)


def test_trees_with_sets():
    sets = tensor([0.0, 1.0, 2.0, float("nan"), -1.0])
    x = torch.tensor([[2.0, 0.0, 0.0], [1.5, -1.0, 9.0], [0.0, 5.0, 0.0]])
    check(ensemble([6, 0, 6], membership_values=sets), [x], (3, 2))
    empty_first = tensor([float("nan"), 0.0, 1.0, 2.0, float("nan"), float("nan"), -1.0])
    expected = compile_model(ensemble([6, 0, 6], membership_values=sets))(x)
    torch.testing.assert_close(compile_model(ensemble([6, 0, 6], membership_values=empty_first))(x), expected)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"nodes_truenodeids": [1, 0, 9]}, "'it'.*nodes_truenodeids has a number of a node that does not exist"),
        ({"nodes_featureids": [0, 3, 1]}, r"'it'.*numbers in \[0, 3\) in nodes_featureids"),
        ({"leaf_targetids": [0, 2, 0, 1, 1]}, r"'it'.*numbers in \[0, 2\) in leaf_targetids"),
        ({"leaf_weights": tensor([0.5])}, "'it'.*5 for each leaf"),
        ({"nodes_truenodeids": [0, 0, 3]}, "the nodes of a TreeEnsemble have a cycle"),
        ({"aggregate_function": 7}, "'it'.*unknown number"),
        ({"nodes_modes": tensor([0, 9, 0], TensorProto.UINT8)}, r"'it'.*numbers in \[0, 6\] in nodes_modes"),
        ({"nodes_missing_value_tracks_true": [1]}, "'it'.*3 values for each node"),
        ({"post_transform": 1}, "'it'.*disagree about the transform of number 1"),
    ],
)
def test_wrong_trees(changed, match):
    model = model_of([ensemble([0, 0, 0], **changed)], {"x": (FLOAT, (4, 3))}, {"y": (FLOAT, (4, 2))}, opsets=ML)
    with pytest.raises(inlay.Error, match=match):
        inlay.compile(model, **HOST)(-torch.ones(4, 3))


def n_grams(**changed):
    attributes = {
        "mode": "TF",
        "min_gram_length": 1,
        "max_gram_length": 3,
        "max_skip_count": 2,
        "ngram_counts": [0, 3, 9],
        "ngram_indexes": [2, 0, 1, 5, 3, 4, 6],
        "pool_int64s": [2, 3, 5, 5, 4, 5, 6, 7, 8, 2, 3, 5],
        "weights": [0.5, 1.5, 2.0, 1.0, 3.0, 0.25, 1.0],
        **changed,
    }
    return helper.make_node("TfIdfVectorizer", ["x"], ["y"], name="it", **attributes)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("changed", [{}, {"min_gram_length": 2, "max_skip_count": 0}])
def test_tf_idf(mode, changed):
    x = torch.tensor([[2, 3, 5, 5, 4, 5, 6, 2, 3, 5], [7, 8, 5, 1, 4, 0, 6, 2, 3, 3]])
    check(n_grams(mode=mode, **changed), [x], (2, 7))


def test_tf_idf_of_one_row():
    check(n_grams(), [torch.tensor([2, 3])], (7,))


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"mode": "XY"}, "'it'.*the mode TF, IDF or TFIDF, but got 'XY'"),
        ({"pool_strings": ["a"]}, "'it'.*strings are not supported"),
        ({"ngram_counts": [0, 3, 8]}, "'it'.*do not divide a pool of 12"),
        ({"max_gram_length": 9}, r"'it'.*expected lengths in \[1, 3\]"),
        ({"weights": [1.0]}, "'it'.*expected 7 numbers"),
    ],
)
def test_wrong_n_grams(changed, match):
    model = model_of([n_grams(**changed)], {"x": (INT64, (2, 6))}, {"y": (FLOAT, (2, 7))})
    with pytest.raises(inlay.Error, match=match):
        inlay.compile(model, **HOST)


def test_dropout_in_training_scales_what_it_keeps():
    known = [("ratio", np.float32(0.25)), ("training", np.array(True))]
    node = helper.make_node("Dropout", ["x", "ratio", "training"], ["y", "mask"], seed=3)
    outputs = {"y": (FLOAT, (40, 50)), "mask": (TensorProto.BOOL, (40, 50))}
    compiled = inlay.compile(model_of([node], {"x": (FLOAT, (40, 50))}, outputs, known), **HOST)
    x = numbers(40, 50)
    y, mask = compiled(x)
    torch.testing.assert_close(y, torch.where(mask, x / 0.75, 0))
    assert 0.7 < mask.float().mean() < 0.8
    assert not torch.equal(mask, compiled(x)[1])


def test_the_ratio_of_a_dropout_in_inference_is_not_read():
    node = helper.make_node("Dropout", ["x", "ratio"], ["y"])
    inputs = {"x": (FLOAT, (2, 3)), "ratio": (FLOAT, ())}
    compiled = inlay.compile(model_of([node], inputs, {"y": (FLOAT, (2, 3))}), targets=("host",))
    assert torch.equal(compiled(numbers(2, 3), torch.tensor(0.5)), numbers(2, 3))
