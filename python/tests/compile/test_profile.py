# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of profiles, traces and the memory of compiled models."""

import json

import inlay
import pytest
import torch

X = torch.randn(8, 64)


def make_model():
    torch.manual_seed(0)
    layers = (torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 64), torch.nn.ReLU())
    return torch.nn.Sequential(*layers).eval()


def read_events(path):
    return [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]


@pytest.mark.parametrize(
    ("targets", "kernels"), [(("host",), {"contraction"}), (("vulkan", "host"), {"dispatch"})], ids=["host", "vulkan"]
)
def test_a_trace_has_the_kernels_of_a_call(tmp_path, targets, kernels):
    compiled = inlay.compile(make_model(), (X,), targets=targets)
    if "vulkan" in targets and not compiled.device:
        pytest.skip("no Vulkan device")
    path = tmp_path / "trace.json"
    profile = compiled.profile(X, trace=path)
    events = read_events(path)
    assert kernels <= {event["cat"] for event in events}
    (call,) = (event for event in events if event["cat"] == "call")
    for event in events:
        assert call["ts"] <= event["ts"] and event["ts"] + event["dur"] <= call["ts"] + call["dur"] + 1e-6, event
    assert all(event["args"]["calls"] for event in events if event["cat"] in kernels)
    entries = [kernel for segment in profile.report["segments"] for kernel in segment.get("kernels", ())]
    assert kernels <= {entry["kind"] for entry in entries} and all(entry["measured_ns"] >= 0 for entry in entries)
    assert "by op" in str(profile)


def test_a_callback_is_in_the_trace(tmp_path):
    compiled = inlay.compile(make_model(), (X,), targets=("host", "torch"), torch_executed_ops=["aten.gelu"])
    compiled.profile(X, trace=tmp_path / "trace.json")
    assert [event for event in read_events(tmp_path / "trace.json") if event["cat"] == "callback"]


def test_a_trace_that_cannot_be_written():
    compiled = inlay.compile(make_model(), (X,), targets=("host",))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        compiled.profile(X, trace="/nowhere/trace.json")


def test_a_profile_without_a_trace_has_the_kernels_of_the_host():
    profile = inlay.compile(make_model(), (X,), targets=("host",)).profile(X)
    assert profile.report["segments"][0]["kernels"][0]["measured_ns"] > 0
    assert profile.report["measured_ops"][0]["measured_ns"] > 0


def test_memory_grows_with_the_sizes():
    class Model(torch.nn.Module):
        def forward(self, a):
            return (a.softmax(-1) * 2).sum(-1).sort()[0]

    batch = torch.export.Dim("batch", min=2, max=64)
    compiled = inlay.compile(Model(), (X,), targets=("host",), dynamic_shapes=({0: batch},))
    small, large = compiled.memory(X), compiled.memory(torch.randn(32, 64))
    assert 0 < small["total"]["peak"] < large["total"]["peak"]
    assert small["total"]["peak"] <= small["total"]["unshared"]
    assert "together" in str(small)
    with pytest.raises(ValueError, match="is 65, but expected 2 to 64"):
        compiled.memory(torch.randn(65, 64))


def test_weights_are_counted_where_they_are():
    memory = inlay.compile(make_model(), (X,), targets=("host",)).memory(X)
    assert memory["host_constants"] >= 2 * 64 * 65 * 4 and memory["device_constants"] == 0


def test_the_report_says_what_was_fused(tmp_path):
    report = inlay.compile(make_model(), (X,), targets=("host",)).report
    kernels = report["segments"][0]["kernels"]
    assert [kernel["kind"] for kernel in kernels] == ["contraction", "contraction"]
    assert [kernel["post_ops"] for kernel in kernels] == [["gelu"], ["relu"]] and all(k["bias"] for k in kernels)
    assert "segment 0 (host): 2 kernels from 4 ops: contraction+bias+gelu (" in report.text
    report.save(tmp_path / "report.txt")
    assert (tmp_path / "report.txt").read_text() == report.text
    assert "kernels" not in inlay.partition(make_model(), (X,), targets=("host",))["segments"][0]
