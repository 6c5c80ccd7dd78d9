# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the workers of inlay-bench, which call in turns, and of the summary of their times."""

import itertools
import pathlib
import subprocess
import sys
import time

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tools" / "inlay-bench" / "peers" / "contest"))
from contest import compare, difference
from kernels import KERNELS
from rounds import Worker, WorkerError, take_turns
from splitting import split_rows
from summary import add_ratios, pair_best, summarize
from tables import add_roofline

# A worker. Its arguments are its name, the time of a call in ms, a file to which it appends its name at each call, and
# the number of the call at which it exits with status 7.
FAKE = """
import json, sys
name, ms, log, last = sys.argv[1], float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
print(json.dumps({"first_ms": ms}), flush=True)
for number, line in enumerate(sys.stdin, 1):
    request = json.loads(line)
    if request["do"] == "stop":
        print(json.dumps({"peak_mb": 1}), flush=True)
        break
    if number == last:
        sys.exit(7)
    with open(log, "a") as file:
        file.write(name)
    print(json.dumps({"times": [ms, ms]}), flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """Returns a function that starts a fake worker. All workers are ended afterwards. They write to `start.log`."""
    workers = []

    def make(name, ms, last=0, script=FAKE):
        worker = Worker(name, [sys.executable, "-c", script, name, str(ms), str(make.log), str(last)])
        workers.append(worker)
        return worker

    make.log = tmp_path / "log"
    yield make
    for worker in workers:
        worker.__exit__()


def test_workers_take_turns(start):
    workers = [start("a", 1), start("b", 2)]
    assert [worker.receive_ready() for worker in workers] == [{"first_ms": 1}, {"first_ms": 2}]
    times, errors = take_turns(workers, rounds=3)
    assert start.log.read_text() == "ababab"
    assert times == {"a": [1] * 6, "b": [2] * 6}
    assert not errors
    assert workers[0].ask(do="stop") == {"peak_mb": 1}


def test_a_worker_stands_still_outside_its_turn(start):
    spinning = """
import json, sys, threading
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start()
print(json.dumps({}), flush=True)
for line in sys.stdin:
    print(json.dumps({"error": "no more"} if "fail" in line else {"times": [1]}), flush=True)
"""
    worker = start("spinning", 0, script=spinning)
    worker.receive_ready()

    def state():
        """Returns the state in /proc after the signal has arrived."""
        time.sleep(0.05)
        return pathlib.Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0]

    assert state() == "T"
    assert worker.ask(do="calls", for_ms=0) == {"times": [1]}
    assert state() == "T"
    with pytest.raises(WorkerError, match="no more"):
        worker.ask(do="fail")
    assert state() == "T"


def test_workers_end_with_who_started_them(tmp_path):
    parent = """
