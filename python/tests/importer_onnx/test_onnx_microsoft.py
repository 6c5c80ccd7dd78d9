# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares ops of the domain com.microsoft with ONNX Runtime, over dims and attributes."""

import inlay
import numpy as np
import onnx
import pytest
import torch

pytest.importorskip("onnxruntime")

from onnx import helper
from onnx_models import Known, difference, model_of, model_of_op, run_onnxruntime

K = Known
DOMAIN = "com.microsoft"


def r(*shape, seed=0, dtype=torch.float32):
    """Returns normally distributed numbers, or small integers for an integer dtype."""
    generator = torch.Generator().manual_seed(seed + sum(shape))
    if not dtype.is_floating_point:
        return torch.randint(0, 6, shape, generator=generator, dtype=dtype)
    return torch.randn(shape, generator=generator).to(dtype)


IMAGE, KERNEL, TOKENS = r(2, 3, 7, 6), r(4, 3, 3, 3), r(2, 5, 8)

FUSED = [
    *(
        ("FusedConv", [IMAGE, KERNEL, r(4)], {"activation": name, "pads": [1] * 4, **parameters})
        for name, parameters in [
            ("Relu", {}),
            ("LeakyRelu", {"activation_params": [0.3]}),
            ("Tanh", {}),
            ("Sigmoid", {}),
            ("Clip", {"activation_params": [-0.2, 0.4]}),
            ("HardSigmoid", {"activation_params": [0.3, 0.4]}),
        ]
    ),
    ("FusedConv", [IMAGE, KERNEL, r(4), r(2, 4, 5, 4)], {"activation": "Relu"}),
    *(
        ("FusedGemm", [r(3, 4), r(5, 4), r(5)], {"transB": 1, "alpha": 0.5, "activation": name, **parameters})
        for name, parameters in [
            ("Relu", {}),
            ("LeakyRelu", {"activation_alpha": 0.3}),
            ("Elu", {"activation_alpha": 0.3}),
            ("Selu", {"activation_alpha": 1.3, "activation_gamma": 0.8}),
            ("Celu", {"activation_alpha": 0.3}),
            ("ThresholdedRelu", {"activation_alpha": 0.3}),
            ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}),
            ("Softsign", {}),
            ("Softplus", {}),
        ]
    ),
    ("FusedMatMul", [r(2, 3, 4), r(2, 5, 4)], {"transB": 1, "alpha": 0.25}),
    ("FusedMatMul", [r(4, 3), r(2, 4, 5)], {"transA": 1}),
    ("FusedMatMul", [r(3, 2, 4), r(2, 4, 5)], {"transBatchA": 1}),
    ("FusedMatMul", [r(4, 2, 3), r(4, 2, 5)], {"transA": 1, "transBatchA": 1, "transBatchB": 1}),
    ("FusedMatMul", [r(4), r(2, 4, 5)], {"transA": 1}),
    ("TransposeMatMul", [r(2, 4, 3), r(2, 4, 5)], {"transA": 1, "alpha": 2.0}),
    ("ConvTransposeWithDynamicPads", [IMAGE, r(3, 4, 3, 3), K([1, 0, 1, 2]), r(4)], {"strides": [2, 2]}),
    ("Inverse", [r(2, 3, 3) + 4 * torch.eye(3)], {}),
]

ACTIVATIONS = [
    ("Gelu", [TOKENS], {}),
    ("BiasGelu", [TOKENS, r(8)], {}),
    ("FastGelu", [TOKENS], {}),
    ("FastGelu", [TOKENS, r(8)], {}),
    ("QuickGelu", [TOKENS], {}),
    ("QuickGelu", [TOKENS], {"alpha": 0.7}),
]

IDS = r(2, 5, dtype=torch.int32)
EMBEDDINGS = [r(6, 8), r(9, 8, seed=1), r(6, 8, seed=2), r(8), r(8, seed=1)]
NORMALIZATION = [
    ("SkipLayerNormalization", [TOKENS, r(2, 5, 8, seed=1), r(8)], {}),
    ("SkipLayerNormalization", [TOKENS, r(5, 8), r(8), r(8, seed=1), r(8, seed=2)], {"epsilon": 0.1}),
    ("SkipLayerNormalization", [TOKENS, r(1, 5, 8), r(8), r(8, seed=1), r(8, seed=2)], {}, (0, 3)),
    ("SkipSimplifiedLayerNormalization", [TOKENS, r(2, 5, 8, seed=1), r(8), r(8, seed=2)], {"epsilon": 0.1}, (0, 3)),
    ("EmbedLayerNormalization", [IDS, IDS, *EMBEDDINGS], {"epsilon": 1e-5}, (0, 1)),
    ("EmbedLayerNormalization", [IDS, None, *EMBEDDINGS[:2], None, *EMBEDDINGS[3:]], {}, (0, 1)),
    ("EmbedLayerNormalization", [IDS, IDS, *EMBEDDINGS, (IDS > 2).to(torch.int32), IDS], {}, (0, 1, 2)),
]

