# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of files and graphs that are wrong: each gives an error that names the place, and none takes much memory."""

import gzip
import math
import os
import re
import threading

import inlay
import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, parser  # noqa: E402
from onnx_models import model_of  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
HOST = {"targets": ("host", "torch")}
RELU = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": (FLOAT, (2, 3))}, {"y": (FLOAT, (2, 3))})
DATA = RELU.SerializeToString()

FILES = {
    "gzip": (gzip.compress(DATA), "is compressed with gzip"),
    "zstd": (b"\x28\xb5\x2f\xfd" + DATA, "is compressed with Zstandard"),
    "zip": (b"PK\x03\x04" + DATA, "is a zip archive"),
    "ort": (b"\x18\x00\x00\x00ORTM" + DATA, r"has the format of ONNX Runtime \(.ort\)"),
    "tflite": (b"\x18\x00\x00\x00TFL3" + DATA, "is a TensorFlow Lite model"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "is a pointer of Git LFS"),
    "html": (b"<!DOCTYPE html><html>Not found</html>", "is a text such as XML or HTML"),
    "empty": (b"", "has no graph"),
    "half": (DATA[: len(DATA) // 2], "is truncated|has no"),
    "text": (b"ir_version: 8\ngraph { node { op_type: 'Relu' } }\n", "is not an ONNX model"),
}


FUNCTION = 'opset_import: ["": 20, "mine": 1]'


def with_functions(call, *functions):
    """Returns the text of a model that calls functions of the domain 'mine'."""
    texts = "".join(f'\n<domain: "mine", {FUNCTION}> {function}' for function in functions)
    return f"<ir_version: 10, {FUNCTION}>\ng (float[2] x) => (float[2] y) {{ {call} }}{texts}"


@pytest.mark.parametrize("case", FILES)
def test_files(case, tmp_path):
    data, match = FILES[case]
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(inlay.ArgumentValueError, match=match) as caught:
        inlay.compile(path, **HOST)
    assert str(caught.value).startswith(f"{str(path)!r} is not an ONNX model")


def test_a_file_that_ends_anywhere(tmp_path):
    path = tmp_path / "model.onnx"
    for size in range(len(DATA)):
        path.write_bytes(DATA[:size])
        with pytest.raises(inlay.Error, match=r"is not an ONNX model|has no version of ONNX's own ops"):
            inlay.compile(path, **HOST)


@pytest.mark.parametrize(
    ("versions", "match"),
    [
        ([("", 99)], "has ops of version 99, but the installed package onnx supports"),
        ([("", 2**40)], "has ops of version 1099511627776, but the installed package onnx supports"),
        ([("", 0)], "has ops of version 0, but expected 1 or newer"),
        ([("", -1)], "has ops of version -1, but expected 1 or newer"),
        ([], "has no version of ONNX's own ops"),
        ([("mine", 1)], "has no version of ONNX's own ops"),
    ],
)
def test_versions_that_do_not_exist(versions, match):
    model = onnx.ModelProto.FromString(DATA)
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(*one) for one in versions)
    with pytest.raises(inlay.UnsupportedError, match=match):
        inlay.compile(model, **HOST)


TENSORS = {
    "too few bytes": ({"dims": [2], "raw_data": b"1234"}, "expected 8 bytes of data for initializer 'w', but got 4"),
    "too many numbers": ({"dims": [2], "float_data": [1, 2, 3]}, "expected 2 elements for initializer 'w', but got 3"),
    "numbers of another type": ({"dims": [2], "int32_data": [1, 2]}, "expected 2 elements for initializer 'w'"),
    "elements twice": (
        {"dims": [2], "float_data": [1, 2], "raw_data": b"12345678"},
        "initializer 'w' has its elements twice, as raw_data and as float_data",
    ),
    "a negative dim": ({"dims": [-2], "raw_data": b"12345678"}, r"initializer 'w' has the dims \[-2\]"),
    "huge dims": ({"dims": [2**40, 2**40], "raw_data": b"1234"}, "bytes of data for initializer 'w', but got 4"),
    "no type": ({"dims": [2], "data_type": 0, "raw_data": b"12345678"}, "Invalid tensor data type 0"),
    "an unknown type": ({"dims": [2], "data_type": 77, "raw_data": b"12345678"}, "Invalid tensor data type 77"),
    "bytes in no file": ({"dims": [2], "data_location": 1}, "the bytes of initializer 'w' are in another file"),
}


@pytest.mark.parametrize("case", TENSORS)
def test_initializers(case):
    fields, match = TENSORS[case]
    tensor = TensorProto(**{"name": "w", "data_type": FLOAT} | fields)
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, (2,))}, ["y"], [tensor])
    with pytest.raises(inlay.ArgumentValueError, match=match):
        inlay.compile(model, **HOST)


