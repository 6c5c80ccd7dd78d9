# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares every op of the dialect on each target with its reference expression in PyTorch."""

import pytest
import torch
from conftest import compare
from inlay import ops
from inlay._compile.imported import compile_imported
from inlay._compile.options import Options
from inlay._dialect.meaning import compute
from inlay._dialect.text import ELEMENT_TYPES
from inlay._import.torch.graph import GraphBuilder
from inlay._program.imported import ImportedProgram, ProgramInput, TensorType

F32 = torch.float32


def i64s(**lists):
    return {name: list(value) if isinstance(value, tuple) else value for name, value in lists.items()}


CONV = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1}
POOL = {"kernel": [2, 2], "stride": [2, 2], "padding": [0, 0]}

# op name -> (dims of each operand, or None for an absent operand; attributes)
CASES = {
    "conv": [
        ([(1, 3, 8, 8), (4, 3, 3, 3), (4,)], CONV),
        ([(2, 3, 9, 7), (4, 3, 3, 3), None], {**CONV, "stride": [2, 1], "padding": [1, 2]}),
        ([(1, 4, 9, 9), (6, 2, 3, 3), (6,)], {**CONV, "groups": 2, "dilation": [2, 1], "padding": [2, 0]}),
        ([(1, 4, 6, 6), (4, 1, 3, 3), (4,)], {**CONV, "groups": 4, "padding": [1, 1]}),
        ([(1, 5, 6, 6), (7, 5, 1, 1), None], CONV),
        ([(2, 3, 11), (4, 3, 3), (4,)], {"stride": [2], "padding": [1], "dilation": [1], "groups": 1}),
        ([(1, 2, 4, 5, 6), (3, 2, 2, 2, 2), None],
         {"stride": [1, 1, 2], "padding": [0, 1, 0], "dilation": [1, 1, 1], "groups": 1}),
    ],
    "max_pool": [
        ([(1, 2, 8, 8)], {**POOL, "dilation": [1, 1]}),
        ([(2, 3, 9, 9)], {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "dilation": [1, 1]}),
        ([(1, 2, 8, 8)],
         {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "dilation": [2, 1], "ceil_mode": True}),
    ],
    "avg_pool": [
        ([(1, 2, 8, 8)], POOL),
        ([(2, 3, 9, 9)], {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "count_include_pad": True}),
        ([(2, 3, 9, 9)], {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1]}),
        ([(1, 2, 8, 8)], {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "ceil_mode": True}),
        ([(1, 2, 8, 8)],
         {"kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "ceil_mode": True, "count_include_pad": True}),
    ],
    "batch_norm": [([(2, 3, 4, 5), (3,), (3,), (3,), (3,)], {"eps": 1e-5}), ([(4, 3), *[(3,)] * 4], {"eps": 0.1})],
    "layer_norm": [([(2, 3, 8), (8,), (8,)], {"eps": 1e-5}), ([(2, 3, 8), (3, 8), (3, 8)], {"eps": 1e-3})],
    "softmax": [([(2, 3, 8)], {"dim": -1}), ([(2, 3, 8)], {"dim": 0}), ([(33,)], {"dim": 0}),
                ([(2, 70, 3)], {"dim": 1})],
    "matmul": [
        ([(4, 8), (8, 16)], {}),
        ([(33, 17), (17, 5)], {}),
        ([(2, 4, 8), (8, 16)], {}),
        ([(3, 1, 4, 8), (2, 8, 5)], {}),
        ([(1, 8), (8, 1)], {}),
        ([(64, 64), (64, 64)], {}),
    ],
    "linear": [
        ([(4, 8), (16, 8), (16,)], {}),
        ([(2, 3, 8), (5, 8), None], {}),
        ([(8,), (5, 8), (5,)], {}),
        ([(1, 512), (10, 512), (10,)], {}),
    ],
    "amax": [([(2, 3, 4)], i64s(dims=(1,))), ([(2, 3, 4)], i64s(dims=(0, -1), keepdim=True)),
             ([(65,)], i64s(dims=(0,)))],
    "reshape": [([(2, 3, 4)], i64s(shape=(4, -1))), ([(2, 3)], i64s(shape=(1, 6, 1))), ([(1, 1)], i64s(shape=()))],
    "permute": [([(2, 3, 4)], i64s(dims=(2, 0, 1))), ([(5, 7)], i64s(dims=(-1, 0))),
                ([(2, 3, 4, 5)], i64s(dims=(0, 2, 1, 3)))],
    "expand": [([(4, 1)], i64s(shape=(2, 4, 3))), ([(2, 1, 3)], i64s(shape=(-1, 5, -1))), ([()], i64s(shape=(2, 2)))],
    "slice": [
        ([(4, 8)], {"dim": 1, "start": 0, "end": 2, "step": 1}),
        ([(4, 8)], {"dim": 0, "start": 1, "end": 4, "step": 2}),
        ([(4, 8)], {"dim": -1, "start": -5, "end": 9223372036854775807, "step": 3}),
    ],
    "cat": [([[(1, 3), (2, 3)]], {"dim": 0}), ([[(2, 3), (2, 1), (2, 4)]], {"dim": -1}), ([[(3,)]], {"dim": 0})],
    "cast": [([(2, 3)], {"dtype": "f32"}), ([(2, 3)], {"dtype": "i32"}), ([(2, 3)], {"dtype": "i64"}),
             ([(2, 3)], {"dtype": "i1"}), ([(2, 3)], {"dtype": "f64"}), ([(2, 3)], {"dtype": "f16"})],
}  # fmt: skip
for name in ("all", "amin", "any", "mean", "prod", "sum"):
    CASES[name] = CASES["amax"]
CASES["argmax"] = CASES["argmin"] = [([(2, 3, 4)], {"dim": 1}), ([(5,)], {"dim": 0, "keepdim": True}),
                                     ([(3, 70)], {"dim": -1, "keepdim": True})]  # fmt: skip
CASES["cumsum"] = CASES["cumprod"] = [([(2, 3, 4)], {"dim": 1}), ([(9,)], {"dim": 0}), ([(3, 33)], {"dim": -1})]


def ints(*values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


ATTENTION = {"scale": 0.3}
TRANSPOSED = {"stride": [2, 2], "padding": [1, 1], "output_padding": [1, 0], "dilation": [1, 1], "groups": 1}
MASK = torch.tensor([[True, False, True, True, False], [False] * 5, [True] * 5])
# Ties of the scale 0.5, numbers outside of all codes, and a NaN.
QUANTIZED = torch.tensor([[0.25, 0.75, -0.25, 1e9, -torch.inf], [-1.75, torch.nan, 31.0, -0.0, torch.inf]])
CASES.update({
    "dequantize": [
        ([ints([-128, 3, 127], [5, -7, 0], dtype=torch.int8), (2, 1), None],
         {"code": "i8", "block": [1, -1], "dtype": "f32"}),
        ([ints([33, -2], [-128, 90], dtype=torch.int8), (2, 2), ints([7, 15], [0, 3], dtype=torch.int8)],
         {"code": "u4", "block": [1, 2], "size": 3, "dtype": "f32"}),
        ([ints(-28, 121, dtype=torch.int8), (2,), (2,)],
         {"code": "i2", "block": [4], "minima": True, "dtype": "f32"}),
    ],
    "quantize": [
        ([QUANTIZED, torch.tensor([[0.5]]), None],
         {"code": "i8", "block": [-1, -1], "low": -127, "high": 127}),
        ([QUANTIZED, torch.tensor([[0.3, 0.0]]), ints([7, -1], dtype=torch.int8).reshape(1, 2)],
         {"code": "u8", "block": [-1, 3], "low": 0, "high": 255}),
        ([QUANTIZED, torch.tensor([[2.0], [3.1]]), torch.tensor([[100.0], [3]])],
         {"code": "u8", "block": [1, -1], "low": 3, "high": 200, "inverse": True}),
    ],
    "scaled_dot_product_attention": [
        ([(2, 3, 3, 8), (2, 3, 5, 8), (2, 3, 5, 4), None], ATTENTION),
        ([(2, 6, 3, 8), (2, 2, 5, 8), (2, 2, 5, 8), None], {**ATTENTION, "enable_gqa": True}),
        ([(2, 6, 3, 8), (2, 2, 5, 8), (2, 2, 5, 8), (6, 3, 5)], {**ATTENTION, "enable_gqa": True}),
        ([(2, 3, 3, 8), (2, 3, 5, 8), (2, 3, 5, 8), None], {**ATTENTION, "is_causal": True}),
        ([(2, 3, 3, 8), (2, 3, 5, 8), (2, 3, 5, 8), MASK], ATTENTION),
        ([(2, 3, 3, 8), (2, 3, 5, 8), (2, 3, 5, 8), torch.where(MASK, 0.5, float("-inf"))], ATTENTION),
        ([(2, 1, 3, 8), (2, 1, 5, 8), (2, 1, 5, 8), (2, 1, 1, 5)], ATTENTION),
        ([(3, 8), (5, 8), (5, 4), (1, 5)], ATTENTION),
    ],
    "group_norm": [([(2, 6, 5, 3), (6,), (6,)], {"groups": 3, "eps": 1e-5}),
                   ([(2, 4), (4,), (4,)], {"groups": 2, "eps": 1e-3}),
                   ([(3, 4, 7), (4,), (4,)], {"groups": 4, "eps": 0.1})],
    "rms_norm": [([(2, 3, 8), (8,)], {"eps": 1e-5}), ([(2, 3, 8), (3, 8)], {"eps": 1e-3})],
    "conv_transpose": [
        ([(1, 3, 5, 4), (3, 4, 3, 3), (4,)], TRANSPOSED),
        ([(2, 4, 5, 4), (4, 3, 2, 3), None], {**TRANSPOSED, "groups": 2, "dilation": [2, 1], "output_padding": [0, 1]}),
        ([(1, 2, 6), (2, 5, 4), (5,)],
         {"stride": [3], "padding": [3], "output_padding": [2], "dilation": [1], "groups": 1}),
        ([(1, 2, 3, 2, 3), (2, 1, 2, 2, 2), None],
         {"stride": [1, 2, 1], "padding": [0, 0, 1], "output_padding": [0, 1, 0], "dilation": [1, 1, 2], "groups": 1}),
    ],
    "grouped_matmul": [([(7, 4), (3, 4, 5), ints(2, 2, 6)], {}),
                       ([(4, 2), (2, 2, 3), ints(0, 4, dtype=torch.int32)], {})],
    "embedding": [([(5, 4), ints([0, 4], [2, 2])], {}), ([(5, 4), ints(3)[0]], {}),
                  ([(5, 4), ints(3, 1, dtype=torch.int32)], {})],
    "index_select": [([(3, 5), ints(4, 0, 0)], {"dim": 1}), ([(3, 5, 2), ints(2, 1, dtype=torch.int32)], {"dim": -3})],
    "gather": [([(3, 5), ints([4, 0], [1, 1])], {"dim": 1}), ([(3, 5), ints([2, 0, 1, 1, 0])], {"dim": -2})],
    "index": [
        ([(4, 5), [ints(3, -4, 0)]], {"dims": [0]}),
        ([(4, 5, 6), [ints([1, -1]), ints([0], [2])]], {"dims": [0, 2]}),
        ([(4, 5, 6), [ints([1, -1]), ints([0], [2])]], {"dims": [1, 2]}),
        ([(4, 5, 6, 2), [ints(2)[0], ints([0], [2], dtype=torch.int32)]], {"dims": [1, 2]}),
    ],
    "index_put": [
        ([(4, 5), (3, 5), [ints(3, -4, 1)]], {"dims": [0]}),
        ([(4, 5), (3, 5), [ints(3, -1, 3)]], {"dims": [0], "accumulate": True}),
        ([(4, 5), (1,), [ints(3, 1), ints(0, -1)]], {"dims": [0, 1]}),
        ([(4, 5, 6), (2, 2, 5), [ints([1, -1]), ints([0], [2])]], {"dims": [0, 2]}),
        ([(4, 5, 6), (4, 1, 2), [ints([1, 1]), ints([2], [2])]], {"dims": [1, 2], "accumulate": True}),
        ([(4, 5), (5,), [ints(2)[0]]], {"dims": [0]}),
    ],
    "scatter": [
        ([(3, 5), ints([4, 0], [1, 2]), (2, 3)], {"dim": 1}),
        ([(3, 5), ints([2, 0, 1, 1, 0]), (1, 5)], {"dim": -2}),
        ([(3, 5), ints([4, 4], [1, 2]), (2, 2)], {"dim": 1, "reduce": "sum"}),
        ([(3, 5), ints([4, 4], [1, 2]), (2, 2)], {"dim": 1, "reduce": "prod"}),
        ([(3, 5), ints([4, 4], [1, 2]), (2, 2)], {"dim": 1, "reduce": "amax"}),
        ([(3, 5), ints([0, 1, 2, 0, 1], [0, 0, 0, 0, 0]), (2, 5)], {"dim": 0, "reduce": "amin"}),
    ],
    "argsort": [([(3, 8)], {"dim": 1}), ([(3, 8)], {"dim": 0, "descending": True}), ([(70,)], {"dim": -1}),
                ([ints(3, 1, 3, -2, 1, 1)], {"dim": 0, "descending": True}),
                ([torch.tensor([2.0, float("nan"), float("inf"), -1.0, float("nan"), float("-inf")])], {"dim": 0}),
                ([torch.tensor([2.0, float("nan"), float("inf"), 2.0])], {"dim": 0, "descending": True})],
    "pad": [([(2, 3), ()], {"low": [0, 1], "high": [2, 0]}),
            ([(3,), torch.tensor(float("-inf"))], {"low": [2], "high": [1]}),
            ([ints([1, 2]), ints(7)[0]], {"low": [1, 1], "high": [0, 0]})],
    "flip": [([(2, 3, 5)], {"dims": [1]}), ([(2, 3, 33)], {"dims": [0, -1]})],
    "slice_scatter": [([(4, 8), (4, 3)], {"dim": 1, "start": 1, "end": 7, "step": 2}),
                      ([(4, 8), (2, 8)], {"dim": 0, "start": -2, "end": 100, "step": 1})],
})  # fmt: skip

# The first has no tensor as result. The others return sizes of symbols (test_dynamic.py, test_dynamic_import.py).
WITHOUT_CASES = {"list", "size", "iota"}

# Domains in which all ops have finite results without cancellation.
POSITIVE = {"log", "log2", "log10", "lgamma", "pow", "rsqrt", "sqrt", "reciprocal", "div"}
DIVISIONS = {"floor_div", "trunc_div", "remainder", "fmod"}


def cases():
    for op in ops.table().values():
        if not op.pointwise:
            yield from ((op, dims, attributes) for dims, attributes in CASES.get(op.name, []))
        elif len(op.operands) == 1:
            yield from ((op, [dims], {}) for dims in [(2, 3), (), (129,), (2, 0)])
        elif len(op.operands) == 3:
            yield from ((op, dims, {}) for dims in ([(2, 3)] * 3, [(4, 1), (3,), ()], [(1,), (2, 1), (0,)]))
        else:
            for dims in ([(2, 3), (2, 3)], [(2, 1, 3), (4, 1)], [(2, 3), ()], [(), (5,)], [(0, 3), (3,)]):
                yield op, dims, {}


def test_every_op_has_cases():
    missing = {op.name for op in ops.table().values() if not op.pointwise} - set(CASES) - WITHOUT_CASES
    assert not missing, f"add cases for {missing}"


def make_operand(op, dims, number, dtype=F32):
    if dims is None or isinstance(dims, torch.Tensor):
        return dims
    if isinstance(dims, list):
        return [make_operand(op, each, number + i, dtype) for i, each in enumerate(dims)]
    generator = torch.Generator().manual_seed(number)
    if op.name == "where" and number == 0:
        dtype = torch.bool
    if dtype == torch.bool:
        return torch.randint(0, 2, dims, generator=generator, dtype=dtype)
    if not dtype.is_floating_point:
        value = torch.randint(-5, 6, dims, generator=generator, dtype=dtype)
        return value.abs() + 1 if op.name in DIVISIONS and number == 1 else value
    value = torch.randn(dims, generator=generator, dtype=torch.float64)
    if op.name in POSITIVE or (op.name == "batch_norm" and number == 4):
        value = value.abs() + 0.5
    return (value * 3 if op.name == "cast" else value).to(dtype)


def single_op(op, operands, attributes, result):
    """Returns a program of only that op."""
    builder, inputs = GraphBuilder(), []

    def argument(tensor):
        inputs.append(ProgramInput(f"x{len(inputs)}", tuple(tensor.shape), tensor.dtype))
        return builder.argument(tensor.shape, tensor.dtype, f'loc("x{len(inputs) - 1}")')

    values = [
        [argument(part) for part in operand] if isinstance(operand, list) else operand if operand is None
        else argument(operand)
        for operand in operands
    ]  # fmt: skip
    value = builder.op(op.name, values, attributes, result.shape, result.dtype, f'loc("{op.name}")')
    types = [TensorType(result.shape, result.dtype)]
    return ImportedProgram.of_function(builder.module([value]), {}, inputs, types)


def run(op, operands, attributes, targets, tolerance):
    expected = compute(op.name, operands, attributes)
    program = compile_imported(single_op(op, operands, attributes, expected), Options.make({"targets": targets}))
    flat = [
        part for operand in operands if operand is not None
        for part in (operand if isinstance(operand, list) else [operand])
    ]  # fmt: skip
    compare(program.call_flat(*flat)[0], expected, tolerance)
    return program.report


def case_name(case):
    op, dims, attributes = case
    words = [op.name, *("x".join(map(str, d)) if isinstance(d, tuple) else _spell(d) for d in dims)]
    return " ".join([*words, *(f"{name}={value}" for name, value in attributes.items())])


def _spell(dims):
    return str(dims.tolist() if isinstance(dims, torch.Tensor) else dims).replace(" ", "").replace("tensor", "")


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids=["host", "vulkan"])
@pytest.mark.parametrize("case", list(cases()), ids=case_name)
def test_float32(case, targets):
    """Uses int32 if the op does not support floats."""
    op, dims, attributes = case
    dtype = torch.int32 if op.pointwise and "floats" not in op.elements else F32
    operands = [make_operand(op, each, number, dtype) for number, each in enumerate(dims)]
    run(op, operands, attributes, targets, 1e-5)


INTEGER_OPS = [op for op in ops.table().values() if "integers" in op.elements]
BOOLEAN_OPS = [op for op in ops.table().values() if "booleans" in op.elements]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8], ids=lambda d: ELEMENT_TYPES[d])
@pytest.mark.parametrize("op", INTEGER_OPS, ids=lambda op: op.name)
def test_integers(op, dtype):
    operands = [make_operand(op, (3, 5), number, dtype) for number in range(len(op.operands))]
    run(op, operands, {}, ("vulkan", "host"), 0)


