# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the end of the interpreter while daemon threads run programs."""

import subprocess
import sys

import inlay
import pytest
import torch
from torch import nn

# A call takes some milliseconds, so the thread returns from one while the interpreter is clearing its objects. The
# arrays are of NumPy, because functions of PyTorch would abort the process then.
CODE = """
import sys, threading
import numpy as np
package, path = sys.argv[1:]
x = np.ones((256, 512), "float32")
called, calls = threading.Event(), 0
if package == "inlay":
    import inlay
    program = inlay.load(path)
    call = lambda: program._compilation.call([x])
else:
    import inlay_runtime
    program = inlay_runtime.load(path)
    call = lambda: program(x)

def serve():
    global calls
    while True:
        call()
        calls += 1
        called.set()

threading.Thread(target=serve, daemon=True).start()
called.wait()
kept = [[i] for i in range(1 << 20)]
"""

# Exit handlers run in reverse order, so this one runs after those of the packages. It waits for further calls.
LATE = """
import atexit, time
def wait_for_calls():
    before, end = calls, time.monotonic() + 60
    while calls < before + 3 and time.monotonic() < end:
        time.sleep(0.001)
    print(calls >= before + 3)
atexit.register(wait_for_calls)
"""


def run_at_exit(code, package, path):
    return subprocess.run(
        [sys.executable, "-c", code, package, path], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="module", params=["host", "vulkan"])
def saved(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("exit") / "m.inlay"
    layers = nn.Sequential(*(nn.Linear(512, 512) for _ in range(2)))
    targets = ("vulkan", "host") if request.param == "vulkan" else ("host",)
    compiled = inlay.compile(layers.eval(), (torch.ones(256, 512),), targets=targets)
    if "vulkan" in targets and not compiled.device:
        pytest.skip("without a device")
    compiled.save(path)
    return str(path)


@pytest.mark.parametrize("package", ["inlay", "inlay_runtime"])
def test_a_daemon_thread_can_call_a_program_while_exit_handlers_run(saved, package):
    done = run_at_exit(LATE + CODE, package, saved)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "True\n")


@pytest.mark.parametrize("package", ["inlay", "inlay_runtime"])
def test_a_daemon_thread_inside_a_program_does_not_end_the_process(saved, package):
    for _ in range(3):
        done = run_at_exit(CODE, package, saved)
        assert (done.returncode, done.stderr) == (0, "")