def test_text_of_a_model_that_is_not_utf8():
    model = onnx.ModelProto.FromString(DATA.replace(b"Relu", b"R\xff\xfeu"))
    with pytest.raises(inlay.ArgumentValueError, match="UTF-8"):
        inlay.compile(model, **HOST)


def test_a_model_from_a_pipe(tmp_path):
    path = tmp_path / "model.onnx"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(DATA,))
    writer.start()
    compiled = inlay.compile(path, **HOST)
    writer.join()
    assert torch.equal(compiled(-torch.ones(2, 3)), torch.zeros(2, 3))


def test_a_folder(tmp_path):
    (tmp_path / "decoder.onnx").write_bytes(DATA)
    with pytest.raises(inlay.ArgumentValueError, match=r"is a folder.*for example decoder.onnx"):
        inlay.compile(tmp_path, **HOST)


def one(op, attributes=None, known=(), shape=(1, 2, 6, 6), opset=20, kind=FLOAT, **more):
    """Returns a model of a node on a tensor. known: its other inputs, which are initializers."""
    names = [f"k{number}" for number in range(len(known))]
    node = helper.make_node(op, ["x", *names], ["y"], name="it", **(attributes or {}))
    initializers = [(name, np.array(value)) for name, value in zip(names, known, strict=True)]
    return model_of([node], {"x": (kind, shape)}, ["y"], initializers, opset, **more)


def alone(op, attributes=None, known=()):
    """Returns a model of a node whose inputs are initializers."""
    names = [f"k{number}" for number in range(len(known))]
    nodes = [helper.make_node(op, names, ["y"], name="it", **(attributes or {}))]
    return model_of(nodes, {}, ["y"], [(name, np.array(value)) for name, value in zip(names, known, strict=True)])


