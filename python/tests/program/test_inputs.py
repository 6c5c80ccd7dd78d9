# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the arguments and results of compiled models: structures, keywords, gradients, and wrong arguments."""

import collections
import copy
import dataclasses
import os
import pickle
import subprocess
import sys

import inlay
import pytest
import torch
from conftest import compare
from torch import nn

Pair = collections.namedtuple("Pair", ["left", "right"])


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor | None = None


torch.export.register_dataclass(Batch, serialized_type_name="inlay.tests.Batch")


class Nested(nn.Module):
    def forward(self, batch, pair, *, extra, scale=2.0):
        a = batch.tokens * pair.left + extra["deep"][0]
        return {"batch": Batch(a * scale), "pair": Pair(a, [pair.right + 1, None]), "number": 3}


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def compile_here(model, inputs, **options):
    return inlay.compile(model, inputs, targets=("host", "torch"), **options)


@pytest.fixture(scope="module")
def nested():
    arguments = {"batch": Batch(x(2, 3)), "pair": Pair(x(2, 3), x(3)), "extra": {"deep": [x(3)]}}
    return compile_here(Nested(), arguments), arguments


def test_nan_is_the_value_that_it_was():
    class Scaled(nn.Module):
        def forward(self, a, scale):
            return a * scale

    assert compile_here(Scaled(), (x(3), float("nan")))(x(3), float("nan")).isnan().all()


def test_tensors_without_memory_are_refused():
    compiled = compile_here(nn.ReLU(), (x(2, 3),))
    for trace in (torch.vmap(compiled), lambda a: torch.func.jvp(compiled, (a[0],), (a[0],))):
        with pytest.raises(inlay.ArgumentTypeError, match=r"tensors with memory, .* can't be traced"):
            trace(x(1, 2, 3))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_refused():
    model = nn.Linear(2, 2)
    compiled = inlay.compile(model, (torch.ones(3, 2),), targets=("host",))
    with pytest.raises(inlay.ArgumentTypeError, match=r"expected a tensor float32\[3x2\], but got a nested tensor"):
        compiled(torch.nested.nested_tensor([torch.ones(1, 2), torch.ones(2, 2)]))
    nested = torch.nested.nested_tensor([torch.ones(2)])
    with pytest.raises(inlay.ArgumentTypeError, match=r"'bias': expected a tensor float32\[2\], but got a nested"):
        compiled.load_state_dict(model.state_dict() | {"bias": nested})


