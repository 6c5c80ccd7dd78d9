"""Writes the pages of models, kernels and splitting, which compare Inlay with its peers."""

import pathlib
import sys
from collections.abc import Iterable
from typing import Any

import matplotlib.pyplot as plt
from page import HERE, Row, make_table, read_tables, save, write_head

sys.path.insert(0, str(HERE.parents[1] / "tools" / "inlay-bench" / "peers" / "contest"))
from summary import pair_best, summarize

RULES = """\
Each contender is a process that creates the same model from the same seed. The contenders take turns in rounds: 30 ms
of uncounted calls, at least one, that warm up threads and cores, then the counted calls. While a contender has its
turn, the other processes are stopped, since threads that spin while they wait for work would slow it. All contenders
have the same number of threads: PyTorch, ONNX Runtime (`intra_op_num_threads`), OpenVINO (`INFERENCE_NUM_THREADS`) and
Inlay (`INLAY_NUM_THREADS`). OpenVINO computes in the dtype of the model (`INFERENCE_PRECISION_HINT`) and optimizes the
latency (`PERFORMANCE_HINT`). Inductor does not reuse code from earlier runs. All other options have their defaults.
ONNX Runtime's threads thus spin while they wait, without which it would be slower. ONNX Runtime and OpenVINO read the
file that `torch.onnx.export` writes.
"""
MODELS_HEAD = (
    """\
# Models: targets, latency, accuracy

`make bench-models` takes these measurements and writes this page. It takes half an hour and needs an idle machine.
Weights are random. The text above each table explains its columns.

"""
    + RULES
)
KERNELS_HEAD = (
    """\
# Kernels compared with the limits of the machine

`make bench-kernels` takes these measurements and writes this page. It takes 15 minutes and needs an idle machine. The
text above each table explains its columns.

"""
    + RULES
    + """
A turn consists of calls for 20 ms.
"""
)

SPLITTING_HEAD = """\
# The cost of splitting

`make bench-splitting` takes these measurements and writes this page. It takes six minutes. The models are small
versions with the same structure. The route `vulkan+host+torch` runs every op on the device if the device supports it.
`vulkan+host@activations` keeps activations off the device, which splits a model at each of them. `host+torch` uses the
host only. In each round, every route is measured once.

"""

SPLITTING = """\
Mesa's software driver runs kernels on the same cores as the host, without a kernel library. A segment there is slower
because its products and convolutions are slower than those of oneDNN, independently of the split. The split itself adds
`copies_ms`, which is 0 if both sides use the same memory, and `rest_ms`, the time of submissions and waiting. It also
prevents the fusion of activations with the product before them, on both sides. `device_ms` and `host_ms` are from a
call that is profiled step by step. If it took longer than the timed calls, `rest_ms` is negative. Models of this size
spend their time in dispatches, 10 us each, not in arithmetic.
"""


def describe_models(rows: list[Row]) -> str:
    """Describes the largest difference by dtype, and the models with ops that only PyTorch runs."""
    ours = [row for row in rows if not row["is_peer"]]
    words = []
    for dtype in dict.fromkeys(row["dtype"] for row in ours):
        worst = max((row for row in ours if row["dtype"] == dtype), key=lambda row: row["difference"])
        words.append(f"{worst['difference']:.1e} in {dtype} ({worst['model']})")
    opaque = sorted({row["model"] for row in ours if row["opaque"] and row["contender"] != "torch"})
    left = ", ".join(opaque) if opaque else "none"
    return (
        f"Largest difference of Inlay: {', '.join(words)}. If a model selects by scores, like the experts of mixtral, "
        "rounding may change the selection for a token whose scores are nearly equal. "
        f"Models with ops that the dialect lacks: {left}."
    )


def describe_pairs(pairs: list[Row], subject: str) -> str:
    faster = sum(pair["to_best"] < 1 for pair in pairs)
    return f"Inlay is faster than the fastest peer on {faster} of {len(pairs)} {subject}s."


def write_comparison(rows: list[Row], subject: str) -> list[str]:
    """Writes the tables that summarize the rows of all runs."""
    parts = ["## Summary", "", "Geometric means of the latency relative to eager PyTorch and to the fastest peer, "]
    parts[-1] += f"over the {subject}s that the contender ran. A ratio below 1 is faster. A contender that is named by "
    parts[-1] += "targets, such as `host+torch`, is Inlay."
    parts += ["", make_table({"rows": summarize(rows)}), ""]
    if pairs := pair_best(rows, subject):
        parts += [f"## Inlay and the fastest peer of each {subject}", "", describe_pairs(pairs, subject), ""]
        parts += [f"![Ratios]({subject}s-ratios.svg)", "", make_table({"rows": pairs}), ""]
        draw_ratios(rows, subject)
    return parts


def draw_ratios(rows: list[Row], subject: str) -> None:
    """Draws the latency relative to eager PyTorch of Inlay's fastest route and of each peer, for the first dtype."""
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
    axes.set(xscale="log", xlabel="latency relative to eager PyTorch (faster is left)")
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
        points = [row for row in rows if row["contender"] == contender]
        is_peer = points[0]["is_peer"]
        axes.scatter(
            [row["mflop"] / row["mb"] for row in points],
            [row["gflops"] for row in points],
            s=14 if is_peer else 26,
            marker="o" if is_peer else "D",
            alpha=0.75,
            linewidths=0,
            label=contender if is_peer else f"Inlay: {contender}",
        )
    axes.set(xscale="log", yscale="log", xlabel="FLOPs per byte", ylabel="GFLOP/s")
    axes.legend(frameon=False)
    save(figure, "kernels-roofline.svg")


def drop_repeated(rows: list[Row]) -> list[Row]:
    """Keeps one row per model, contender and dtype: the last one with a ratio to peers, or else the last one."""
    found: dict[tuple[str, str, str], Row] = {}
    for row in sorted(rows, key=lambda row: row["to_best"] is not None):
        found[row["model"], row["contender"], row["dtype"]] = row
    return [row for row in rows if any(row is kept for kept in found.values())]


def write_splitting(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    parts = write_head(SPLITTING_HEAD, commands, machine, notes)
    for name, title in (("splitting", "Models"), ("lossy_segments", "Segments with the largest loss")):
        parts += [f"## {title}", "", tables[name]["counted"], "", make_table(tables[name]), ""]
    (HERE / "splitting.md").write_text("\n".join([*parts, "## Explanation", "", SPLITTING]))


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
    parts += ["## Targets of ops", ""]
    parts += [make_table(ours, lambda column: column in ("model", "contender", "dtype", *placement)), ""]
    (HERE / "models.md").write_text("\n".join(parts))


def write_kernels(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    table = tables["kernels"]
    # The limit of the machine is the best value of all runs.
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