HUGE = 2**62
W = np.ones((2, 2, 3, 3), np.float32)
GRAPHS = {
    "a weight of another rank": one("Conv", known=[np.ones((2, 2), np.float32)]),
    "a weight of other channels": one("Conv", known=[np.ones((2, 5, 3, 3), np.float32)]),
    "a product of other dims": one("MatMul", known=[np.ones((5, 6), np.float32)]),
    "a sum of other dims": one("Add", known=[np.ones((5,), np.float32)]),
    "a huge axis": one("Softmax", {"axis": HUGE}),
    "a negative axis": one("Concat", {"axis": -9}),
    "a stride of 0": one("Conv", {"strides": [0, 1]}, [W]),
    "a negative stride": one("MaxPool", {"strides": [-1, 1], "kernel_shape": [2, 2]}),
    "a huge kernel": one("MaxPool", {"kernel_shape": [HUGE, 2]}),
    "groups of 0": one("Conv", {"group": 0}, [W]),
    "a huge group": one("Conv", {"group": HUGE}, [W]),
    "a dilation of 0": one("Conv", {"dilations": [0, 0]}, [W]),
    "too few pads": one("Conv", {"pads": [1]}, [W]),
    "a perm of one axis twice": one("Transpose", {"perm": [0, 0, 1, 2]}),
    "a perm of another rank": one("Transpose", {"perm": [0, 1]}),
    "huge pads": one("Pad", known=[np.array([0, 0, 0, HUGE, 0, 0, 0, 0])]),
    "a shape of other elements": one("Reshape", known=[np.array([5, 5])]),
    "a shape of two -1": one("Reshape", known=[np.array([-1, -1])]),
    "a huge shape": one("Expand", known=[np.array([2**40, 1, 2, 6, 6])]),
    "huge repeats": one("Tile", known=[np.array([2**40, 1, 1, 1])]),
    "a negative size": one("ConstantOfShape", kind=INT64, shape=(2,)),
    "a huge constant": alone("ConstantOfShape", known=[np.array([2**40, 4])]),
    "a negative dim": alone("ConstantOfShape", known=[np.array([-2])]),
    "a huge range": alone("Range", known=[0, HUGE, 1]),
    "a range without end": alone("Range", known=[0, 5, 0]),
    "a range of NaN": alone("Range", known=[np.float32(0), np.float32(math.nan), np.float32(1)]),
    "a huge k": one("TopK", known=[np.array([HUGE])]),
    "a negative k": one("TopK", known=[np.array([-1])]),
    "a split of other sizes": one("Split", {"axis": 1}, [np.array([1, 7])]),
    "scales of NaN": one("Resize", known=[np.zeros(0, np.float32), np.array([1, 1, math.nan, 1], np.float32)]),
    "huge scales": one("Resize", known=[np.zeros(0, np.float32), np.array([1, 1, 1e30, 1], np.float32)]),
    "scales of 0": one("Resize", known=[np.zeros(0, np.float32), np.array([1, 1, 0, 1], np.float32)]),
    "a huge depth": alone("OneHot", known=[np.array([1]), HUGE, np.array([0.0, 1.0], np.float32)]),
    "a depth of -1": alone("OneHot", known=[np.array([1]), -1, np.array([0.0, 1.0], np.float32)]),
    "an index out of range": one("Gather", {"axis": 1}, [np.array([7])]),
    "a block of 0": one("DepthToSpace", {"blocksize": 0}),
    "a huge block": one("SpaceToDepth", {"blocksize": HUGE}),
    "groups that do not divide": one("GroupNormalization", {"num_groups": 5}, [np.ones(2, np.float32)] * 2, opset=21),
    "a wrong equation": one("Einsum", {"equation": "ab,cd->"}),
    "a matrix of more dims": one("EyeLike"),
    "no parts": one("Split", {"num_outputs": 0}),
    "a ratio of NaN": one("Dropout", known=[np.float32(math.nan), np.array(True)]),
    "a step of 0": one("Slice", known=[np.array([0]), np.array([2]), np.array([1]), np.array([0])]),
    "axes named twice": one("Unsqueeze", known=[np.array([0, 0])]),
    "an unknown dtype": one("Cast", {"to": 999}),
    "no dtype": one("Cast", {"to": 0}),
    "an unknown mode": one("Resize", {"mode": "fancy"}, [np.zeros(0, np.float32), np.ones(4, np.float32) * 2]),
    "an unknown direction": alone(
        "LSTM",
        {"direction": "sideways", "hidden_size": 2},
        [np.ones((3, 1, 2), np.float32), np.ones((1, 8, 2), np.float32), np.ones((1, 8, 2), np.float32)],
    ),
}
# Values that a call finds: other targets than PyTorch check no indices.
LATE = {"a negative size": (torch.tensor([-1, 2]),)}


@pytest.mark.parametrize("case", GRAPHS)
def test_graphs(case):
    with pytest.raises(inlay.Error) as caught:
        compiled = inlay.compile(GRAPHS[case], **HOST)
        compiled(*LATE.get(case, ()) or [torch.ones(info_dims(one)) for one in GRAPHS[case].graph.input])
    assert not isinstance(caught.value, inlay.InternalError)
    assert re.search(r"'it'|op_type|data type 0|memory for (.* )?\d{14,} bytes", str(caught.value)), str(caught.value)


def info_dims(info):
    return [dim.dim_value for dim in info.type.tensor_type.shape.dim]


