"""Write a page of tables and charts from files of `inlay-bench --json`.

make_page.py partition FIGURES.json... : docs/benchmarks/partition.md and its SVG files
make_page.py rewrite FIGURES.json...   : docs/benchmarks/rewrite.md and its SVG file
make_page.py models FIGURES.json...    : docs/benchmarks/models.md and its SVG file
make_page.py splitting FIGURES.json... : docs/benchmarks/splitting.md
make_page.py kernels FIGURES.json...   : docs/benchmarks/kernels.md and its SVG file
make_page.py sizes FIGURES.json...     : docs/benchmarks/sizes.md
make_page.py vulkan FIGURES.json...    : docs/benchmarks/vulkan.md
"""

import argparse
import functools
import pathlib
from collections.abc import Callable, Iterable

import matplotlib.pyplot as plt
from contest_page import write_kernels, write_models, write_splitting
from page import HERE, Row, describe_range, make_table, read_tables, save, write_head
from vulkan_page import write_vulkan

HEAD = """\
# Partitioning: segments, time, memory

`make bench-partition` takes these measurements and writes this page. It takes eight minutes and needs an idle machine.
Times are processor times on one thread. The text above each table explains its columns.
"""


REWRITE_HEAD = """\
# Rewriting: ops per second

`make bench-rewrite` takes these measurements and writes this page. It takes ten minutes and needs an idle machine.
Times are processor times on one thread. The text above each table explains its columns.
"""


SIZES_HEAD = """\
# Sizes: one compilation for all sizes in a range

`make bench-sizes` takes these measurements and writes this page. It takes ten minutes and needs an idle machine.
Weights are random and the models are tiny. The text above each table explains its columns.
"""


# ---- Words


def describe_bound(rows: list[Row]) -> str:
    """Describes how often each strategy reaches the lower bound of `levels` for the same graph."""
    bounds = {(row["shape"], row["ops"]): row["lower_bound"] for row in rows if row["strategy"] == "levels"}
    words = []
    for strategy in dict.fromkeys(row["strategy"] for row in rows):
        graphs = [row for row in rows if row["strategy"] == strategy]
        reached = sum(row["segments"] == bounds.get((row["shape"], row["ops"])) for row in graphs)
        words.append(f"`{strategy}` on {reached} of {len(graphs)}")
    return "Graphs on which the proven lower bound is reached: " + ", ".join(words) + "."


def describe_segments(rows: list[Row], key: str) -> str:
    """Describes the number of segments of each other strategy relative to `levels`, over all graphs of the table."""
    fewest = {(row[key], row["ops"]): row["segments"] for row in rows if row["strategy"] == "levels"}
    words = []
    for strategy in dict.fromkeys(row["strategy"] for row in rows if row["strategy"] != "levels"):
        ratios = [row["segments"] / fewest[row[key], row["ops"]] for row in rows if row["strategy"] == strategy]
        words.append(f"{describe_range(ratios)} times as many with `{strategy}`")
    return "Segments compared with `levels`: " + ", ".join(words) + "."


def describe_torch(rows: list[Row]) -> str:
    words = []
    for peer, name in (("splitter", "splitter_base"), ("capability", "CapabilityBasedPartitioner")):
        ratios = [row[f"{peer}_ratio"] for row in rows if row[f"{peer}_ratio"]]
        words.append(f"`{name}` takes {describe_range(ratios)} times as long as the phase")
    return "On the graphs below " + ", and ".join(words) + ". Inlay and torch.fx were measured in one run."


# ---- Charts


def draw_lines(axes: plt.Axes, rows: list[Row], column: str, label: str) -> None:
    points = sorted((row["ops"], row[column]) for row in rows if row[column])
    axes.plot(*zip(*points, strict=True), marker="o", markersize=3, linewidth=1.2, label=label)


