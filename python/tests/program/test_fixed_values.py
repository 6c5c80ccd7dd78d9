# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that no Python value that changes after the compilation, or in a call, is silently fixed."""

import collections
import concurrent.futures
import enum
import functools

import inlay
import pytest
import torch
from conftest import compare
from torch import nn
from torch.nn import functional as F


class Kind(enum.Enum):
    DOUBLE, HALF = 2.0, 0.5


FACTOR = 2.0
DEVICE = torch.device("cpu")
SWITCHES = {"negate": False}


class Config:
    """An object that is no module."""

    def __init__(self):
        self.scale, self.levels = 2.0, [1.0, 2.0]


SETTINGS = Config()


class Scaled(nn.Module):
    """A model that reads values of many kinds."""

    kind_of_all = Kind.DOUBLE

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
        self.other = nn.Linear(3, 3)
        self.register_buffer("offset", torch.ones(3))
        self.scale, self.flag, self.nothing, self.kind = 2.0, True, None, Kind.HALF
        self.flags, self.sizes, self.config = {"deep": {"on": True}}, [1, 2], Config()
        self.table, self.act = torch.ones(3), functools.partial(F.leaky_relu, negative_slope=0.5)
        self.unread = 1
        self.configs, self.dtype, self.names, self.mode = [Config()], torch.float32, {"a": 1}, "relu"
        self.register_buffer("missing", None)
        self.blocks = nn.ModuleList([nn.Identity()])

    def forward(self, a):
        a = self.inner(a) * self.scale + self.offset + self.table
        a = a * 2 if self.flag and self.nothing is None else a
        a = a * self.kind.value * self.kind_of_all.value * self.config.scale * self.config.levels[0]
        a = -a if self.flags["deep"]["on"] else a
        a = self.act(a) * self.sizes[1] * FACTOR * SETTINGS.scale * self.configs[0].scale * self.names["a"]
        a = (a.relu() if self.mode == "relu" else a).to(self.dtype).to(DEVICE)
        a = a if self.missing is None else a + self.missing
        for block in self.blocks:
            a = block(a)
        return self.other(-a if SWITCHES["negate"] else a)


def change(path, value):
    """Returns a function that sets an attribute or an entry that belongs to a model."""

    def apply(model, patch):
        *owners, last = path.split(".")
        for key in owners:
            model = model[key] if isinstance(model, dict) else getattr(model, key)
        (patch.setitem if isinstance(model, dict) else patch.setattr)(model, last, value)

    return apply


CHANGES = {
    "flag": (change("flag", False), "attribute 'flag' of the model is False, but was True when the model was compiled"),
    "float": (change("scale", 3.0), "attribute 'scale' of the model is 3.0, but was 2.0"),
    "type": (change("scale", 2), "attribute 'scale' of the model is 2, but was 2.0"),
    "none": (change("nothing", 1), "attribute 'nothing' of the model is 1, but was None"),
    "enum": (change("kind", Kind.DOUBLE), "attribute 'kind' of the model"),
    "class": (lambda model, patch: patch.setattr(Scaled, "kind_of_all", Kind.HALF), "attribute 'kind_of_all'"),
    "shadow": (change("kind_of_all", Kind.HALF), "attribute 'kind_of_all'"),
    "dict": (change("flags.deep.on", False), "attribute 'flags' of the model has other elements"),
    "list": (lambda model, patch: model.sizes.append(3), "attribute 'sizes' of the model has other elements"),
    "config": (change("config.scale", 3.0), "attribute 'config.scale' of the model is 3.0, but was 2.0"),
    "new config": (change("config", Config()), "attribute 'config' of the model is another object"),
    "tensor": (change("table", torch.zeros(3)), "attribute 'table' of the model is another object"),
    "partial": (change("act", F.relu), "attribute 'act' of the model is another object"),
    "partial argument": (change("act.keywords.negative_slope", 0.1), "attribute 'act' of the model has other elements"),
    "training": (change("inner.1.training", True), "attribute 'inner.1.training' of the model is True, but was False"),
    "global": (
        lambda model, patch: patch.setitem(globals(), "FACTOR", 3.0),
        "global 'FACTOR' of .* is 3.0, but was 2.0",
    ),
    "global dict": (lambda model, patch: patch.setitem(SWITCHES, "negate", True), "global 'SWITCHES' of .* has other"),
    "buffer": (change("_buffers.offset", torch.zeros(3)), "buffer 'offset' of the model is another .*load_state_dict"),
    "parameter": (
        change("other._parameters.weight", nn.Parameter(torch.ones(3, 3))),
        "parameter 'other.weight' of the model",
    ),
    "submodule": (change("_modules.other", nn.Linear(3, 3)), "submodule 'other' of the model is another"),
    "tied": (
        lambda model, patch: change("other._parameters.weight", model.inner[0].weight)(model, patch),
        "'other.weight' of the",
    ),
    "dtype": (change("dtype", torch.float16), "attribute 'dtype' of the model is torch.float16, but was torch.float32"),
    "string": (change("mode", "none"), "attribute 'mode' of the model is 'none', but was 'relu'"),
    "number of another type": (change("names.a", True), "attribute 'names' of the model has other elements"),
    "config in a list": (
        lambda model, patch: patch.setattr(model.configs[0], "scale", 3.0),
        "attribute 'configs.scale' of the model is 3.0, but was 2.0",
    ),
    "global config": (
        lambda model, patch: patch.setattr(SETTINGS, "scale", 3.0),
        "attribute 'scale' of global 'SETTINGS' of .* is 3.0, but was 2.0",
    ),
    "global device": (
        lambda model, patch: patch.setitem(globals(), "DEVICE", torch.device("meta")),
        "global 'DEVICE' of .* is device\\(type='meta'\\), but was device\\(type='cpu'\\)",
    ),
    "buffer instead of None": (change("_buffers.missing", torch.ones(3)), "buffer 'missing' of the model is another"),
    "new submodule": (change("blocks._modules.1", nn.ReLU()), "submodule 'blocks.1' of the model is new since"),
    "hook": (change("other._forward_hooks.1", print), "module 'other' of the model has got a hook"),
    "pre-hook": (change("_forward_pre_hooks.1", print), "the model has got a hook"),
}