@pytest.mark.parametrize("op", BOOLEAN_OPS, ids=lambda op: op.name)
def test_booleans(op):
    operands = [make_operand(op, (3, 5), number, torch.bool) for number in range(len(op.operands))]
    report = run(op, operands, {}, ("vulkan", "host"), 0)
    assert report.ops_by_target() == {"vulkan": 1}


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids=["host", "vulkan"])
@pytest.mark.parametrize("name", ["floor_div", "trunc_div", "remainder", "fmod"])
def test_division_by_zero_and_of_the_least_integer(name, targets):
    op, least = ops.table()[name], -(2**31)
    lhs = torch.tensor([5, -5, 0, least, least, least, 7], dtype=torch.int32)
    rhs = torch.tensor([0, 0, 0, 0, -1, 1, -1], dtype=torch.int32)
    quotients = [0, 0, 0, 0, least, least, -7]
    result = torch.tensor(quotients if name.endswith("div") else [0] * 7, dtype=torch.int32)
    program = compile_imported(single_op(op, [lhs, rhs], {}, result), Options.make({"targets": targets}))
    assert torch.equal(program.call_flat(lhs, rhs)[0], result)


@pytest.mark.parametrize("name", ["add", "mul", "exp", "sqrt", "relu", "sum", "matmul", "softmax", "cast"])
def test_doubles(name):
    op = ops.table()[name]
    dims, attributes = ([(2, 3)] * len(op.operands), {}) if op.pointwise else CASES[name][0]
    operands = [make_operand(op, each, number, torch.float64) for number, each in enumerate(dims)]
    run(op, operands, attributes, ("vulkan", "host"), 1e-12 if name != "cast" else 1e-6)


