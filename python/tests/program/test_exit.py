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
called = threading.Event()
if package == "inlay":
    import inlay
    program = inlay.load(path)
    call = lambda: program._compilation.call([x])
else:
    import inlay_runtime
    program = inlay_runtime.load(path)
    call = lambda: program(x)

def serve():
    while True:
        call()
        called.set()

threading.Thread(target=serve, daemon=True).start()
called.wait()
kept = [[i] for i in range(1 << 20)]
"""


@pytest.mark.parametrize("package", ["inlay", "inlay_runtime"])
def test_a_daemon_thread_inside_a_program_does_not_end_the_process(tmp_path, package):
    layers = nn.Sequential(*(nn.Linear(512, 512) for _ in range(2)))
    inlay.compile(layers.eval(), (torch.ones(256, 512),), targets=("host",)).save(tmp_path / "m.inlay")
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", CODE, package, str(tmp_path / "m.inlay")],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert (done.returncode, done.stderr) == (0, "")
