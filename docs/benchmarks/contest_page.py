"""The pages of models and of kernels, which compare Inlay with what a user would pick instead."""

import pathlib
import sys
from collections.abc import Iterable
from typing import Any

import matplotlib.pyplot as plt
from page import HERE, Row, make_table, read_tables, save, write_head

sys.path.insert(0, str(HERE.parents[1] / "tools" / "inlay-bench" / "peers" / "contest"))
from summary import pair_best, summarize

RULES = """\
Every contender is a process of its own that makes the same model from the same seed; then they take turns, in rounds:
30 ms of calls, at least one, that wake threads and cores and aren't counted, then those that are. Between two turns
there are 60 ms of rest, for as long as threads of any contender that wait for work spin. All have the same number of
threads: those of PyTorch, of ONNX Runtime (`intra_op_num_threads`), of OpenVINO (`INFERENCE_NUM_THREADS`) and of Inlay
(`INLAY_NUM_THREADS`). OpenVINO is asked to compute in the dtype of the model (`INFERENCE_PRECISION_HINT`) and for the
least latency (`PERFORMANCE_HINT`), inductor to reuse nothing that it compiled in an earlier run. All else is as it
comes, the spinning of ONNX Runtime's threads too, without which it is slower. ONNX Runtime and OpenVINO read what
`torch.onnx.export` writes.
"""
MODELS_HEAD = (
    """\
# Models: what runs where, how long, how exact

`make bench-models` measures this and writes this page; it takes about half an hour and wants a quiet machine.
Weights are random. What each figure counts stands above its table.

"""
    + RULES
)
KERNELS_HEAD = (
    """\
# Kernels: how near to what the machine allows

`make bench-kernels` measures this and writes this page; it takes about a quarter of an hour and wants a quiet
machine. What each figure counts stands above its table.

"""
    + RULES
    + """
A turn is as many calls as take 20 ms.
"""
)

SPLITTING_HEAD = """\
# Splitting: what it costs

`make bench-splitting` measures this and writes this page; it takes some six minutes. The models are small ones of the
same structure. `vulkan+host+torch` gives the device all it can run, `vulkan+host@activations` keeps activations from
it, which cuts a model wherever it has one, and `host+torch` is the host alone; they take calls by turns.

"""

SPLITTING = """\
Mesa's software driver runs kernels on the same cores as the host does, without a library: a segment loses there what
its products and convolutions lose beside oneDNN's, whichever way the model is split. What the splitting itself adds is
the rest: `copies_ms`, which is 0 where both sides use the same memory, and `rest_ms`, submissions and waiting; and that
activations no longer run inside the product before them, on either side. `device_ms` and `host_ms` are of a call that
is profiled step by step: where that took longer than the calls that were timed, `rest_ms` is below 0. Models this
small take their time in dispatches, some 10 us each, not in arithmetic.
"""


def describe_models(rows: list[Row]) -> str:
    """The largest difference by dtype, and what is left to PyTorch although other targets were there."""
    ours = [row for row in rows if not row["is_peer"]]
    words = []
    for dtype in dict.fromkeys(row["dtype"] for row in ours):
        worst = max((row for row in ours if row["dtype"] == dtype), key=lambda row: row["difference"])
        words.append(f"{worst['difference']:.1e} in {dtype} ({worst['model']})")
    opaque = sorted({row["model"] for row in ours if row["opaque"] and row["contender"] != "torch"})
    left = ", ".join(opaque) if opaque else "none"
    return (
        f"Largest difference of Inlay: {', '.join(words)}. Where a model chooses by its scores, as mixtral's experts "
        "are chosen, rounding may choose otherwise for a token whose scores are nearly equal. "
        f"Models with ops that the dialect lacks: {left}."
    )


def describe_pairs(pairs: list[Row], subject: str) -> str:
    faster = sum(pair["to_best"] < 1 for pair in pairs)
    return f"Inlay is faster than the fastest peer on {faster} of {len(pairs)} {subject}s."


def write_comparison(rows: list[Row], subject: str) -> list[str]:
    """The tables that sum up what runs of any number measured."""
    parts = ["## Summary", "", "Geometric means of latency over that of eager PyTorch, and over that of the fastest "]
    parts[-1] += f"peer, of the {subject}s that the contender ran; below 1 is faster."
    parts += ["", make_table({"rows": summarize(rows)}), ""]
    if pairs := pair_best(rows, subject):
        parts += [f"## Inlay beside the fastest peer of each {subject}", "", describe_pairs(pairs, subject), ""]
        parts += [f"![Ratios]({subject}s-ratios.svg)", "", make_table({"rows": pairs}), ""]
        draw_ratios(rows, subject)
    return parts


