# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of `inlay.compile` with ONNX models: inputs, names, weights, files, and invalid models."""

import subprocess
import sys

import inlay
import numpy as np
import pytest
import torch
from inlay.onnx import import_onnx
from torch.export import Dim

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper  # noqa: E402
from onnx_models import difference, model_of, run_onnxruntime  # noqa: E402

FLOAT = TensorProto.FLOAT
HOST = {"targets": ("host",)}
X = torch.arange(6, dtype=torch.float32).reshape(2, 3) - 2


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def linear(rows=2, name="x"):
    """Returns a model of relu(x @ weight + bias), which maps rows x 3 to rows x 4."""
    weight, bias = np.arange(12, dtype=np.float32).reshape(3, 4) - 5, np.ones(4, np.float32)
    nodes = [
        node("MatMul", f"{name} weight", "product", name="/layer/fc/MatMul"),
        node("Add", "product bias", "sum", name="/layer/fc/Add"),
        node("Relu", "sum", "y"),
    ]
    initializers = [("weight", weight), ("bias", bias)]
    return model_of(nodes, {name: (FLOAT, (rows, 3))}, {"y": (FLOAT, (rows, 4))}, initializers)


def two_inputs():
    nodes = [node("Sub", "a b", "difference", "sub"), node("Add", "a b", "sum", "sub")]
    kinds = dict.fromkeys("ab", (FLOAT, (2, 3)))
    return model_of(nodes, kinds, {"difference": (FLOAT, (2, 3)), "sum": (FLOAT, (2, 3))})


def labels(compiled):
    return [op["label"] for op in compiled.report["ops"]]


# -- Properties of compiled models ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["path", "text", "proto"])
def test_forms_of_a_model(form, tmp_path):
    model, path = linear(), tmp_path / "model.onnx"
    onnx.save(model, path)
    before = model.SerializeToString()
    compiled = inlay.compile({"path": path, "text": str(path), "proto": model}[form], **HOST)
    assert difference(compiled(X), run_onnxruntime(model, [X])) <= 1e-6
    assert model.SerializeToString() == before


def test_inputs_by_name_and_place_and_outputs_in_order():
    compiled, other = inlay.compile(two_inputs(), **HOST), X * 2 + 1
    for results in (compiled(X, other), compiled(a=X, b=other), compiled(b=other, a=X)):
        assert isinstance(results, tuple)
        assert torch.equal(results[0], X - other) and torch.equal(results[1], X + other)
    assert isinstance(inlay.compile(linear(), **HOST)(X), torch.Tensor)


def test_wrong_arguments_of_a_call():
    compiled = inlay.compile(two_inputs(), **HOST)
    for match, kind, args, kwargs in (
        ("missing argument 'b'", inlay.ArgumentTypeError, (X,), {}),
        ("unknown argument 'c'", inlay.ArgumentTypeError, (X,), {"c": X}),
        ("argument 'b'.*float32.2x3., but got float32.3x2.", inlay.ArgumentValueError, (X, X.T), {}),
        ("argument 'a'.*float32.*but got int64", inlay.ArgumentTypeError, (X.long(), X), {}),
    ):
        with pytest.raises(kind, match=match):
            compiled(*args, **kwargs)


def test_names_are_those_of_nodes():
    compiled = inlay.compile(linear(), **HOST)
    assert labels(compiled) == ["/layer/fc/MatMul", "/layer/fc/Add", "Relu"]
    assert labels(inlay.compile(two_inputs(), **HOST)) == ["sub", "sub_1"]


def test_modules_are_the_scopes_of_names():
    compiled = inlay.compile(linear(), targets=("host", "torch"), torch_executed_modules=["layer.fc"])
    assert compiled.report.ops_by_target() == {"torch": 2, "host": 1}


def test_scopes_say_the_names_of_lists_again():
    from inlay._import.onnx.naming import module_stack

    paths = list(module_stack(node("Conv", "x w", "y", "/net/layer1/layer1.0/conv/Conv")))
    assert paths == ["net", "net.layer1", "net.layer1.0", "net.layer1.0.conv"]
    assert module_stack(node("Relu", "x", "y", "node_relu")) == {}


