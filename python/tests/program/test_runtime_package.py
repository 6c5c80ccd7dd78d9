# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the package inlay-runtime, which runs programs on NumPy and DLPack arrays without compiler and torch."""

import os
import pathlib
import shutil
import subprocess
import sys

import inlay
import inlay_runtime
import numpy as np
import pytest
import torch
from torch import nn

TARGETS = [("host",), ("vulkan", "host")]


class Net(nn.Module):
    def forward(self, x, mask):
        return torch.relu(x) * 2, mask.logical_not()


X = torch.tensor([[-1.0, 2.0, 3.0]])
MASK = torch.tensor([True, False])


@pytest.fixture(params=TARGETS, ids=["host", "vulkan"])
def path(request, tmp_path):
    compiled = inlay.compile(Net().eval(), (X, MASK), targets=request.param)
    compiled.save(tmp_path / "net.inlay")
    return tmp_path / "net.inlay"


def test_numpy_arrays_and_names(path):
    program = inlay_runtime.load(path)
    assert [(info.dtype, info.shape) for info in program.inputs] == [("float32", (1, 3)), ("bool", (2,))]
    doubled, inverted = program(X.numpy(), MASK.numpy())
    assert doubled.tolist() == [[0, 4, 6]] and doubled.dtype == np.float32
    assert inverted.tolist() == [False, True] and inverted.dtype == np.bool_
    first, second = (info.name for info in program.inputs)
    named, _ = program(**{second: MASK.numpy(), first: X.numpy()})
    assert named.tolist() == [[0, 4, 6]]
    assert program.report["segments"]


def test_dlpack_and_strides(path):
    program = inlay_runtime.load(path)
    assert program(X, MASK)[0].tolist() == [[0, 4, 6]]
    wide = np.zeros((1, 6), "float32")
    wide[:, ::2] = X.numpy()
    assert program(wide[:, ::2], MASK)[0].tolist() == [[0, 4, 6]]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ((X,), "expected 2 inputs"),
        ((X.double(), MASK), r"expected float32\[1x3\], but got float64 \[1, 3\]"),
        ((X[:, :2], MASK), r"expected float32\[1x3\], but got float32\[1x2\]"),
        (([1, 2, 3], MASK), "expected an array, but got list"),
        ((X.clone().requires_grad_(), MASK), "can't be read in host memory"),
    ],
)
def test_wrong_inputs_are_named(path, arrays, words):
    with pytest.raises(inlay_runtime.Error, match=words):
        inlay_runtime.load(path)(*arrays)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"device": "none\0x"}, ValueError, "expected device to have no NUL"),
        ({"public_key": "key\0"}, ValueError, "expected public_key to have no NUL"),
        ({"notice": 3}, TypeError, "expected notice to be callable, but got 3"),
    ],
)
def test_options_that_are_none(path, options, error, words):
    with pytest.raises(error, match=words):
        inlay_runtime.load(path, **options)
    with pytest.raises(ValueError, match="expected path to have no NUL"):
        inlay_runtime.load(f"{path}\0.evil")


def test_missing_files_are_named():
    with pytest.raises(inlay_runtime.Error, match=r"nowhere\.inlay") as caught:
        inlay_runtime.load("nowhere.inlay")
    assert caught.value.status == "not found"


def test_nothing_of_the_compiler_is_loaded(path):
    script = f"""
import sys, inlay_runtime
inlay_runtime.load({str(path)!r})
assert not {{"torch", "inlay"}} & set(sys.modules)
maps = open("/proc/self/maps").read()
assert "libMLIR" not in maps, maps
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_several_processors(tmp_path):
    names = ("x86-64", "x86-64-v2")
    inlay.compile(Net().eval(), (X, MASK), targets=("host",), host_cpu=names).save(tmp_path / "net.inlay")
    assert inlay_runtime.load(tmp_path / "net.inlay")(X, MASK)[0].tolist() == [[0, 4, 6]]
    with pytest.raises(inlay.CompileError, match="unknown host processor 'x86-64-v9'"):
        inlay.compile(Net().eval(), (X, MASK), targets=("host",), host_cpu="x86-64-v9")
    with pytest.raises(TypeError, match="expected host_cpu to be names of processors, but got 1"):
        inlay.compile(Net().eval(), (X, MASK), host_cpu=[1])


def test_load_is_inlays_without_the_compiler(path, tmp_path):
    (tmp_path / "inlay").mkdir()
    shutil.copy(inlay.__file__, tmp_path / "inlay")
    (tmp_path / "inlay_runtime").symlink_to(pathlib.Path(inlay_runtime.__file__).parent)
    script = f"""
