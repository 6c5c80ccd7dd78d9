# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares quantization and products of integers with ONNX Runtime, and checks elements of 8 bits and less."""

import inlay
import numpy as np
import pytest
import torch

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper
from onnx_models import Known, model_of, model_of_op, narrow, run_onnxruntime

K = Known
u8, i8 = torch.uint8, torch.int8


def r(*shape, seed=0):
    """Returns normally distributed numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def q(dtype, *shape, seed=0):
    """Returns numbers of all sizes of an integer dtype."""
    info = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randint(info.min, info.max + 1, shape, generator=generator, dtype=dtype)


S, Z, WZ = torch.tensor(0.02), torch.tensor(120, dtype=u8), torch.tensor(3, dtype=i8)
ZEROS = K(np.zeros(6, np.int8), np.int8)


def product(code, shape, *, axis=1, block=0, zeros=True, transposed=False):
    """Returns a model of a product with a constant matrix that DequantizeLinear makes.

    code: the number of a TensorProto.DataType. block: size of a block along `axis`; 0 for none, -1 for one scale.
    """
    bits = {TensorProto.INT2: 2, TensorProto.UINT2: 2, TensorProto.INT4: 4, TensorProto.UINT4: 4}.get(code, 8)
    low = -(2 ** (bits - 1)) if code in (TensorProto.INT2, TensorProto.INT4, TensorProto.INT8) else 0
    generator = np.random.default_rng(sum(shape))
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block) if block > 0 else shape[axis]
    dims = [] if block == -1 else blocks if block else [shape[axis]]
    codes = helper.make_tensor("c", code, shape, generator.integers(low, low + 2**bits, shape).ravel())
    zero = helper.make_tensor("z", code, dims, generator.integers(low, low + 2**bits, dims).ravel())
    scale = numpy_helper.from_array((generator.random(dims) / 8 + 0.01).astype(np.float32), "s")
    attributes = {"axis": axis} | ({"block_size": block} if block > 0 else {})
    nodes = [helper.make_node("DequantizeLinear", ["c", "s", "z"] if zeros else ["c", "s"], ["w"], **attributes)]
    if transposed:
        nodes.append(helper.make_node("Transpose", ["w"], ["t"]))
    nodes.append(helper.make_node("MatMul", ["x", "t" if transposed else "w"], ["y"]))
    rows, columns = reversed(shape[-2:]) if transposed else shape[-2:]
    x, y = ((TensorProto.FLOAT, (*shape[:-2], 3, size)) for size in (rows, columns))
    return model_of(nodes, {"x": x}, {"y": y}, [codes, scale, *([zero] if zeros else [])], opset=21)


I4, U4, I8, U8 = TensorProto.INT4, TensorProto.UINT4, TensorProto.INT8, TensorProto.UINT8
PACKED = {
    "i8": product(I8, (40, 24)),
    "u8, one scale": product(U8, (40, 24), block=-1),
    "u8 by rows": product(U8, (24, 33), axis=-2, transposed=True),
    "i4": product(I4, (40, 24)),
    "u4, odd": product(U4, (40, 33), zeros=False),
    "i4 in blocks": product(I4, (48, 20), axis=0, block=16),
    "u4 in blocks": product(U4, (20, 96), axis=-1, block=32, transposed=True),
    "u4 in partial blocks": product(U4, (20, 90), block=32, transposed=True),
}


@pytest.mark.parametrize("case", PACKED)
def test_products_with_packed_weights_equal_onnxruntime(case):
    model = PACKED[case]
    x = r(3, model.graph.input[0].type.tensor_type.shape.dim[1].dim_value)
    compiled = inlay.compile(model, targets=("host", "torch"))
    assert "inlay.dequantize" in {op["name"] for op in compiled.report["ops"]}
    (expected,) = run_onnxruntime(model, [x])
    torch.testing.assert_close(compiled(x), torch.from_numpy(expected), rtol=1e-5, atol=1e-4)


CASES = [
    ("QuantizeLinear", [r(2, 3, 4) * 3, S, Z], {}),
    ("QuantizeLinear", [r(2, 3, 4) * 3, torch.tensor([0.02, 0.1, 0.01]), q(i8, 3)], {"axis": 1}),
    ("QuantizeLinear", [r(2, 3, 4) * 3, S], {"output_dtype": TensorProto.INT16}),
    ("QuantizeLinear", [r(2, 6) * 3, r(2, 3).abs() + 0.1, q(i8, 2, 3)], {"axis": 1, "block_size": 2}),
    ("DequantizeLinear", [q(u8, 2, 3, 4), S, Z], {}),
    ("DequantizeLinear", [q(i8, 2, 3, 4), torch.tensor([0.02, 0.1, 0.01]), q(i8, 3)], {}),
    ("DequantizeLinear", [q(torch.int32, 5), S], {}),
    ("DequantizeLinear", [q(i8, 2, 5), r(2, 3), q(i8, 2, 3)], {"axis": 1, "block_size": 2}),
    ("DynamicQuantizeLinear", [r(4, 5)], {}, 3),
    ("MatMulInteger", [q(u8, 3, 400), narrow(q(i8, 400, 5)), Z, q(i8, 5)], {}),
    ("ConvInteger", [q(u8, 2, 3, 7, 6), q(u8, 4, 3, 3, 3), Z, torch.tensor(9, dtype=u8)], {"pads": [1, 0, 1, 0]}),
    ("QLinearMatMul", [q(u8, 3, 40), S, Z, narrow(q(i8, 40, 5)), S, WZ, torch.tensor(0.05), Z], {}),
    (
        "QLinearConv",
        [
            q(u8, 2, 4, 7, 6),
            S,
            Z,
            narrow(q(i8, 6, 2, 3, 3)),
            r(6).abs(),
            ZEROS,
            torch.tensor(2.5),
            Z,
            q(torch.int32, 6) >> 18,
        ],
        {"group": 2, "strides": [2, 1], "pads": [1, 1, 0, 0]},
    ),
]


def name_of(case):
    return "-".join([case[0], *(f"{key}={value}" for key, value in case[2].items())]).replace(" ", "")


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_op_equals_onnxruntime(case):
    op, operands, attributes, outputs = (*case, 1)[:4]
    model, arguments = model_of_op(op, operands, attributes, 21, outputs)
    got = inlay.compile(model, targets=("host", "torch"))(*arguments)
    for ours, theirs in zip(got if outputs > 1 else [got], run_onnxruntime(model, arguments), strict=True):
        torch.testing.assert_close(ours, torch.from_numpy(np.asarray(theirs)), rtol=1e-6, atol=0)


def cast_there_and_back(x, to, **attributes):
    """Returns float numbers after a cast to another type and back."""
    nodes = [helper.make_node("Cast", ["x"], ["a"], to=to, **attributes)]
    nodes.append(helper.make_node("Cast", ["a"], ["y"], to=TensorProto.FLOAT))
    shape = tuple(x.shape)
    model = model_of(nodes, {"x": (TensorProto.FLOAT, shape)}, {"y": (TensorProto.FLOAT, shape)}, opset=25)
    return inlay.compile(model, targets=("host", "torch"))(x)


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (TensorProto.FLOAT8E4M3FN, [0.0, 1.125, -448.0, 448.0, 448.0]),
        (TensorProto.FLOAT8E5M2, [0.0, 1.0, -500.0, 57344.0, 57344.0]),
    ],
)
def test_cast_to_float8_saturates(to, expected):
    x = torch.tensor([0.0, 1.1, -480.0, 1e9, float("inf")])
    expected = torch.tensor(expected)
    if to == TensorProto.FLOAT8E5M2:
        expected[2] = -512.0
    assert torch.equal(cast_there_and_back(x, to), expected)


def test_cast_to_float8_without_saturation_gives_nan():
    got = cast_there_and_back(torch.tensor([464.0, 465.0, -1e9]), TensorProto.FLOAT8E4M3FN, saturate=0)
    torch.testing.assert_close(got, torch.tensor([448.0, float("nan"), float("nan")]), equal_nan=True)


@pytest.mark.parametrize("kind", ["INT4", "UINT4", "INT2", "UINT2"])
@pytest.mark.parametrize("is_raw", [True, False])
def test_packed_integers(kind, is_raw):
    """5 elements don't fill the last byte."""
    dtype = getattr(TensorProto, kind)
    low, high = {"INT4": (-8, 7), "UINT4": (0, 15), "INT2": (-2, 1), "UINT2": (0, 3)}[kind]
    values = [low, high, 0, 1, high - 1]
    tensor = helper.make_tensor("x", dtype, [5], values)
    if is_raw:
        tensor = numpy_helper.from_array(numpy_helper.to_array(tensor), "x")
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"])
    model = model_of([node], {"s": (TensorProto.FLOAT, ())}, {"y": (TensorProto.FLOAT, (5,))}, [tensor], opset=25)
    got = inlay.compile(model, targets=("host", "torch"))(torch.tensor(0.5))
    assert got.tolist() == [value / 2 for value in values]


