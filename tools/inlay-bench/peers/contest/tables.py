# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of contests as tables of inlay-bench."""

from typing import Any

from kernels import KERNELS
from splitting import split_rows
from summary import Row, pair_best, summarize

TURNS = (
    "Each contender is a process, and the contenders take turns. latency_ms and eager_ms, that of eager PyTorch, "
    "are medians. to_eager is latency_ms divided by eager_ms, and to_best is latency_ms divided by that of the fastest "
    "peer. difference is the largest difference from PyTorch, relative to the largest element of that result."
)
MODELS = (
    "Each model with each contender. A contender is a list of Inlay's targets in order of priority, or a peer. ops is "
    "the number of ops in segments, followed by the number that each target runs. opaque is the number of ops that the "
    "dialect lacks. export_ms is the time of torch.export, or of torch.onnx.export for contenders that read ONNX. "
    "compile_ms is the remaining time until the model can be called (for inductor its first call), and compile_mb the "
    "largest growth of memory during that time. peak_mb is the peak memory of the whole process during calls, PyTorch "
    "included. "
) + TURNS
SPLITTING = (
    "Each model split over the accelerator and the host, compared with the host only, in one run. A route that ends in "
    "@activations keeps activations off the accelerator. split_ms and host_alone_ms are median latencies. device_ms, "
    "host_ms and copies_ms are the times of segments and copies in a profiled call, which submits each segment "
    "separately and waits for it. rest_ms is split_ms without these times. It is negative if the profiled call took "
    "longer than the timed calls, which submit consecutive segments on the device together. mb_across is the data that "
    "enters and leaves segments."
)
LOSSY_SEGMENTS = (
    "The three segments of each split model that lose most: run_ms and copies_ms of a profiled call, compared with "
    "host_alone_ms, the time of the same ops when the host runs the whole model."
)
KERNELS_COUNTED = (
    "Each kernel with each contender, a list of Inlay's targets or a peer. gflops and gb_per_s are the kernel's FLOPs "
    "and its minimum of memory traffic divided by latency_ms. roofline is the share of the machine's limit, which is "
    "the lower of its throughput in large matrix products and of its bandwidth in a large copy times the FLOPs per "
    "byte. bound names the lower one. Kernels whose data fits into caches can exceed the bandwidth of the copy. "
) + TURNS


def _table(name: str, counted: str, columns: list[str], rows: list[Row]) -> dict[str, Any]:
    return {"name": name, "counted": counted, "columns": columns, "rows": rows}


def _summaries(rows: list[Row], subject: str) -> list[dict[str, Any]]:
    """Returns the tables that summarize all rows. make_page.py makes the same tables from the rows of several runs."""
    if not any(row["is_peer"] for row in rows):
        return []
    return [
        _table(
            "summary",
            f"The geometric means of to_eager and to_best per contender, over the {subject}s that it ran.",
            ["contender", "dtype", "ran", "to_eager", "to_best"],
            summarize(rows),
        ),
        _table(
            "best",
            f"Inlay's fastest route and the fastest peer per {subject}. to_best is the ratio of their latencies.",
            [subject, "dtype", "inlay", "inlay_ms", "best_peer", "best_peer_ms", "to_best"],
            pair_best(rows, subject),
        ),
    ]


def _name_subject(rows: list[Row], subject: str) -> list[Row]:
    return [{subject: row["subject"], **row} for row in rows]


def model_tables(rows: list[Row]) -> list[dict[str, Any]]:
    rows = _name_subject(rows, "model")
    columns = [
        *("model", "contender", "dtype", "ops", "vulkan", "host", "torch", "opaque", "segments", "export_ms"),
        *("compile_ms", "compile_mb", "peak_mb", "first_ms", "latency_ms", "eager_ms", "to_eager", "to_best"),
        *("difference", "is_peer"),
    ]
    return [_table("models", MODELS, columns, rows), *split_tables(rows), *_summaries(rows, "model")]


def split_tables(rows: list[Row]) -> list[dict[str, Any]]:
    """Returns the tables of splitting if rows have routes with an accelerator and one with the host only."""
    models, losses = split_rows(rows)
    if not models:
        return []
    columns = [
        *("model", "contender", "dtype", "segments", "mb_across", "host_alone_ms", "split_ms", "to_host_alone"),
        *("device_ms", "host_ms", "copies_ms", "rest_ms"),
    ]
    of_segments = [
        *("model", "contender", "dtype", "segment", "target", "ops", "from", "to", "mb_across", "run_ms"),
        *("copies_ms", "host_alone_ms"),
    ]
    return [
        _table("splitting", SPLITTING, columns, _name_subject(models, "model")),
        _table("lossy_segments", LOSSY_SEGMENTS, of_segments, _name_subject(losses, "model")),
    ]


def add_roofline(row: Row, limits: dict[str, float]) -> Row:
    """Returns the row with the kernel's work, its throughput, and the fraction of the machine's limit."""
    kernel = KERNELS[row["kernel"]]
    moved = kernel.bytes if row["dtype"] == "f32" else kernel.bytes / 2
    intensity = kernel.flops / moved
    by_memory = intensity * limits["copy_gb_per_s"]
    gflops = kernel.flops / row["latency_ms"] / 1e6
    return {
        **row,
        "mflop": kernel.flops / 1e6,
        "mb": moved / 1e6,
        "gflops": gflops,
        "gb_per_s": moved / row["latency_ms"] / 1e6,
        "bound": "memory" if by_memory < limits["gemm_gflops"] else "compute",
        "roofline": gflops / min(by_memory, limits["gemm_gflops"]),
    }


def kernel_tables(rows: list[Row], limits: dict[str, float]) -> list[dict[str, Any]]:
    rows = [add_roofline(row, limits) for row in _name_subject(rows, "kernel")]
    columns = [
        *("kernel", "contender", "dtype", "mflop", "mb", "compile_ms", "first_ms", "latency_ms", "eager_ms"),
        *("to_eager", "to_best", "gflops", "gb_per_s", "bound", "roofline", "difference", "is_peer"),
    ]
    reached = "The limits of this machine: the bandwidth of a large copy, read and written, and products by oneDNN."
    return [
        _table("limits", reached, list(limits), [limits]),
        _table("kernels", KERNELS_COUNTED, columns, rows),
        *_summaries(rows, "kernel"),
    ]
