# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the page about a Vulkan device: launches, start-up, kernels and models, with peers on the same device."""

import pathlib
from collections.abc import Iterable
from typing import Any

from contest_page import describe_pairs, pair_best
from page import HERE, make_table, read_tables, write_head

HEAD = """\
# On a Vulkan device: launches, start-up, kernels, models

`make bench-vulkan` takes these measurements and writes this page. It takes ten minutes and needs an idle machine.
`VK_DRIVER_FILES` names the driver, which is Mesa's software driver by default and runs kernels on the processor. The
text above each table explains its columns.

Each contender is a process, and the contenders take turns. Contenders whose names end in `-vulkan` are peers on the
same device. IREE compiles for the target of the device (`--iree-vulkan-target`). ncnn runs the layers that it has
Vulkan code for on the device, and the others on the processor.
"""


def write_contest(table: dict[str, Any], subject: str) -> list[str]:
    rows = table["rows"]
    parts = [f"## {subject.capitalize()}s", "", table["counted"], ""]
    if pairs := pair_best(rows, subject):
        parts += [describe_pairs(pairs, subject), "", make_table({"rows": pairs}), ""]
    dropped = ("is_peer", "opaque", "torch", "host", "vulkan", "ops", "bound", "roofline")
    return [*parts, make_table(table, lambda column: column not in dropped), ""]


def write_vulkan(paths: Iterable[pathlib.Path]) -> None:
    tables, commands, machine, notes = read_tables(paths)
    parts = write_head(HEAD, commands, machine, notes)
    for name, title in (("launches", "Launches"), ("start-up", "Start-up")):
        if name in tables:
            parts += [f"## {title}", "", tables[name]["counted"], "", make_table(tables[name]), ""]
    for name in ("kernel", "model"):
        if f"{name}s" in tables:
            parts += write_contest(tables[f"{name}s"], name)
    (HERE / "vulkan.md").write_text("\n".join(parts))