# The last number is denormal. A device may flush it to zero.
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, float("inf"), float("-inf"), float("nan"), 100.0, -100.0, 1e-40])
POINTWISE = [op for op in ops.table().values() if "floats" in op.elements and op.name != "where"]


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids=["host", "vulkan"])
@pytest.mark.parametrize("op", POINTWISE, ids=lambda op: op.name)
def test_special_values(op, targets):
    count = len(SPECIAL)
    operands = [SPECIAL] if len(op.operands) == 1 else [SPECIAL.repeat_interleave(count), SPECIAL.repeat(count)]
    zero_matters = "log", "log2", "log10", "rsqrt", "reciprocal", "div", "pow", "lgamma", "atan2", "sign", *DIVISIONS
    if op.name in zero_matters or op.result == "boolean":  # the result depends on 1e-40 being zero or not
        normal = torch.stack([(x == 0) | ~(x.abs() < 1e-38) for x in operands]).all(0)
        operands = [operand[normal] for operand in operands]
    if op.name == "gelu":  # the result of PyTorch for infinity depends on the size of the tensor
        operands = [SPECIAL[SPECIAL.abs() != float("inf")]]
    run(op, operands, {}, targets, 1e-6)


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids=["host", "vulkan"])
@pytest.mark.parametrize("name", ["amax", "sum", "max_pool", "softmax"])
def test_nan_is_kept(name, targets):
    op = ops.table()[name]
    attributes = {"amax": i64s(dims=(1,)), "sum": i64s(dims=(1,)), "softmax": {"dim": 1}}.get(name, CASES[name][0][1])
    operand = make_operand(op, (1, 2, 4, 4), 0)
    operand[0, 1, 2, 3] = float("nan")
    run(op, [operand], attributes, targets, 1e-5)