def test_quantization_to_4_bits_has_their_limits():
    """The type of the zero point passes through ops that move elements."""
    zero = helper.make_tensor("z", TensorProto.INT4, [1, 1], [1])
    shape = numpy_helper.from_array(np.array([1]), "shape")
    nodes = [
        helper.make_node("Reshape", ["z", "shape"], ["zero"]),
        helper.make_node("QuantizeLinear", ["x", "s", "zero"], ["a"], axis=0),
        helper.make_node("Cast", ["a"], ["y"], to=TensorProto.FLOAT),
    ]
    inputs = {"x": (TensorProto.FLOAT, (4,)), "s": (TensorProto.FLOAT, (1,))}
    model = model_of(nodes, inputs, {"y": (TensorProto.FLOAT, (4,))}, [zero, shape], opset=23)
    got = inlay.compile(model, targets=("torch",))(torch.tensor([-100.0, -1.0, 2.6, 100.0]), torch.ones(1))
    assert got.tolist() == [-8.0, 0.0, 4.0, 7.0]


def test_packed_integers_of_the_wrong_size_are_an_error():
    tensor = helper.make_tensor("x", TensorProto.INT4, [5], [1, 2, 3, 4, 5])
    tensor = numpy_helper.from_array(numpy_helper.to_array(tensor), "x")
    tensor.raw_data = tensor.raw_data[:-1]
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)
    model = model_of([node], {}, {"y": (TensorProto.FLOAT, (5,))}, [tensor], opset=23)
    with pytest.raises(inlay.ArgumentValueError, match=r"TensorProto|bytes"):
        inlay.compile(model)


