# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of inlay.debug.compare: right models, and wrong ops, which it finds and writes to reproducers."""

import subprocess
import sys

import inlay
import pytest
import torch
from inlay._debug import pieces
from inlay.debug import compare, reproduce
from inlay_models import encoder, make
from torch import nn


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x, scale=1.0):
        y = torch.tanh(self.first(x)) * 0.5
        return {"y": torch.sigmoid(self.second(torch.relu(y))), "sum": y.sum(-1)}


INPUTS = (torch.linspace(-2, 2, 24).reshape(3, 8),)


@pytest.fixture
def break_compiler(monkeypatch):
    """Returns a function that breaks the compilation of pieces: `change(text)` returns the wrong module."""

    def install(change):
        honest = pieces.compile_imported

        def broken(imported, options):
            imported.text = change(imported.text)
            return honest(imported, options)

        monkeypatch.setattr(pieces, "compile_imported", broken)

    return install


def test_right_model():
    model, inputs = encoder()
    found = compare(model, inputs, folder=None, targets=("vulkan", "host"), torch_executed_ops=["aten.gelu"])
    assert found.is_right and found.imported < 1e-6 and found.whole < 1e-5
    assert [one.target for one in found.segments].count("host") >= 2
    errors = [one.errors for one in found.segments if one.target != "torch"]
    assert all(set(one) == {"vulkan", "host"} and max(one.values()) < 1e-5 for one in errors)
    assert "segment" in str(found) and "first wrong" not in str(found)


def test_model_with_nested_values_and_framework_calls():
    example = make("bert", tiny=True)
    found = compare(example.model, example.kwargs, folder=None)
    assert found.is_right and found.imported < 1e-5


def test_exported_program():
    exported = torch.export.export(Chain().eval(), INPUTS, strict=False)
    assert compare(exported, INPUTS, folder=None).is_right


def test_wrong_op_is_found(break_compiler, tmp_path):
    break_compiler(lambda text: text.replace("inlay.tanh", "inlay.sigmoid"))
    torch.manual_seed(0)
    found = compare(Chain().eval(), INPUTS, folder=tmp_path)
    assert not found.is_right and found.whole < 1e-5  # only the compilation of pieces is broken here
    (segment,) = found.segments
    assert segment.culprits == {"vulkan": ["tanh"], "host": ["tanh"]}
    assert "first wrong at tanh" in str(found)
    path = segment.reproducers["host"]
    assert path == tmp_path / "reproduce_tanh_host.py" and f"python {path}" in str(found)
    # The reproducer runs in a new process, where the compiler is right.
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("result 0: off by "), done.stderr
    # In this process it reproduces the wrong result.
    scope = {}
    lines = path.read_text().replace("sys.exit(reproduce(", "found = (reproduce(")
    exec(lines, scope)
    assert scope["found"] == 1


def test_ops_that_are_wrong_together_only(break_compiler, tmp_path):
    def change(text):
        return text.replace("inlay.tanh", "inlay.sin") if "inlay.tanh" in text and "inlay.relu" in text else text

    break_compiler(change)
    found = compare(Chain().eval(), INPUTS, folder=tmp_path)
    (segment,) = found.segments
    assert segment.culprits["host"][0] == "tanh" and segment.culprits["host"][-1] == "relu"


