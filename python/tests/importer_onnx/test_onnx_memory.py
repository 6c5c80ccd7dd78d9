# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that an import has the weights of a model in memory once, and that it reads them where they are.

INLAY_FULL=1 also runs a model of more than 2 GiB.
"""

import os
import pathlib
import subprocess
import sys
import time

import inlay
import numpy as np
import pytest
import torch

onnx = pytest.importorskip("onnx")

from inlay._import.onnx import embedded, files  # noqa: E402
from inlay._import.onnx.naming import Labels  # noqa: E402
from inlay._import.onnx.program import build  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_models import model_of  # noqa: E402

HOST = {"targets": ("host", "torch")}
WIDTH, COUNT = 1024, 24  # 96 MiB of weights
BYTES = 4 * WIDTH * WIDTH * COUNT

# Prints the growth of the largest resident set over that after the compilation of a small model.
MEASURE = """
import sys, inlay, onnx
def resident(key):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))
path, form, small = sys.argv[1:]
inlay.compile(small, targets=("host",)).save(path + ".small")
model = onnx.load(path) if form == "proto" else path
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
inlay.compile(model, targets=("host",)).save(path + ".inlay")
print(resident("VmHWM") - before)
"""


def chain(width, count):
    """Returns a model of products with weights: initializers, transposes of these, and constants."""
    generator = np.random.default_rng(0)
    nodes, tensors, last = [], [], "x"
    for number in range(count):
        weight = numpy_helper.from_array(generator.random((width, width), np.float32) / width, f"w{number}")
        operand = weight.name
        if number % 3:
            tensors.append(weight)
        else:
            nodes.append(helper.make_node("Constant", [], [weight.name], value=weight))
        if number % 3 == 2:
            nodes.append(helper.make_node("Transpose", [operand], [f"t{number}"], perm=[1, 0]))
            operand = f"t{number}"
        nodes.append(helper.make_node("MatMul", [last, operand], [f"h{number}"]))
        last = f"h{number}"
    dims = (TensorProto.FLOAT, (1, width))
    return model_of(nodes, {"x": dims}, {last: dims}, tensors)


@pytest.mark.skipif(not pathlib.Path("/proc/self/clear_refs").exists(), reason="needs the process figures of Linux")
@pytest.mark.parametrize("form", ["file", "proto"])
def test_the_weights_are_in_memory_once(form, tmp_path):
    path, small = tmp_path / "model.onnx", tmp_path / "small.onnx"
    onnx.save(chain(WIDTH, COUNT), path)
    onnx.save(chain(8, 3), small)
    command = [sys.executable, "-c", MEASURE, path, form, small]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert BYTES < grown < 1.2 * BYTES


def gather_from(path, rows, width):
    """Writes a model that gathers from a table of float32 zeros in another file, whose last row counts from 0."""
    table = TensorProto(name="table", data_type=TensorProto.FLOAT, dims=(rows, width))
    table.data_location = TensorProto.EXTERNAL
    table.external_data.add(key="location", value="table.bin")
    with (path.parent / "table.bin").open("wb") as file:
        file.truncate(4 * rows * width)  # sparse
        file.seek(4 * (rows - 1) * width)
        file.write(np.arange(width, dtype=np.float32).tobytes())
    node = helper.make_node("Gather", ["table", "index"], ["y"])
    inputs, results = {"index": (TensorProto.INT64, (2,))}, {"y": (TensorProto.FLOAT, (2, width))}
    onnx.save(model_of([node], inputs, results, [table]), path)


@pytest.mark.skipif(os.environ.get("INLAY_FULL") != "1", reason="needs 5 GiB of memory; INLAY_FULL=1 runs it")
def test_external_data_of_more_than_2_gib(tmp_path):
    rows, width = 600, 1024 * 1024
    small, large = tmp_path / "small", tmp_path / "large"
    for folder, count in ((small, 2), (large, rows)):
        folder.mkdir()
        gather_from(folder / "model.onnx", count, width if folder == large else 8)
    command = [sys.executable, "-c", MEASURE, large / "model.onnx", "file", small / "model.onnx"]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < 1.2 * 4 * rows * width
    index, expected = torch.tensor([0, rows - 1]), torch.stack([torch.zeros(width), torch.arange(float(width))])
    torch.testing.assert_close(inlay.load(large / "model.onnx.inlay")(index), expected)


def weight_of(path):
    """Returns the only large weight of a model as the import reads it."""
    program = build(path)
    return next(value for value in program._graph.values.values() if value.numel() > 1)


VALUES = np.arange(3000, dtype=np.float32) - 7


def model_with(tensor):
    shape = (TensorProto.FLOAT, (3000,))
    return model_of([helper.make_node("Add", ["x", tensor.name], ["y"])], {"x": shape}, {"y": shape}, [tensor])


def parts_of(tensor):
    """Returns the serialized model around a serialized tensor, in which its bytes have been replaced by `tensor`."""
    model = model_with(helper.make_tensor("w", TensorProto.FLOAT, (3000,), VALUES.tobytes(), raw=True))
    graph = model.graph.SerializeToString()
    old = model.graph.initializer[0].SerializeToString()
    field = b"\x2a" + embedded._varint(len(old)) + old
    graph = graph.replace(field, b"\x2a" + embedded._varint(len(tensor)) + tensor)
    del model.graph.initializer[:]
    model.ClearField("graph")
    return model.SerializeToString() + b"\x3a" + embedded._varint(len(graph)) + graph


RAW = helper.make_tensor("w", TensorProto.FLOAT, (3000,), VALUES.tobytes(), raw=True)
LISTED = helper.make_tensor("w", TensorProto.FLOAT, (3000,), VALUES)
DOUBLES = helper.make_tensor("w", TensorProto.DOUBLE, (3000,), VALUES)


@pytest.mark.parametrize("tensor", [RAW, LISTED], ids=["raw", "listed"])
def test_bytes_are_left_out_and_read_later(tensor, tmp_path):
    onnx.save(model_with(tensor), tmp_path / "model.onnx")
    loaded = files.load(tmp_path / "model.onnx")
    (left,) = loaded.proto.graph.initializer
    assert left.ByteSize() < 100
    assert left.external_data[0].key == embedded.EMBEDDED
    torch.testing.assert_close(weight_of(tmp_path / "model.onnx"), torch.from_numpy(VALUES))


def test_a_list_of_doubles_is_read():
    node = helper.make_node("Cast", ["w"], ["v"], to=TensorProto.FLOAT)
    dims = (TensorProto.FLOAT, (3000,))
    add = helper.make_node("Add", ["x", "v"], ["y"])
    model = model_of([node, add], {"x": dims}, {"y": dims}, [DOUBLES])
    torch.testing.assert_close(inlay.compile(model, **HOST)(torch.zeros(3000)), torch.from_numpy(VALUES))


RAW_FIELD = b"\x4a" + embedded._varint(12000)
UNCOMMON = {
    "bytes twice": RAW.SerializeToString() + RAW_FIELD + (VALUES + 1).tobytes(),
    "bytes before the type": RAW_FIELD
    + VALUES.tobytes()
    + RAW.SerializeToString().replace(RAW_FIELD + VALUES.tobytes(), b""),
}


@pytest.mark.parametrize("case", UNCOMMON)
def test_uncommon_orders_of_fields_mean_what_protobuf_says(case, tmp_path):
    data = parts_of(UNCOMMON[case])
    (tmp_path / "model.onnx").write_bytes(data)
    (expected,) = onnx.load(tmp_path / "model.onnx").graph.initializer
    got = weight_of(tmp_path / "model.onnx")
    torch.testing.assert_close(got, torch.from_numpy(numpy_helper.to_array(expected).copy()))


@pytest.mark.parametrize("count", [2999, 3001])
def test_wrong_sizes_of_large_tensors(count, tmp_path):
    tensor = helper.make_tensor("w", TensorProto.FLOAT, (3000,), VALUES.tobytes(), raw=True)
    tensor.raw_data = np.zeros(count, np.float32).tobytes()
    onnx.save(model_with(tensor), tmp_path / "model.onnx")
    for model in (tmp_path / "model.onnx", model_with(tensor)):
        with pytest.raises(
            inlay.ArgumentValueError, match=f"12000 bytes of data for initializer 'w', but got {4 * count}"
        ):
            inlay.compile(model, **HOST)


def test_truncated_files_with_large_tensors(tmp_path):
    data = model_with(RAW).SerializeToString()
    for size in (20, 100, 5000, len(data) - 1):
        (tmp_path / "model.onnx").write_bytes(data[:size])
        with pytest.raises(inlay.ArgumentValueError, match=r"model\.onnx"):
            inlay.compile(tmp_path / "model.onnx", **HOST)


def test_a_given_model_stays_as_it_is():
    model = model_with(RAW)
    before = model.SerializeToString()
    inlay.compile(model, **HOST)
    assert model.SerializeToString() == before


def test_names_of_many_nodes_take_linear_time():
    labels, begin = Labels(), time.process_time()
    assert len({labels.take("Relu") for _ in range(50_000)}) == 50_000
    assert time.process_time() - begin < 2
    assert [Labels().take("a"), labels.take("Relu_3"), labels.take("Relu_3")] == ["a", "Relu_3_1", "Relu_3_2"]