def convolution(code, shape, axis):
    """Returns a model of a convolution of a dequantized tensor with a constant weight that DequantizeLinear makes."""
    generator = np.random.default_rng(sum(shape))
    codes = helper.make_tensor("c", code, shape, generator.integers(0, 8, shape).ravel())
    scale = numpy_helper.from_array((generator.random(shape[axis]) / 8 + 0.01).astype(np.float32), "s")
    one = numpy_helper.from_array(np.float32(0.02), "one")
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "one"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "one"], ["d"]),
        helper.make_node("DequantizeLinear", ["c", "s"], ["w"], axis=axis),
        helper.make_node("Conv", ["d", "w"], ["y"]),
    ]
    x = (TensorProto.FLOAT, (1, shape[1], *[6] * (len(shape) - 2)))
    return model_of(nodes, {"x": x}, {"y": (TensorProto.FLOAT, (None,) * len(shape))}, [codes, scale, one], opset=21)


FOLDED = {
    "a product with several matrices": (product(I8, (3, 40, 24), axis=2), 0),
    "a product with several matrices of i4": (product(I4, (2, 16, 8), axis=1), 0),
    "a convolution in three dims": (convolution(I8, (4, 3, 2, 2, 2), 0), 1),
    "a convolution with scales of input channels": (convolution(I8, (4, 3, 2, 2), 1), 1),
    "a convolution with codes of 4 bits": (convolution(U4, (4, 3, 2, 2), 0), 1),
}


