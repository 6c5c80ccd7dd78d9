# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of parameters and buffers: replaced without recompilation, written by the model, and not copied needlessly."""

import concurrent.futures
import copy
import subprocess
import sys

import inlay
import pytest
import torch
from conftest import compare
from torch import nn
from torch.nn import functional as F

TARGETS = [("vulkan", "host", "torch"), ("host", "torch"), ("torch",)]


def x(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


class Mixed(nn.Module):
    """A model whose weights are used directly, in views, with constants, tied, small, returned and not at all."""

    def __init__(self, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.first, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.first.weight
        self.scale = nn.Parameter(torch.randn(1))
        self.other = nn.Parameter(torch.randn(3, 4))
        self.unused = nn.Parameter(torch.randn(2))
        self.register_buffer("mask", torch.rand(4) > 0.5)
        self.register_buffer("hidden", torch.randn(4), persistent=False)
        with torch.no_grad():
            self.norm.running_mean.normal_()
            self.norm.running_var.uniform_(0.5, 2)

    def forward(self, a):
        a = self.norm(self.first(a)) * self.scale + self.hidden
        folded = (self.other.t() * 2 + 1).softmax(0)
        a = torch.where(self.mask, self.tied(a), -a) @ folded
        return a, self.scale * 3, self.other.sum(0), self.other


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_weights_are_replaced_without_compiling(targets):
    model, other = Mixed(0).eval(), Mixed(1).eval()
    other.hidden.copy_(model.hidden)  # is in no state_dict
    compiled = inlay.compile(model, (x(2, 4),), targets=targets)
    for _ in range(2):
        for source in (other, model):
            assert compiled.load_state_dict(source.state_dict()) == ([], [])
            with torch.no_grad():
                for got, want in zip(compiled(x(2, 4)), source(x(2, 4)), strict=True):
                    compare(got, want, 1e-5)
            state = compiled.state_dict()
            assert set(state) == set(source.state_dict())
            assert all(torch.equal(state[name], tensor) for name, tensor in source.state_dict().items())
    assert not torch.equal(model.first.weight, other.first.weight)  # copied, so the models don't share memory


def test_given_tensors_may_be_shared():
    model = nn.Linear(4, 4)
    compiled = inlay.compile(model, (x(2, 4),), targets=("host",))
    assert compiled.state_dict()["weight"].data_ptr() == model.weight.data_ptr()
    state = {name: tensor * 2 for name, tensor in model.state_dict().items()}
    compiled.load_state_dict(state, assign=True)
    assert compiled.state_dict()["weight"].data_ptr() == state["weight"].data_ptr()
    compare(compiled(x(2, 4)), model(x(2, 4)).detach() * 2, 1e-5)
    compiled.load_state_dict(state)
    assert compiled.state_dict()["weight"].data_ptr() != state["weight"].data_ptr()


@pytest.mark.parametrize("targets", TARGETS, ids="-".join)
def test_weights_that_are_written_elsewhere_are_seen(targets):
    model = Mixed().eval()
    compiled = inlay.compile(model, (x(2, 4),), targets=targets)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)
        for got, want in zip(compiled(x(2, 4)), model(x(2, 4)), strict=True):
            compare(got, want, 1e-5)


@pytest.mark.parametrize(
    "change, error, match",
    [
        (lambda s: s.pop("scale"), ValueError, "missing 'scale'"),
        (lambda s: s.update(scales=s["scale"]), ValueError, "unexpected 'scales'; did you mean 'scale'"),
        (lambda s: s.update(scale=torch.ones(2)), ValueError, r"'scale': expected float32\[1\], but got float32\[2\]"),
        (lambda s: s.update(scale=torch.ones(1).double()), TypeError, r"'scale': expected dtype float32\[1\]"),
        (lambda s: s.update(scale=1.0), TypeError, r"'scale': expected a tensor float32\[1\], but got float"),
        (lambda s: s.update(scale=torch.ones(1, device="meta")), ValueError, "one on meta"),
        (lambda s: s.update(other=x(3, 4).to_sparse()), TypeError, "expected layout torch.strided"),
        (
            lambda s: s.update({"tied.weight": x(4, 4)}),
            ValueError,
            "'first.weight' and 'tied.weight' are the same tensor in the model",
        ),
    ],
)
def test_wrong_state_is_refused_whole(change, error, match):
    model = Mixed().eval()
    compiled = inlay.compile(model, (x(2, 4),), targets=("host", "torch"))
    state = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
    change(state)
    with pytest.raises(error, match=match) as info:
        compiled.load_state_dict(state)
    assert isinstance(info.value, inlay.Error)
    with torch.no_grad():
        compare(compiled(x(2, 4))[0], model(x(2, 4))[0], 1e-5)


def test_a_name_that_is_no_text_is_unknown():
    compiled = inlay.compile(nn.Linear(4, 4), (x(2, 4),), targets=("host",))
    with pytest.raises(inlay.ArgumentValueError, match="missing 'weight', 'bias'; unexpected 3"):
        compiled.load_state_dict({3: torch.zeros(4)})


def test_some_names_may_be_left_out_on_demand():
    compiled = inlay.compile(nn.Linear(4, 4), (x(2, 4),), targets=("host",))
    result = compiled.load_state_dict({"bias": torch.zeros(4), "foo": torch.zeros(1)}, strict=False)
    assert result.missing_keys == ["weight"] and result.unexpected_keys == ["foo"]
    compare(compiled(torch.zeros(2, 4)), torch.zeros(2, 4), 0)


def test_a_weight_that_decided_something_is_not_replaced():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.zeros(4, 4))

        def forward(self, q):
            return torch.ops.aten._safe_softmax(q @ q.mT + self.mask, -1)

    compiled = inlay.compile(Masked(), (x(4, 4),), targets=("host", "torch"))
    if "mask" not in compiled._state._model.decisive:
        pytest.skip("nothing was decided")
    compiled.load_state_dict({"mask": torch.zeros(4, 4)})
    with pytest.raises(inlay.UnsupportedError, match="the graph depends on the values of 'mask'"):
        compiled.load_state_dict({"mask": torch.full((4, 4), float("-inf"))})


class NumbersOfBuffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("row", torch.tensor(0))
        self.register_buffer("factor", torch.tensor(2.5))

    def forward(self, x):
        return x[self.row - 1] * self.factor.item()


def test_an_element_of_a_buffer_can_be_a_number():
    compiled = inlay.compile(NumbersOfBuffers(), (x := torch.arange(6.0).reshape(3, 2),), targets=("host", "torch"))
    assert compiled(x).tolist() == [10.0, 12.5]
    with pytest.raises(inlay.UnsupportedError, match="the graph depends on the values of"):
        compiled.load_state_dict({"row": torch.tensor(1), "factor": torch.tensor(2.5)})


# -- Writes of the model ----------------------------------------------------------------------------------------------


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 4, 3))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64), persistent=False)

    def forward(self, k, position):
        before = self.count.clone()
        self.keys[:, position] = k[:, None]
        self.count += 1
        return self.keys.sum(1) * 2, before, self.keys


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_buffers_are_carried_from_call_to_call(targets):
    model = Cache()
    compiled = inlay.compile(copy.deepcopy(model), (x(2, 3), torch.tensor([1])), targets=targets)
    kept = []
    for step in range(3):
        k = x(2, 3) + step
        kept.append((compiled(k, torch.tensor([step])), [t.clone() for t in model(k, torch.tensor([step]))]))
    for got, want in kept:  # the results of an earlier call don't change
        for a, b in zip(got, want, strict=True):
            compare(a, b, 1e-6)
    assert torch.equal(compiled.state_dict()["keys"], model.keys) and list(compiled.state_dict()) == ["keys"]
    compiled.load_state_dict({"keys": torch.zeros(2, 4, 3)})
    compare(compiled(x(2, 3), torch.tensor([0]))[0], x(2, 3) * 2, 1e-6)


def test_buffers_of_the_model_itself_stay_as_they_are():
    model = Cache()
    compiled = inlay.compile(model, (x(2, 3), torch.tensor([1])), targets=("host", "torch"))
    with torch.inference_mode():
        compiled(x(2, 3), torch.tensor([1]))
    compiled(x(2, 3), torch.tensor([1]))
    compiled.profile(x(2, 3), torch.tensor([1]))
    assert not model.keys.any() and compiled(x(2, 3), torch.tensor([1]))[1] == 2


def test_batch_norm_counts_in_training():
    model = nn.Sequential(nn.Conv1d(3, 4, 1), nn.BatchNorm1d(4)).train()
    compiled = inlay.compile(copy.deepcopy(model), (x(2, 3, 5),), targets=("host", "torch"))
    for _ in range(2):
        compare(compiled(x(2, 3, 5)), model(x(2, 3, 5)).detach(), 1e-5)
    for name, tensor in model.state_dict().items():
        compare(compiled.state_dict()[name], tensor.detach(), 1e-5)


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_parameters_that_the_model_writes_are_its_own(targets):
    model = nn.Embedding(10, 4, max_norm=1.0)  # writes to the rows that it reads
    other, rows = copy.deepcopy(model), torch.tensor([[1, 2, 4]])
    compiled = inlay.compile(model, (rows,), targets=targets)
    for _ in range(2):
        compare(compiled(rows), other(rows).detach(), 1e-6)
    compare(compiled.state_dict()["weight"], other.weight.detach(), 1e-6)
    assert model.weight[1].norm() > 1 or model.weight[2].norm() > 1 or model.weight[4].norm() > 1


