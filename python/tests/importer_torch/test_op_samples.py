# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares samples of PyTorch's operators on each target with PyTorch.

By default a few samples of each operator are drawn with a fixed seed, and several operators share a module. With
INLAY_FULL=1 all samples run, with a module for each operator. `pytest -rP` prints the number of samples of which each
target ran all ops.
"""

import os
from collections import Counter

import pytest
from op_samples import check, draw
from sampled import all_ops

FULL = bool(os.environ.get("INLAY_FULL"))
COUNT = None if FULL else 5
TOGETHER = 1 if FULL else 8  # operators in a module


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
