# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The partition report: what runs where, and why."""

from __future__ import annotations

import html
import json
import pathlib
from collections.abc import Callable
from typing import Any

from .._paths import StrPath
from ..errors import ArgumentValueError

_FORMS = {".json": "json", ".txt": "text", ".html": "html", ".htm": "html"}  # by suffix
_MOST_ROWS = 12  # segments that the table shows
_MOST_LETTERS = 60  # of a list of labels


class Report(dict[str, Any]):
    """The report as a dict (`report["segments"]`, `report["ops"]`, `report["summary"]`); `str(report)` is a table.

    Other forms are made when asked for, by partitioning the model once more: `text` lists the ops of each segment,
    `html` is a page that needs no other file, and `what_if` and `sweep` answer questions.
    """

    _render, _answers = None, None

    @classmethod
    def parse(cls, text: str, render: Callable[..., str] | None = None) -> Report:
        """From the compiler's JSON; of a list (several functions) the last. `render(form, what_if, sweep)` makes the
        report in another form; without it there is only the JSON."""
        parsed = json.loads(text)
        report = cls(parsed[-1] if isinstance(parsed, list) else parsed)
        report._render = render
        return report

    @property
    def text(self) -> str:
        """Each segment with its target and its ops, then a summary, then what its kernels were made of."""
        return self._rendered("text")

    @property
    def html(self) -> str:
        """A page: the segments drawn, their ops with reasons, tables of all ops and of kernels."""
        return self._rendered("html")

    @property
    def what_if(self) -> dict[str, Any]:
        """What the partition would be if the first target ran kinds of ops that it has no code for.

        `now` has the figures as they are; `kinds` one entry for each kind by itself, the best first; `together` the
        best kind, then with each entry the one that adds most; `pairs` the best pairs.
        """
        return self._answer("what_if", what_if=True)

    @property
    def sweep(self) -> list[dict[str, Any]]:
        """What the partition would be with `min_block_size` 1, 2, 3, 5, 8, ..., one entry for each."""
        return self._answer("min_block_sizes", sweep=True)

    def save(self, path: StrPath, what_if: bool = False, sweep: bool = False) -> None:
        """Writes the report to a file in the form that its suffix names: .json, .txt or .html."""
        path = pathlib.Path(path)
        form = _FORMS.get(path.suffix.lower())
        if form is None:
            raise ArgumentValueError(f"expected a .json, .txt or .html file for the report, but got '{path}'")
        if form == "json" and not (what_if or sweep):
            text = json.dumps(self, indent=2) + "\n"
        else:
            text = self._rendered(form, what_if=what_if, sweep=sweep)
        path.write_text(text, encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe style="width: 100%; height: 720px; border: 0" srcdoc="{page}"></iframe>'

    def _answer(self, key, **question):
        if key in self:
            return self[key]
        self._answers = self._answers or {}
        if key not in self._answers:
            self._answers[key] = Report.parse(self._rendered("json", **question))[key]
        return self._answers[key]

    def _rendered(self, form, **questions):
        if self._render is None:
            raise ArgumentValueError(
                "this report was read from JSON, which has no other forms: partition the model again"
            )
        from .._inlay import format_kernels, insert_kernels

        made = self._render(form, **questions)
        if form == "text":
            return made + format_kernels(json.dumps(self))
        return insert_kernels(made, json.dumps(self)) if form == "html" else made

    def ops_by_target(self) -> dict[str, int]:
        """Target name -> number of ops; ops in no segment (constants) are not counted."""
        counts = {}
        for op in self["ops"]:
            if op.get("target") and op.get("segment") is not None:
                counts[op["target"]] = counts.get(op["target"], 0) + 1
        return counts

    def reasons(self) -> dict[tuple[str, str, str], list[str]]:
        """(target, reason code, sentence) -> labels of the ops, of all that did not simply run on the first target."""
        found = {}
        for op in self["ops"]:
            reason = op.get("reason") or {}
            if op.get("segment") is not None and reason.get("code") not in (None, "supported"):
                found.setdefault((op["target"], reason["code"], reason.get("text", "")), []).append(op["label"])
        return found

    def border_bytes(self) -> tuple[int | None, int | None]:
        """(bytes into, bytes out of) all segments that are not on the host's own side; None where a size is unknown."""
        segments = [s for s in self["segments"] if s["target"] not in ("host", "torch")]
        return tuple(_total(segment.get(key) for segment in segments) for key in ("bytes_in", "bytes_out"))

    def replaced(self, text: str) -> Report:
        """What the compiler's JSON says, with the other forms of this one."""
        return type(self).parse(text, self._render)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} on {target}" for target, count in self.ops_by_target().items())
        segments = self["segments"]
        total = sum(self.ops_by_target().values())
        title = f"{_count(total, 'op')} in {_count(len(segments), 'segment')} ({counts})"
        lines = [f"{self.get('function', 'graph')}: {title}"]
        timed = [key for key in ("modelled", "measured") if any(f"{key}_ns" in segment for segment in segments)]
        rows = [("segment", "target", "ops", "in", "out", *timed, "holds")]
        for segment in segments:
            size = (format_bytes(segment.get(key)) for key in ("bytes_in", "bytes_out"))
            times = (format_time(segment.get(f"{key}_ns", {}).get("total")) for key in timed)
            cells = (str(segment["id"]), segment["target"], str(len(segment["ops"])), *size, *times)
            rows.append((*cells, _some(segment["ops"])))
        table = _table(rows)
        if (hidden := len(segments) - _MOST_ROWS) > 1:
            middle = 1 + _MOST_ROWS // 2
            table[middle : middle + hidden] = [f"  ... {hidden} more"]
        lines += table
        if reasons := self.reasons():
            lines.append("not on the first target:")
            for (target, code, text), labels in reasons.items():
                lines.append(f"  {_some(labels)}: {target} ({code}) {text}".rstrip())
        return "\n".join(lines)


def format_bytes(count: float | None) -> str:
    """`1.5 MiB`; `?` for None."""
    if count is None:
        return "?"
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def format_time(nanoseconds: float | None) -> str:
    """`1.5 ms` from nanoseconds; `?` for None."""
    if nanoseconds is None:
        return "?"
    value = nanoseconds
    for unit in ("ns", "us", "ms"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "ns" else f"{value:.3g} {unit}"
        value /= 1e3
    return f"{value:.3g} s"


def _some(labels):
    """All labels, or the first and the last if they are many or long."""
    whole = ", ".join(labels)
    if len(labels) <= 2 or len(whole) <= _MOST_LETTERS:
        return whole
    return f"{labels[0]} ... {labels[-1]}"


def _total(sizes):
    sizes = list(sizes)
    return None if None in sizes else sum(sizes)


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    aligned = []
    for row in rows:
        cells = [
            cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        aligned.append("  " + "  ".join([*cells, row[-1]]))
    return aligned
