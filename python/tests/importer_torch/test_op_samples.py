# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own samples of its operators, compiled for each target, against PyTorch.

A few of each operator, drawn by a fixed seed, several operators to a module; or all samples with INLAY_FULL=1, each
operator by itself. `pytest -rP` says how many samples each target ran by itself.
"""

import os
from collections import Counter

import pytest
from op_samples import check, draw
from sampled import all_ops

FULL = bool(os.environ.get("INLAY_FULL"))
COUNT = None if FULL else 5
TOGETHER = 1 if FULL else 8  # operators of a module


def groups():
    entries = all_ops()
    return [entries[start : start + TOGETHER] for start in range(0, len(entries), TOGETHER)]


def join_names(entries):
    return ",".join(map(str, entries))


def test_names_are_unique():
    names = Counter(map(str, all_ops()))
    assert not [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize("entries", groups(), ids=join_names)
def test_samples(entries):
    drawn = {str(entry): draw(entry, COUNT) for entry in entries}
    assert all(drawn.values()), f"no samples are left of {[name for name, samples in drawn.items() if not samples]}"
    found = check([sample for samples in drawn.values() for sample in samples])
    counts = {target: Counter(str(sample.entry) for sample in samples) for target, samples in found.items()}
    for name, samples in drawn.items():
        print(f"{name}: {len(samples)} samples,", ", ".join(f"{counts[target][name]} on {target}" for target in counts))
