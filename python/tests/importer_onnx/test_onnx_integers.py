# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares ONNX ops on unsigned integers of 16 to 64 bits with NumPy, with numbers on both sides of the sign bit.

Also tests ranges and slices whose numbers are at their limits.
"""

import json

import inlay
import numpy as np
import pytest
import torch
from inlay._dialect.calls import run_call

onnx = pytest.importorskip("onnx")

from onnx_control import parse  # noqa: E402
from onnx_models import run_onnxruntime  # noqa: E402

# Result -> (its node, its type, the same in NumPy).
PAIRS = {
    "add": ("Add(x, y)", "T", lambda x, y: x + y),
    "sub": ("Sub(x, y)", "T", lambda x, y: x - y),
    "mul": ("Mul(x, y)", "T", lambda x, y: x * y),
    "div": ("Div(x, y)", "T", lambda x, y: x // y),
    "mod": ("Mod(x, y)", "T", lambda x, y: x % y),
    "fmod": ("Mod <fmod = 1> (x, y)", "T", lambda x, y: x % y),
    "most": ("Max(x, y)", "T", np.maximum),
    "least": ("Min(x, y)", "T", np.minimum),
    "both": ("BitwiseAnd(x, y)", "T", lambda x, y: x & y),
    "negated": ("BitwiseNot(x)", "T", lambda x, y: ~x),
    "left": ('BitShift <direction = "LEFT"> (x, n)', "T", lambda x, y: x << x.dtype.type(3)),
    "right": ('BitShift <direction = "RIGHT"> (x, n)', "T", lambda x, y: x >> x.dtype.type(3)),
    "same": ('BitShift <direction = "RIGHT"> (x, z)', "T", lambda x, y: x),
    "clipped": ("Clip(x, , y1)", "T", lambda x, y: np.minimum(x, y[1])),
    "less": ("Less(x, y)", "bool", lambda x, y: x < y),
    "at least": ("GreaterOrEqual(x, y)", "bool", lambda x, y: x >= y),
    "equal": ("Equal(x, y)", "bool", lambda x, y: x == y),
    "total": ("ReduceSum <keepdims = 0> (x)", "T0", lambda x, y: x.sum(dtype=x.dtype)),
    "top": ("ReduceMax <keepdims = 0> (x)", "T0", lambda x, y: x.max()),
    "place": ("ArgMax <keepdims = 0> (x)", "int64", lambda x, y: np.int64(x.argmax())),
    "real": ("Cast <to = 11> (x)", "double", lambda x, y: x.astype(np.float64)),
    "signed": ("Cast <to = 7> (x)", "int64s", lambda x, y: x.astype(np.int64)),
    "sorted": ("Unique(x)", "Tn", lambda x, y: np.unique(x)),
}
TYPES = {"int64": "int64 {}", "bool": "bool[8] {}", "double": "double[8] {}", "int64s": "int64[8] {}"}


SUMS = ("total", "top")  # of integers of 32 and 64 bits


def model_of(dtype, pairs):
    types = {**TYPES, "T": dtype + "[8] {}", "T0": dtype + " {}", "Tn": dtype + "[n] {}"}
    results = ", ".join(types[kind].format(name.replace(" ", "_")) for name, (_, kind, _) in pairs.items())
    nodes = "\n".join(f"{name.replace(' ', '_')} = {node}" for name, (node, _, _) in pairs.items())
    return parse(
        f"g ({dtype}[8] x, {dtype}[8] y) => ({results}) <{dtype} n = {{3}}, {dtype} z = {{0}}, int64 one = {{1}}> {{\n"
        f"y1 = Gather(y, one)\n{nodes} }}"
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64], ids=lambda dtype: dtype.__name__)
def test_unsigned_integers(dtype):
    top = np.iinfo(dtype).max
    half = top // 2 + 1
    x = np.array([0, 1, half - 1, half, top, top - 1, half + 5, 200], dtype)
    y = np.array([top, half, 3, half - 1, top - 2, 7, half + 5, 13], dtype)
    pairs = {name: pair for name, pair in PAIRS.items() if np.iinfo(dtype).bits >= 32 or name not in SUMS}
    compiled = inlay.compile(model_of(dtype.__name__, pairs), targets=("host", "torch"))
    got = compiled(torch.from_numpy(x), torch.from_numpy(y))
    for mine, (name, (_, _, meaning)) in zip(got, pairs.items(), strict=True):
        want = np.asarray(meaning(x, y))
        assert mine.numpy().dtype == want.dtype and np.array_equal(mine.numpy(), want), name


def test_results_share_no_memory_with_the_program():
    call = {"op": "aten::view", "overload": "dtype", "args": [{"operand": 0}, {"dtype": "uint64"}]}
    text = json.dumps({"calls": [call], "results": [], "leaving": {"bits": {"value": 0}, "all": [{"value": 0}]}})
    operand, kept = torch.arange(3), {}
    run_call(text, [operand], [], kept)
    operand.fill_(7)
    assert [kept["bits"].tolist(), kept["all"][0].tolist()] == [[0, 1, 2]] * 2


SLICES = [(-6, -5, -1), (-6, -9, -1), (5, -9, -2), (-1, 0, -1), (-9, 9, 3), (4, 2, 1)]


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "late"])
def test_slices_clamp_their_ends(is_known):
    x = torch.arange(4)
    for start, end, step in SLICES:
        values = {"s": start, "e": end, "t": step}
        known = ", ".join(f"int64[1] {name} = {{{value}}}" for name, value in values.items())
        head = f"(int64[4] x) => (int64[n] y) <int64[1] a = {{0}}, {known}>"
        if not is_known:
            head = "(int64[4] x, int64[1] s, int64[1] e, int64[1] t) => (int64[n] y) <int64[1] a = {0}>"
        model = parse(f"g {head} {{ y = Slice(x, s, e, a, t) }}")
        inputs = (x,) if is_known else (x, *(torch.tensor([value]) for value in values.values()))
        got = inlay.compile(model, targets=("host", "torch"))(*inputs)
        assert np.array_equal(got.numpy(), run_onnxruntime(model, inputs)[0]), (start, end, step)


def test_ranges_without_numbers():
    model = parse("g () => (int64[n] y) <int64 a = {3}, int64 b = {1}, int64 c = {2}> { y = Range(a, b, c) }")
    assert inlay.compile(model, targets=("host", "torch"))().shape == (0,)
