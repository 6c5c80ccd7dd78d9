# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that the states of a program survive saving and loading."""

import json
import pathlib
import subprocess
from typing import Any

import inlay
import inlay_runtime
import numpy as np
import pytest
import torch
from conftest import BUILD
from inlay._program.metadata import saving
from torch import nn
from torch.export import Dim


class Log(nn.Module):
    """Writes rows after those of earlier calls. Returns the sum of all rows and the number of calls."""

    def forward(
        self, past: torch.Tensor, rows: torch.Tensor, log: torch.Tensor, counts: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        start, count = past.shape[0], rows.shape[0]
        log[start : start + count] = rows
        counts["calls"].add_(1)
        return log[: start + count].sum(0), counts["calls"] * 1


def compile_log(targets: tuple[str, ...]) -> inlay.CompiledModule:
    return inlay.compile(
        Log(),
        (torch.zeros(3, 0), torch.zeros(2, 7), torch.zeros(29, 7), {"calls": torch.zeros(1, dtype=torch.int64)}),
        targets=targets,
        states=("log", "counts"),
        dynamic_shapes=({0: Dim("past", min=0, max=20)}, {0: Dim("rows", min=1, max=8)}, None, {"calls": None}),
    )


def check(session: Any, past: int, log: torch.Tensor, calls: int) -> None:
    """Calls a session that holds `past` rows of `log` after `calls` calls, and compares it with the model."""
    counts = {"calls": torch.tensor([calls])}
    log = log.clone()
    log[past:] = 0
    for count in (1, 6, 3):
        rows = torch.randn(count, 7)
        given = torch.zeros(past, 0), rows
        torch.testing.assert_close(session(*given), Log()(*given, log, counts))
        past += count
    torch.testing.assert_close(session.state_dict(), {"log": log, "counts_calls": counts["calls"]})


@pytest.mark.parametrize("targets", [("host",), ("vulkan", "host")])
def test_a_loaded_model_has_sessions(tmp_path: pathlib.Path, targets: tuple[str, ...]) -> None:
    compiled = compile_log(targets)
    compiled.save(tmp_path / "log.inlay")
    loaded = inlay.load(tmp_path / "log.inlay")
    assert loaded.symbols == {"past": (0, 20), "rows": (1, 8)}
    old, new = compiled.new_session(), loaded.new_session()
    check(new, 0, torch.zeros(29, 7), 0)
    with pytest.raises(inlay.ArgumentTypeError, match=r"keeps states .*'log'.*new_session"):
        loaded(torch.zeros(0, 0), torch.zeros(1, 7))
    with pytest.raises(inlay.SizesError, match=r"rows.* 9"):
        new(torch.zeros(0, 0), torch.zeros(9, 7))
    assert new.profile(torch.zeros(0, 0), torch.zeros(1, 7))
    new.reset()
    check(new, 0, torch.zeros(29, 7), 0)
    # States go from one program to the other.
    old.load_state_dict(new.state_dict())
    check(old, 10, new.state_dict()["log"], 3)
    # A loaded model can be saved again.
    loaded.save(tmp_path / "again.inlay")
    check(inlay.load(tmp_path / "again.inlay").new_session(), 0, torch.zeros(29, 7), 0)


def test_the_host_continues_the_states_of_a_device(tmp_path: pathlib.Path) -> None:
    compiled = compile_log(("vulkan", "host"))
    compiled.save(tmp_path / "log.inlay")
    session = compiled.new_session()
    check(session, 0, torch.zeros(29, 7), 0)
    on_host = inlay.load(tmp_path / "log.inlay", device="none")
    assert not on_host.device
    other = on_host.new_session()
    other.load_state_dict(session.state_dict())
    check(other, 10, session.state_dict()["log"], 3)


def test_the_runtime_has_the_names_of_states(tmp_path: pathlib.Path) -> None:
    compile_log(("host",)).save(tmp_path / "log.inlay")
    program = inlay_runtime.load(tmp_path / "log.inlay")
    assert [(info.name, info.dtype, info.shape) for info in program.states] == [
        ("log", "float32", (29, 7)),
        ("counts_calls", "int64", (1,)),
    ]
    session, rows = program.make_session(), np.ones((2, 7), "float32")
    session(np.zeros((0, 0), "float32"), rows)
    total, calls = session(np.zeros((2, 0), "float32"), rows)
    assert total.tolist() == [4] * 7 and calls.tolist() == [2]
    run = [BUILD / "bin" / "inlay-run", tmp_path / "log.inlay", "--size=past=3", "--size=rows=2"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "result 1: int64[1] = 1" in done.stdout, done.stdout + done.stderr


def test_programs_of_inlay_compile_have_sessions(tmp_path: pathlib.Path) -> None:
    module = """
func.func public @forward(%x: tensor<2xf32> loc("x"), %s: tensor<2xf32> loc("total"))
    -> (tensor<2xf32>, tensor<2xf32>) attributes {inlay.states = 1 : i64} {
  %0 = inlay.add %x, %s : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = inlay.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %0 : tensor<2xf32>, tensor<2xf32>
}
"""
    (tmp_path / "total.mlir").write_text(module)
    made = [BUILD / "bin" / "inlay-compile", tmp_path / "total.mlir", "--targets=host", "-o", tmp_path / "t.inlay"]
    subprocess.run(made, check=True)
    session = inlay.load(tmp_path / "t.inlay").new_session()
    for number in (1.0, 2.0):
        assert session(torch.ones(2)).tolist() == [-number, -number]
    assert session.state_dict()["total"].tolist() == [2, 2]


def test_models_without_states_have_no_part_for_them(tmp_path: pathlib.Path) -> None:
    inlay.compile(nn.ReLU(), (torch.zeros(5),), targets=("host",)).save(tmp_path / "m.inlay")
    assert "states" not in json.loads(inlay_runtime.load(tmp_path / "m.inlay").metadata)
    with pytest.raises(inlay.UnsupportedError, match="the model has no states"):
        inlay.load(tmp_path / "m.inlay").new_session()


STATE = {"name": "log", "dtype": "float32", "dims": [29, 7]}
COUNTS = {"name": "counts_calls", "dtype": "int64", "dims": [1]}


@pytest.mark.parametrize(
    ("states", "match"),
    [
        ([], "'states': expected 2 of the program, but got 0"),
        ([STATE], "'states': expected 2 of the program, but got 1"),
        ([STATE, STATE], "'states': .*expected states of different names, but got 'log' twice"),
        (
            [STATE, COUNTS | {"dtype": "float64"}],
            "'states': expected 'counts_calls' to be int64, but got",
        ),
        ([STATE, {"name": "counts_calls", "value": 3}], "'states': .*expected state 'counts_calls' to be a tensor"),
        ([STATE, COUNTS | {"dims": [-1]}], "'states': .*expected a dim of 0 or more, but got -1"),
        ([STATE, 3], "'states': "),
        (3, "'states': .*expected a list, but got 3"),
    ],
    ids=str,
)
def test_malformed_states_are_refused(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, states: Any, match: str
) -> None:
    def describe(*given: Any) -> saving.Description:
        text, tensors = saving.describe(*given)
        return saving.Description(json.dumps(json.loads(text) | {"states": states}), tensors)

    monkeypatch.setattr(inlay._program.compiled, "describe", describe)
    compile_log(("host",)).save(tmp_path / "log.inlay")
    with pytest.raises(inlay.ArgumentValueError, match=f"malformed metadata: {match}"):
        inlay.load(tmp_path / "log.inlay")