CALLS = 0


class Held:
    """An object that is no module."""

    def __init__(self):
        self.calls = 0


class Setting(nn.Module):
    """A model that runs `change(self, a)`, which sets attributes."""

    def __init__(self, change):
        super().__init__()
        self.register_buffer("empty", None)
        self.register_buffer("total", torch.zeros(2))
        self.count, self.seen, self.plain, self.change = 1, [], torch.zeros(2), change
        self.places, self.held = {"at": 0}, Held()

    def forward(self, a):
        self.change(self, a)
        return a * self.count + self.total


def test_attributes_that_a_model_only_sets_are_told_and_left():
    model = nn.Sequential(Setting(lambda self, a: setattr(self, "new", a * 2)))
    with pytest.warns(UserWarning, match="forward sets '0.new': a compiled model"):
        inlay.compile(model, (torch.ones(2),), targets=("host",))
    assert not hasattr(model[0], "new")


@pytest.mark.filterwarnings("ignore:The tensor attribute")
@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda self, a: setattr(self, "count", self.count + 1), "attribute '0.count' of the model"),
        (lambda self, a: self.seen.append(a * 2), "attribute '0.seen' of the model"),
        (lambda self, a: hasattr(self, "new") or setattr(self, "new", a * 2), "attribute '0.new' of the model"),
        (lambda self, a: self.places.update(at=self.places["at"] + 1), "attribute '0.places' of the model"),
        (lambda self, a: setattr(self.held, "calls", self.held.calls + 1), "attribute '0.held.calls' of the model"),
        (lambda self, a: globals().update(CALLS=CALLS + 1), "global 'CALLS' of test_state"),
    ],
    ids=["number", "list", "new", "dict", "object", "global"],
)
def test_attributes_that_a_model_reads_and_changes_are_refused(change, name):
    model = nn.Sequential(Setting(change))
    with pytest.raises(inlay.UnsupportedError, match=f"reads and changes {name}"):
        inlay.compile(model, (torch.ones(2),), targets=("host",))
    assert model[0].count == 1 and model[0].seen == [] and not hasattr(model[0], "new")


def test_a_buffer_that_was_not_there_is_refused():
    model = Setting(lambda self, a: setattr(self, "empty", a * 2))
    with pytest.raises(inlay.UnsupportedError, match="sets buffer 'empty' from None to a tensor"):
        inlay.compile(model, (torch.ones(2),), targets=("host",))
    assert model.empty is None


def test_a_tensor_that_is_no_buffer_is_not_written():
    model = Setting(lambda self, a: self.plain.add_(a))
    with pytest.raises(inlay.UnsupportedError, match="Constant plain is mutated"):
        inlay.compile(model, (torch.ones(2),), targets=("host",))


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_buffers_may_be_set_to_other_tensors(targets, depth, recwarn):
    model = Setting(lambda self, a: setattr(self, "total", self.total + a))
    for _ in range(depth):
        model = nn.Sequential(model)
    compiled, a = inlay.compile(model, (torch.ones(2),), targets=targets), torch.ones(2)
    assert [compiled(a).tolist() for _ in range(3)] == [[2, 2], [3, 3], [4, 4]] and a.tolist() == [1, 1]
    assert not [one for one in recwarn if "inlay" in str(one.message)]
    assert all(type(buffer) is torch.Tensor and not buffer.any() for buffer in model.buffers())
    assert [model(a).tolist() for _ in range(2)] == [[2, 2], [3, 3]]


class Swap(nn.Module):
    """Returns the value of a buffer before it is set."""

    def __init__(self):
        super().__init__()
        self.register_buffer("one", torch.zeros(2))
        self.register_buffer("two", torch.ones(2))

    def forward(self, a):
        before, self.one, self.two = self.one, self.two, self.one
        self.two = self.two + a
        return {"before": before, "a": a}


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_buffers_are_set_all_at_once(targets):
    model = nn.Sequential(Swap())
    compiled, a = inlay.compile(copy.deepcopy(model), (torch.ones(2),), targets=targets), torch.ones(2)
    for _ in range(4):
        got, want = compiled(a), model(a)
        assert torch.equal(got["before"], want["before"]) and torch.equal(got["a"], a)
    for name, buffer in model.state_dict().items():
        assert torch.equal(compiled.state_dict()[name], buffer)