@pytest.fixture(scope="module")
def compiled_once():
    """Returns (model, compiled model)."""
    torch.manual_seed(0)
    model = Scaled().eval()
    return model, inlay.compile(model, (torch.ones(2, 3),), targets=("host", "torch"))


@pytest.mark.parametrize("name", CHANGES)
def test_a_value_that_changes_between_calls_is_an_error(name, compiled_once, monkeypatch):
    model, compiled = compiled_once
    a = torch.randn(2, 3)
    apply, message = CHANGES[name]
    sizes = list(model.sizes)
    with monkeypatch.context() as patch:
        apply(model, patch)
        with pytest.raises(inlay.UnsupportedError, match=message):
            compiled(a)
    model.sizes[:] = sizes
    with torch.no_grad():
        compare(compiled(a), model(a), 1e-5)


def test_values_that_forward_does_not_read_may_change(compiled_once, monkeypatch):
    model, compiled = compiled_once
    assert "__getattribute__" not in vars(nn.Module)  # nothing is left of the recording
    monkeypatch.setattr(model, "unread", 2)
    monkeypatch.setattr(model, "sizes", list(model.sizes))  # equal
    with torch.no_grad():
        compare(compiled(torch.ones(2, 3)), model(torch.ones(2, 3)), 1e-5)


def test_other_states_of_the_process_are_errors():
    factor = 2.0
    model = nn.Linear(3, 3)
    model.forward = lambda a: F.linear(a, model.weight) * torch.ones(3) * factor
    compiled = inlay.compile(model, (torch.ones(2, 3),), targets=("host", "torch"))
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(
            inlay.UnsupportedError, match=r"torch.get_default_dtype\(\) is torch.float64, but was torch.float32"
        ):
            compiled(torch.ones(2, 3))
    finally:
        torch.set_default_dtype(torch.float32)
    compiled(torch.ones(2, 3))
    factor = 3.0
    with pytest.raises(inlay.UnsupportedError, match=r"variable 'factor' of .* is 3.0, but was 2.0"):
        compiled(torch.ones(2, 3))


@pytest.mark.parametrize(
    ("ask", "change", "restore"),
    [
        (
            torch.are_deterministic_algorithms_enabled,
            lambda: torch.use_deterministic_algorithms(True),
            lambda: torch.use_deterministic_algorithms(False),
        ),
        (
            torch.get_float32_matmul_precision,
            lambda: torch.set_float32_matmul_precision("medium"),
            lambda: torch.set_float32_matmul_precision("highest"),
        ),
    ],
    ids=["deterministic", "precision"],
)
@pytest.mark.parametrize("is_asked", [True, False], ids=["asked", "not-asked"])
def test_a_setting_of_pytorch_is_checked_if_forward_asks_for_it(ask, change, restore, is_asked):
    name, before = ask.__name__, ask()

    class Asking(nn.Module):
        def forward(self, a):
            return a * 2 if is_asked and getattr(torch, name)() == before else a * 3

    compiled = inlay.compile(Asking(), (torch.ones(3),), targets=("host", "torch"))
    want = torch.full((3,), 2.0 if is_asked else 3.0)
    change()
    try:
        if is_asked:
            with pytest.raises(inlay.UnsupportedError, match=rf"torch.{name}\(\) is .*, but was {before!r} when"):
                compiled(torch.ones(3))
        else:
            compare(compiled(torch.ones(3)), want, 0)
    finally:
        restore()
    compare(compiled(torch.ones(3)), want, 0)


