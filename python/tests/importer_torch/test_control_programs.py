# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares compiled random programs with control flow with PyTorch.

INLAY_FULL=1 runs many more. A failure names its seed; `pytest -k "seed-7"` runs it again.
"""

import os

import control_programs
import pytest
import torch
from conftest import compare
from inlay._compile.imported import compile_imported
from inlay._compile.options import Options
from replay import Replay

TARGETS = [("vulkan", "host", "torch"), ("host", "torch")]
FULL = bool(os.environ.get("INLAY_FULL"))


@pytest.mark.parametrize("seed", [pytest.param(seed, id=f"seed-{seed}") for seed in range(1000 if FULL else 40)])
def test_random_program(seed):
    program = control_programs.Program(seed).eval()
    imported = control_programs.import_traced(
        control_programs.trace(program, control_programs.inputs(seed)), [program.weight.detach()]
    )
    assert imported.reasons == [], program.source
    compiled = compile_imported(imported, Options.make({"targets": TARGETS[seed % 2]}))
    for number in range(3):
        inputs = control_programs.inputs(seed + 1000 * number)
        with torch.no_grad():
            want = program(*inputs)
        for mine, theirs in zip(compiled.call_flat(*inputs), want, strict=True):
            compare(mine, theirs, 1e-4)


@pytest.mark.parametrize("seed", [pytest.param(seed, id=f"seed-{seed}") for seed in range(40 if FULL else 4)])
def test_random_program_that_is_exported(monkeypatch, seed):
    try:
        program = torch.export.export(control_programs.Program(seed, exported=True), control_programs.inputs(seed))
    except RuntimeError as error:
        pytest.skip(f"torch.export fails: {str(error).strip().splitlines()[0]}")
    replay = Replay(monkeypatch, program)
    assert replay.program.reasons == []
    for number in range(3):
        replay.check(program.module(), *control_programs.inputs(seed + 1000 * number), tolerance=1e-4)