@pytest.mark.parametrize("case", FOLDED)
def test_weights_that_no_kernel_reads_as_codes_are_floats(case):
    """A call would dequantize them again each time. The dequantization that is left is that of the input."""
    model, left = FOLDED[case]
    compiled = inlay.compile(model, targets=("host", "torch"))
    assert [op["name"] for op in compiled.report["ops"]].count("inlay.dequantize") == left
    x = r(*[dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim])
    (expected,) = run_onnxruntime(model, [x])
    torch.testing.assert_close(compiled(x), torch.from_numpy(expected), rtol=1e-5, atol=1e-4)


def kernels_of(compiled):
    """Returns the kinds of all kernels of a program."""
    return [kernel["kind"] for segment in compiled.report["segments"] for kernel in segment["kernels"]]


def test_ops_of_integers_become_products_of_integers():
    operands = [q(u8, 3, 400), q(i8, 400, 5), Z, q(i8, 5)]
    model, _ = model_of_op("MatMulInteger", operands, {}, 21)
    assert "integer_product" in kernels_of(inlay.compile(model, targets=("host", "torch")))


def test_files_with_quantize_and_dequantize_become_products_of_integers(tmp_path):
    """The file is that of `onnxruntime.quantization`. Weights of 7 bits keep ONNX Runtime's sums below its limits."""
    quantization = pytest.importorskip("onnxruntime.quantization")
    generator = np.random.default_rng(3)

    def weight(name, *shape):
        return name, generator.standard_normal(shape).astype(np.float32) / 8

    nodes = [
        helper.make_node("Conv", ["x", "k", "kb"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "l", "lb"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "b"], ["d"]),
        helper.make_node("GlobalAveragePool", ["d"], ["e"]),
        helper.make_node("Flatten", ["e"], ["f"]),
        helper.make_node("Gemm", ["f", "w", "wb"], ["y"], transB=1),
    ]
    weights = [weight("k", 16, 3, 3, 3), weight("kb", 16), weight("l", 16, 16, 3, 3), weight("lb", 16)]
    weights += [weight("w", 300, 16), weight("wb", 300)]
    float_type = TensorProto.FLOAT
    model = model_of(nodes, {"x": (float_type, (1, 3, 10, 10))}, {"y": (float_type, (1, 300))}, weights, opset=17)
    (tmp_path / "float.onnx").write_bytes(model.SerializeToString())
    inputs = [generator.standard_normal((1, 3, 10, 10)).astype(np.float32) for _ in range(4)]

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.rest = iter(inputs)

        def get_next(self):
            x = next(self.rest, None)
            return None if x is None else {"x": x}

    quantization.quantize_static(
        tmp_path / "float.onnx", tmp_path / "int8.onnx", Reader(), per_channel=True, reduce_range=True
    )
    compiled = inlay.compile(str(tmp_path / "int8.onnx"), targets=("host", "torch"))
    assert kernels_of(compiled).count("integer_product") == 3
    import onnx

    quantized_model = onnx.load(tmp_path / "int8.onnx")
    for x in inputs:
        (expected,) = run_onnxruntime(quantized_model, [torch.from_numpy(x)])
        # A number at the middle of two levels may get the other one.
        np.testing.assert_allclose(compiled(torch.from_numpy(x)).numpy(), expected, rtol=0, atol=0.02)
