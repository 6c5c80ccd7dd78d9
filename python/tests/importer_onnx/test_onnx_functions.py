# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests ops that are imported through the function by which the ONNX specification defines them."""

import inlay
import onnx.parser
import pytest
import torch

pytest.importorskip("onnxruntime")

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


def test_message_names_the_node_in_the_function_and_the_call():
    text = """
    <ir_version: 10, opset_import: ["": 22]>
    graph (float[4] x) => (float[4] y) { [draw] y = Bernoulli<dtype = 1>(x) }
    """
    with pytest.raises(inlay.UnsupportedError, match=r"'draw\.RandomUniformLike'.*in the function of node 0, 'draw'"):
        inlay.compile(onnx.parser.parse_model(text))