def test_modules_that_an_exporter_kept():
    model = linear()
    for one in model.graph.node:
        one.name = ""
    entry = {"pkg.torch.onnx.name_scopes": "['', 'act', 'act']", "pkg.torch.onnx.class_hierarchy": "['M', 'ReLU', 'r']"}
    for key, value in entry.items():
        model.graph.node[2].metadata_props.add(key=key, value=value)
    compiled = inlay.compile(model, targets=("host", "torch"), torch_executed_modules=["ReLU"])
    assert compiled.report.ops_by_target() == {"host": 2, "torch": 1}


def test_weights_may_be_replaced():
    compiled = inlay.compile(linear(), **HOST)
    assert {name: tuple(one.shape) for name, one in compiled.state_dict().items()} == {"weight": (3, 4), "bias": (4,)}
    compiled.load_state_dict({"weight": torch.zeros(3, 4), "bias": torch.full((4,), 2.0)})
    assert torch.equal(compiled(X), torch.full((2, 4), 2.0))


def test_outputs_that_are_inputs_or_constants():
    nodes = [node("Identity", "x", "same"), node("Constant", "", "made", value_floats=[1.0, 2.0])]
    outputs = {"same": (FLOAT, (2,)), "made": (FLOAT, (2,)), "weight": (FLOAT, (2,))}
    model = model_of(nodes, {"x": (FLOAT, (2,))}, outputs, [("weight", np.ones(2, np.float32))])
    x = torch.tensor([3.0, 4.0])
    assert difference(inlay.compile(model, **HOST)(x), run_onnxruntime(model, [x])) == 0


def test_shapes_are_computed_at_import():
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "rows"),
        node("Unsqueeze", "rows axis", "row"),
        node("Concat", "row rest", "wanted", axis=0),
        node("Reshape", "x wanted", "flat"),
        node("Relu", "flat", "y"),
    ]
    known = [("zero", np.array(0)), ("axis", np.array([0])), ("rest", np.array([-1]))]
    model = model_of(nodes, {"x": (FLOAT, (2, 3, 4))}, {"y": (FLOAT, (2, 12))}, known)
    compiled = inlay.compile(model, **HOST)
    assert compiled(torch.ones(2, 3, 4)).shape == (2, 12)
    assert labels(compiled) == ["Reshape", "Relu"]


def test_functions_of_a_model_are_inlined():
    body = [node("Mul", "a a", "square"), node("Relu", "square", "b")]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("mine", 1)]
    function = helper.make_function("mine", "Square", ["a"], ["b"], body, opsets[:1])
    call = helper.make_node("Square", ["x"], ["y"], domain="mine")
    kinds = {"x": (FLOAT, (2, 3))}, {"y": (FLOAT, (2, 3))}
    model = model_of([call], *kinds, opsets=opsets, functions=[function])
    assert torch.equal(inlay.compile(model, **HOST)(X), X * X)


def test_an_op_that_only_pytorch_has():
    model = model_of([node("Mish", "x", "y", "m")], {"x": (FLOAT, (2, 3))}, {"y": (FLOAT, (2, 3))})
    assert torch.allclose(inlay.compile(model, targets=("torch",))(X), torch.nn.functional.mish(X))


# -- Symbolic dims ----------------------------------------------------------------------------------------------------


def test_symbolic_dims_are_fixed_by_examples():
    model = linear(rows="batch")
    x = torch.ones(5, 3)
    for inputs in (x, (x,), [x], {"x": x}):
        assert difference(inlay.compile(model, inputs, **HOST)(x), run_onnxruntime(model, [x])) <= 1e-6