class Writing(nn.Module):
    """Writes a buffer and an argument, draws random numbers, and returns a value beside the program."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(4))
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        self.count += 1
        x.mul_(2)
        return x + self.count, self.drop(x), x.nonzero(), torch.fft.fft(x), None, x[x > 0] * 2


def test_models_that_write_and_draw_are_compared_and_stay_as_they_were():
    model, x = Writing(), torch.tensor([1.0, 0.0, 3.0, -1.0])
    state = torch.get_rng_state()
    found = compare(model, (x,), folder=None)
    assert found.is_right and found.imported < 1e-6 and found.whole < 1e-6, found
    assert torch.equal(model.count, torch.zeros(4)) and torch.equal(x, torch.tensor([1.0, 0.0, 3.0, -1.0]))
    assert torch.equal(torch.get_rng_state(), state)
    assert compare(nn.BatchNorm1d(4).train(), (torch.randn(3, 4),), folder=None).is_right


def test_arguments_beside_the_program_are_compared():
    class Model(nn.Module):
        def forward(self, spectrum, matrix):
            return (spectrum * 2).abs() + 1, torch.sparse.mm(matrix, torch.ones(3, 2)).exp(), spectrum + 1

    found = compare(Model(), (torch.randn(4, dtype=torch.complex64), torch.eye(3).to_sparse()), folder=None)
    assert found.is_right and found.whole < 1e-6


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"tolerance": "low"}, inlay.ArgumentTypeError, "expected tolerance to be a number, but got 'low'"),
        ({"tolerance": float("nan")}, inlay.ArgumentValueError, "at least 0, but got nan"),
        ({"folder": "/nowhere/at/all"}, inlay.ArgumentValueError, "there is none at '/nowhere/at/all'"),
    ],
)
def test_wrong_options_of_compare(options, error, match):
    with pytest.raises(error, match=match):
        compare(Chain().eval(), INPUTS, **options)


def test_a_model_of_any_size_is_not_compared():
    with pytest.raises(inlay.UnsupportedError, match=r"models of fixed sizes can be compared .* 'batch' may differ"):
        compare(Chain().eval(), INPUTS, dynamic_shapes=({0: torch.export.Dim("batch", min=1)},))


def test_a_model_with_control_flow_is_not_compared():
    class Model(torch.nn.Module):
        def forward(self, a):
            return torch.cond(a.sum() > 0, lambda b: b.relu(), lambda b: b.exp(), (a,))

    with pytest.raises(inlay.UnsupportedError, match=r"models without control flow can be .* 'cond' is scf.if"):
        compare(Model(), (torch.ones(3),))


def test_differences_of_what_is_no_float():
    big = torch.tensor([2**60, 1])
    assert pieces.is_off(pieces.difference(big + 1, big), torch.int64) and pieces.difference(big, big) == 0
    spectrum = torch.tensor([1 + 1j, 2j])
    assert pieces.difference(spectrum + 0.5j, spectrum) == 0.25
    assert pieces.difference(torch.eye(2).to_sparse(), torch.eye(2).to_sparse()) == 0
    assert pieces.difference(torch.ones(2), torch.ones(3)) == float("inf")


def test_tolerance_decides(tmp_path):
    found = compare(Chain().eval(), INPUTS, tolerance=0.0, folder=None)
    assert not found.is_right and found.segments[0].culprits
    with pytest.raises(inlay.ArgumentValueError, match="expected a tolerance of at least 0, but got -1"):
        compare(Chain().eval(), INPUTS, tolerance=-1)
    with pytest.raises(inlay.ArgumentTypeError, match="unknown option 'target'; did you mean 'targets'"):
        compare(Chain().eval(), INPUTS, target="host")


@pytest.mark.parametrize(
    ("got", "expected", "share"),
    [
        ([1.0, 2.0], [1.0, 4.0], 0.5),
        ([0.5, 0.0], [0.0, 0.0], 0.5),
        ([float("nan"), 1.0], [float("nan"), 1.0], 0.0),
        ([float("nan"), 1.0], [0.0, 1.0], float("inf")),
        ([0.0, 1.0], [float("nan"), 1.0], float("inf")),
        ([float("inf"), 1.0], [float("inf"), 1.0], 0.0),
        ([float("-inf"), 1.0], [float("inf"), 1.0], float("inf")),
        ([], [], 0.0),
    ],
)
def test_difference(got, expected, share):
    assert pieces.difference(torch.tensor(got), torch.tensor(expected)) == share


def test_reproduce_reports_each_result(capsys, tmp_path):
    found = compare(Chain().eval(), INPUTS, tolerance=0.0, folder=tmp_path)
    path = next(iter(found.segments[0].reproducers.values()))
    scope = {}
    exec(path.read_text().split("sys.exit")[0], scope)
    assert reproduce(scope["MODULE"], scope["TENSORS"], target="host", tolerance=1e-3) == 0
    assert "of its largest element on host" in capsys.readouterr().out