CASES = [*FUSED, *ACTIVATIONS, *NORMALIZATION]


def name_of(case):
    parts = [case[0], *("x".join(map(str, one.shape)) for one in case[1] if isinstance(one, torch.Tensor))]
    return "-".join([*parts, *(f"{key}={value}" for key, value in case[2].items())]).replace(" ", "")


FIRST = list({case[0]: case for case in reversed(CASES)}.values())


def check(op, operands, attributes, outputs=(0,), targets=("torch",), tolerance=1e-5):
    model, arguments = model_of_op(op, operands, attributes, 20, outputs, DOMAIN)
    expected = run_onnxruntime(model, arguments)
    got = inlay.compile(model, targets=targets)(*arguments)
    assert difference(got, expected) <= tolerance


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_op_equals_onnxruntime(case):
    check(*case)


@pytest.mark.parametrize("case", FIRST, ids=name_of)
def test_op_compiles(case):
    check(*case, targets=("host", "torch"))


# -- Ops that ONNX Runtime has no kernel of for CPUs ------------------------------------------------------------------


def run(op, operands, rank=3, **attributes):
    """Returns the result of a node in PyTorch. rank: of the result."""
    names = [f"x{number}" for number in range(len(operands))]
    inputs = {
        name: (helper.np_dtype_to_tensor_dtype(one.numpy().dtype), tuple(one.shape))
        for name, one in zip(names, operands, strict=True)
    }
    node = helper.make_node(op, names, ["y"], domain=DOMAIN, **attributes)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(DOMAIN, 1)]
    outputs = {"y": (onnx.TensorProto.FLOAT, [None] * rank)}
    return inlay.compile(model_of([node], inputs, outputs, opsets=opsets), targets=("torch",))(*operands)


def test_bias_add():
    x, bias, skip = r(2, 4, 8), r(8), r(2, 4, 8, seed=1)
    torch.testing.assert_close(run("BiasAdd", [x, bias, skip]), x + bias + skip)


def test_bias_split_gelu():
    x, bias = r(2, 4, 8), r(8)
    left, right = (x + bias).chunk(2, dim=-1)
    torch.testing.assert_close(run("BiasSplitGelu", [x, bias]), left * torch.nn.functional.gelu(right))


def test_nhwc_conv():
    result = run("NhwcConv", [IMAGE.permute(0, 2, 3, 1).contiguous(), KERNEL, r(4)], 4, pads=[1, 1, 1, 1])
    expected = torch.nn.functional.conv2d(IMAGE, KERNEL, r(4), padding=1).permute(0, 2, 3, 1)
    torch.testing.assert_close(result, expected)


# -- Domains ----------------------------------------------------------------------------------------------------------


def test_attribute_of_unknown_meaning_is_refused():
    with pytest.raises(inlay.UnsupportedError, match="'sharpness' is not supported"):
        run("Gelu", [r(3)], sharpness=2)


def test_unknown_op_is_refused():
    with pytest.raises(inlay.UnsupportedError, match=r"Gelo of domain 'com.microsoft'.*can't import.*'Gelu'"):
        run("Gelo", [r(3)])


def test_simplified_layer_normalization_of_the_default_domain():
    x, scale = r(2, 5, 8), r(8)
    inputs = {"x": (onnx.TensorProto.FLOAT, (2, 5, 8)), "scale": (onnx.TensorProto.FLOAT, (8,))}
    node = helper.make_node("SimplifiedLayerNormalization", ["x", "scale"], ["y", "inverse"], epsilon=0.1)
    outputs = {"y": (onnx.TensorProto.FLOAT, (2, 5, 8)), "inverse": (onnx.TensorProto.FLOAT, (2, 5, 1))}
    model = model_of([node], inputs, outputs)
    expected = run_onnxruntime(model, [x, scale])
    assert difference(inlay.compile(model, targets=("torch",))(x, scale), expected) <= 1e-6
    assert np.isfinite(expected[1]).all()
