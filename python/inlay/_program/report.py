# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The partition report: the target of each op and the reason.

The compiler writes the HTML and text files of a report (lib/Partition/Report). `figures.py` has measured times.
"""

from __future__ import annotations

import html
import json
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from .._paths import StrPath
from ..errors import ArgumentValueError
from .imported import QuantizedWeight

# Returns the report in a form ("json", "text", "table" or "html"). The keywords `what_if` and `sweep` add analyses.
Render: TypeAlias = Callable[..., str]

_FORMS = {".json": "json", ".txt": "text", ".html": "html", ".htm": "html"}  # by suffix
_MAX_ROWS = 12  # segments that the table shows
_MAX_LETTERS = 60  # characters of a list of labels


class Report(dict[str, Any]):
    """The partition report as a dict. `str(report)` is a table.

    `report["segments"]`, `report["ops"]` and `report["summary"]` are its main parts. The other forms partition the
    model again when they are read: `text` lists the ops of each segment, `html` is a page that needs no other file, and
    `what_if` and `sweep` are analyses. The report of a loaded module has no other forms: reading them raises
    ArgumentValueError.

        report = inlay.partition(model, (x,))
        print(report)
        report.save("report.html")
    """

    _render: Render | None = None
    _answers: dict[str, Any] | None = None

    @classmethod
    def parse(cls, text: str, render: Render | None = None) -> Report:
        """Returns the report for the JSON of the compiler. If it is a list of functions, the last one counts.

        render: makes the other forms. Without it the report has none.
        """
        parsed = json.loads(text)
        report = cls(parsed[-1] if isinstance(parsed, list) else parsed)
        report._render = render
        return report

    @property
    def text(self) -> str:
        """A text: the segments with their targets and ops, a summary, and the ops of each kernel."""
        return self._rendered("text")

    @property
    def html(self) -> str:
        """A page with a drawing of the segments, their ops with reasons, and tables of all ops and kernels."""
        return self._rendered("html")

    @property
    def what_if(self) -> dict[str, Any]:
        """The what-if analysis: partitions under the assumption that the first target can run more kinds of ops.

        `now` has the current figures. `kinds` has an entry for each kind of op alone, the best first. `together` starts
        with the best kind and adds the next best kind with each entry. `pairs` has the best pairs of kinds.
        """
        answer: dict[str, Any] = self._answer("what_if", what_if=True)
        return answer

    @property
    def sweep(self) -> list[dict[str, Any]]:
        """The figures of partitions with a `min_block_size` of 1, 2, 3, 5, 8 and so on, one entry for each."""
        answer: list[dict[str, Any]] = self._answer("min_block_sizes", sweep=True)
        return answer

    def save(self, path: StrPath, what_if: bool = False, sweep: bool = False) -> None:
        """Writes the report to a file.

        path: a file with the suffix .json, .txt, .html or .htm, which selects the form.
        what_if, sweep: add these analyses (default: False).
        Raises ArgumentValueError for another suffix, and OSError if the file can't be written.
        """
        file = pathlib.Path(path)
        form = _FORMS.get(file.suffix.lower())
        if form is None:
            raise ArgumentValueError(f"expected a .json, .txt or .html file for the report, but got '{file}'")
        if form == "json" and not (what_if or sweep):
            text = json.dumps(self, indent=2) + "\n"
        else:
            text = self._rendered(form, what_if=what_if, sweep=sweep)
        file.write_text(text, encoding="utf-8")

    def _repr_html_(self) -> str:
        """Returns the page for notebooks."""
        page = html.escape(self.html, quote=True)
        return f'<iframe style="width: 100%; height: 720px; border: 0" srcdoc="{page}"></iframe>'

    def _answer(self, key: str, **question: bool) -> Any:
        """Returns part `key` of the report with an analysis. Partitions the model again the first time."""
        if key in self:
            return self[key]
        self._answers = self._answers or {}
        if key not in self._answers:
            self._answers[key] = Report.parse(self._rendered("json", **question))[key]
        return self._answers[key]

    def _rendered(self, form: str, **questions: bool) -> str:
        if self._render is None:
            raise ArgumentValueError(
                "a report that was read from JSON has no other forms: partition the model again to get them"
            )
        from .._inlay import format_kernels, insert_kernels

        made = self._render(form, **questions)
        if form == "text":
            return made + format_kernels(json.dumps(self))
        return insert_kernels(made, json.dumps(self)) if form == "html" else made

    def ops_by_target(self) -> dict[str, int]:
        """Returns the number of ops by name of the target. Ops outside segments (constants) are not counted."""
        counts: dict[str, int] = {}
        for op in self["ops"]:
            if op.get("target") and op.get("segment") is not None:
                counts[op["target"]] = counts.get(op["target"], 0) + 1
        return counts

    def reasons(self) -> dict[tuple[str, str, str], list[str]]:
        """Returns the labels of the ops by (target, reason code, sentence).

        Ops that run on the first target because it supports them are left out.
        """
        found: dict[tuple[str, str, str], list[str]] = {}
        for op in self["ops"]:
            reason = op.get("reason") or {}
            if op.get("segment") is not None and reason.get("code") not in (None, "supported"):
                found.setdefault((op["target"], reason["code"], reason.get("text", "")), []).append(op["label"])
        return found

    def border_bytes(self) -> tuple[int | None, int | None]:
        """Returns the bytes that enter and the bytes that leave the segments of accelerators.

        A total is None if a size is unknown.
        """
        segments = [s for s in self["segments"] if s["target"] not in ("host", "torch")]
        bytes_in, bytes_out = (_total(segment.get(key) for segment in segments) for key in ("bytes_in", "bytes_out"))
        return bytes_in, bytes_out

    def note_widened(self, weights: Iterable[QuantizedWeight]) -> None:
        """Adds a list `widened` of the quantized weights whose floats take memory: see `docs/guide/report.md`."""
        kernels = [set(kernel["ops"]) for segment in self["segments"] for kernel in segment.get("kernels", ())]
        names = {op["label"]: op["name"] for op in self["ops"]}
        found = []
        for weight in dict.fromkeys(weights):
            if weight.label is None:
                found.append(_widened(weight, "at import", "its layout has no packed form"))
            elif any(weight.label in kernel and kernel.isdisjoint(weight.readers) for kernel in kernels):
                readers = [f"{label} ({names[label]})" if label in names else label for label in weight.readers]
                found.append(_widened(weight, "at each call", f"{', '.join(readers)} does not read codes"))
        if found:
            self["widened"] = found

    def replaced(self, text: str) -> Report:
        """Returns the report for the JSON of the compiler, with the other forms of this report."""
        report = type(self).parse(text, self._render)
        report.update({key: self[key] for key in ("widened",) if key in self})
        return report

    def _totals(self) -> str:
        """Returns the number of ops and segments as text."""
        counts = self.ops_by_target()
        places = ", ".join(f"{count} on {target}" for target, count in counts.items())
        return f"{_count(sum(counts.values()), 'op')} in {_count(len(self['segments']), 'segment')} ({places})"

    def __str__(self) -> str:
        segments = self["segments"]
        lines = [f"{self.get('function', 'graph')}: {self._totals()}"]
        timed = [key for key in ("modelled", "measured") if any(f"{key}_ns" in segment for segment in segments)]
        rows = [("segment", "target", "ops", "in", "out", *timed, "holds")]
        for segment in segments:
            size = (format_bytes(segment.get(key)) for key in ("bytes_in", "bytes_out"))
            times = (format_time(segment.get(f"{key}_ns", {}).get("total")) for key in timed)
            cells = (str(segment["id"]), segment["target"], str(len(segment["ops"])), *size, *times)
            rows.append((*cells, _some(segment["ops"])))
        table = _table(rows)
        if (hidden := len(segments) - _MAX_ROWS) > 1:
            middle = 1 + _MAX_ROWS // 2
            table[middle : middle + hidden] = [f"  ... {hidden} more"]
        lines += table
        weights = self.get("summary", {}).get("weights", {})
        if set(weights) - {"f32"}:
            lines.append("weights: " + ", ".join(f"{format_bytes(size)} {name}" for name, size in weights.items()))
        for each in self.get("widened", ()):
            lines.append(f"widened {each['when']}: '{each['weight']}' of {each['code']}: {each['text']}")
        if reasons := self.reasons():
            lines.append("not on the first target:")
            for (target, code, text), labels in reasons.items():
                lines.append(f"  {_some(labels)}: {target} ({code}) {text}".rstrip())
        return "\n".join(lines)


def _widened(weight: QuantizedWeight, when: str, text: str) -> dict[str, Any]:
    """Returns an entry of the list `widened`."""
    return {"weight": weight.name, "code": weight.code, "count": weight.count, "when": when, "text": text}


def format_bytes(count: float | None) -> str:
    """Returns a number of bytes such as `1.5 MiB`, or `?` for None.

    The units change as in `formatBytes` of lib/Runtime/Report/MemoryReport.cpp. `formatBytes` of
    lib/Partition/Report/ReportFigures.cpp, for the report as text and HTML, writes numbers below 10 KiB as bytes.
    """
    if count is None:
        return "?"
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def format_time(nanoseconds: float | None) -> str:
    """Returns a time in nanoseconds such as `1.5 ms`, or `?` for None."""
    if nanoseconds is None:
        return "?"
    value = nanoseconds
    for unit in ("ns", "us", "ms"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "ns" else f"{value:.3g} {unit}"
        value /= 1e3
    return f"{value:.3g} s"


def _some(labels: Sequence[str]) -> str:
    """Returns all labels, or the first and the last if the list is long."""
    whole = ", ".join(labels)
    if len(labels) <= 2 or len(whole) <= _MAX_LETTERS:
        return whole
    return f"{labels[0]} ... {labels[-1]}"


def _total(sizes: Iterable[int | None]) -> int | None:
    """Returns the sum, or None if a size is None."""
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table. The first two columns and the last one are aligned to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    aligned = []
    for row in rows:
        cells = [
            cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        aligned.append("  " + "  ".join([*cells, row[-1]]))
    return aligned
