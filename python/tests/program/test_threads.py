# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of calls, saves and replaced weights in several threads, inside of calls, and after a fork."""

import contextlib
import os
import threading
import time

import inlay
import pytest
import torch
from torch import nn

HOST = ("host", "torch")
ACTION = threading.local()  # has the function `run` that the op below calls


@torch.library.custom_op("inlay_tests::interrupt", mutates_args=())
def interrupt(x: torch.Tensor) -> torch.Tensor:
    """Runs the function that the test has set, in PyTorch, in the middle of a call."""
    ACTION.run()
    return x.clone()


interrupt.register_fake(torch.empty_like)


class Interrupted(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, a):
        return interrupt(a * self.scale) * self.scale


class Counter(nn.Module):
    """A model that writes a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, a):
        self.count += 1
        return interrupt(a) + self.count


def x():
    return torch.tensor([1.0, 10.0])


@pytest.fixture
def interrupted():
    ACTION.run = lambda: None
    return inlay.compile(Interrupted().eval(), (x(),), targets=HOST)


def test_a_call_inside_of_a_call_of_the_same_model(interrupted):
    inner = []

    def call():
        ACTION.run = lambda: None
        inner.append(interrupted(x() * 2))

    ACTION.run = call
    assert interrupted(x()).tolist() == [4.0, 90.0]
    assert inner[0].tolist() == [8.0, 180.0]


def test_a_failure_inside_of_an_inner_call_is_that_of_the_inner_call(interrupted):
    def fail():
        raise ValueError("inner")

    def call():
        ACTION.run = fail
        with pytest.raises(inlay.Error, match="inner"):
            interrupted(x())

    ACTION.run = call
    assert interrupted(x()).tolist() == [4.0, 90.0]


@pytest.mark.parametrize("method", ["load_state_dict", "save"])
def test_what_waits_for_calls_is_refused_inside_of_one(interrupted, method, tmp_path):
    arguments = {"load_state_dict": ({"scale": torch.ones(2)},), "save": (tmp_path / "m.inlay", None, True)}[method]
    ACTION.run = lambda: getattr(interrupted, method)(*arguments)
    with pytest.raises(inlay.Error, match=f"{method} can't be called inside of a call of the same model"):
        interrupted(x())
    ACTION.run = lambda: None
    assert interrupted(x()).tolist() == [4.0, 90.0]


def test_a_weight_that_is_written_inside_of_a_call_counts_from_the_next_call(interrupted):
    def write():
        with torch.no_grad():
            interrupted.state_dict()["scale"].fill_(5)
        ACTION.run = lambda: None
        with pytest.raises(inlay.UnsupportedError, match="weights were written inside of a call"):
            interrupted(x())

    ACTION.run = write
    interrupted(x())
    assert interrupted(x()).tolist() == [25.0, 250.0]


def test_a_model_that_writes_buffers_does_not_call_itself():
    ACTION.run = lambda: None
    counter = inlay.compile(Counter().eval(), (x(),), targets=HOST)
    ACTION.run = lambda: counter(x())
    with pytest.raises(inlay.Error, match="a model that writes buffers can't be called inside of a call of itself"):
        counter(x())
    ACTION.run = lambda: None
    assert counter(x()).tolist() == [2.0, 11.0]


class Sum(nn.Module):
    """A model of many weights, which are all equal in this test. A file with weights of two kinds is wrong."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(torch.ones(64, 64) for _ in range(60))

    def forward(self, a):
        for weight in self.weights:
            a = (a @ weight).clamp(max=1)
        return a, torch.stack([weight[0, 0] for weight in self.weights])


def test_a_save_beside_replaced_weights_has_weights_of_one_time(tmp_path):
    model = Sum().eval()
    compiled = inlay.compile(model, (torch.ones(1, 64),), targets=("host",))
    states = [{name: torch.full_like(value, fill) for name, value in model.state_dict().items()} for fill in (1.0, 2.0)]
    is_done = threading.Event()

    def replace():
        while not is_done.is_set():
            for state in states:
                compiled.load_state_dict(state)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for number in range(40):
            compiled.save(tmp_path / f"{number}.inlay")
    finally:
        is_done.set()
        thread.join()
    for number in range(40):
        found = inlay.load(tmp_path / f"{number}.inlay")(torch.ones(1, 64))[1]
        assert len(set(found.tolist())) == 1, f"file {number}: {found}"


def run_in_child(function):
    """Runs a function in a forked process. Returns its exit status, or None if it hangs."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            function()
            os._exit(0)
        os._exit(1)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


@pytest.mark.parametrize("writes_buffers", [False, True])
def test_a_fork_beside_calls_leaves_a_program_that_works(writes_buffers):
    model = Counter() if writes_buffers else nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    ACTION.run = lambda: None
    compiled = inlay.compile(model.eval(), (x(),), targets=HOST)
    state = {name: value.clone() for name, value in compiled.state_dict().items()}
    other = {name: value + 1 for name, value in state.items()}
    is_done = threading.Event()

    def use(work):
        ACTION.run = lambda: None
        while not is_done.is_set():
            work()

    def check():
        for wanted in (state, other):
            compiled.load_state_dict(wanted)
            with torch.no_grad():
                want = torch.func.functional_call(model, {k: v.clone() for k, v in wanted.items()}, (x(),))
            torch.testing.assert_close(compiled(x()), want)

    works = [lambda: compiled(x()), lambda: compiled(x()), lambda: compiled.load_state_dict(state)]
    threads = [threading.Thread(target=use, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        statuses = [run_in_child(check) for _ in range(10)]
    finally:
        is_done.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * 10
