# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares each ONNX op that Inlay imports with ONNX Runtime, over dtypes, dims and attributes."""

import inlay
import numpy as np
import pytest
import torch

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx_models import Known, difference, model_of_op, run_onnxruntime

K = Known


def r(*shape, seed=0, dtype=torch.float32):
    """Returns normally distributed numbers, or small integers for an integer dtype, or random bools."""
    generator = torch.Generator().manual_seed(seed + sum(shape))
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(-5, 6, shape, generator=generator, dtype=dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def at(size, *shape, seed=0):
    """Returns indices in [-size, size)."""
    return torch.randint(-size, size, shape, generator=torch.Generator().manual_seed(seed))


i32, i64, f16, f64, b1 = torch.int32, torch.int64, torch.float16, torch.float64, torch.bool
X, Y, POSITIVE, UNIT = r(2, 3, 4), r(3, 4, seed=1), r(2, 3).abs() + 0.1, torch.linspace(-0.9, 0.9, 7)
IMAGE = r(2, 3, 7, 6)
SPECIAL = torch.tensor([0.0, -0.0, 1.5, 2.5, -2.5, float("inf"), -float("inf"), float("nan")])

UNARY = "Abs Atan Ceil Cos Erf Exp Floor HardSwish IsNaN Mish Neg Relu Round Sigmoid Sign Sin Sinh Softplus Tan Tanh"
BITWISE = "BitwiseAnd BitwiseOr BitwiseXor Max Min"
COMPARISONS = "Equal Greater GreaterOrEqual Less LessOrEqual"

POINTWISE = [
    *((op, [X], {}) for op in f"{UNARY} Asinh Cosh Softsign Elu Selu Celu LeakyRelu HardSigmoid Identity".split()),
    *((op, [SPECIAL], {}) for op in ["Abs", "Ceil", "Floor", "Round", "IsNaN", "IsInf", "Relu", "Neg"]),
    *((op, [POSITIVE], {}) for op in ["Log", "Sqrt", "Reciprocal"]),
    *((op, [UNIT], {}) for op in ["Acos", "Asin", "Atanh"]),
    ("Acosh", [POSITIVE + 1], {}),
    *((op, [X, Y], {}) for op in ["Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "PRelu"]),
    *((op, [X, Y, r(1)], {}) for op in ["Max", "Min", "Sum", "Mean"]),
    *(
        (op, [r(4, 3, dtype=dtype), r(3, seed=2, dtype=dtype)], {})
        for op in COMPARISONS.split()
        for dtype in (i64, f64)
    ),
    *((op, [r(4, 3, dtype=i32), r(4, 1, dtype=i32).abs() + 1], {}) for op in ["Add", "Sub", "Mul", "Div", "Mod"]),
    *((op, [r(4, 3, dtype=i64), r(3, dtype=i64)], {}) for op in BITWISE.split()),
    *((op, [r(4, 3, dtype=b1), r(3, dtype=b1, seed=3)], {}) for op in ["And", "Or", "Xor", "Equal"]),
    *((op, [r(5, dtype=dtype)], {}) for op in ["Abs", "Neg", "Sign"] for dtype in (i32, i64, f64)),
    *((op, [r(3, 4, dtype=f16)], {}) for op in ["Abs", "Exp", "Relu", "Tanh"]),
    ("Not", [r(6, dtype=b1)], {}),
    ("BitwiseNot", [r(6, dtype=i32)], {}),
    ("Mod", [X, Y], {"fmod": 1}),
    ("Mod", [r(9, dtype=i64), K([3])], {"fmod": 1}),
    ("Where", [r(3, 1, dtype=b1), X, Y], {}),
    *(("Pow", [POSITIVE, K(power)], {}) for power in (0.5, 2.0, -1.0, [3.0])),
    ("Pow", [POSITIVE, r(3)], {}),
    ("Pow", [X, K(3)], {}),
    ("Pow", [r(5, dtype=i64), K(2)], {}),
    ("Pow", [r(5, dtype=i64), K(2.0)], {}),
    ("Clip", [X, K(-0.5), K(0.5)], {}),
    ("Clip", [X, None, K(0.5)], {}),
    ("Clip", [X, torch.tensor(-0.1)], {}),
    ("Clip", [r(9, dtype=i64), K(-2), K(3)], {}),
    ("Clip", [X], {}),
    ("Elu", [X], {"alpha": 0.3}),
    ("Selu", [X], {"alpha": 1.2, "gamma": 0.7}),
    ("Celu", [X], {"alpha": 0.5}),
    ("LeakyRelu", [X], {"alpha": 1.5}),
    ("HardSigmoid", [X * 4], {"alpha": 1 / 6}),
    ("HardSigmoid", [X * 4], {"alpha": 0.3, "beta": 0.4}),
    ("ThresholdedRelu", [X], {"alpha": 0.2}),
    ("Gelu", [X], {}),
    ("Gelu", [X], {"approximate": "tanh"}),
    ("IsInf", [SPECIAL], {"detect_negative": 0}),
    ("IsInf", [SPECIAL], {"detect_positive": 0}),
    ("IsInf", [SPECIAL], {"detect_positive": 0, "detect_negative": 0}),
    *(("Cast", [r(4, 3) * 3], {"to": to}) for to in (1, 6, 7, 9, 10, 11)),
    *(("Cast", [r(5, dtype=dtype)], {"to": 1}) for dtype in (i32, b1, f64, f16)),
    ("CastLike", [X, r(1, dtype=i64)], {}),
    ("Dropout", [X], {}),
]

REDUCING = "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp"
REDUCTIONS = [
    *((op, [X, K([1])], {}) for op in REDUCING.split()),
    *((op, [X, K([0, -1])], {"keepdims": 0}) for op in REDUCING.split()),
    *((op, [X], {}) for op in REDUCING.split()),
    *((op, [X, K([], np.int64)], {"noop_with_empty_axes": 1}) for op in ("ReduceSum", "ReduceMax")),
    *((op, [r(3, 4, dtype=i64), K([1])], {}) for op in ("ReduceSum", "ReduceMax", "ReduceProd")),
    ("ReduceMean", [r(3, 4, dtype=i32), K([1])], {}),
    ("ReduceMax", [r(3, 4, dtype=b1), K([1])], {}),
    *((op, [r(2, 0, 4), K([1])], {}) for op in ("ReduceMax", "ReduceMin")),
    ("ReduceLogSum", [POSITIVE, K([1])], {}),
    ("ReduceMax", [X], {"axes": [1]}, 17),
    ("ReduceMean", [X], {"axes": [-1], "keepdims": 0}, 17),
    *((op, [X], {"axis": axis, "keepdims": keep}) for op in ("ArgMax", "ArgMin") for axis, keep in ((0, 1), (-1, 0))),
    ("ArgMax", [r(3, 9, dtype=i32)], {"axis": 1, "select_last_index": 1}),
    ("ArgMax", [r(3, 9, dtype=i32)], {"axis": 1}),
    *(("CumSum", [X, K(axis)], {"exclusive": e, "reverse": v}) for axis in (0, -1) for e in (0, 1) for v in (0, 1)),
]

LAYOUT = [
    ("Reshape", [X, K([4, 6])], {}),
    ("Reshape", [X, K([0, -1])], {}),
    ("Reshape", [r(0, 3), K([3, 0])], {"allowzero": 1}),
    *(("Flatten", [X], {"axis": axis}) for axis in (0, 1, 3, -1)),
    ("Squeeze", [r(1, 3, 1), K([0])], {}),
    ("Squeeze", [r(1, 3, 1)], {}),
    ("Unsqueeze", [r(3, 4), K([0, -1])], {}),
    ("Transpose", [X], {}),
    ("Transpose", [X], {"perm": [1, 2, 0]}),
    ("Expand", [r(3, 1), K([2, 1, 4])], {}),
    ("Tile", [r(2, 3), K([2, 3])], {}),
    *(("DepthToSpace", [r(1, 8, 2, 3)], {"blocksize": 2, "mode": mode}) for mode in ("DCR", "CRD")),
    ("SpaceToDepth", [r(1, 2, 4, 6)], {"blocksize": 2}),
    ("Concat", [X, r(2, 1, 4), X], {"axis": 1}),
    ("Concat", [X], {"axis": -1}),
    ("Split", [X, K([1, 3])], {"axis": 2}, 20, 2),
    ("Split", [r(7, 2)], {"num_outputs": 3}, 20, 3),
    ("Split", [r(6, 2)], {}, 17, 3),
    ("Slice", [X, K([1]), K([3])], {}),
    ("Slice", [X, K([0, -1]), K([2, -9]), K([1, 2]), K([2, -1])], {}),
    ("Slice", [X, K([3]), K([-(2**63)]), K([-1]), K([-2])], {}),
    ("Slice", [X, K([1]), K([2**63 - 1]), K([1])], {}),
    ("Slice", [X, K([2]), K([2]), K([1])], {}),
    *(("Trilu", [X, K(k)], {"upper": upper}) for k in (-1, 0, 1) for upper in (0, 1)),
    ("Pad", [X, K([0, 1, 0, 2, 0, 1]), K(1.5)], {}),
    ("Pad", [X, K([0, 1, 0, 0, -1, 2])], {}),
    *(("Pad", [X, K([0, 1, 2, 0, 2, 1])], {"mode": mode}) for mode in ("reflect", "edge")),
    ("Pad", [X, K([1, 2]), None, K([2])], {}),
    ("Pad", [X, K([1, 2]), None, K([-1])], {"mode": "wrap"}),
    ("Constant", [], {"value_floats": [1.0, 2.0]}),
    ("Constant", [], {"value_int": 3}),
    ("ConstantOfShape", [K([2, 3])], {}),
    ("Range", [K(1), K(9), K(3)], {}),
    ("Range", [K(1.0), K(-2.0), K(-0.5)], {}),
    ("EyeLike", [r(3, 4)], {"k": 1}),
    ("Shape", [X], {"start": 1}),
    ("Shape", [X], {"end": -1}),
    ("Size", [X], {}),
]

NEURAL = [
    ("Conv", [IMAGE, r(4, 3, 3, 3)], {}),
    ("Conv", [IMAGE, r(4, 3, 3, 2), r(4)], {"pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}),
    ("Conv", [IMAGE, r(6, 1, 3, 3)], {"group": 3, "pads": [1, 1, 1, 1]}),
    *(
        ("Conv", [IMAGE, r(4, 3, 4, 3)], {"auto_pad": m, "strides": [2, 2]})
        for m in ("SAME_UPPER", "SAME_LOWER", "VALID")
    ),
    ("Conv", [r(1, 3, 9), r(2, 3, 3), r(2)], {"pads": [1, 1]}),
    ("Conv", [r(1, 2, 4, 4, 4), r(2, 2, 2, 2, 2)], {}),
    (
        "ConvTranspose",
        [IMAGE, r(3, 2, 3, 3), r(2)],
        {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
    ),
    ("ConvTranspose", [IMAGE, r(3, 2, 3, 3)], {"strides": [2, 2], "pads": [0, 1, 1, 0]}),
    ("ConvTranspose", [IMAGE, r(3, 2, 3, 3)], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("ConvTranspose", [IMAGE, r(3, 2, 3, 3)], {"strides": [2, 2], "output_shape": [14, 13]}),
    ("MaxPool", [IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("MaxPool", [IMAGE], {"kernel_shape": [3, 2], "pads": [0, 0, 1, 1], "dilations": [2, 1]}),
    ("MaxPool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", [r(1, 2, 9)], {"kernel_shape": [4], "auto_pad": "SAME_LOWER", "strides": [2]}),
    ("AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("AveragePool", [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("AveragePool", [IMAGE], {"kernel_shape": [3, 2], "pads": [0, 0, 2, 1], "strides": [2, 2]}),
    ("AveragePool", [IMAGE], {"kernel_shape": [2, 2], "pads": [0, 1, 1, 0], "count_include_pad": 1}),
    ("GlobalAveragePool", [IMAGE], {}),
    ("GlobalMaxPool", [IMAGE], {}),
    ("MatMul", [X, r(4, 5)], {}),
    ("MatMul", [X, r(4)], {}),
    ("MatMul", [r(2, 1, 3, 4), r(5, 4, 2)], {}),
    ("Gemm", [r(2, 3), r(4, 3), r(4)], {"transB": 1}),
    ("Gemm", [r(3, 2), r(3, 4), r(2, 1)], {"transA": 1, "alpha": 0.5, "beta": 2.0}),
    ("Gemm", [r(2, 3), r(3, 4)], {"alpha": 0.5}),
    ("Einsum", [X, r(2, 5, 4)], {"equation": "bij,bkj->bik"}),
    ("BatchNormalization", [IMAGE, r(3), r(3), r(3), r(3).abs() + 0.1], {"epsilon": 1e-3}),
    ("InstanceNormalization", [IMAGE, r(3), r(3)], {}),
    ("GroupNormalization", [r(2, 6, 4), r(6), r(6)], {"num_groups": 3}, 21),
    ("LayerNormalization", [X, r(4), r(4)], {}),
    ("LayerNormalization", [X, r(3, 4)], {"axis": 1}, 17),
    ("LayerNormalization", [X, r(4), r(4)], {}, 17, 3),
    ("LayerNormalization", [X, r(1), r(1)], {}),
    ("RMSNormalization", [X, r(4)], {}, 23),
    ("LpNormalization", [X], {"axis": 1}),
    ("LpNormalization", [X], {"p": 1}),
    *((op, [X], {"axis": axis}) for op in ("Softmax", "LogSoftmax") for axis in (1, -1)),
    ("Softmax", [torch.tensor([[-float("inf"), 1.0, 2.0]])], {}),
    ("Attention", [r(1, 2, 3, 8), r(1, 2, 5, 8), r(1, 2, 5, 8, seed=2)], {}, 23),
    ("Attention", [r(1, 3, 16), r(1, 5, 8), r(1, 5, 8, seed=2)], {"q_num_heads": 4, "kv_num_heads": 2}, 23),
    ("Attention", [r(1, 2, 4, 8), r(1, 2, 4, 8), r(1, 2, 4, 8, seed=2)], {"is_causal": 1, "scale": 0.5}, 23),
    ("Attention", [r(1, 2, 3, 8), r(1, 2, 5, 8), r(1, 2, 5, 8, seed=2), r(3, 5)], {}, 23),
]

COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
ALIGNED = {"coordinate_transformation_mode": "align_corners"}
CROP = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 2.5}
RESIZE = [
    (
        "Resize",
        [IMAGE, None, K([1.0, 1.0, 2.0, 2.0])],
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
    *(
        ("Resize", [IMAGE, None, None, K([2, 3, 10, 4])], {"mode": mode, "coordinate_transformation_mode": where})
        for mode in ("linear", "cubic")
        for where in COORDINATES
    ),
    *(
        (
            "Resize",
            [IMAGE, None, K([1.0, 1.0, 1.6, 0.7])],
            {"nearest_mode": how, "coordinate_transformation_mode": where},
        )
        for how in ROUNDINGS
        for where in COORDINATES
        if where != "align_corners"
    ),
    *(("Resize", [IMAGE, None, None, K([2, 3, 11, 4])], {"nearest_mode": how, **ALIGNED}) for how in ROUNDINGS),
    *(
        ("Resize", [IMAGE, K([0.0, 0, 0.2, -0.1, 1, 1, 0.7, 1.2]), None, K([2, 3, 5, want])], {"mode": mode, **CROP})
        for mode in ("nearest", "linear", "cubic")
        for want in (1, 9)
    ),
    *(
        ("Resize", [IMAGE, None, None, K([2, 3, 3, 2])], {"mode": mode, "antialias": 1, "exclude_outside": 1})
        for mode in ("linear", "cubic")
    ),
    ("Resize", [IMAGE, None, None, K([9, 9])], {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}),
    ("Resize", [IMAGE, None, K([1.0, 1.0, 2.5, 2.5])], {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5}),
]

INDEXING = [
    *(("Gather", [X, at(X.shape[axis], 2, 3)], {"axis": axis}) for axis in (0, 1, -1)),
    ("Gather", [X, at(3, 2).to(i32)], {"axis": 1}),
    ("Gather", [X, K(-1)], {"axis": 1}),
    ("Gather", [X, K([[0, -1]])], {"axis": 2}),
    ("Gather", [r(5, dtype=i64), K([1, 2])], {}),
    ("GatherElements", [X, at(3, 2, 3, 4)], {"axis": 1}),
    ("GatherElements", [X, K([[[0, 1]]])], {"axis": 2}),
    ("GatherND", [X, at(2, 5, 2)], {}),
    ("GatherND", [X, at(3, 2, 5, 1)], {"batch_dims": 1}),
    ("ScatterElements", [X, at(1, 2, 3, 4), r(2, 3, 4, seed=4)], {"axis": 1}),
    *(
        ("ScatterElements", [X, at(3, 2, 3, 4), r(2, 3, 4)], {"axis": 1, "reduction": how})
        for how in ("add", "mul", "max", "min")
    ),
    ("ScatterND", [X, K([[0, 1], [1, -1]]), r(2, 4)], {}),
    ("ScatterND", [X, K([[0], [0]]), r(2, 3, 4)], {"reduction": "add"}),
    ("OneHot", [at(4, 2, 3), K(4), K([0.5, 2.0])], {}),
    ("OneHot", [at(4, 5), K(4), K([0, 1])], {"axis": 0}),
    ("TopK", [X, K([2])], {}, 20, 2),
    ("TopK", [torch.tensor([1.0, 3.0, 3.0, 1.0, 3.0, 3.0, 1.0]), K([3])], {}, 20, 2),
    ("TopK", [X, K([2])], {"axis": 0, "largest": 0}, 20, 2),
]


def recurrent(op, gates, directions=1, bias=True, states=0, ends=None, peepholes=False, **attributes):
    """Returns a recurrent layer of 4 units for 5 steps of 2 sequences of 3 numbers.

    ends: the lengths of the sequences.
    """
    weights = [K(r(directions, gates * 4, 3).numpy() * 0.5), K(r(directions, gates * 4, 4).numpy() * 0.5)]
    weights += [K(r(directions, gates * 8).numpy()) if bias else None, ends]
    given = [r(directions, 2, 4, seed=seed) for seed in range(states)]
    given += [*[None] * (2 - states), r(directions, 12)] if peepholes else []
    return op, [r(5, 2, 3), *weights, *given], {"hidden_size": 4, **attributes}, 20, 3 if op == "LSTM" else 2


RECURRENT = [
    recurrent("LSTM", 4),
    recurrent("LSTM", 4, 2, direction="bidirectional", states=2),
    recurrent("LSTM", 4, bias=False, direction="reverse"),
    recurrent("GRU", 3, linear_before_reset=1, states=1),
    recurrent("GRU", 3, 2, linear_before_reset=1, direction="bidirectional"),
    recurrent("RNN", 1),
    recurrent("RNN", 1, direction="reverse", activations=["Relu"]),
    recurrent("LSTM", 4, 2, direction="bidirectional", states=2, ends=torch.tensor([3, 5], dtype=i32), peepholes=True),
    recurrent("LSTM", 4, peepholes=True, clip=0.5, input_forget=1),
    recurrent(
        "LSTM",
        4,
        activations=["HardSigmoid", "Elu", "Affine"],
        activation_alpha=[0.3, 0.8, 0.9],
        activation_beta=[0.4, 0.1],
    ),
    recurrent("GRU", 3, linear_before_reset=0, states=1, direction="reverse", ends=torch.tensor([5, 2], dtype=i32)),
    recurrent("GRU", 3, 2, linear_before_reset=0, direction="bidirectional", clip=0.7),
    recurrent("RNN", 1, 2, direction="bidirectional", activations=["Softsign", "LeakyRelu"], activation_alpha=[0.2]),
]

CASES = [*POINTWISE, *REDUCTIONS, *LAYOUT, *NEURAL, *RESIZE, *RECURRENT, *INDEXING]


def name_of(case):
    parts = [case[0], *("x".join(map(str, one.shape)) for one in case[1] if isinstance(one, torch.Tensor))]
    return "-".join([*parts, *(f"{key}={value}" for key, value in case[2].items())]).replace(" ", "")


FIRST = list({case[0]: case for case in reversed(CASES)}.values())


def check(case, targets):
    model, arguments = model_of_op(*case)
    expected = run_onnxruntime(model, arguments)
    got = inlay.compile(model, targets=targets)(*arguments)
    half = any(one.dtype == np.float16 for one in expected)
    assert difference(got, expected) <= (2e-3 if half else 1e-5)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_op_equals_onnxruntime(case):
    check(case, ("torch",))


@pytest.mark.parametrize("case", FIRST, ids=name_of)
def test_op_compiles(case):
    check(case, ("host", "torch"))