def test_a_buffer_keeps_its_dims():
    model = nn.Sequential(Setting(lambda self, a: setattr(self, "total", torch.cat([self.total, a])) or self.total))
    model[0].forward = lambda a: (model[0].change(model[0], a), a)[1]
    with pytest.raises(
        inlay.UnsupportedError, match=r"buffer '0.total', float32\[2\], to float32\[4\], but expected buffers to keep"
    ):
        inlay.compile(model, (torch.ones(2),), targets=("host",))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: torch.zeros(1, 3).expand(2, 3), "several of its elements share memory"),
        (lambda: torch.inference_mode()(lambda: torch.zeros(2, 3))(), "made in inference mode"),
    ],
    ids=["expanded", "inference"],
)
def test_arguments_that_may_not_be_written_are_refused(make, match):
    class Adding(nn.Module):
        def forward(self, a, b):
            return a.add_(b).sum()

    compiled = inlay.compile(Adding(), (torch.zeros(2, 3), torch.ones(2, 3)), targets=("host", "torch"))
    with pytest.raises(inlay.ArgumentValueError, match=rf"argument 'a' \(place 1\) is written by the model, .*{match}"):
        compiled(make(), torch.ones(2, 3))
    both = torch.zeros(4, 3)  # two halves of one tensor
    assert compiled(both[:2], both[2:] + 1) == 6 and compiled(both[2:], both[:2]) == 6


def test_calls_that_write_run_one_after_the_other():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, a):
            self.count += a.sort().values.sum()
            return self.count * 1

    compiled = inlay.compile(Counter(), (torch.ones(64),), targets=("host", "torch"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        totals = sorted(float(total) for total in pool.map(compiled, [torch.ones(64)] * 32))
    assert totals == [64.0 * (number + 1) for number in range(32)]


@pytest.mark.parametrize("targets", TARGETS[1:], ids="-".join)
def test_arguments_are_written_back(targets):
    class Writes(nn.Module):
        def forward(self, a, b):
            old = a.clone()
            a.add_(b)
            b.mul_(2)
            return old, a, a * b

    compiled = inlay.compile(Writes(), (x(3, 2), x(3, 2) + 1), targets=targets)
    a, b = x(2, 3).t(), x(3, 2) + 1  # written through its strides
    want_a, want_b = a.clone(), b.clone()
    want = Writes()(want_a, want_b)
    got = compiled(a, b)
    assert got[1] is a
    for one, other in zip((*got, a, b), (*want, want_a, want_b), strict=True):
        compare(one, other, 1e-6)
    with pytest.raises(ValueError, match=r"'a' \(place 1\) is written by the model, but shares memory with .*'b'"):
        compiled(a, a)


# -- Memory -----------------------------------------------------------------------------------------------------------

MEASURE = """
import resource, sys, torch, inlay
count = int(sys.argv[1])
model = torch.nn.Sequential(*(torch.nn.Linear(2048, 2048, bias=False) for _ in range(count))).eval()
inlay.compile(torch.nn.Linear(2, 2), (torch.ones(1, 2),), targets=(sys.argv[2],))  # what compiling takes anyhow
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
compiled = inlay.compile(model, (torch.ones(1, 2048),), targets=(sys.argv[2],))
compiled(torch.ones(1, 2048))
print(count * 16 * 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("target, copies", [("host", 0), ("torch", 0), ("vulkan", 1)])
def test_weights_are_not_copied_in_host_memory(target, copies):
    # 400 MiB; a software device also has its copy in the memory of the process.
    done = subprocess.run([sys.executable, "-c", MEASURE, "25", target], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    weights, grown = map(int, done.stdout.split())
    assert grown < (copies + 0.25) * weights, f"{grown >> 10} MiB more for {weights >> 10} MiB of weights"


def test_attention_with_a_cache_as_a_buffer():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(8, 24)
            self.register_buffer("cache", torch.zeros(2, 1, 6, 8))

        def forward(self, token, position):
            q, k, v = self.qkv(token).chunk(3, -1)
            self.cache[0, :, position], self.cache[1, :, position] = k, v
            mask = torch.arange(6) <= position
            return F.scaled_dot_product_attention(q, self.cache[0], self.cache[1], attn_mask=mask)

    model = Attention().eval()
    compiled = inlay.compile(copy.deepcopy(model), (x(1, 1, 8), torch.tensor([0])))
    with torch.no_grad():
        for position in range(4):
            token = x(1, 1, 8) * (position + 1)
            compare(compiled(token, torch.tensor([position])), model(token, torch.tensor([position])), 1e-5)
