# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The partition report: what runs where, and why."""

import copy
import json

_MOST_ROWS = 12  # segments that the table shows
_MOST_LETTERS = 60  # of a list of labels


class Report(dict):
    """The report as a dict (`report["segments"]`, `report["ops"]`, `report["summary"]`); `str(report)` is a table."""

    @classmethod
    def parse(cls, text):
        """From the compiler's JSON; of a list (several functions) the last."""
        parsed = json.loads(text)
        return cls(parsed[-1] if isinstance(parsed, list) else parsed)

    def ops_by_target(self):
        """Target name -> number of ops; ops in no segment (constants) are not counted."""
        counts = {}
        for op in self["ops"]:
            if op.get("target") and op.get("segment") is not None:
                counts[op["target"]] = counts.get(op["target"], 0) + 1
        return counts

    def reasons(self):
        """(target, reason code, sentence) -> labels of the ops, of all that did not simply run on the first target."""
        found = {}
        for op in self["ops"]:
            reason = op.get("reason") or {}
            if op.get("segment") is not None and reason.get("code") not in (None, "supported"):
                found.setdefault((op["target"], reason["code"], reason.get("text", "")), []).append(op["label"])
        return found

    def border_bytes(self):
        """(bytes into, bytes out of) all segments that are not on the host's own side; None where a size is unknown."""
        segments = [s for s in self["segments"] if s["target"] not in ("host", "torch")]
        return tuple(_total(segment.get(key) for segment in segments) for key in ("bytes_in", "bytes_out"))

    def with_times(self, steps):
        """A copy with `measured_ns` from the (name, kind, seconds, segment) of a profiled run's steps."""
        report = type(self)(copy.deepcopy(dict(self)))
        times = [{"run": 0, "transfers": 0} for _ in report["segments"]]
        for _, kind, seconds, segment in steps:
            if 0 <= segment < len(times):
                times[segment]["transfers" if kind == "copy" else "run"] += round(seconds * 1e9)
        for segment, time in zip(report["segments"], times, strict=True):
            segment["measured_ns"] = {**time, "total": sum(time.values())}
        report["summary"]["measured_ns"] = sum(round(seconds * 1e9) for _, _, seconds, _ in steps)
        return report

    def __str__(self):
        counts = ", ".join(f"{count} on {target}" for target, count in self.ops_by_target().items())
        segments = self["segments"]
        total = sum(self.ops_by_target().values())
        lines = [f"{self.get('function', 'graph')}: {total} ops in {len(segments)} segments ({counts})"]
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


def format_bytes(count):
    """`1.5 MiB`; `?` for None."""
    if count is None:
        return "?"
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def format_time(nanoseconds):
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


def _table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    aligned = []
    for row in rows:
        cells = [
            cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        aligned.append("  " + "  ".join([*cells, row[-1]]))
    return aligned
