# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ratios of latencies: to eager PyTorch and to the best peer. Below 1 is faster."""

import math
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


def add_ratios(rows: list[Row], eager_ms: float) -> None:
    """To the rows of one subject; the best peer is the fastest of the contenders that aren't Inlay's."""
    best_ms = min((row["latency_ms"] for row in rows if row["is_peer"]), default=None)
    for row in rows:
        row["eager_ms"] = eager_ms
        row["to_eager"] = row["latency_ms"] / eager_ms
        row["to_best"] = row["latency_ms"] / best_ms if best_ms else None


def geometric_mean(values: Iterable[float]) -> float | None:
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


def summarize(rows: list[Row]) -> list[Row]:
    """Per contender and dtype the geometric means of its ratios, over the subjects that it ran."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["contender"], row["dtype"]), []).append(row)
    return [
        {
            "contender": contender,
            "dtype": dtype,
            "ran": len(own),
            "to_eager": geometric_mean(row["to_eager"] for row in own),
            "to_best": geometric_mean(row["to_best"] for row in own if row["to_best"]),
        }
        for (contender, dtype), own in groups.items()
    ]


def pair_best(rows: list[Row], subject: str) -> list[Row]:
    """Per subject (a column: `model`, `kernel`) and dtype Inlay's fastest route beside the fastest peer."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[subject], row["dtype"]), []).append(row)
    pairs = []
    for (name, dtype), own in groups.items():
        ours, peers = ([row for row in own if row["is_peer"] == is_peer] for is_peer in (False, True))
        if not ours or not peers:
            continue
        route, peer = (min(side, key=lambda row: row["latency_ms"]) for side in (ours, peers))
        pairs.append(
            {
                subject: name,
                "dtype": dtype,
                "inlay": route["contender"],
                "inlay_ms": route["latency_ms"],
                "best_peer": peer["contender"],
                "best_peer_ms": peer["latency_ms"],
                "to_best": route["latency_ms"] / peer["latency_ms"],
            }
        )
    return pairs