def draw_ratios(rows: list[Row], subject: str) -> None:
    """Latency over eager PyTorch's, of Inlay's fastest route and of each peer, in the dtype that comes first."""
    rows = [row for row in rows if row["dtype"] == rows[0]["dtype"]]
    subjects = list(dict.fromkeys(row[subject] for row in rows))
    series: dict[str, dict[str, float]] = {"Inlay": {}}
    for row in rows:
        name = row["contender"] if row["is_peer"] else "Inlay"
        ratios = series.setdefault(name, {})
        ratios[row[subject]] = min(row["to_eager"], ratios.get(row[subject], row["to_eager"]))
    series.pop("eager", None)  # the line at 1
    figure, axes = plt.subplots(figsize=(6.5, 0.9 + 0.14 * len(subjects) * (len(series) + 1)))
    height = 1 / (len(series) + 1)
    for number, (name, ratios) in enumerate(series.items()):
        drawn = [(place + number * height, ratios[name]) for place, name in enumerate(subjects) if name in ratios]
        places, values = zip(*drawn, strict=True)
        axes.barh(places, [value - 1 for value in values], left=1, height=height, label=name)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="latency over that of eager PyTorch: faster to the left")
    low, high = axes.get_xlim()
    ticks = [tick for tick in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.margins(y=0.01)
    axes.set_yticks([place + (len(series) - 1) * height / 2 for place in range(len(subjects))], subjects)
    axes.invert_yaxis()
    axes.legend(frameon=False, ncols=len(series), loc="lower center", bbox_to_anchor=(0.5, 1))
    save(figure, f"{subject}s-ratios.svg")


def draw_roofline(rows: list[Row], limits: Row) -> None:
    figure, axes = plt.subplots(figsize=(6.5, 4))
    intensities = [row["mflop"] / row["mb"] for row in rows]
    ends = [min(intensities) / 1.5, max(intensities) * 1.5]
    ridge = limits["gemm_gflops"] / limits["copy_gb_per_s"]
    roof = [ends[0], ridge, ends[1]]
    heights = [min(limits["gemm_gflops"], at * limits["copy_gb_per_s"]) for at in roof]
    axes.plot(roof, heights, color="black", linewidth=1)
    for contender in dict.fromkeys(row["contender"] for row in rows):
        own = [row for row in rows if row["contender"] == contender]
        is_peer = own[0]["is_peer"]
        axes.scatter(
            [row["mflop"] / row["mb"] for row in own],
            [row["gflops"] for row in own],
            s=14 if is_peer else 26,
            marker="o" if is_peer else "D",
            alpha=0.75,
            linewidths=0,
            label=contender if is_peer else f"Inlay: {contender}",
        )
    axes.set(xscale="log", yscale="log", xlabel="FLOPs for each byte", ylabel="GFLOP/s")
    axes.legend(frameon=False)
    save(figure, "kernels-roofline.svg")


def drop_repeated(rows: list[Row]) -> list[Row]:
    """Of what several runs measured the last one beside peers, or else the last one."""
    found: dict[tuple[str, str, str], Row] = {}
    for row in sorted(rows, key=lambda row: row["to_best"] is not None):
        found[row["model"], row["contender"], row["dtype"]] = row
    return [row for row in rows if any(row is kept for kept in found.values())]


def write_splitting(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    parts = write_head(SPLITTING_HEAD, commands, machine, notes)
    for name, title in (("splitting", "Models"), ("lossy_segments", "Segments that lose most")):
        parts += [f"## {title}", "", tables[name]["counted"], "", make_table(tables[name]), ""]
    (HERE / "splitting.md").write_text("\n".join([*parts, "## Why", "", SPLITTING]))


def write_models(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    table = tables["models"]
    table["rows"] = rows = drop_repeated(table["rows"])
    parts = write_head(MODELS_HEAD, commands, machine, notes)
    if any(row["is_peer"] for row in rows):
        parts += write_comparison([row for row in rows if row["to_best"]], "model")
    placement = ("ops", "vulkan", "host", "torch", "opaque", "segments")
    ours = {"rows": [row for row in rows if not row["is_peer"]]}
    parts += ["## All figures", "", table["counted"], "", describe_models(rows), ""]
    parts += [make_table(table, lambda column: column not in (*placement, "is_peer")), ""]
    parts += ["## What runs where", ""]
    parts += [make_table(ours, lambda column: column in ("model", "contender", "dtype", *placement)), ""]
    (HERE / "models.md").write_text("\n".join(parts))


def write_kernels(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    table = tables["kernels"]
    # What a machine reaches is what it reached in the best of the runs.
    best: dict[str, Any] = {
        name: max(row[name] for row in tables["limits"]["rows"]) for name in tables["limits"]["rows"][0]
    }
    parts = write_head(KERNELS_HEAD, commands, machine, notes)
    parts += [tables["limits"]["counted"], "", make_table({"rows": [best]}), ""]
    draw_roofline(table["rows"], best)
    if any(row["is_peer"] for row in table["rows"]):
        parts += write_comparison([row for row in table["rows"] if row["to_best"]], "kernel")
    parts += ["## Roofline", "", "![Roofline](kernels-roofline.svg)", ""]
    parts += ["## All figures", "", table["counted"], ""]
    parts += [make_table(table, lambda column: column != "is_peer"), ""]
    (HERE / "kernels.md").write_text("\n".join(parts))