TEXTS = {
    "a function that calls itself": (
        """<ir_version: 10, opset_import: ["": 20, "mine": 1]>
        g (float[2] x) => (float[2] y) { y = mine.F(x) }
        <domain: "mine", opset_import: ["": 20, "mine": 1]> F (a) => (b) { b = mine.F(a) }""",
        "F.*(calls itself|circ|cycl|recurs)",
    ),
    "functions that call each other": (
        """<ir_version: 10, opset_import: ["": 20, "mine": 1]>
        g (float[2] x) => (float[2] y) { y = mine.F(x) }
        <domain: "mine", opset_import: ["": 20, "mine": 1]> F (a) => (b) { b = mine.G(a) }
        <domain: "mine", opset_import: ["": 20, "mine": 1]> G (a) => (b) { b = mine.F(a) }""",
        "(calls itself|circ|cycl|recurs)",
    ),
    "a function of too many inputs": (
        with_functions("y = mine.F(x, x)", "F (a) => (b) { b = Relu(a) }"),
        r"node 0 \(F of domain 'mine'\): expected 1 inputs at most, but got 2",
    ),
    "a function of too many outputs": (
        with_functions("y = mine.F(x)", "F (a) => (b) { b, c = mine.G(a) }", "G (a) => (b) { b = Relu(a) }"),
        r"node 0 \(G of domain 'mine'\), in the function 'F' of domain 'mine': expected 1 outputs at most, but got 2",
    ),
    "a function that takes a value of its caller": (
        with_functions("y = mine.F(x)", "F (a) => (b) { b = Add(a, x) }"),
        r"node 0 \(Add .*in the function 'F' of domain 'mine': no node or input of the function has the name 'x'",
    ),
    "a function without its output": (
        with_functions("y = mine.F(x)", "F (a) => (b) { c = Relu(a) }"),
        r"no node or input of the function 'F' of domain 'mine' has the name 'b', which is an output",
    ),
    "functions of very many nodes": (
        with_functions(
            "y = mine.F40(x)",
            "F0 (a) => (b) { b = Relu(a) }",
            *(f"F{i} (a) => (b) {{ c = mine.F{i - 1}(a) b = mine.F{i - 1}(c) }}" for i in range(1, 41)),
        ),
        r"they have 1099511627776 nodes once they are inlined, but expected 1048576 at most",
    ),
    "a domain that nobody knows": (
        """<ir_version: 10, opset_import: ["": 20, "mine": 1]>
        g (float[2] x) => (float[2] y) { y = mine.F(x) }""",
        "no ops of the domain 'mine'",
    ),
    "a body that takes a value which does not exist": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2] x, bool c) => (float[2] y) {
          y = If(c) <then_branch = one () => (float[2] a) { a = Neg(nothing) },
                     else_branch = two () => (float[2] b) { b = Neg(x) }> }""",
        r"node 0 \(Neg.*in then_branch of node 0 \(If.*has the name 'nothing'",
    ),
    "a body that takes a value of another body": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2] x, bool c) => (float[2] y) {
          y = If(c) <then_branch = one () => (float[2] a) { a = Neg(x) },
                     else_branch = two () => (float[2] b) { b = Neg(a) }> }""",
        r"node 0 \(Neg.*in else_branch of node 0 \(If.*has the name 'a'",
    ),
    "a body that takes the result of its own node": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2] x, bool c) => (float[2] y) {
          y = If(c) <then_branch = one () => (float[2] a) { a = Neg(y) },
                     else_branch = two () => (float[2] b) { b = Neg(x) }> }""",
        r"has a cycle.*node 0 \(If",
    ),
    "branches of other outputs": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2] x, bool c) => (float[2] y) {
          y = If(c) <then_branch = one () => (float[2] a, float[2] d) { a = Neg(x) d = Abs(x) },
                     else_branch = two () => (float[2] b) { b = Neg(x) }> }""",
        r"node 0 \(If.*expected then_branch to have 1 outputs, but got 2",
    ),
    "branches of other types": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2] x, bool c) => (float[2] y) {
          y = If(c) <then_branch = one () => (float[2] a) { a = Neg(x) },
                     else_branch = two () => (int64[2] b) { b = Cast<to = 7>(x) }> }""",
        r"node 0 \(If.*expected output 0 to have one dtype, but got torch.float32 in one branch and torch.int64",
    ),
    "a scan over more values than it has": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2,2] x) => (float[2,2] y) {
          y = Scan<num_scan_inputs = 5, body = one (float[2] a) => (float[2] b) { b = Neg(a) }>(x) }""",
        r"node 0 \(Scan.*expected num_scan_inputs to be from 1 to the 1 inputs, but got 5",
    ),
    "a body with other inputs": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2] x, int64 n, bool c) => (float[2] y) {
          y = Loop(n, c, x) <body = one (int64 i) => (bool d, float[2] b) { d = Identity(c) b = Neg(x) }> }""",
        r"node 0 \(Loop.*expected body to take 3 values|op_type:Loop",
    ),
    "a loop without an end": (
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[2] x, bool c) => (float[2] y) {
          t = Constant<value = bool {1}>()
          y = Loop("", t, x) <body = one (int64 i, bool d, float[2] a) => (bool e, float[2] b) {
            e = Identity(d) b = Neg(a) }> }""",
        r"Loop.*does not end",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts(case):
    text, match = TEXTS[case]
    with pytest.raises(inlay.Error, match=match):
        inlay.compile(parser.parse_model(text), **HOST)
