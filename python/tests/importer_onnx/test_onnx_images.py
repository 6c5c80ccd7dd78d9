# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares pooling, convolution, sampling and signal processing with ONNX Runtime, over attributes."""

import inlay
import pytest
import torch

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx_models import Known, difference, model_of, model_of_op, run_onnxruntime

K = Known


def r(*shape, seed=0):
    """Returns normally distributed numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


IMAGE, LINE, VOLUME = r(2, 4, 7, 6), r(2, 4, 9), r(1, 2, 5, 4, 6)
SQUARE, UNEVEN = {"kernel_shape": [3, 3]}, {"kernel_shape": [3, 3], "pads": [0, 1, 2, 0]}

POOLING = [
    *(
        (op, [IMAGE], attributes)
        for op in ("AveragePool", "LpPool", "MaxPool")
        for attributes in [
            {**SQUARE, "strides": [2, 2], "pads": [1, 1, 1, 1]},
            {**SQUARE, "strides": [2, 3], "ceil_mode": 1},
            {**UNEVEN, "strides": [2, 2]},
            {**UNEVEN, "dilations": [2, 1], "strides": [2, 2]},
            {"kernel_shape": [2, 3], "auto_pad": "SAME_LOWER", "strides": [2, 2]},
        ]
    ),
    *(("MaxPool", [IMAGE], {**UNEVEN, "strides": [2, 2], "storage_order": order}, 22, 2) for order in (0, 1)),
    ("MaxPool", [IMAGE], {**SQUARE, "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1}, 22, 2),
    ("MaxPool", [LINE], {"kernel_shape": [3], "strides": [2], "pads": [1, 0]}, 22, 2),
    ("MaxPool", [VOLUME], {"kernel_shape": [2, 2, 2], "strides": [2, 1, 2]}, 22, 2),
    ("MaxPool", [(IMAGE * 20).to(torch.int8)], SQUARE, 22),
    ("AveragePool", [IMAGE], {**UNEVEN, "count_include_pad": 1}),
    ("AveragePool", [VOLUME], {"kernel_shape": [2, 2, 2], "dilations": [2, 1, 1]}, 22),
    ("LpPool", [LINE], {"kernel_shape": [3], "p": 3}),
    ("GlobalLpPool", [IMAGE], {"p": 3}),
    ("MaxUnpool", [r(1, 1, 2, 2), torch.tensor([[[[5, 7], [13, 15]]]])], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("LRN", [IMAGE], {"size": 3, "alpha": 0.3, "beta": 0.6, "bias": 1.5}),
]

WEIGHT = r(4, 2, 3, 3)
CONVOLUTION = [
    ("Conv", [IMAGE, r(2, 4, 3, 3)], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    ("Conv", [VOLUME, r(2, 1, 2, 2, 2)], {"group": 2, "pads": [1, 0, 0, 0, 1, 0]}),
    ("ConvTranspose", [IMAGE, WEIGHT, r(2)], {"strides": [2, 2], "output_shape": [15, 13]}),
    ("ConvTranspose", [IMAGE, WEIGHT, r(2)], {"strides": [2, 2], "output_shape": [16, 13]}),
    ("ConvTranspose", [IMAGE, WEIGHT], {"strides": [3, 2], "output_padding": [2, 1], "group": 2}),
    ("ConvTranspose", [IMAGE, WEIGHT, r(2)], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("ConvTranspose", [LINE, r(4, 2, 3)], {"strides": [2], "dilations": [2], "pads": [2, 1]}),
    ("DeformConv", [IMAGE, r(4, 4, 2, 2), r(2, 8, 6, 5)], {}, 22),
    (
        "DeformConv",
        [IMAGE, r(2, 2, 3, 3), r(2, 36, 4, 3), r(2), r(2, 18, 4, 3)],
        {"group": 2, "offset_group": 2, "strides": [2, 2], "pads": [1, 1, 1, 1]},
        22,
    ),
    ("Col2Im", [r(1, 18, 20), K([5, 6]), K([3, 3])], {"pads": [1, 0, 1, 0]}),
    ("Col2Im", [r(1, 18, 20), torch.tensor([5, 6]), torch.tensor([3, 3])], {"pads": [1, 0, 1, 0]}),
]

ROIS, BATCHES = torch.tensor([[0.5, 1.0, 5.5, 4.0], [-1.0, 2.0, 3.0, 9.0], [2.0, 2.0, 2.0, 2.0]]), K([0, 1, 0])
REGIONS = torch.tensor([[0.0, 1.0, 1.0, 5.0, 4.0], [1.0, 0.0, 2.0, 3.0, 9.0]])
GRID = torch.rand(2, 5, 4, 2, generator=torch.Generator().manual_seed(1)) * 2.6 - 1.3
SAMPLING = [
    *(
        ("GridSample", [IMAGE, GRID], {"mode": mode, "padding_mode": padding, "align_corners": aligned})
        for mode in ("linear", "nearest", "cubic")
        for padding in ("zeros", "border", "reflection")
        for aligned in (0, 1)
    ),
    ("GridSample", [VOLUME, torch.rand(1, 2, 3, 4, 3) * 2 - 1], {"mode": "linear"}),
    *(
        ("RoiAlign", [IMAGE, ROIS, BATCHES], {"output_height": 3, "output_width": 2, "sampling_ratio": ratio, **more})
        for ratio in (0, 2)
        for more in ({}, {"mode": "max"}, {"coordinate_transformation_mode": "output_half_pixel", "spatial_scale": 0.7})
    ),
    ("MaxRoiPool", [IMAGE, REGIONS], {"pooled_shape": [2, 3], "spatial_scale": 0.8}),
]

SIGNAL = r(2, 16, 1)
SIGNALS = [
    *(("DFT", [SIGNAL], {"axis": 1, "onesided": onesided}, 17) for onesided in (0, 1)),
    ("DFT", [SIGNAL, K(12), K(1)], {"onesided": 1}),
    ("DFT", [r(2, 16, 2), K(20), K(-2)], {"inverse": 1}),
    ("STFT", [SIGNAL, K(3), r(8).abs(), K(8)], {"onesided": 1}),
    ("STFT", [SIGNAL, K(4), None, K(8)], {"onesided": 0}),
    ("MelWeightMatrix", [K(8), K(64), K(16000), K(20.0), K(7000.0)], {}),
]

# The scales and sizes of these nodes are known only at a call.
OPEN_SIZES = [
    ("Resize", [IMAGE, None, torch.tensor([1.0, 1.0, 1.7, 0.6])], {"mode": mode}) for mode in ("nearest", "linear")
]
OPEN_SIZES.append(("Resize", [IMAGE, None, None, torch.tensor([2, 4, 5, 9])], {"mode": "cubic"}))

CASES = [*POOLING, *CONVOLUTION, *SAMPLING, *SIGNALS, *OPEN_SIZES]


def name_of(case):
    parts = [case[0], *("x".join(map(str, one.shape)) for one in case[1] if isinstance(one, torch.Tensor))]
    return "-".join([*parts, *(f"{key}={value}" for key, value in case[2].items())]).replace(" ", "")


def check(case, targets):
    op, operands, attributes, opset, outputs = (*case, *(20, 1)[len(case) - 3 :])
    model, arguments = model_of_op(op, operands, attributes, opset, outputs)
    got = inlay.compile(model, targets=targets)(*arguments)
    assert difference(got, run_onnxruntime(model, arguments)) <= 1e-5


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_op_equals_onnxruntime(case):
    check(case, ("torch",))


FIRST = list({case[0]: case for case in reversed(CASES)}.values())


@pytest.mark.parametrize("case", FIRST, ids=name_of)
def test_op_compiles(case):
    check(case, ("host", "torch"))


def test_fractional_size_with_aligned_corners_is_refused():
    case = ("Resize", [IMAGE, None, K([1.0, 1.0, 1.7, 1.0])], {"coordinate_transformation_mode": "align_corners"})
    with pytest.raises(inlay.UnsupportedError, match="disagree about aligned corners"):
        check(case, ("torch",))


def test_resize_of_open_dims():
    from onnx import TensorProto, helper, numpy_helper

    scales = numpy_helper.from_array(torch.tensor([1.0, 1.0, 2.0, 2.0]).numpy(), "scales")
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear")
    sides = {"x": (TensorProto.FLOAT, ["batch", 3, "height", "width"])}
    model = model_of([node], sides, {"y": (TensorProto.FLOAT, [None] * 4)}, [scales])
    compiled = inlay.compile(model, targets=("host", "torch"))
    for sizes in ((1, 4, 5), (2, 7, 3)):
        x = r(sizes[0], 3, *sizes[1:])
        assert difference(compiled(x), run_onnxruntime(model, [x])) <= 1e-6