import inlay
print(inlay.__file__)
inlay.load({str(path)!r})
assert not hasattr(inlay, "compile")
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", script], check=True, env=environment, capture_output=True, text=True)
    assert ran.stdout.startswith(str(tmp_path))


@pytest.mark.skipif(os.environ.get("INLAY_FULL") != "1", reason="builds a wheel; INLAY_FULL=1 runs it")
def test_the_wheel_runs_alone(path, tmp_path):
    source = pathlib.Path(__file__).parents[2] / "runtime"
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", str(source), "--no-deps", "-w", str(tmp_path)], check=True)
    (wheel,) = tmp_path.glob("inlay_runtime-*-py3-none-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(tmp_path / "site"), str(wheel)], check=True)
    script = f"import inlay; print(inlay.__file__, inlay.load.__module__); inlay.load({str(path)!r})"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    ran = subprocess.run([sys.executable, "-c", script], check=True, env=environment, capture_output=True, text=True)
    assert ran.stdout.startswith(str(tmp_path))


def test_sessions_keep_states():
    """The program returns the input of the call before."""
    corpus = pathlib.Path(__file__).parents[3] / "unittests" / "Fuzz" / "corpus" / "container"
    program = inlay_runtime.load(corpus / "state.inlay")
    assert [(info.name, info.shape) for info in program.states] == [("last", (None, 2))]
    one, two = np.ones((3, 2), "float32"), np.full((3, 2), 2, "float32")
    first, second = program.make_session(), program.make_session()
    assert not first(one).any() and not second(two).any()
    assert (first(two) == one).all() and (second(one) == two).all()
    assert (first.read("last") == two).all() and (first.read(0) == two).all()
    first.write("last", one)
    assert (first(two) == one).all()
    first.reset()
    assert first(np.ones((1, 2), "float32")).tolist() == [[0, 0]]
    with pytest.raises(inlay_runtime.Error, match="the program has state: pass a session"):
        program(one)
    with pytest.raises(inlay_runtime.Error, match="expected one of the states last, but got 'first'"):
        first.read("first")
    with pytest.raises(inlay_runtime.Error, match="state 'last': expected float32"):
        first.write(0, np.ones((1, 2)))


def halves(a):
    return a[:, 0::2] @ a[:, 1::2].T


def joined(a, b):
    return torch.cat((a, b), 1).sum(0) if a.shape[0] >= 6 else a


CONDITIONS = {
    "even": (halves, [(3, 6)], [(3, 10)], [(3, 7)]),
    "rows": (joined, [(8, 2), (8, 3)], [(6, 2), (6, 3)], [(5, 2), (5, 3)]),
}


@pytest.mark.parametrize("case", CONDITIONS)
@pytest.mark.parametrize("targets", TARGETS, ids=["host", "vulkan"])
def test_conditions_of_the_export_are_checked(tmp_path, targets, case):
    function, example, good, bad = CONDITIONS[case]

    class Model(nn.Module):
        def forward(self, *tensors):
            return function(*tensors)

    shapes = {"tensors": tuple(dict.fromkeys(range(2), torch.export.Dim.AUTO) for _ in example)}
    inputs = tuple(torch.randn(*shape) for shape in example)
    inlay.compile(Model(), inputs, dynamic_shapes=shapes, targets=targets).save(tmp_path / "m.inlay")
    program = inlay_runtime.load(tmp_path / "m.inlay")
    inputs = [torch.randn(*shape) for shape in good]
    np.testing.assert_allclose(program(*inputs), function(*inputs), rtol=1e-5, atol=1e-5)
    with pytest.raises(inlay_runtime.Error, match=r"expected sizes for which|expected at least 6"):
        program(*(torch.randn(*shape) for shape in bad))
