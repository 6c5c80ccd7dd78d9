# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares ops that index and scatter with ONNX Runtime, for random dims, dtypes and attributes.

Their indices, axes and counts are constants in one half of the cases. In the other half, they are known only at a call.
"""

import random

import inlay
import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper, numpy_helper  # noqa: E402
from onnx_models import run_onnxruntime  # noqa: E402

DTYPES = (np.float32, np.float64, np.int32, np.int64, np.uint8, np.float16)
CASES_PER_OP = 4


class Source:
    """Draws the operands and attributes of nodes. shape, x, axis: of the first operand."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.shape = [self.random.randint(1, 4) for _ in range(self.random.randint(1, 4))]
        self.rank = len(self.shape)
        self.dtype = self.random.choice(DTYPES)
        self.x = self.tensor(*self.shape)
        self.axis = self.random.randint(-self.rank, self.rank - 1)
        self.size = self.shape[self.axis]

    def tensor(self, *shape):
        return self.numbers.integers(0, 9, shape).astype(self.dtype)

    def rows(self, sizes, *shape):
        return np.stack([self.numbers.integers(-size, size, shape) for size in sizes], -1)

    def gather(self):
        return [self.x, self.numbers.integers(-self.size, self.size, [2, 3])], {"axis": self.axis}

    def gather_elements(self):
        shape = [self.random.randint(1, size) for size in self.shape]
        return [self.x, self.numbers.integers(-self.size, self.size, shape)], {"axis": self.axis}

    def gather_nd(self):
        batch = self.random.randint(0, self.rank - 1)
        depth = self.random.randint(1, self.rank - batch)
        return [self.x, self.rows(self.shape[batch : batch + depth], *self.shape[:batch], 2)], {"batch_dims": batch}

    def scatter_elements(self):
        how = self.random.choice(["add", "mul", "max", "min"])
        shape = [self.random.randint(1, size) for size in self.shape]
        indices = self.numbers.integers(-self.size, self.size, shape)
        return [self.x, indices, self.tensor(*shape)], {"axis": self.axis, "reduction": how}

    def scatter_nd(self):
        how = self.random.choice(["none", "add", "mul", "max", "min"])
        if self.dtype == np.float16:  # ONNX Runtime does not reduce these
            how = "none"
        depth, count = self.random.randint(1, self.rank), 1 if how == "none" else 3
        indices = self.rows(self.shape[:depth], count)
        return [self.x, indices, self.tensor(count, *self.shape[depth:])], {"reduction": how}

    def slice(self):
        axes = self.random.sample(range(self.rank), self.random.randint(1, self.rank))
        ends = [self.numbers.integers(-7, 9, len(axes)) for _ in range(2)]
        steps = [self.random.choice([-3, -1, 1, 2]) for _ in axes]
        return [self.x, *ends, np.array(axes), np.array(steps)], {}

    def top_k(self):
        count = np.array([self.random.randint(0, self.size)])
        return [self.x, count], {"axis": self.axis, "largest": self.random.randint(0, 1)}

    def compress(self):
        return [self.x, self.numbers.random(self.random.randint(1, self.size)) > 0.5], {"axis": self.axis}

    def pad(self):
        pads = [self.random.randint(0, self.shape[dim % self.rank] - 1) for dim in range(2 * self.rank)]
        return [self.x, np.array(pads)], {"mode": self.random.choice(["constant", "edge", "reflect"])}


OPS = {
    "Compress": (Source.compress, 1),
    "Gather": (Source.gather, 1),
    "GatherElements": (Source.gather_elements, 1),
    "GatherND": (Source.gather_nd, 1),
    "Pad": (Source.pad, 1),
    "ScatterElements": (Source.scatter_elements, 1),
    "ScatterND": (Source.scatter_nd, 1),
    "Slice": (Source.slice, 1),
    "TopK": (Source.top_k, 2),
}


def model_of(op, operands, attributes, ranks, known):
    """Returns a model of one node. ranks: of its results. known: True if all operands but the first are constants."""
    names, results = [f"x{number}" for number in range(len(operands))], [f"y{number}" for number in range(len(ranks))]
    elements = [helper.np_dtype_to_tensor_dtype(one.dtype) for one in operands]
    given = [
        helper.make_tensor_value_info(name, element, one.shape)
        for name, element, one in zip(names, elements, operands, strict=True)
    ]
    made = [
        helper.make_tensor_value_info(name, element, [None] * rank)
        for name, element, rank in zip(results, [elements[0], onnx.TensorProto.INT64], ranks, strict=False)
    ]
    held = [numpy_helper.from_array(one, name) for one, name in zip(operands, names, strict=True)][1:] if known else []
    node = helper.make_node(op, names, results, **attributes)
    graph = helper.make_graph([node], "g", given[:1] if known else given, made, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def rank_of(op, operands, attributes):
    """Returns the rank of an op's results."""
    if op == "Gather":
        return operands[0].ndim + 1
    if op == "GatherND":
        return operands[1].ndim - 1 + operands[0].ndim - operands[1].shape[-1] - attributes["batch_dims"]
    return operands[0].ndim


@pytest.mark.parametrize("known", [True, False], ids=["known", "late"])
@pytest.mark.parametrize("op", OPS)
def test_equals_onnxruntime(op, known):
    draw, count = OPS[op]
    for seed in range(CASES_PER_OP):
        operands, attributes = draw(Source(seed + 100 * known))
        model = model_of(op, operands, attributes, [rank_of(op, operands, attributes)] * count, known)
        inputs = [torch.from_numpy(one) for one in (operands[:1] if known else operands)]
        got = inlay.compile(model, targets=("host", "torch"))(*inputs)
        got = [got] if count == 1 else got
        for mine, want in zip(got, run_onnxruntime(model, inputs), strict=True):
            tolerance = 1e-2 if want.dtype == np.float16 else 0
            np.testing.assert_allclose(mine.numpy(), want, tolerance, err_msg=f"{seed} {attributes}", strict=True)
