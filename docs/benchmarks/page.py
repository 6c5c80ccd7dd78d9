"""Functions that all pages of figures share: they read figures and write tables, charts and the top of a page."""

import json
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).resolve().parent
# Makes the files of charts depend on the figures only.
plt.rcParams.update({"svg.hashsalt": "inlay", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})

Row = dict[str, Any]


def read_tables(paths: Iterable[pathlib.Path]) -> tuple[dict[str, Row], list[str], dict[str, Any], list[str]]:
    """Returns the tables by name, the commands, the machine of the last file, and the notes.

    Tables of the same name are merged.
    """
    tables: dict[str, Row] = {}
    commands, notes, machine = [], [], {}
    for path in paths:
        figures = json.loads(path.read_text())
        commands.append(figures["command"])
        notes += figures["notes"]
        machine = figures["machine"]
        for table in figures["tables"]:
            tables.setdefault(table["name"], {**table, "rows": []})["rows"] += table["rows"]
    return tables, commands, machine, notes


def format_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        if 0 < value < 1e-2:
            return f"{value:.1e}"
        return f"{value:.3f}" if value < 10 else f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def format_fact(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def make_table(table: Row, keep: Callable[[str], bool] = lambda column: True) -> str:
    columns = [column for column in table["rows"][0] if keep(column)]
    left = (
        "shape",
        "model",
        "kernel",
        "strategy",
        "rewriter",
        "contender",
        "dtype",
        "inlay",
        "best_peer",
        "bound",
        "target",
        "what",
        "program",
        "from",
        "to",
    )
    lines = [columns, ["---" if column in left else "--:" for column in columns]]
    lines += [[format_cell(row[column]) for column in columns] for row in table["rows"]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def describe_range(values: list[float]) -> str:
    low, high = (f"{value:,.1f}" if value < 100 else f"{value:,.0f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def save(figure: plt.Figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(HERE / name, metadata={"Date": None})
    plt.close(figure)


def write_head(head: str, commands: list[str], machine: dict[str, Any], notes: list[str]) -> list[str]:
    facts = ", ".join(f"{key.replace('_', ' ')} {format_fact(value)}" for key, value in machine.items())
    notes = [f"{note[0].upper()}{note[1:]}.\n" for note in notes]
    return [head, "```sh", *commands, "```", "", f"Machine: {facts}.", "", *notes]
