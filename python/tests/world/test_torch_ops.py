# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a few samples of PyTorch's operator database. `make test-world` runs many of each operator."""

import random

import op_db
import pytest
import torch
import torch_ops as suite

_SIZES = op_db.Sizes(samples=1, elements=1000, dtypes=2)
_COUNT = 48  # operators

_NAMES = sorted(random.Random(0).sample(op_db.names(), _COUNT))


@pytest.mark.parametrize("name", _NAMES)
def test_samples(name):
    found = suite.faults(op_db.check(name, _SIZES), suite.load_known())
    assert not found, "\n".join(map(suite.describe, found))


def test_known_exceptions_name_operators():
    names = op_db.names()
    assert not [entry["op"] for entry in suite.load_known() if entry["op"] not in names]
    assert all(entry["reason"] for entry in suite.load_known())


def test_a_fault_is_reported(capsys):
    outcome = op_db.Outcome("add", "float32", "host", "wrong", "(...)", "got 1, but expected 2")
    assert suite.report_faults([outcome], [], ["add"]) == 1
    covered = {"op": "add", "kind": "wrong", "dtypes": ["float32"], "reason": "..."}
    assert suite.report_faults([outcome], [covered], ["add"]) == 0
    stale = {**covered, "dtypes": ["int8"]}
    assert suite.report_faults([], [stale], ["add"]) == 1
    assert "out of date" in capsys.readouterr().out


def test_a_wrong_result_is_found(monkeypatch):
    run = op_db._run

    def spoil(samples, targets):
        for target, results, fallbacks in run(samples, targets):
            yield target, [result + 1 for result in results], fallbacks

    monkeypatch.setattr(op_db, "_run", spoil)
    sizes = op_db.Sizes(samples=4, dtypes=1, targets=("host",))
    assert "wrong" in {outcome.kind for outcome in op_db.check("mul", sizes)}


class _Tenth:
    """A sample of float16 whose result is 0.1."""

    op, dtype = "mul", torch.float16

    def results(self, exact):
        return torch.tensor([0.1], dtype=torch.float64 if exact else torch.float16)


def test_a_result_of_float64_is_right():
    assert op_db._is_exact(_Tenth(), torch.tensor([0.1]).half())
    assert not op_db._is_exact(_Tenth(), torch.tensor([0.11]).half())


def test_calls_to_pytorch_are_counted():
    call = "torch::calls: aten::item on int64, aten::zeros and 1 more: node 'item' is a number"
    outcome = op_db.Outcome(
        "mul", "int8", "host", "right", "(...)", fallbacks=("aten::lcm: no op for aten::lcm on int8", call)
    )
    text = suite.table_of_fallbacks([outcome], 9)
    assert "PyTorch runs calls in 1 of 1 samples" in text
    assert "1  aten::lcm: int8 (mul)" in text and "aten::zeros" in text