def draw_time(rows: list[Row]) -> None:
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    levels = [row for row in rows if row["strategy"] == "levels"]
    for shape in dict.fromkeys(row["shape"] for row in levels):
        draw_lines(axes, [row for row in levels if row["shape"] == shape], "form_ms", shape)
    axes.set(xscale="log", yscale="log", xlabel="ops", ylabel="ms to form segments (levels)")
    axes.legend(frameon=False, ncols=2)
    save(figure, "partition-time.svg")


def draw_segments(rows: list[Row]) -> None:
    size = 100_000
    rows = [row for row in rows if size <= row["ops"] < 2 * size]
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    figure, axes = plt.subplots(figsize=(6.5, 3.2))
    strategies = list(dict.fromkeys(row["strategy"] for row in rows))
    for number, strategy in enumerate(strategies):
        counts = {row["shape"]: row["segments"] for row in rows if row["strategy"] == strategy}
        places = [place + number / (len(strategies) + 1) for place in range(len(shapes))]
        axes.bar(places, [counts[shape] for shape in shapes], width=1 / (len(strategies) + 1), label=strategy)
    axes.set(yscale="log", ylabel=f"segments of {size:,} ops")
    axes.set_xticks([place + 0.25 for place in range(len(shapes))], shapes, rotation=20)
    axes.legend(frameon=False, ncols=3)
    save(figure, "partition-segments.svg")


def draw_torch(rows: list[Row]) -> None:
    rows = [row for row in rows if row["shape"] == "transformer"]
    figure, axes = plt.subplots(figsize=(6.5, 3.2))
    draw_lines(axes, rows, "phase_ms", "Inlay: the whole phase")
    draw_lines(axes, rows, "splitter_ms", "torch.fx splitter_base")
    draw_lines(axes, rows, "capability_ms", "torch.fx CapabilityBasedPartitioner")
    axes.set(xscale="log", yscale="log", xlabel="ops (transformer)", ylabel="ms")
    axes.legend(frameon=False)
    save(figure, "partition-torch.svg")


def draw_peers(rows: list[Row]) -> None:
    rows = sorted((row for row in rows if row["patterns"] == 1), key=lambda row: row["kilo_ops_per_s"])
    figure, axes = plt.subplots(figsize=(6.5, 2.4))
    axes.barh([row["rewriter"] for row in rows], [row["kilo_ops_per_s"] for row in rows], height=0.6)
    axes.set(xscale="log", xlabel=f"thousand ops per second ({rows[0]['ops']:,} ops, one pattern)")
    save(figure, "rewrite-peers.svg")


# ---- The page


