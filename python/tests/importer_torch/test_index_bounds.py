# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of indices out of bounds. On all targets they read the nearest element and write nothing."""

import pytest
import torch
from inlay import ops
from inlay._compile.imported import compile_imported
from inlay._compile.options import Options
from inlay._dialect.meaning import compute
from test_reference import single_op

TABLE = torch.arange(12.0).reshape(4, 3)
FAR = torch.tensor([-(2**62), -5, -1, 2, 4, 2**32 + 1, 2**62])
NEAR = torch.tensor([0, 0, 0, 2, 3, 3, 3])  # the elements that FAR reads if negative indices are out of bounds
WRAPPED = torch.tensor([0, 0, 3, 2, 3, 3, 3])  # and if negative indices count from the end

READS = [
    ("embedding", [TABLE, FAR], {}, TABLE[NEAR]),
    ("index_select", [TABLE, FAR], {"dim": 0}, TABLE[NEAR]),
    ("gather", [TABLE, FAR[:, None]], {"dim": 0}, TABLE[NEAR, :1]),
    ("index", [TABLE, [FAR]], {"dims": [0]}, TABLE[WRAPPED]),
    ("index", [TABLE.t(), [FAR]], {"dims": [1]}, TABLE.t()[:, WRAPPED]),
]


def _written(rows, value, start=TABLE):
    result = start.clone()
    result[rows] = value
    return result


ONES = torch.ones(7, 3)
WRITES = [
    ("scatter", [TABLE, FAR[:, None].expand(7, 3).contiguous(), ONES], {"dim": 0}, _written([2], 1.0)),
    (
        "scatter",
        [TABLE, FAR[:, None].expand(7, 3).contiguous(), ONES],
        {"dim": 0, "reduce": "sum"},
        _written([2], TABLE[2] + 1),
    ),
    ("index_put", [TABLE, ONES, [FAR]], {"dims": [0]}, _written([2, 3], 1.0)),
    ("index_put", [TABLE, ONES, [FAR]], {"dims": [0], "accumulate": True}, _written([2, 3], TABLE[2:] + 1)),
]


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")], ids=["host", "vulkan"])
@pytest.mark.parametrize(("name", "operands", "attributes", "expected"), READS + WRITES, ids=lambda x: str(x)[:20])
def test_beyond_a_dim(name, operands, attributes, expected, targets):
    operands = [operand.contiguous() if isinstance(operand, torch.Tensor) else operand for operand in operands]
    imported = single_op(ops.table()[name], operands, attributes, expected)
    program = compile_imported(imported, Options.make({"targets": targets}))
    flat = [part for operand in operands for part in (operand if isinstance(operand, list) else [operand])]
    assert torch.equal(program.call_flat(*flat)[0], expected)
    assert {op["target"] for op in program.report["ops"] if op["segment"] is not None} == {targets[0]}


def test_sources_larger_than_their_index_are_cut():
    operands = [TABLE, torch.tensor([[1, 0]]), torch.full((2, 3), 9.0)]
    expected = compute("scatter", operands, {"dim": 0})
    program = compile_imported(single_op(ops.table()["scatter"], operands, {"dim": 0}, expected), Options.make({}))
    assert torch.equal(program.call_flat(*operands)[0], expected)


def test_torch_compile_computes_indices():
    """The indices that the importer computes must not be fake tensors, although PyTorch traces with fake tensors."""
    torch._dynamo.reset()
    x = torch.randn(1, 2, 3, 4)

    def resize(a):
        return torch.nn.functional.interpolate(a, size=(5, 6))

    assert torch.equal(torch.compile(resize, backend="inlay", fullgraph=True)(x), resize(x))
