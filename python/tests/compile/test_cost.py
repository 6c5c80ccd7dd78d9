# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of strategies, cost models and times of segments."""

import json

import inlay
import pytest
import torch
from conftest import compare


class Mixed(torch.nn.Module):
    def forward(self, a):
        return torch.relu(torch.lgamma(a @ a)) + 1


X = torch.rand(16, 16)
RATES = dict.fromkeys(("matmul", "convolution", "elementwise", "reduction", "layout", "other"), 1e9)


def write_model(path, launch):
    host = {"throughput": RATES, "op_seconds": 0, "launch_seconds": 0}
    vulkan = {**host, "throughput": {**RATES, "matmul": 1e12}, "launch_seconds": launch}
    path.write_text(json.dumps({"version": 1, "targets": {"host": host, "vulkan": vulkan}}))
    return path


@pytest.mark.parametrize(
    ("option", "error", "words"),
    [
        ({"strategy": "level"}, ValueError, r"unknown strategy 'level'.*did you mean 'levels'"),
        ({"strategy": "fastest"}, ValueError, "unknown strategy 'fastest': expected one of"),
        ({"strategy": 1}, TypeError, "expected strategy to be a string, but got 1"),
        ({"cost_model": 1}, TypeError, 'expected cost_model to be a path, "default" or None, but got 1'),
        ({"cost_model": ""}, TypeError, "expected cost_model to be a path"),
        ({"cost_modle": "x"}, TypeError, "did you mean 'cost_model'"),
    ],
)
def test_wrong_options_are_named(option, error, words):
    with pytest.raises(error, match=words):
        inlay.partition(Mixed(), (X,), **option)


def test_wrong_cost_models_are_named(tmp_path):
    with pytest.raises(inlay.Error, match=r"can't read the cost model '.*nowhere\.json'"):
        inlay.partition(Mixed(), (X,), cost_model=tmp_path / "nowhere.json")
    (tmp_path / "broken.json").write_text('{"version": 1}')
    with pytest.raises(inlay.Error, match=r"broken\.json': the key 'targets' is missing"):
        inlay.partition(Mixed(), (X,), cost_model=tmp_path / "broken.json")


def test_no_times_without_a_model():
    report = inlay.partition(Mixed(), (X,), targets=("vulkan", "host"))
    assert "modelled_ns" not in report["summary"] and "modelled" not in str(report)


def test_cost_decides_by_the_model(tmp_path):
    options = {"targets": ("vulkan", "host"), "strategy": "cost"}
    cheap = inlay.partition(Mixed(), (X,), cost_model=write_model(tmp_path / "cheap.json", 0), **options)
    dear = inlay.partition(Mixed(), (X,), cost_model=str(write_model(tmp_path / "dear.json", 1)), **options)
    assert set(dear.ops_by_target()) == {"host"}
    if "vulkan" not in {target for segment in cheap["segments"] for target in [segment["target"]]}:
        pytest.skip("no Vulkan device")
    moved = [op["reason"] for op in dear["ops"] if op["reason"]["code"] == "cost"]
    assert moved and all("of launch and transfers" in reason["text"] for reason in moved)
    times = dear["summary"]["placements_ns"]
    assert times["chosen"] == min(times[name] for name in ("chosen", "all_accelerated", "all_host", "min_block_5"))


def test_strategies_and_profile_give_right_results(tmp_path):
    for strategy in ("levels", "cost", "in-order", "torch-tensorrt"):
        compiled = inlay.compile(Mixed(), (X,), targets=("vulkan", "host"), strategy=strategy, cost_model="default")
        compare(compiled(X), Mixed()(X), 1e-4)
        steps = compiled.profile(X)
        report = steps.report
        assert all(segment["measured_ns"]["run"] > 0 for segment in report["segments"])
        assert all("modelled_ns" in segment for segment in report["segments"])
        assert report["summary"]["measured_ns"] == pytest.approx(sum(s for _, _, s in steps) * 1e9, rel=1e-6)
        assert "measured" in str(report) and "measured_ns" not in compiled.report["summary"]


def test_a_tuning_file_is_for_one_device(tmp_path):
    file = tmp_path / "tuning.json"
    file.write_text('{"version": 1, "device": "another", "driver": "1", "costs": {"load": 4}}')
    if not inlay.compile(torch.nn.Linear(4, 4), (torch.zeros(1, 4),), targets=["vulkan", "host"])._has_device:
        pytest.skip("no Vulkan device")
    with pytest.raises(inlay.CompileError, match="is for device 'another' with driver '1', but the selected device is"):
        inlay.compile(torch.nn.Linear(4, 4), (torch.zeros(1, 4),), targets=["vulkan", "host"], tuning=file)
    with pytest.raises(TypeError, match="expected tuning to be a path, but got 3"):
        inlay.compile(torch.nn.Linear(4, 4), (torch.zeros(1, 4),), tuning=3)