def test_a_compiled_model_may_be_a_part_of_what_torch_compiles():
    compiled = compile_here(nn.ReLU(), (x(2, 3),))
    compare(torch.compile(lambda a: compiled(a + 1) * 2, backend="eager")(x(2, 3)), (x(2, 3) + 1).relu() * 2, 1e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_script_is_refused_as_what_it_is():
    with pytest.raises(inlay.ArgumentValueError, match="Exporting a ScriptModule is not supported"):
        compile_here(torch.jit.script(nn.ReLU()), (x(2, 3),))


def test_a_compiled_model_is_not_copied():
    compiled = compile_here(nn.ReLU(), (x(2, 3),))
    for make in (pickle.dumps, copy.deepcopy):
        with pytest.raises(inlay.UnsupportedError, match="can't be copied or pickled: write it"):
            make(compiled)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork")
def test_a_device_does_not_survive_a_fork():
    code = (
        "import inlay, os, torch\n"
        "inputs = (torch.ones(2, 3),)\n"
        "compiled = inlay.compile(torch.nn.ReLU(), inputs)\n"
        "if not compiled.device or os.fork():\n"
        "    os.wait() if compiled.device else print('no device')\n"
        "else:\n"
        "    for run in (lambda: compiled(*inputs), lambda: inlay.compile(torch.nn.ReLU(), inputs)):\n"
        "        try:\n"
        "            run()\n"
        "        except inlay.DeviceError as error:\n"
        "            print(str(error)[:27])\n"
        "    on_host = inlay.compile(torch.nn.ReLU(), inputs, targets=('host', 'torch'))\n"
        "    print(on_host(*inputs).sum().item(), flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    if "no device" in done.stdout:
        pytest.skip("without a device")
    assert done.stdout.splitlines() == ["this process can't use the ", "this process can't use the ", "6.0"], (
        done.stderr
    )


def test_structures_stay_what_they_are(nested):
    compiled, arguments = nested
    got, want = compiled(**arguments), Nested()(**arguments)
    assert isinstance(got["batch"], Batch) and isinstance(got["pair"], Pair) and got["number"] == 3
    assert got["pair"].right[1] is None and got["batch"].mask is None
    compare(got["batch"].tokens, want["batch"].tokens, 1e-6)
    compare(got["pair"].right[0], want["pair"].right[0], 1e-6)


def test_arguments_are_given_as_to_the_model(nested):
    compiled, arguments = nested
    want = Nested()(**arguments)["pair"].left
    compare(compiled(arguments["batch"], arguments["pair"], extra=arguments["extra"])["pair"].left, want, 1e-6)
    # An argument that the example inputs left out may be passed if it equals its default.
    compare(compiled(**arguments, scale=2.0)["pair"].left, want, 1e-6)
    with pytest.raises(
        TypeError, match=r"'scale' is fixed at its default, 2.0, because the example inputs left it out"
    ):
        compiled(**arguments, scale=3.0)


@pytest.mark.parametrize(
    "change, error, match",
    [
        ({"batch": Batch(x(2, 4))}, ValueError, r"'batch.tokens' \(place 1\): expected float32"),
        ({"pair": Pair(x(2, 3).double(), x(3))}, TypeError, r"'pair.left' \(place 2\): expected dtype float32\[2x3\]"),
        (
            {"extra": {"deep": [x(3), x(3)]}},
            TypeError,
            r"nested like.*unexpected extra\['deep'\]\[1\]",
        ),
        (
            {"extra": {"shallow": [x(3)]}},
            TypeError,
            r"missing extra.*; unexpected extra\['shallow'\]\[0\]",
        ),
        ({"extra": {"deep": [x(1, 3)]}}, ValueError, r"extra\['deep'\]\[0\].* \(place 4\): expected rank 1"),
        ({"batch": Batch(x(2, 3), x(1))}, TypeError, "nested like .*unexpected batch.mask"),
        ({"pair": (x(2, 3), x(3))}, TypeError, "nested like the example inputs"),
        ({"extras": 1}, TypeError, "unknown argument 'extras'; did you mean 'extra'"),
        ({"batch": Batch(x(2, 3).to(torch.complex64))}, TypeError, "complex64"),
        ({"batch": Batch(x(2, 3).to_sparse())}, TypeError, "expected a dense tensor"),
        ({"batch": Batch(torch.empty(2, 3, device="meta"))}, ValueError, "on the CPU, but got device meta"),
    ],
)
def test_wrong_arguments_are_named(nested, change, error, match):
    compiled, arguments = nested
    with pytest.raises(error, match=match) as info:
        compiled(**{**arguments, **change})
    assert isinstance(info.value, inlay.Error)


def test_gradients_are_refused_where_they_would_be_lost():
    model = nn.Linear(3, 3)  # the parameters of a model require gradients by default
    compiled = compile_here(model, (x(2, 3),))
    compare(compiled(x(2, 3)), model(x(2, 3)).detach(), 1e-5)
    wanted = x(2, 3).requires_grad_()
    with pytest.raises(ValueError, match=r"'input' \(place 1\) requires grad.*\.detach\(\).*torch\.no_grad\(\)"):
        compiled(wanted)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            result = compiled(wanted)
        assert not result.requires_grad
        compare(result, model(x(2, 3)).detach(), 1e-5)
    compare(compiled(wanted.detach()), model(x(2, 3)).detach(), 1e-5)


def test_tensors_of_inference_mode_are_taken():
    compiled = compile_here(nn.Linear(3, 3), (x(2, 3),))
    with torch.inference_mode():
        given = x(2, 3) + 0
    compare(compiled(given), compiled(x(2, 3)), 0)


class Spectrum(nn.Module):
    def forward(self, signal):
        return torch.fft.ifft(torch.fft.fft(signal) * 2).real + signal


class Complex(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("turn", torch.polar(torch.ones(4), torch.arange(4.0)))

    def forward(self, z, a):
        return z * self.turn, (z * self.turn).abs() * a


class Sparse(nn.Module):
    def forward(self, matrix, a):
        return torch.sparse.mm(matrix, a) * 2


@pytest.mark.parametrize("targets", [("host", "torch"), ("torch",)], ids="-".join)
def test_what_the_dialect_cannot_hold_runs_in_pytorch(targets):
    spectrum = inlay.compile(Spectrum(), (x(8),), targets=targets)
    compare(spectrum(x(8)), Spectrum()(x(8)), 1e-5)
    model, inputs = Complex(), (x(4).to(torch.complex64) * 1j, x(4))
    compiled = inlay.compile(model, inputs, targets=targets)
    for got, want in zip(compiled(*inputs), model(*inputs), strict=True):
        torch.testing.assert_close(got, want)
    with pytest.raises(TypeError, match=r"expected dtype complex64\[4\], but got float32\[4\]"):
        compiled(x(4), x(4))
    # The parts that PyTorch runs also use the replaced weights.
    compiled.load_state_dict({"turn": model.turn * 2})
    torch.testing.assert_close(compiled(*inputs)[1], model(*inputs)[1] * 2)


class Chosen(nn.Module):
    def forward(self, a, mask):
        return a[mask]


def test_only_what_passes_such_values_is_taken_from_the_other_targets():
    class Between(nn.Module):
        def forward(self, a):
            b = a.exp() + 1
            z = torch.fft.fft(torch.complex(b, a))
            return (z.real * a).sigmoid().sum(-1) + b.sum()

    compiled = compile_here(Between(), (x(2, 3),))
    compare(compiled(x(2, 3)), Between()(x(2, 3)), 1e-5)
    where = {op["label"]: op["target"] for op in compiled.report["ops"]}
    assert where["exp"] == where["add"] == where["sigmoid"] == "host"
    assert all("fft" in label or "complex" in label for label, target in where.items() if target == "torch")
    assert "torch" in where.values()


def test_bytes_of_a_size_that_depends_on_data_keep_their_dtype():
    chosen = compile_here(Chosen(), (torch.tensor([200, 5], dtype=torch.uint8), torch.tensor([True, False])))
    got = chosen(torch.tensor([200, 5], dtype=torch.uint8), torch.tensor([True, False]))
    assert (got.dtype, got.tolist()) == (torch.uint8, [200])


def test_sparse_arguments():
    matrix = torch.eye(3).to_sparse()
    try:
        compiled = compile_here(Sparse(), (matrix, x(3, 2)))
    except inlay.Error as error:
        assert "sparse" in str(error).lower()  # PyTorch can't export the model
        return
    compare(compiled(matrix, x(3, 2)), Sparse()(matrix, x(3, 2)), 1e-6)
    with pytest.raises(TypeError, match="expected a tensor of layout"):
        compiled(torch.eye(3), x(3, 2))


def test_models_on_another_device_are_refused():
    with pytest.raises(inlay.UnsupportedError, match="is on meta, but expected a tensor on the CPU"):
        inlay.compile(nn.Linear(3, 3, device="meta"), (torch.empty(2, 3, device="meta"),))
