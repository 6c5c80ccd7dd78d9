# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of Ctrl-C while a program is compiled or called."""

import subprocess
import sys

import pytest

# The handler of SIGINT raises KeyboardInterrupt in the main thread. After it, the same work must succeed. Python
# reports exceptions in finalizers to a hook and ignores them.
CODE = """
import signal, sys, threading, time
import torch, inlay
from torch import nn

signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)
model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(4))).eval()
x = torch.ones(2, 64)
program = torch.export.export(model, (x,))
compile = lambda: inlay.compile(program, targets=("host",))
compiled = compile()
work = compile if sys.argv[1] == "compile" else lambda: compiled(x)
interrupts = 0
def count_ignored(ignored):
    global interrupts
    if ignored.exc_type is KeyboardInterrupt:
        interrupts += 1
    else:
        sys.__unraisablehook__(ignored)
sys.unraisablehook = count_ignored
with torch.no_grad():
    for delay in range(int(sys.argv[2])):
        done = threading.Event()
        def interrupt():
            time.sleep(delay * float(sys.argv[3]))
            if not done.is_set():
                signal.raise_signal(signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        try:
            thread.start()
            while thread.is_alive():
                work()
        except KeyboardInterrupt:
            interrupts += 1
        while True:  # an interrupt may arrive in each of these calls
            try:
                done.set()
                thread.join()
                break
            except KeyboardInterrupt:
                interrupts += 1
    torch.testing.assert_close(compile()(x), model(x))
print(interrupts)
"""


@pytest.mark.parametrize(("work", "count", "step"), [("compile", 12, 0.02), ("call", 30, 0.002)])
def test_an_interrupt_ends_the_work_and_later_work_succeeds(work, count, step):
    done = subprocess.run(
        [sys.executable, "-c", CODE, work, str(count), str(step)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == count
