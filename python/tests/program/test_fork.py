# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of forks beside threads that are in calls, in a process of their own."""

import os
import subprocess
import sys

import inlay
import pytest
import torch
from torch import nn

# Two threads call a program on the host and two call one on the device. Each child calls the program that its parent
# loaded and one that it loads, and gets an error from the program on the device. SIGALRM ends a child that hangs.
CODE = """
import importlib, os, signal, sys, threading
import numpy as np
package, host, device, forks = importlib.import_module(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4])
if sys.argv[1] == "inlay":
    import torch
    torch.set_num_threads(1)
    x, sums = torch.ones(8, 64), lambda y: float(y.sum())
else:
    x, sums = np.ones((8, 64), "float32"), lambda y: float(y.sum())
on_host, on_device = package.load(host), package.load(device)
assert on_device.device
want, stops, called = sums(on_host(x)), threading.Event(), [threading.Event() for _ in range(4)]

def serve(program, event):
    while not stops.is_set():
        assert abs(sums(program(x)) - want) < 1e-2
        event.set()

threads = [threading.Thread(target=serve, args=(program, event))
           for program, event in zip([on_host, on_host, on_device, on_device], called)]
for thread in threads:
    thread.start()

def check():
    assert abs(sums(on_host(x)) - want) < 1e-2
    assert abs(sums(package.load(host)(x)) - want) < 1e-2
    try:
        on_device(x)
    except package.Error:
        return
    raise AssertionError("the child used the device")

for number in range(forks):
    for event in called:
        event.clear()
        event.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            check()
        except BaseException as error:
            print(f"child {number}: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(f"child {number}: status {status}", file=sys.stderr, flush=True)
stops.set()
for thread in threads:
    thread.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork")
@pytest.mark.parametrize("package", ["inlay", "inlay_runtime"])
def test_children_call_programs_beside_calls_of_their_parent(tmp_path, package):
    model, inputs = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).eval(), (torch.ones(8, 64),)
    inlay.compile(model, inputs, targets=("host",)).save(tmp_path / "host.inlay")
    compiled = inlay.compile(model, inputs, targets=("vulkan", "host"))
    if not compiled.device:
        pytest.skip("without a device")
    compiled.save(tmp_path / "device.inlay")
    paths = [str(tmp_path / "host.inlay"), str(tmp_path / "device.inlay")]
    done = subprocess.run(
        [sys.executable, "-c", CODE, package, *paths, "20"], capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