import os, pathlib, signal, sys
sys.path.insert(0, sys.argv[1])
from rounds import Worker
worker = Worker("orphan", [sys.executable, "-c", "print('{}', flush=True); input()"])
worker.receive_ready()
print(worker.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    folder = next(path for path in sys.path if path.endswith("contest"))
    started = subprocess.run([sys.executable, "-c", parent, folder], stdout=subprocess.PIPE, check=False)
    time.sleep(0.2)
    stat = pathlib.Path(f"/proc/{int(started.stdout)}/stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] in "XZ"


def test_a_worker_that_fails_takes_part_no_longer(start):
    workers = [start("a", 1, last=2), start("b", 2)]
    for worker in workers:
        worker.receive_ready()
    times, errors = take_turns(workers, rounds=3)
    assert start.log.read_text() == "abbb"
    assert list(times) == ["b"]
    assert errors == {"a": "ended with status 7 before it answered"}


def test_what_a_worker_says_of_itself_is_its_error(start):
    worker = start("a", 1, script="""print('{"error": "no such op"}')""")
    with pytest.raises(WorkerError, match="no such op"):
        worker.receive_ready()


def test_a_worker_that_says_something_else_is_an_error(start):
    with pytest.raises(WorkerError, match="expected a line of JSON, but got b'hello"):
        start("a", 1, script="print('hello')").receive_ready()


def test_a_worker_that_hangs_is_an_error(start):
    with pytest.raises(WorkerError, match=r"gave no answer in 0\.1 s"):
        start("a", 1, script="import time; time.sleep(60)").receive(limit_s=0.1)


def test_results_are_compared_by_their_largest_elements():
    expected = [numpy.array([1.0, -4.0]), numpy.array([True])]
    assert difference(expected, [numpy.array([1.0, -3.0]), numpy.array([True])]) == 0.25
    assert difference(expected, [numpy.array([1.0, numpy.nan]), numpy.array([True])]) == float("inf")
    with pytest.raises(WorkerError, match=r"expected results of shapes \[\(2,\), \(1,\)\], like .*, but got \[\]"):
        compare(expected, [])


def make_rows(latencies):
    rows = [
        {"model": model, "dtype": "f32", "contender": name, "is_peer": name != "host", "latency_ms": latency}
        for model, times in latencies.items()
        for name, latency in times.items()
    ]
    for _, own in itertools.groupby(rows, lambda row: row["model"]):
        own = list(own)
        add_ratios(own, next(row["latency_ms"] for row in own if row["contender"] == "eager"))
    return rows


def test_summaries_are_geometric_means_over_what_ran():
    rows = make_rows({"one": {"eager": 4.0, "host": 1.0, "other": 2.0}, "two": {"eager": 1.0, "host": 4.0}})
    found = {row["contender"]: (row["ran"], row["to_eager"], row["to_best"]) for row in summarize(rows)}
    assert found["eager"] == (2, 1, pytest.approx(2**0.5))
    assert found["host"] == (2, pytest.approx(1), pytest.approx(2**0.5))
    assert found["other"] == (1, 0.5, 1)
    assert [(row["model"], row["best_peer"], row["to_best"]) for row in pair_best(rows, "model")] == [
        ("one", "other", 0.5),
        ("two", "eager", 4),
    ]


@pytest.mark.parametrize(("kernel", "bound"), [("matmul-1024", "compute"), ("elementwise-4m", "memory")])
def test_the_roof_is_the_lower_of_two_limits(kernel, bound):
    work = KERNELS[kernel]
    least_ms = 1e-6 * max(work.flops / 100, work.bytes / 10)
    row = add_roofline(
        {"kernel": kernel, "dtype": "f32", "latency_ms": 2 * least_ms}, {"copy_gb_per_s": 10, "gemm_gflops": 100}
    )
    assert row["bound"] == bound
    assert row["roofline"] == pytest.approx(0.5)


def test_what_splitting_costs_is_told_by_segment():
    """The times of the ops are from a run on the host. A fused op counts for the segment of its first op."""
    same = {"subject": "m", "dtype": "f32", "is_peer": False}
    segments = [
        {"target": "vulkan", "ops": ["conv", "add"], "bytes": 8e6, "run_ms": 5.0, "copies_ms": 0.5},
        {"target": "host", "ops": ["relu"], "bytes": 4e6, "run_ms": 1.0, "copies_ms": 0.0},
    ]
    split = {**same, "contender": "inlay:vulkan+host@activations", "latency_ms": 7.0, "profiled_segments": segments}
    ops = [
        {"ops": ["conv", "relu"], "ms": 2.0},
        {"ops": ["add"], "ms": 0.25},
        {"ops": ["(between kernels)"], "ms": 9.0},
    ]
    alone = {**same, "contender": "inlay:host+torch", "latency_ms": 3.5, "profiled_ops": ops}
    peer = {**same, "contender": "onnxruntime", "latency_ms": 1.0, "is_peer": True}
    [model], losses = split_rows([alone, split, peer])
    assert (model["segments"], model["to_host_alone"], model["mb_across"]) == (2, 2.0, 12.0)
    assert (model["device_ms"], model["host_ms"], model["copies_ms"], model["rest_ms"]) == (5.0, 1.0, 0.5, 0.5)
    assert [(loss["segment"], loss["host_alone_ms"]) for loss in losses] == [(0, 2.25), (1, 0.0)]
    assert split_rows([split, peer]) == ([], [])