@pytest.mark.parametrize(
    ("inputs", "shapes", "symbol"),
    [
        (None, None, ("batch", 1, None, 0)),
        (torch.ones(5, 3), {"x": {0: Dim("rows", min=2, max=9)}}, ("rows", 2, 9, 5)),
        (torch.ones(5, 3), ({0: Dim.DYNAMIC},), ("batch", 1, None, 5)),
        (inlay.Input((1, 3), (4, 3), (8, 3)), None, ("batch", 1, 8, 4)),
        ({"x": inlay.Input(shape=(Dim("rows", max=9), 3))}, None, ("rows", 0, 9, 0)),
    ],
)
def test_symbolic_dims_stay_symbols(inputs, shapes, symbol):
    imported = import_onnx(linear(rows="batch"), inputs, shapes).program
    (one,) = imported.interface.symbols
    assert (one.name, one.min, None if one.max == 2**63 - 1 else one.max, one.typical) == symbol
    assert "%arg0: tensor<?x3xf32> {inlay.dims = affine_map<()[s0] -> (s0, 3)>}" in imported.text


def r(*shape):
    """Returns normally distributed numbers."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


CONV = node("Conv", "x w", "c", strides=[2, 2])  # the result may have dims of size 1
BESIDE_CONV = {
    "relu": ([node("Relu", "c", "y")], FLOAT),
    "quantize": ([node("QuantizeLinear", "c scale zero", "y")], TensorProto.UINT8),
    "clip": ([node("Clip", "c scale", "y")], FLOAT),
    "add": ([node("Add", "c c", "y")], FLOAT),
    "bias": ([node("Mul", "c bias", "y")], FLOAT),
    "softmax": ([node("Softmax", "c", "y", axis=1)], FLOAT),
    "pool": ([node("GlobalAveragePool", "c", "y")], FLOAT),
    "concat": ([node("Concat", "c c", "y", axis=2)], FLOAT),
    "batch norm": ([node("BatchNormalization", "c three three three three", "y")], FLOAT),
}


@pytest.mark.parametrize("case", BESIDE_CONV)
def test_a_dim_may_become_1(case):
    nodes, kind = BESIDE_CONV[case]
    known = {"w": r(2, 3, 3, 3), "scale": 0.1, "bias": r(1, 2, 1, 1), "three": [1.0, 2.0]}
    initializers = [(name, np.array(value, np.float32)) for name, value in known.items()]
    initializers.append(("zero", np.array(3, np.uint8)))
    model = model_of([CONV, *nodes], {"x": (FLOAT, (1, 3, "h", "w"))}, {"y": (kind, (None,) * 4)}, initializers)
    shapes = {"x": {2: Dim("h", min=3, max=20), 3: Dim("w", min=3, max=20)}}
    compiled = inlay.compile(model, dynamic_shapes=shapes, targets=("host",))
    for h, w in ((3, 3), (3, 9), (8, 4), (20, 19)):
        x = torch.from_numpy(r(1, 3, h, w))
        assert difference(compiled(x), run_onnxruntime(model, [x])) <= 1e-5


def test_a_dim_that_may_become_1_is_not_broadcast_unseen():
    initializers = [("w", r(2, 3, 3, 3)), ("five", r(5))]
    nodes = [CONV, node("Add", "c five", "y")]
    model = model_of(nodes, {"x": (FLOAT, (1, 3, 7, "w"))}, {"y": (FLOAT, (None,) * 4)}, initializers)
    compiled = inlay.compile(model, dynamic_shapes={"x": {3: Dim("w", min=3, max=20)}}, targets=("host", "torch"))
    for width in (3, 11):  # 1 and 5 columns
        x = torch.from_numpy(r(1, 3, 7, width))
        assert difference(compiled(x), run_onnxruntime(model, [x])) <= 1e-5
    with pytest.raises(inlay.Error, match="must match"):
        compiled(torch.ones(1, 3, 7, 9))


@pytest.mark.parametrize(
    ("shapes", "kind", "match"),
    [
        ({"y": {0: Dim("rows")}}, inlay.ArgumentTypeError, "dynamic_shapes has an unknown input 'y'"),
        (3, inlay.ArgumentTypeError, "dynamic_shapes to be a dict by the names of inputs"),
        ({"x": {0: 2 * Dim("half")}}, inlay.ArgumentValueError, "that is computed from another"),
    ],
)
def test_wrong_symbols(shapes, kind, match):
    with pytest.raises(kind, match=match):
        import_onnx(linear(rows="batch"), torch.ones(5, 3), shapes)


def test_numbers_that_follow_from_sizes():
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "rows"),
        node("Mul", "rows three", "count"),
        node("Reshape", "x flat", "y"),
        node("Range", "zero count one", "places"),
        node("Add", "places count", "z"),
    ]
    numbers = {"zero": 0, "one": 1, "three": 3, "flat": [-1]}
    initializers = [(name, np.array(one, np.int64)) for name, one in numbers.items()]
    outputs = {"y": (FLOAT, (None,)), "z": (TensorProto.INT64, (None,))}
    model = model_of(nodes, {"x": (FLOAT, ("rows", 3))}, outputs, initializers)
    text = import_onnx(model).program.text
    assert "inlay.iota sizes affine_map<()[s0] -> (3 * s0)>" in text and "shape [-1]" in text
    assert "inlay.opaque" not in text


@pytest.mark.parametrize(
    ("inputs", "kind", "match"),
    [
        ((X, X), inlay.ArgumentTypeError, "expected 1 example inputs"),
        ({"y": X}, inlay.ArgumentTypeError, "unknown input 'y'"),
        ({}, inlay.ArgumentTypeError, "missing example input 'x'"),
        ((3,), inlay.ArgumentTypeError, "example input 'x'.*expected a tensor, but got int"),
        (X.double(), inlay.ArgumentTypeError, "example input 'x'.*expected dtype float32"),
        (X[0], inlay.ArgumentValueError, "example input 'x'.*but got float32.3."),
        (X.T, inlay.ArgumentValueError, "example input 'x'.*but got float32.3x2."),
        (3, inlay.ArgumentTypeError, "expected inputs to be a tuple"),
    ],
)
def test_wrong_examples(inputs, kind, match):
    with pytest.raises(kind, match=match):
        inlay.compile(linear(rows="batch"), inputs, **HOST)


# -- The text ---------------------------------------------------------------------------------------------------------


def test_command_writes_text_and_weights(tmp_path, capsys):
    from inlay.onnx.__main__ import main
    from safetensors.torch import load_file

    path, out = tmp_path / "model.onnx", tmp_path / "out.mlir"
    onnx.save(linear(rows="batch"), path)
    command = [sys.executable, "-m", "inlay.onnx", str(path), "-o", str(out), "--shape", "x=2x3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{out}\n"), done.stderr
    text = out.read_text()
    assert 'inlay.weights = "out.safetensors"' in text and "tensor<2x3xf32>" in text and str(tmp_path) not in text
    assert set(load_file(out.with_suffix(".safetensors"))) == {"weight", "bias"}
    assert main([str(path), "-o", str(out)]) == 0
    assert '#inlay.symbol<"batch", 1 to' in out.read_text()


@pytest.mark.parametrize(
    ("shape", "match"), [("y=2x3", "unknown input 'y'"), ("x=2x?", "expected --shape"), ("2x3", "expected --shape")]
)
def test_command_with_wrong_shapes(shape, match, tmp_path, capsys):
    from inlay.onnx.__main__ import main

    path = tmp_path / "model.onnx"
    onnx.save(linear(rows="batch"), path)
    assert main([str(path), "--shape", shape]) == 1
    assert match in capsys.readouterr().err


# -- Invalid files ----------------------------------------------------------------------------------------------------


def test_missing_file(tmp_path):
    with pytest.raises(inlay.ArgumentValueError, match=r"can't read the model.*none.onnx.*No such file"):
        inlay.compile(tmp_path / "none.onnx", **HOST)
    with pytest.raises(inlay.ArgumentValueError, match=r"is a folder, but expected an ONNX file"):
        inlay.compile(tmp_path, **HOST)
    with pytest.raises(inlay.ArgumentValueError, match=r"can't read the model.*null"):
        inlay.compile("a\0b", **HOST)


@pytest.mark.parametrize("data", [b"", b"no model", b"\x08", bytes(range(256)), b"\x3a\xff\xff\xff\xff\x0f"])
def test_no_model(data, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(inlay.ArgumentValueError, match=r"model.onnx' is no"):
        inlay.compile(path, **HOST)


def test_file_cut_short(tmp_path):
    path, data = tmp_path / "model.onnx", linear().SerializeToString()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        try:
            inlay.partition(path, **HOST)
        except (inlay.ArgumentValueError, inlay.UnsupportedError) as error:
            assert "model.onnx" in str(error) or "domain" in str(error)
        else:  # a missing argument has a default
            assert len(data) - length <= 8


def test_changed_bytes_never_crash(tmp_path):
    path, data = tmp_path / "model.onnx", linear().SerializeToString()
    generator = np.random.default_rng(0)
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(generator.integers(1, 4)):
            changed[generator.integers(len(data))] = generator.integers(256)
        path.write_bytes(changed)
        try:
            inlay.partition(path, **HOST)
        except inlay.Error as error:
            assert not isinstance(error, inlay.InternalError)


@pytest.mark.parametrize("name", ["392_scale", "7", "-", "_", "é"])
def test_any_name_of_a_node(name):
    nodes = [helper.make_node("Sin", ["x"], ["h"], name=name), helper.make_node("Cos", ["h"], ["y"], name=name)]
    model = model_of(nodes, {"x": (TensorProto.FLOAT, (3,))}, {"y": (TensorProto.FLOAT, (3,))})
    torch.testing.assert_close(inlay.compile(model, **HOST)(torch.ones(3)), torch.ones(3).sin().cos())


def external(location, size=None, **more):
    """Returns the model `linear` with the data of its weight in a file."""
    model = linear()
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **more}.items():
        weight.external_data.add(key=key, value=str(value))
    return model


@pytest.fixture
def folder(tmp_path):
    """Returns a folder for a model, with files of weights in it and beside it."""
    inside = tmp_path / "model"
    inside.mkdir()
    data = (np.arange(12, dtype=np.float32) - 5).tobytes()
    for path in (inside / "weights", tmp_path / "weights"):
        path.write_bytes(b"head" + data)
    (inside / "more").mkdir()
    (inside / "more" / "weights").write_bytes(data)
    (inside / "link").symlink_to(tmp_path / "weights")
    (inside / "up").symlink_to(tmp_path)
    (inside / "inner").symlink_to(inside / "more" / "weights")
    return inside


@pytest.mark.parametrize(
    ("location", "more"), [("weights", {"offset": 4, "length": 48}), ("more/weights", {}), ("inner", {})]
)
def test_external_data(location, more, folder):
    onnx.save(external(location, **more), folder / "model.onnx")
    got = inlay.compile(folder / "model.onnx", **HOST)(X)
    assert difference(got, run_onnxruntime(linear(), [X])) <= 1e-6


@pytest.mark.parametrize(
    ("location", "more", "match"),
    [
        ("/etc/passwd", {}, "expected a file in the model's folder"),
        ("../weights", {"offset": 4}, "expected a file in the model's folder"),
        ("more/../../weights", {"offset": 4}, "expected a file in the model's folder"),
        ("C:\\weights", {}, "expected a file in the model's folder"),
        ("link", {"offset": 4}, "a link leads to"),
        ("up/weights", {"offset": 4}, "a link leads to"),
        ("nothing", {}, "is missing: no file"),
        ("more", {}, "is missing: no file"),
        ("", {}, "expected the name of a file"),
        ("weights", {"offset": 8}, "expected 48 bytes at offset 8.*but got 44"),
        ("weights", {"offset": 2**70}, "expected 48 bytes at offset 1180591620717411303424"),
        ("weights", {"offset": -4}, "has the offset '-4'"),
        ("weights", {"length": "many"}, "has the length 'many'"),
        ("weights", {"length": 44}, "expected 48 bytes.*has 44"),
    ],
)
def test_wrong_external_data(location, more, match, folder):
    onnx.save(external(location, **more), folder / "model.onnx")
    with pytest.raises(inlay.ArgumentValueError, match=match) as caught:
        inlay.compile(folder / "model.onnx", **HOST)
    assert "initializer 'weight'" in str(caught.value)


def test_external_data_of_a_huge_tensor(folder):
    model = external("weights")
    model.graph.initializer[0].dims[:] = [2**40, 4]
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", FLOAT, (2, 2**40)))
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(inlay.ArgumentValueError, match=r"expected 17592186044416 bytes at offset 0 .* but got 52"):
        inlay.compile(folder / "model.onnx", **HOST)


def test_external_data_of_a_proto():
    with pytest.raises(
        inlay.ArgumentValueError, match="'weight' are in another file, 'weights': give the model's path"
    ):
        inlay.compile(external("weights"), **HOST)


# -- Invalid and unsupported models -----------------------------------------------------------------------------------


def wrong(nodes, initializers=(), inputs=None, **more):
    inputs = inputs or {"x": (FLOAT, (2, 3))}
    return model_of(nodes, inputs, {"y": (FLOAT, (2, 3))}, initializers, **more)


def tensor(dims, data, kind=FLOAT, name="w"):
    return TensorProto(name=name, dims=dims, data_type=kind, raw_data=data)


RELU, ADD = node("Relu", "x", "y"), node("Add", "x w", "y", "plus")
FOREIGN = helper.make_node("Relu", ["x"], ["y"], name="act", domain="com.example")
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("com.example", 1)]

CIRCLE = [node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b", "y")]

WRONG = [
    (
        wrong([node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b", "y")]),
        r"has a cycle.*node 1 \(Relu.*; node 0 \(Add",
    ),
    (wrong([node("Relu", "z", "y")]), r"node 0 \(Relu.*: no node, input or initializer has the name 'z'"),
    (wrong([node("Relu", "x x", "y")]), r"node 0 \(Relu.*: expected 1 inputs, but got 2"),
    (wrong([node("Relu", "x", "y", slope=1.0)]), r"node 0 \(Relu.*: the op has no attribute 'slope'"),
    (wrong([node("Transpose", "x", "y", perm=[0, 2])]), r"node 0 \(Transpose.*: Dimension out of range"),
    (wrong([ADD], [tensor((2, 3), b"\0" * 20)]), "expected 24 bytes of data for initializer 'w', but got 20"),
    (
        wrong([RELU, node("Identity", "w", "z")], [tensor((300,), b"\0" * 1111)]),
        "expected 1200 bytes of data for initializer 'w', but got 1111",
    ),
    (wrong([ADD], [tensor((2, 3), b"")]), "expected 24 bytes of data for initializer 'w', but got 0"),
    (wrong([ADD], [tensor((-2, 3), b"")]), "initializer 'w' has the dims"),
    (wrong([ADD], [TensorProto(name="w", dims=[2, 3], data_type=FLOAT, float_data=[1.0])]), "'w'|valid ONNX model"),
    (wrong([ADD], [("w", np.ones((4, 5), np.float32))]), "not a valid ONNX model|node 0, 'plus'"),
    (wrong([node("Reshape", "x w", "y", "r")], [("w", np.array([4, -1]))]), "node 0, 'r'|not a valid ONNX model"),
    (wrong([RELU], opset=0), "has ops of version 0, but expected 1 or newer"),
    (wrong([RELU], opset=999), "has ops of version 999, but the installed package onnx supports"),
    (wrong([RELU], opsets=[]), "has no version of ONNX's own ops"),
    (wrong([FOREIGN], opsets=OPSETS), r"node 0, 'act' \(Relu of domain 'com.example'\)"),
    (
        wrong([node("Relu", "x", "z"), node("NonSense", "z", "y", "nz")]),
        r"node 1, 'nz' \(NonSense of domain 'ai.onnx'\)",
    ),
    (wrong([node("Shape", "x", "y")]), r"output 'y' as float32.2x3., but .* int64.2."),
    (wrong([node("Rellu", "x", "y")]), r"node 0 \(Rellu of domain 'ai.onnx'\).*did you mean 'Relu'"),
    (wrong([node("SequenceConstruct", "x", "y")]), "'y' as a tensor, but it is a sequence"),
    (wrong([RELU], inputs={"x": (TensorProto.STRING, (2, 3))}), "input 'x' has elements of type string"),
    (
        wrong([node("Reshape", "x w", "y", "r")], inputs={"x": (FLOAT, (2, 3)), "w": (TensorProto.INT64, (2,))}),
        "only the target 'torch'.*node 0, 'r' .*the value of the new shape is known only at a call",
    ),
]


@pytest.mark.parametrize(("model", "match"), WRONG, ids=range(len(WRONG)))
def test_wrong_model(model, match):
    with pytest.raises((inlay.ArgumentValueError, inlay.UnsupportedError), match=match):
        inlay.compile(model, **HOST)


@pytest.mark.skipif(
    "mode" not in onnx.defs.get_schema("SpaceToDepth").attributes, reason="this version of onnx has no such attribute"
)
def test_modes_of_space_to_depth():
    version, x = onnx.defs.onnx_opset_version(), torch.arange(16.0).reshape(1, 2, 2, 4)
    results = {}
    for mode in ("DCR", "CRD", "XYZ"):
        nodes = [
            node("SpaceToDepth", "x", "h", "s", blocksize=2, mode=mode),
            node("DepthToSpace", "h", "y", "d", blocksize=2, mode=mode),
        ]
        dims = {"h": (FLOAT, (1, 8, 1, 2)), "y": (FLOAT, (1, 2, 2, 4))}
        model = model_of(nodes, {"x": (FLOAT, (1, 2, 2, 4))}, dims, opset=version)
        if mode == "XYZ":
            with pytest.raises(inlay.ArgumentValueError, match=r"'s'.*expected a mode of \['DCR', 'CRD'\].*'XYZ'"):
                inlay.compile(model, **HOST)
        else:
            results[mode], back = inlay.compile(model, **HOST)(x)
            torch.testing.assert_close(back, x)
    torch.testing.assert_close(results["CRD"], torch.nn.functional.pixel_unshuffle(x, 2))
    assert not torch.equal(results["DCR"], results["CRD"])


def test_wrong_kinds_of_models():
    with pytest.raises(inlay.ArgumentTypeError, match=r"expected a torch.nn.Module.*got bytes"):
        inlay.compile(b"model.onnx", **HOST)


def test_initializers_that_are_inputs_are_constants():
    model = linear()
    for one in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(one.name, FLOAT, one.dims))
    assert difference(inlay.compile(model, **HOST)(X), run_onnxruntime(linear(), [X])) <= 1e-6


def test_large_initializers():
    weight = np.random.default_rng(0).standard_normal((3, 400)).astype(np.float32)
    model = model_of([node("MatMul", "x w", "y")], {"x": (FLOAT, (2, 3))}, {"y": (FLOAT, (2, 400))}, [("w", weight)])
    assert difference(inlay.compile(model, **HOST)(X), run_onnxruntime(model, [X])) <= 1e-6


def test_elements_in_typed_fields():
    kinds = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT64, TensorProto.BOOL)
    for kind in kinds:
        made = helper.make_tensor("w", kind, (2,), [1, 0])
        model = model_of([node("Cast", "w", "y", to=FLOAT)], {}, {"y": (FLOAT, (2,))}, [made])
        assert torch.equal(inlay.compile(model, **HOST)(), torch.tensor([1.0, 0.0]))
