# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What contests found, as the tables of inlay-bench."""

from typing import Any

from kernels import KERNELS
from splitting import split_rows
from summary import Row, pair_best, summarize

TURNS = (
    "All contenders are processes of their own that take calls by turns; latency_ms and eager_ms, that of PyTorch as "
    "it is, are medians. to_eager is latency_ms over eager_ms, to_best latency_ms over that of the fastest peer. "
    "difference is the largest one from PyTorch, as a share of the largest element of that result."
)
MODELS = (
    "Each model by each contender, which is a list of Inlay's targets, best first, or a peer. ops are those in "
    "segments, then how many each target runs; opaque are those that the dialect has no op for. export_ms is "
    "torch.export's, or that of torch.onnx.export for those that read ONNX, compile_ms the rest until the model can be "
    "called (of inductor its first call), compile_mb what memory grows by meanwhile at most, peak_mb that of the whole "
    "process while it is called, PyTorch in it included. "
) + TURNS
SPLITTING = (
    "Each model split over the accelerator and the host beside the same on the host alone, in one run. A route that "
    "ends in @activations keeps activations from the accelerator. split_ms and host_alone_ms are median latencies. "
    "device_ms, host_ms and copies_ms are those of segments and of copies in a profiled call, where each segment is "
    "submitted and waited for by itself; rest_ms is split_ms without them, negative where segments that follow one "
    "another on the device are submitted together. mb_across is what enters and leaves segments."
)
LOSSY_SEGMENTS = (
    "Of each split model the three segments that lose most: run_ms and copies_ms of a profiled call beside "
    "host_alone_ms, what the same ops take when the host runs the whole model."
)
KERNELS_COUNTED = (
    "Each kernel by each contender, which is a list of Inlay's targets or a peer. gflops and gb_per_s are what is "
    "computed and moved at least, over latency_ms. roofline is the share of what the machine allows: the lower of what "
    "it reaches in large products of matrices, and of what it moves in a large copy by FLOPs for each byte; bound says "
    "which. What fits into caches can exceed the copy. "
) + TURNS


def _table(name: str, counted: str, columns: list[str], rows: list[Row]) -> dict[str, Any]:
    return {"name": name, "counted": counted, "columns": columns, "rows": rows}


def _summaries(rows: list[Row], subject: str) -> list[dict[str, Any]]:
    """What make_page.py makes of the rows of several runs too."""
    if not any(row["is_peer"] for row in rows):
        return []
    return [
        _table(
            "summary",
            f"Per contender the geometric means of to_eager and to_best over the {subject}s that it ran.",
            ["contender", "dtype", "ran", "to_eager", "to_best"],
            summarize(rows),
        ),
        _table(
            "best",
            f"Per {subject} the fastest of Inlay's routes beside the fastest peer; to_best is the one over the other.",
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
    """What splitting costs, if the rows have routes with an accelerator and one of the host alone."""
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
    """With the kernel's work, what was reached of it, and of what the machine allows."""
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
    reached = "What this machine reaches: a large copy, its bytes read and written, and large products by oneDNN."
    return [
        _table("limits", reached, list(limits), [limits]),
        _table("kernels", KERNELS_COUNTED, columns, rows),
        *_summaries(rows, "kernel"),
    ]