def test_inference_mode_is_checked_if_forward_asks_for_it():
    class Asking(nn.Module):
        def forward(self, a):
            return a * 2 if torch.is_inference_mode_enabled() else a * 3

    compiled = inlay.compile(Asking(), (torch.ones(3),), targets=("host", "torch"))
    with (
        torch.inference_mode(),
        pytest.raises(inlay.UnsupportedError, match=r"torch.is_inference_mode_enabled\(\) is True, but was False"),
    ):
        compiled(torch.ones(3))
    compare(compiled(torch.ones(3)), torch.full((3,), 3.0), 0)


def test_autocast_around_a_call_has_no_effect():
    model = nn.Linear(3, 3)
    compiled = inlay.compile(model, (torch.ones(2, 3),), targets=("host", "torch"))
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        got = compiled(torch.ones(2, 3))
    with torch.no_grad():
        compare(got, model(torch.ones(2, 3)), 1e-5)


def test_a_parametrization_after_the_compilation_is_an_error():
    model = nn.Linear(3, 3)
    compiled = inlay.compile(model, (torch.ones(2, 3),), targets=("host", "torch"))
    nn.utils.parametrizations.weight_norm(model)
    with pytest.raises(inlay.UnsupportedError, match="parameter 'weight' of the model is missing"):
        compiled(torch.ones(2, 3))


def test_new_parameters_may_be_passed_to_the_compiled_model():
    model, other = nn.Linear(3, 3), nn.Linear(3, 3)
    compiled = inlay.compile(model, (torch.ones(2, 3),), targets=("host", "torch"))
    model.load_state_dict(other.state_dict(), assign=True)
    with pytest.raises(inlay.UnsupportedError, match="load_state_dict of the compiled model"):
        compiled(torch.ones(2, 3))
    compiled.load_state_dict(model.state_dict())
    with torch.no_grad():
        compare(compiled(torch.ones(2, 3)), other(torch.ones(2, 3)), 1e-5)


def test_values_in_branches_are_checked():
    class Branching(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = 3.0

        def forward(self, a):
            return torch.cond(a.sum() > 0, lambda b: b * self.factor, lambda b: b - 1, (a,))

    model = Branching()
    compiled = inlay.compile(model, (torch.ones(3),), targets=("host", "torch"))
    compare(compiled(torch.ones(3)), torch.full((3,), 3.0), 0)
    model.factor = 4.0
    with pytest.raises(inlay.UnsupportedError, match=r"attribute 'factor' of the model is 4.0, but was 3.0"):
        compiled(torch.ones(3))


def test_a_tensor_that_is_no_buffer_must_not_be_written():
    model = nn.ReLU()
    model.table, model.forward = [torch.ones(3)], lambda a: a * (model.table[0] * 2)
    compiled = inlay.compile(model, (torch.ones(3),), targets=("host", "torch"))
    model.table[0].add_(1)
    with pytest.raises(inlay.UnsupportedError, match="attribute 'table' of the model was written since"):
        compiled(torch.ones(3))


class Listed(nn.Module):
    """A model that reads the values of a dict in their order."""

    def __init__(self, values):
        super().__init__()
        self.values = values

    def forward(self, a):
        for value in self.values.values():
            a = a * value + 1
        return a


def test_the_order_of_a_dict_is_compared():
    model = Listed(collections.OrderedDict(a=2.0, b=3.0))
    compiled = inlay.compile(model, (torch.ones(3),), targets=("host", "torch"))
    compare(compiled(torch.ones(3)), model(torch.ones(3)), 0)
    model.values.move_to_end("a")
    with pytest.raises(inlay.UnsupportedError, match="attribute 'values' of the model has other elements"):
        compiled(torch.ones(3))


def test_a_container_may_contain_itself(monkeypatch):
    around = {"scale": 2.0}
    around["itself"] = around
    monkeypatch.setitem(globals(), "AROUND", around)
    model = Listed({"a": 2.0})
    model.forward = lambda a: Listed.forward(model, a) * AROUND["scale"]  # noqa: F821
    original = nn.Module.__getattribute__
    compiled = inlay.compile(model, (torch.ones(3),), targets=("host", "torch"))
    assert nn.Module.__getattribute__ is original
    compare(compiled(torch.ones(3)), torch.full((3,), 6.0), 0)
    other = {"scale": 2.0}
    other["itself"] = other
    monkeypatch.setitem(globals(), "AROUND", other)
    with pytest.raises(inlay.UnsupportedError, match="global 'AROUND'"):
        compiled(torch.ones(3))


def test_threads_may_check_while_equal_values_replace_each_other():
    model = Listed({"a": 2.0})
    compiled = inlay.compile(model, (torch.ones(3),), targets=("host", "torch"))

    def call(_):
        model.values = {"a": float("2.0")}  # an equal object
        return compiled(torch.ones(3))

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for result in threads.map(call, range(400)):
            compare(result, torch.full((3,), 3.0), 0)
