# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests ops that are imported through the function by which the ONNX specification defines them."""

import inlay
import onnx.parser
import pytest
import torch

pytest.importorskip("onnxruntime")

from inlay._import.onnx.handlers import random_numbers
from onnx_models import difference, model_of_op, run_onnxruntime


def check(*case):
    model, arguments = model_of_op(*case)
    got = inlay.compile(model, targets=("torch",))(*arguments)
    assert difference(got, run_onnxruntime(model, arguments)) <= 1e-5


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_loss(reduction):
    labels = torch.tensor([0, 2, 1, 3])
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        check(op, [torch.rand(4, 5), labels, torch.rand(5)], {"reduction": reduction, "ignore_index": 2})


def test_attention_with_past_and_softcap():
    q, k, v = torch.randn(2, 4, 3, 8), torch.randn(2, 2, 3, 8), torch.randn(2, 2, 3, 8)
    past = [torch.randn(2, 2, 5, 8), torch.randn(2, 2, 5, 8)]
    check("Attention", [q, k, v, None, *past], {"is_causal": 1, "softcap": 2.0}, 23, 3)


def parsed(node, dims="3, 4"):
    """Returns a model of a node as text, which takes x and returns y."""
    text = f"""
    <ir_version: 10, opset_import: ["": 22]>
    graph (float[{dims}] x) => (float[{dims}] y) {{ {node} }}
    """
    return onnx.parser.parse_model(text)


def test_message_names_the_node_in_the_function_and_the_call(monkeypatch):
    def refuse(like, call):
        raise call.unsupported("no numbers today")

    monkeypatch.setattr(random_numbers, "_handle_uniform", refuse)
    expected = r"'draw\.RandomUniformLike'.*, in the function of node 0, 'draw' .*: no numbers today"
    with pytest.raises(inlay.UnsupportedError, match=expected):
        inlay.compile(parsed("[draw] y = Bernoulli(x)"), targets=("torch",))


def test_axes_of_mean_variance_normalization_have_a_default():
    check("MeanVarianceNormalization", [torch.randn(2, 3, 4, 5)], {})
    check("MeanVarianceNormalization", [torch.randn(2, 3, 4, 5)], {"axes": [0, 2]})


def test_batch_normalization_in_training():
    vectors = [torch.rand(3) + 0.5 for _ in range(4)]
    check("BatchNormalization", [torch.randn(2, 3, 4), *vectors], {"training_mode": 1, "momentum": 0.7}, 15, 3)


# -- Random numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [("torch",), ("host", "torch")])
@pytest.mark.parametrize(
    "node",
    [
        "y = RandomNormalLike<mean = 5.0, scale = 0.5>(x)",
        "y = RandomUniform<shape = [2000], low = 4.0, high = 6.0>()",
        "p = RandomUniformLike<low = 0.0, high = 1.0>(x)\n b = Bernoulli(p)\n ten = Constant<value_float = 10.0>()"
        "\n y = Mul(b, ten)",
    ],
)
def test_each_call_draws_numbers(node, targets):
    compiled = inlay.compile(parsed(node, "2000"), targets=targets)
    torch.manual_seed(3)
    first, second = compiled(torch.ones(2000)), compiled(torch.ones(2000))
    torch.manual_seed(3)
    assert not torch.equal(first, second) and torch.equal(compiled(torch.ones(2000)), first)
    assert abs(first.mean() - 5) < 0.5