def write_partition(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    parts = write_head(HEAD, commands, machine, notes)
    if phase := tables.get("phase"):
        draw_time(phase["rows"])
        draw_segments(phase["rows"])
        parts += ["## The phase on IR", "", phase["counted"], ""]
        parts += [describe_bound(phase["rows"]) + " " + describe_segments(phase["rows"], "shape"), ""]
        parts += ["![Time by ops](partition-time.svg)", "", "![Segments by strategy](partition-segments.svg)", ""]
        parts += [make_table(phase), ""]
    if exports := tables.get("exports"):
        parts += ["## Exported models", "", exports["counted"], ""]
        parts += [describe_segments(exports["rows"], "model"), "", make_table(exports), ""]
    if algorithm := tables.get("algorithm"):
        parts += ["## The algorithm without IR", "", algorithm["counted"], ""]
        parts += [make_table(algorithm), ""]
    if torch := tables.get("torch"):
        draw_torch(torch["rows"])
        parts += ["## Against torch.fx", "", torch["counted"], "", describe_torch(torch["rows"]), ""]
        parts += ["![Against torch.fx](partition-torch.svg)", ""]
        parts += [make_table(torch), ""]
    (HERE / "partition.md").write_text("\n".join(parts))


def describe_scaling(rows: list[Row]) -> str:
    """Describes the growth of the time per op with patterns and ops, and the ratio to upstream's driver."""
    times = {(row["rewriter"], row["ops"], row["patterns"]): row["rewrite_ms"] / row["ops"] for row in rows}
    sizes = sorted({row["ops"] for row in rows})
    counts = sorted({row["patterns"] for row in rows})
    few, many, fewest, most = sizes[0], sizes[-1], counts[0], counts[-1]
    middle = sizes[len(sizes) // 2]
    grown = times["inlay", middle, most] / times["inlay", middle, fewest]
    longer = times["inlay", many, fewest] / times["inlay", few, fewest]
    behind = [times["mlir-greedy", middle, count] / times["inlay", middle, count] for count in counts]
    return (
        f"`inlay` with {most} patterns takes {grown:.2f} times as long as with {fewest} ({middle:,} ops). Per op it "
        f"takes {longer:.2f} times as long on {many:,} ops as on {few:,}. `mlir-greedy` takes {min(behind):.1f} to "
        f"{max(behind):.1f} times as long as `inlay` ({middle:,} ops)."
    )


def describe_peers(rows: list[Row]) -> str:
    speeds = {(row["rewriter"], row["patterns"]): row["kilo_ops_per_s"] for row in rows}
    words = []
    for patterns in sorted({count for name, count in speeds if name != "inlay" and ("inlay", count) in speeds}):
        ratios = [
            f"{speeds['inlay', patterns] / speed:,.0f} times as fast as {name}"
            for (name, count), speed in speeds.items()
            if name != "inlay" and count == patterns
        ]
        words.append(f"With {patterns} pattern{'s' if patterns > 1 else ''} Inlay is {', '.join(ratios)}.")
    return " ".join(words)


def write_rewrite(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    parts = write_head(REWRITE_HEAD, commands, machine, notes)
    if fusion := tables.get("fusion"):
        parts += ["## Against MLIR", "", fusion["counted"], "", describe_scaling(fusion["rows"]), ""]
        parts += [make_table(fusion), ""]
    if peers := tables.get("peers"):
        draw_peers(peers["rows"])
        parts += ["## Against Python's rewriters", "", peers["counted"], "", describe_peers(peers["rows"]), ""]
        parts += ["![Ops per second](rewrite-peers.svg)", "", make_table(peers), ""]
    if shared := tables.get("shared-value"):
        parts += ["## A value with many users", "", shared["counted"], "", make_table(shared), ""]
    if explain := tables.get("explain"):
        parts += ["## Explanations of mismatches", "", explain["counted"], "", make_table(explain), ""]
    (HERE / "rewrite.md").write_text("\n".join(parts))


def write_table(name: str, head: str, describe: Callable[[list[Row]], str], paths: Iterable[pathlib.Path]) -> None:
    """Writes the page NAME.md with the table NAME and a description of its rows."""
    tables, commands, machine, notes = read_tables(paths)
    table = tables[name]
    parts = write_head(head, commands, machine, notes)
    parts += [table["counted"], "", describe(table["rows"]), "", make_table(table), ""]
    (HERE / f"{name}.md").write_text("\n".join(parts))


def describe_sizes(rows: list[Row]) -> str:
    """Describes the largest difference and the latency relative to a compilation for one size."""
    ratios = sorted(row["ratio"] for row in rows)
    return (
        f"Largest difference of any model at any size: {max(row['difference'] for row in rows):.1e}. Latency relative "
        f"to a compilation for the size only: median {ratios[len(ratios) // 2]:.2f}, maximum {ratios[-1]:.2f}. Maximum "
        f"number of compilations of a model: {max(row['compilations'] for row in rows)}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", choices=["partition", "rewrite", "models", "splitting", "kernels", "sizes", "vulkan"])
    parser.add_argument("figures", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    writers = {
        "partition": write_partition,
        "rewrite": write_rewrite,
        "models": write_models,
        "splitting": write_splitting,
        "kernels": write_kernels,
        "sizes": functools.partial(write_table, "sizes", SIZES_HEAD, describe_sizes),
        "vulkan": write_vulkan,
    }
    writers[args.page](args.figures)


if __name__ == "__main__":
    main()
