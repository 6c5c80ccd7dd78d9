# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ratios of latencies to those of eager PyTorch and of the fastest peer. A ratio below 1 is faster."""

import math
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


def add_ratios(rows: list[Row], eager_ms: float) -> None:
    """Adds ratios to the rows of one subject. The best peer is the fastest contender besides Inlay."""
    best_ms = min((row["latency_ms"] for row in rows if row["is_peer"]), default=None)
    for row in rows:
        row["eager_ms"] = eager_ms
        row["to_eager"] = row["latency_ms"] / eager_ms
        row["to_best"] = row["latency_ms"] / best_ms if best_ms else None


def geometric_mean(values: Iterable[float]) -> float | None:
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


def summarize(rows: list[Row]) -> list[Row]:
    """Returns the geometric means of the ratios per contender and dtype, over the subjects that it ran."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["contender"], row["dtype"]), []).append(row)
    return [
        {
            "contender": contender,
            "dtype": dtype,
            "ran": len(group),
            "to_eager": geometric_mean(row["to_eager"] for row in group),
            "to_best": geometric_mean(row["to_best"] for row in group if row["to_best"]),
        }
        for (contender, dtype), group in groups.items()
    ]


def pair_best(rows: list[Row], subject: str) -> list[Row]:
    """Returns Inlay's fastest route and the fastest peer per subject (a column: `model`, `kernel`) and dtype."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row[subject], row["dtype"]), []).append(row)
    pairs = []
    for (name, dtype), group in groups.items():
        ours, peers = ([row for row in group if row["is_peer"] == is_peer] for is_peer in (False, True))
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
