# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the versions of ONNX ops: each is taken as it is, changed to a newer form, or refused."""

import itertools

import inlay
import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from inlay._import.onnx.handlers import all_handlers  # noqa: E402
from inlay._import.onnx.versions import OLDEST, TAKEN, UPGRADES  # noqa: E402
from onnx import TensorProto, defs, helper  # noqa: E402
from onnx_models import Known, difference, model_of, model_of_op, run_onnxruntime  # noqa: E402

HOST = {"targets": ("host", "torch")}
SCHEMAS = [one for one in defs.get_all_schemas_with_history() if one.domain == ""]
OWN = [op.name for op in all_handlers() if op.domain == ""]


def history(op):
    """Returns the specifications of an op that are valid in some version from OLDEST on."""
    found = sorted((one for one in SCHEMAS if one.name == op), key=lambda one: one.since_version)
    first = max((one.since_version for one in found if one.since_version <= OLDEST), default=0)
    return [
        one
        for one in found
        if one.since_version >= first and (not one.deprecated or (op, one.since_version) in UPGRADES)
    ]


@pytest.mark.parametrize("op", [*OWN, "Upsample", "Scatter"])
def test_every_version_is_taken_changed_or_refused(op):
    for schema in history(op):
        key = (op, schema.since_version)
        ways = [schema.since_version in TAKEN.get(op, ()), key in UPGRADES]
        assert ways.count(True) == 1, f"version {key[1]} of {op}: add it to TAKEN or to UPGRADES"
        if key in UPGRADES:
            newer = (UPGRADES[key].op or op, UPGRADES[key].version)
            assert newer[1] in TAKEN.get(newer[0], ()) or newer in UPGRADES


def default_of(attribute):
    return helper.get_attribute_value(attribute.default_value) if attribute.default_value.type else None


@pytest.mark.parametrize("op", OWN)
def test_versions_that_are_taken_have_one_form(op):
    """A newer version may only add attributes and inputs that can be left out."""
    taken = [schema for schema in history(op) if schema.since_version in TAKEN[op]]
    for old, new in itertools.pairwise(taken):
        for name, attribute in old.attributes.items():
            assert name in new.attributes, f"{op} {new.since_version} has no {name}"
            assert attribute.type == new.attributes[name].type
            assert default_of(attribute) == default_of(new.attributes[name])
        assert not any(one.required and name not in old.attributes for name, one in new.attributes.items())
        assert new.min_input <= old.min_input and new.max_input >= old.max_input
        assert new.min_output <= old.min_output
        assert [one.name.lower() for one in new.inputs[: len(old.inputs)]] == [one.name.lower() for one in old.inputs]


