# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of a split over an accelerator and the host compared with the host only, by segment."""

import math
from typing import Any

from catalog import read_route
from summary import Row

MAX_SEGMENTS = 3  # number of segments of a model in the table, those that lose most


def _is_split(row: Row) -> bool:
    return not row["is_peer"] and "vulkan" in read_route(row["contender"]).targets


def _sum(segments: list[Row], key: str, *targets: str) -> float:
    return math.fsum(segment[key] for segment in segments if not targets or segment["target"] in targets)


def _host_alone(row: Row, rows: list[Row]) -> Row | None:
    """Returns the fastest row of the same model on the host without an accelerator, or None if there is none."""
    found = [
        other
        for other in rows
        if not other["is_peer"]
        and (other["subject"], other["dtype"]) == (row["subject"], row["dtype"])
        and read_route(other["contender"]).targets[0] == "host"
    ]
    return min(found, key=lambda other: other["latency_ms"], default=None)


def _alone_ms(segments: list[Row], profiled: list[Row]) -> list[float]:
    """Returns the time of the ops of each segment on the host only. Fused ops count for the segment of the first op."""
    times = [0.0] * len(segments)
    owner = {op: number for number, segment in enumerate(segments) for op in segment["ops"]}
    for entry in profiled:
        number = next((owner[op] for op in entry["ops"] if op in owner), None)
        if number is not None:
            times[number] += entry["ms"]
    return times


def split_rows(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Returns a row per split model with the parts of its time, and a row for each segment that loses most."""
    models, losses = [], []
    for row in filter(_is_split, rows):
        alone, segments = _host_alone(row, rows), row.get("profiled_segments")
        if alone is None or not segments:
            continue
        key: dict[str, Any] = {name: row[name] for name in ("subject", "contender", "dtype")}
        device, host = (_sum(segments, "run_ms", *targets) for targets in (("vulkan",), ("host", "torch")))
        copies = _sum(segments, "copies_ms")
        models.append(
            {
                **key,
                "segments": len(segments),
                "mb_across": _sum(segments, "bytes") / 1e6,
                "host_alone_ms": alone["latency_ms"],
                "split_ms": row["latency_ms"],
                "to_host_alone": row["latency_ms"] / alone["latency_ms"],
                "device_ms": device,
                "host_ms": host,
                "copies_ms": copies,
                "rest_ms": row["latency_ms"] - device - host - copies,
            }
        )
        alone_ms = _alone_ms(segments, alone.get("profiled_ops", []))
        found = [
            {
                **key,
                "segment": number,
                "target": segment["target"],
                "ops": len(segment["ops"]),
                "from": segment["ops"][0] if segment["ops"] else "",
                "to": segment["ops"][-1] if segment["ops"] else "",
                "mb_across": segment["bytes"] / 1e6,
                "run_ms": segment["run_ms"],
                "copies_ms": segment["copies_ms"],
                "host_alone_ms": alone_ms[number],
            }
            for number, segment in enumerate(segments)
        ]
        found.sort(key=lambda loss: loss["host_alone_ms"] - loss["run_ms"] - loss["copies_ms"])
        losses += found[:MAX_SEGMENTS]
    return models, losses
