# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of models that ONNX's checker refuses but that other tools run, and of inputs that are given as shapes."""

import warnings

import inlay
import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, parser  # noqa: E402
from onnx_models import model_of  # noqa: E402

FLOAT, HOST = TensorProto.FLOAT, {"targets": ("host", "torch")}
X = torch.arange(6, dtype=torch.float32).reshape(2, 3) - 2


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


NODES = [node("Neg", "x", "a"), node("Relu", "a", "b"), node("Add", "b w", "y")]
WEIGHT = np.ones(3, np.float32)


def model(nodes=NODES, inputs=None, outputs=None, initializers=(("w", WEIGHT),), **more):
    inputs, outputs = inputs or {"x": (FLOAT, (2, 3))}, outputs or {"y": (FLOAT, (2, 3))}
    return model_of(nodes, inputs, outputs, initializers, **more)


def declare(made, name, dims):
    made.graph.value_info.append(helper.make_tensor_value_info(name, FLOAT, dims))
    return made


def with_output(made, info):
    del made.graph.output[:]
    made.graph.output.append(info)
    return made


def with_inputs(made, *infos):
    made.graph.input.extend(infos)
    return made


def with_version(made, version):
    made.ir_version = version
    return made


def check(made, *warned):
    """Compiles a model of relu(-x) + 1 and checks its results and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", inlay.ModelWarning)
        compiled = inlay.compile(made, (X,), **HOST)
    messages = [str(one.message) for one in caught if issubclass(one.category, inlay.ModelWarning)]
    assert len(messages) == len(warned) and all(want in got for want, got in zip(warned, messages, strict=True))
    assert torch.equal(compiled(X), torch.relu(-X) + 1)


UNUSED = helper.make_tensor_value_info("w", FLOAT, (3,))
REPAIRED = {
    "nodes not sorted": (model(NODES[::-1]), "are not sorted"),
    "a node that nothing uses": (model([*NODES, node("Unknown", "a", "c")]),),
    "an output that nothing uses": (
        model([node("Dropout", "x", "d mask"), node("Neg", "d", "a"), *NODES[1:]], opset=9),
    ),
    "a wrong inner shape": (declare(model(), "a", (7, 7, 7)),),
    "an inner shape of -1": (declare(model(), "a", (-1, -1)),),
    "a declared value that does not exist": (declare(model(), "nothing", (1,)),),
    "a wrong output shape": (model(outputs={"y": (FLOAT, (5, 3))}), "declares the output 'y'"),
    "a wrong output rank": (model(outputs={"y": (FLOAT, (6,))}), "declares the output 'y'"),
    "an output without dims": (model(outputs={"y": (FLOAT, None)}),),
    "an output without a type": (with_output(model(), onnx.ValueInfoProto(name="y")),),
    "an input of -1": (model(inputs={"x": (FLOAT, (-1, 3))}),),
    "an input of 0": (model(inputs={"x": (FLOAT, (0, 3))}), "the model declares"),
    "an input without dims": (model(inputs={"x": (FLOAT, None)}),),
    "a name of two sizes": (model(inputs={"x": (FLOAT, ("n", "n"))}),),
    "an initializer that is an input": (with_inputs(model(), UNUSED),),
    "an unused initializer": (model(initializers=[("w", WEIGHT), ("left", np.ones((4, 4), np.float32))]),),
    "nodes of one name": (
        model([node(*one, name="same") for one in (("Neg", "x", "a"), ("Relu", "a", "b"))] + NODES[2:]),
    ),
    "an old format": (with_version(model(opset=9), 3),),
    "a new format": (with_version(model(), 99),),
}


@pytest.mark.parametrize("case", REPAIRED)
def test_repaired(case):
    check(*REPAIRED[case])


def test_unused_inputs_stay_inputs():
    made = with_inputs(model(), helper.make_tensor_value_info("unused", FLOAT, (4,)))
    compiled = inlay.compile(made, **HOST)
    assert torch.equal(compiled(X, torch.ones(4)), torch.relu(-X) + 1)


def test_a_body_is_sorted():
    text = """<ir_version: 10, opset_import: ["": 20]>
    g (float[2,3] x, bool c) => (float[2,3] y) {
      y = If(c) <then_branch = one () => (float[2,3] a) { a = Relu(b) b = Neg(x) },
                 else_branch = two () => (float[2,3] d) { d = Neg(x) unused = Unknown(x) }> }"""
    with pytest.warns(inlay.ModelWarning, match="not sorted"):
        compiled = inlay.compile(parser.parse_model(text), **HOST)
    assert torch.equal(compiled(X, torch.tensor(True)), torch.relu(-X))
    assert torch.equal(compiled(X, torch.tensor(False)), -X)


BAD = {
    "an output of two nodes": (
        model([*NODES, node("Abs", "x", "a")]),
        r"node 3 \(Abs.*'a' has the same name as that of",
    ),
    "an output and an initializer": (model([*NODES, node("Abs", "x", "w")]), "'w' has the same name as an initializer"),
    "two initializers": (model(initializers=[("w", WEIGHT)] * 2), "several initializers of the name 'w'"),
    "two inputs": (
        with_inputs(model(), helper.make_tensor_value_info("x", FLOAT, (1,))),
        "several inputs of the name 'x'",
    ),
    "a missing initializer": (
        model(initializers=()),
        r"node 2 \(Add.*: no node, input or initializer has the name 'w'",
    ),
    "a missing output": (model(outputs={"z": (FLOAT, (2, 3))}), "has the name 'z', which is an output"),
    "no outputs": (with_output(model(), onnx.ValueInfoProto(name="y")).__class__(), "has no outputs"),
    "a node that needs itself": (model([node("Add", "x y", "y")]), r"has a cycle.*node 0 \(Add"),
    "a cycle": (
        model([node("Add", "x c", "a", "first"), node("Neg", "a", "b"), node("Relu", "b", "c"), node("Abs", "c", "y")]),
        r"has a cycle.*: node 1 .*; node 2 .*; node 0, 'first' ",
    ),
    "an attribute of another type": (
        model([node("Softmax", "x", "y", axis=1.0)]),
        r"node 0 \(Softmax.*expected attribute 'axis' to be of type INT, but got FLOAT",
    ),
    "a missing attribute": (model([node("Concat", "x x", "y")]), r"node 0 \(Concat.*: the attribute 'axis' is missing"),
    "too many outputs": (model([node("Relu", "x", "y z")]), r"node 0 \(Relu.*: expected 1 outputs, but got 2"),
    "inputs of two dtypes": (
        model([node("Add", "x i", "y")], {"x": (FLOAT, (2, 3)), "i": (TensorProto.INT64, (2, 3))}),
        "Add.*inconsistent type tensor.int64",
    ),
    "an output of another dtype": (
        model(outputs={"y": (TensorProto.INT64, (2, 3))}),
        "'y' as int64.2x3., but .*float32",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_not_repaired(case):
    made, match = BAD[case]
    with pytest.raises(inlay.ArgumentValueError, match=match):
        inlay.compile(made, **HOST)


# -- Inputs -----------------------------------------------------------------------------------------------------------

TWO = {"x": (FLOAT, ("batch", 3)), "s": (FLOAT, ())}
SUM = [node("Add", "x s", "a"), node("Add", "a w", "y")]


def test_shapes_of_inputs():
    made = model(SUM, TWO, {"y": (FLOAT, ("batch", 3))})
    for inputs in ({"x": (4, 3)}, {"x": [4, 3], "s": ()}, ((4, 3), ()), {"x": torch.ones(4, 3)}):
        compiled = inlay.compile(made, inputs, **HOST)
        assert not compiled.symbols
        assert torch.equal(compiled(torch.ones(4, 3), torch.tensor(2.0)), torch.full((4, 3), 4.0))


@pytest.mark.parametrize(
    ("inputs", "match"),
    [
        ({"s": ()}, "missing example input 'x'"),
        ({"x": (4, -3)}, "expected sizes of 0 or more"),
        ({"x": (4, 5)}, "example input 'x'.*float32.batchx3., but got float32.4x5."),
        ({"x": (4,)}, "example input 'x'.*but got float32.4."),
        ({"x": (4, 3.5)}, "example input 'x'.*expected a tensor, but got tuple"),
    ],
)
def test_wrong_shapes_of_inputs(inputs, match):
    with pytest.raises(inlay.Error, match=match):
        inlay.compile(model(SUM, TWO, {"y": (FLOAT, ("batch", 3))}), inputs, **HOST)


def test_dims_without_a_name_stay_open():
    compiled = inlay.compile(model(inputs={"x": (FLOAT, (None, 3))}, outputs={"y": (FLOAT, None)}), **HOST)
    assert list(compiled.symbols) == ["x[0]"]
    assert compiled(torch.ones(5, 3)).shape == (5, 3)