def numbers(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


K, X = Known, numbers(2, 3, 4)
IMAGE = numbers(1, 2, 6, 6)
SPECIAL = torch.tensor([0.5, -3.0, float("inf"), -float("inf"), float("nan")])
# Op, version of ONNX, operands, attributes and, if not 1, the number of outputs.
OLD = [
    *(("Softmax", version, [X], {}) for version in (7, 11, 12)),
    *((op, 11, [X], {"axis": axis}) for op in ("Softmax", "LogSoftmax") for axis in (0, 1, 2, -1)),
    ("Softmax", 13, [X], {}),
    ("Softmax", 9, [numbers(2, 5, 1, 1)], {}),
    ("Clip", 6 + 1, [SPECIAL], {}),
    ("Clip", 10, [SPECIAL], {"min": -1.0}),
    ("Clip", 10, [X], {"min": -0.5, "max": 0.5}),
    ("Clip", 11, [X, K(np.float32(0))], {}),
    ("Pad", 9, [X], {"pads": [0, 1, 2, 1, 0, 0], "value": 2.5}),
    ("Pad", 10, [X], {"pads": [0, 1, 2, 1, 0, 0], "mode": "edge"}),
    ("Pad", 11, [X, K([0, 1, 2, 1, 0, 0])], {}),
    ("Slice", 9, [X], {"starts": [0, 1], "ends": [1, 1000], "axes": [0, 2]}),
    ("Slice", 9, [X], {"starts": [-1], "ends": [9]}),
    ("Slice", 10, [X, K([0]), K([2]), K([1]), K([2])], {}),
    ("Split", 11, [X], {"axis": 2, "split": [1, 3]}, 2),
    ("Split", 7, [X], {"axis": 2}, 2),
    ("Split", 13, [X, K([1, 3])], {"axis": 2}, 2),
    ("Squeeze", 11, [numbers(1, 3, 1)], {"axes": [0]}),
    ("Squeeze", 7, [numbers(1, 3, 1)], {}),
    ("Unsqueeze", 11, [X], {"axes": [0, -1]}),
    ("Unsqueeze", 7, [X], {"axes": [1]}),
    ("TopK", 9, [X], {"k": 2, "axis": 1}, 2),
    ("TopK", 10, [X, K([3])], {}, 2),
    *((f"Reduce{op}", 11, [X.abs()], {"axes": [0, -1], "keepdims": 0}) for op in ("Sum", "Mean", "LogSum")),
    *((f"Reduce{op}", version, [X], {}) for op in ("Sum", "Min", "L2", "LogSumExp") for version in (7, 13)),
    ("ReduceProd", 17, [X], {"axes": [1]}),
    ("Dropout", 7, [X], {"ratio": 0.9}),
    ("Dropout", 10, [X], {}),
    ("BatchNormalization", 7, [IMAGE, numbers(2), numbers(2), numbers(2), numbers(2).abs()], {}),
    ("BatchNormalization", 9, [IMAGE, numbers(2), numbers(2), numbers(2), numbers(2).abs()], {"momentum": 0.8}),
    ("GroupNormalization", 18, [numbers(2, 6, 3), numbers(3), numbers(3)], {"num_groups": 3}),
    ("Greater", 6, [IMAGE, IMAGE.flip(0)], {}),
    ("PRelu", 6, [IMAGE, numbers(2)], {}),
    ("PRelu", 6, [IMAGE, numbers(1)], {}),
    ("AveragePool", 6, [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("BatchNormalization", 6, [IMAGE, numbers(2), numbers(2), numbers(2), numbers(2).abs()], {"is_test": 1}),
    *(
        ("Resize", 10, [IMAGE, K(np.float32([1, 1, low, high]))], {"mode": mode})
        for mode in ("nearest", "linear")
        for low, high in ((2, 2), (1.5, 2.7), (0.6, 0.3))
    ),
    ("Upsample", 9, [IMAGE, K(np.float32([1, 1, 2, 3]))], {"mode": "linear"}),
    ("Upsample", 7, [IMAGE], {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 1.5]}),
    ("Scatter", 9, [X, K([[[1]]]), numbers(1, 1, 1)], {"axis": 1}),
    ("OneHot", 9, [torch.tensor([0, 2, 5]), K([3]), K(np.float32([0, 1]))], {}),
    ("MaxPool", 7, [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("AveragePool", 7, [IMAGE], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "auto_pad": "NOTSET"}),
    ("Gemm", 7, [X[0], X[1], numbers(3)], {"transB": 1, "alpha": 0.5}),
    ("PRelu", 7, [X, numbers(4)], {}),
    ("Flatten", 7, [X], {"axis": 2}),
    ("Constant", 11, [], {"value": helper.make_tensor("c", TensorProto.FLOAT, (2,), [1, 2])}),
    ("DepthToSpace", 10, [numbers(1, 4, 2, 2)], {"blocksize": 2}),
    ("ConvTranspose", 7, [numbers(1, 1, 1, 3), numbers(1, 1, 1, 4)], {"strides": [1, 2], "output_shape": [1, 5]}),
]


@pytest.mark.parametrize("case", OLD, ids=lambda case: f"{case[0]}-{case[1]}")
def test_old_version_equals_onnxruntime(case):
    op, version, operands, attributes, *outputs = case
    model, arguments = model_of_op(op, operands, attributes, version, *outputs)
    compiled = inlay.compile(model, **HOST)
    assert difference(compiled(*arguments), run_onnxruntime(model, arguments)) <= 1e-5


# Ops that ONNX Runtime lacks in version 6: operands, attributes and the expected result.
SIX = [
    ("Add", [IMAGE, numbers(2, 6)], {"broadcast": 1, "axis": 1}, IMAGE + numbers(2, 6)[:, :, None]),
    ("Mul", [IMAGE, numbers(2)], {"broadcast": 1, "axis": -3}, IMAGE * numbers(2)[:, None, None]),
    ("Sub", [IMAGE, numbers(6)], {"broadcast": 1}, IMAGE - numbers(6)),
    ("Pow", [X.abs(), numbers(3)], {"broadcast": 1, "axis": 1}, X.abs() ** numbers(3)[:, None]),
    ("Gemm", [X[0], X[1], numbers(3)], {"transB": 1, "broadcast": 1}, X[0] @ X[1].T + numbers(3)),
    ("Dropout", [X], {"is_test": 1, "ratio": 0.9}, X),
]


HINT = {"consumed_inputs": [0, 0]}
# The same for version 1.
ONE = [
    ("Not", [X > 0], {}, X <= 0),
    ("Relu", [X], HINT, X.relu()),
    ("Add", [IMAGE, numbers(2)], {"broadcast": 1, "axis": 1, **HINT}, IMAGE + numbers(2)[:, None, None]),
    ("Cast", [X], {"to": "INT64"}, X.long()),
    ("Concat", [X, X], {}, torch.cat([X, X], 1)),
    ("Pad", [X], {"paddings": [0, 1, 0, 0, 0, 2], "value": 1.5}, torch.nn.functional.pad(X, (0, 2, 1, 0), value=1.5)),
    ("Reshape", [X], {"shape": [0, -1]}, X.reshape(2, 12)),
    ("Tile", [X, K(np.float32(3)), K(np.float32(-2))], {}, X.repeat(1, 3, 1)),
    ("Upsample", [IMAGE], {"height_scale": 2.0, "width_scale": 1.0}, IMAGE.repeat_interleave(2, 2)),
    ("GlobalLpPool", [IMAGE], {"p": 2.0}, IMAGE.norm(dim=(2, 3), keepdim=True)),
    ("Split", [X], {"axis": 1, "split": [3]}, X),
    ("Selu", [-30 * X.abs()], {}, 1.0507 * 1.6732 * (torch.exp(-30 * X.abs()) - 1)),
    ("BatchNormalization", [IMAGE, *[numbers(2).abs()] * 4], {"is_test": 1, "consumed_inputs": [0] * 5}, None),
]


@pytest.mark.parametrize(
    ("version", "op", "operands", "attributes", "expected"),
    [*((6, *one) for one in SIX), *((1, *one) for one in ONE)],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_versions_before_7(version, op, operands, attributes, expected):
    if expected is None:
        scale, shift, mean, variance = operands[1:]
        expected = torch.nn.functional.batch_norm(operands[0], mean, variance, scale, shift)
    names = [f"x{number}" for number in range(len(operands))]
    kind = {torch.float32: TensorProto.FLOAT, torch.int64: TensorProto.INT64, torch.bool: TensorProto.BOOL}
    known = [(name, one.array) for name, one in zip(names, operands, strict=True) if isinstance(one, Known)]
    operands = [one for one in operands if isinstance(one, torch.Tensor)]
    inputs = {name: (kind[one.dtype], one.shape) for name, one in zip(names, operands, strict=False)}
    node = helper.make_node(op, names, ["y"], **attributes)
    model = model_of([node], inputs, {"y": (kind[expected.dtype], expected.shape)}, known, version)
    torch.testing.assert_close(inlay.compile(model, **HOST)(*operands), expected)


def scan_of_sums(operands, names, attributes):
    """Returns a model of version 8 with running sums over sequences, and its state after them."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Identity", ["t"], ["u"])],
        "body",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, (2,)) for name in ("s", "e")],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, (2,)) for name in ("t", "u")],
    )
    node = helper.make_node("Scan", names, ["y", "z"], body=body, num_scan_inputs=1, **attributes)
    inputs = {"s0": (TensorProto.FLOAT, (3, 2)), "x": (TensorProto.FLOAT, (3, 4, 2))}
    results = {"y": (TensorProto.FLOAT, (3, 2)), "z": (TensorProto.FLOAT, (3, 4, 2))}
    return model_of([node], inputs, results, operands, 8)


@pytest.mark.parametrize("backwards", [0, 1])
def test_scan_of_version_8_has_a_dim_of_sequences(backwards):
    start, x = numbers(3, 2), numbers(3, 4, 2)
    model = scan_of_sums([], ["", "s0", "x"], {"directions": [backwards]})
    sums = start[:, None] + (x.flip(1) if backwards else x).cumsum(1)
    total, rows = inlay.compile(model, **HOST)(start, x)
    torch.testing.assert_close(total, sums[:, -1])
    torch.testing.assert_close(rows, sums)


def test_scan_of_version_8_ends_at_the_lengths_of_sequences():
    start, x = numbers(3, 2), numbers(3, 4, 2)
    model = scan_of_sums([("n", np.array([4, 1, 2]))], ["n", "s0", "x"], {})
    sums = start[:, None] + x.cumsum(1)
    total, rows = inlay.compile(model, **HOST)(start, x)
    torch.testing.assert_close(total, torch.stack([sums[0, 3], sums[1, 0], sums[2, 1]]))
    torch.testing.assert_close(rows[1], torch.cat([sums[1, :1], torch.zeros(3, 2)]))
    torch.testing.assert_close(rows[2, :2], sums[2, :2])


def test_negative_indices_are_off_in_onehot_9():
    indices, depth, values = torch.tensor([-1, 1]), np.array([3]), np.float32([0, 1])
    outputs = {"y": (TensorProto.FLOAT, (2, 3))}
    node = helper.make_node("OneHot", ["i", "depth", "values"], ["y"])
    inputs = {"i": (TensorProto.INT64, (2,))}
    model = model_of([node], inputs, outputs, [("depth", depth), ("values", values)], opset=9)
    assert inlay.compile(model, **HOST)(indices).tolist() == [[0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("op", "version", "operands", "attributes", "outputs", "match"),
    [
        ("Dropout", 10, [X], {}, 2, "the mask of a Dropout before version 12"),
        ("BatchNormalization", 9, [IMAGE, *[numbers(2)] * 4], {}, 5, "training is not supported"),
        ("Dropout", 6, [X], {}, 1, "training is not supported"),
        ("BatchNormalization", 6, [IMAGE, *[numbers(2)] * 4], {}, 1, "training is not supported"),
        ("Resize", 10, [IMAGE, K(np.float32([1, 1, 2, 0.5]))], {}, 1, "scales below and above 1"),
        ("Upsample", 10, [IMAGE, K(np.float32([1, 1, 2, 2]))], {}, 1, "version 10 of ONNX has no op of this name"),
        ("Mish", 17, [X], {}, 1, "version 17 of ONNX has no op of this name"),
        ("Softmax", 0, [X], {}, 1, "has ops of version 0, but expected 1 or newer"),
        ("Softmax", 999, [X], {}, 1, "has ops of version 999, but the installed package onnx supports"),
    ],
)
def test_versions_that_are_refused(op, version, operands, attributes, outputs, match):
    names = [f"x{number}" for number in range(len(operands))]
    results = [f"y{number}" for number in range(outputs)]
    inputs = {
        name: (TensorProto.FLOAT, one.shape)
        for name, one in zip(names, operands, strict=True)
        if isinstance(one, torch.Tensor)
    }
    known = [(name, one.array) for name, one in zip(names, operands, strict=True) if isinstance(one, Known)]
    node = helper.make_node(op, names, results, **attributes)
    kinds = [TensorProto.BOOL if (op, name) == ("Dropout", "y1") else TensorProto.FLOAT for name in results]
    types = {name: (kind, [None] * operands[0].dim()) for name, kind in zip(results, kinds, strict=True)}
    model = model_of([node], inputs, types, known, version)
    with pytest.raises(inlay.UnsupportedError, match=match):
        inlay.compile(model, **HOST)
