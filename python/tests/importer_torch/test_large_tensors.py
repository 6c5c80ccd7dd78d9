# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of tensors that devices use in place: the owner and the lifetime of their memory."""

import copy
import gc
import pickle
import subprocess
import sys
import threading

import inlay
import inlay_runtime
import numpy as np
import pytest
import torch
from torch import nn

TARGETS = [("host",), ("vulkan", "host")]
MANY = 1 << 17  # large enough to be used in place
COUNTS = (0, 1, 1000, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, MANY)


class Sum(nn.Module):
    def forward(self, a, b):
        return a + b, a * 2


@pytest.fixture(scope="module", params=TARGETS, ids=["host", "vulkan"])
def compiled(request):
    given = inlay.Input(shape=(torch.export.Dim("n", max=MANY),), opt_shape=(1000,))
    return inlay.compile(Sum().eval(), (given, given), targets=request.param)


@pytest.fixture(scope="module")
def path(compiled, tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "sum.inlay"
    compiled.save(path)
    return path


def ramp(count, start=0):
    return torch.arange(start, start + count, dtype=torch.float32)


@pytest.mark.parametrize("count", COUNTS)
def test_any_size(compiled, path, count):
    a, b = ramp(count), ramp(count, 5)
    total, doubled = compiled(a, b)
    assert torch.equal(total, a + b) and torch.equal(doubled, a * 2)
    assert torch.equal(a, ramp(count)) and torch.equal(b, ramp(count, 5))
    total, doubled = inlay_runtime.load(path)(a.numpy(), b.numpy())
    assert np.array_equal(total, (a + b).numpy()) and np.array_equal(doubled, (a * 2).numpy())


def test_results_are_their_callers(compiled):
    a, b = ramp(MANY), ramp(MANY, 1)
    first, doubled = compiled(a, b)
    wanted = first.clone()
    for _ in range(3):
        later, other = compiled(b, b)
        assert torch.equal(first, wanted) and torch.equal(later, b + b)
        assert len({one.data_ptr() for one in (a, b, first, doubled, later, other)}) == 6
    first.fill_(-1)
    later.zero_()
    assert torch.equal(compiled(a, b)[0], wanted) and torch.equal(a, ramp(MANY))
    assert not first.requires_grad and first.is_contiguous() and not first.is_inference()
    with torch.inference_mode():
        assert not compiled(a, b)[0].is_inference()


def test_results_outlive_the_program(path):
    a, b = ramp(MANY), ramp(MANY, 1)
    for load, arrays in ((inlay.load, (a, b)), (inlay_runtime.load, (a.numpy(), b.numpy()))):
        program = load(path)
        kept = [program(*arrays) for _ in range(3)]
        view = kept[0][0][10:20]
        del program, kept[1]
        gc.collect()
        assert all(np.array_equal(total, (a + b).numpy()) for total, _ in kept)
        del kept
        gc.collect()
        load(path)(*arrays)
        assert view.tolist() == (a + b)[10:20].tolist()


def test_results_are_inputs(compiled, path):
    program = inlay_runtime.load(path)
    value, array = ramp(MANY), ramp(MANY).numpy()
    for _ in range(5):
        value, _ = compiled(value, value)
        array, _ = program(array, array)
    assert torch.equal(value, ramp(MANY) * 32) and np.array_equal(array, value.numpy())


def test_inputs_may_go_right_after(compiled, path):
    program = inlay_runtime.load(path)
    for i in range(10):
        total, _ = compiled(ramp(MANY, i), ramp(MANY))
        array, _ = program(ramp(MANY, i).numpy(), ramp(MANY).numpy())
        torch.full((MANY,), -1.0)  # may have the same address
        assert torch.equal(total, ramp(MANY, i) + ramp(MANY)) and np.array_equal(array, total.numpy())


def test_an_input_is_let_go_of(compiled, path):
    value = np.arange(MANY, dtype="float32")
    count = sys.getrefcount(value)
    inlay_runtime.load(path)(value, value)
    assert sys.getrefcount(value) == count
    compiled(torch.from_numpy(value), torch.from_numpy(value))
    assert sys.getrefcount(value) == count


def test_strides_and_odd_places(compiled, path):
    program = inlay_runtime.load(path)
    wide = ramp(2 * MANY)
    odd = wide[3 : MANY + 3], wide[1 : MANY + 1]
    for a, b in ((wide[::2], wide[1::2]), odd, (wide[:1].expand(MANY), wide[:MANY])):
        assert torch.equal(compiled(a, b)[0], a + b)
        assert np.array_equal(program(a.numpy(), b.numpy())[0], (a + b).numpy())
    assert torch.equal(wide, ramp(2 * MANY))
    fixed = ramp(MANY).numpy()
    fixed.flags.writeable = False
    assert np.array_equal(program(fixed, fixed)[0], fixed * 2)


def test_threads_share_inputs(compiled, path):
    program = inlay_runtime.load(path)
    a, b = ramp(MANY), ramp(MANY, 1)
    wrong = []

    def call(count):
        for _ in range(count):
            if not torch.equal(compiled(a, b)[0], a + b) or not np.array_equal(program(a, b)[1], (a * 2).numpy()):
                wrong.append(count)

    threads = [threading.Thread(target=call, args=(20,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_are_ordinary(compiled, path, tmp_path):
    a, b = ramp(MANY), ramp(MANY, 1)
    total, _ = compiled(a, b)
    assert torch.equal(pickle.loads(pickle.dumps(total)), total) and torch.equal(copy.deepcopy(total), total)
    torch.save(total, tmp_path / "total.pt")
    assert torch.equal(torch.load(tmp_path / "total.pt"), total)
    assert torch.equal(total.share_memory_(), a + b)
    total.add_(1)
    total.data = torch.zeros(3)
    array, _ = inlay_runtime.load(path)(a, b)
    assert np.array_equal(pickle.loads(pickle.dumps(array)), array) and array.flags.writeable
    array += 1
    assert array[0] == 2


# Results that are alive when the interpreter ends, also in cycles, and in a forked process.
CODE = """
import os, sys
import numpy as np
import inlay, inlay_runtime, torch
value = np.ones(1 << 17, "float32")
kept = [inlay.load(sys.argv[1])(torch.from_numpy(value), torch.from_numpy(value)),
        inlay_runtime.load(sys.argv[1])(value, value)]
class Cycle:
    pass
cycle = Cycle()
cycle.itself, cycle.kept = cycle, list(kept)
child = os.fork()
if child == 0:
    right = all(float(one[0][-1]) == 2 for one in kept)
    del kept
    os._exit(0 if right else 1)
assert os.waitpid(child, 0)[1] == 0
print(float(kept[0][0][5]), kept[1][0][5])
"""


def test_results_at_the_end_of_the_interpreter(path):
    done = subprocess.run([sys.executable, "-c", CODE, str(path)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "2.0 2.0\n"), done.stderr
