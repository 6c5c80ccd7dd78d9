# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a sample of ONNX's own test suite. `make test-world` runs all of it."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("onnx")

from known import problem
from suite import known_failures
from suite_cases import load_cases, run_case

TARGETS = ("host", "torch")
CASES = load_cases()
SMALL = sorted(name for name, case in CASES.items() if case.url is None)  # the others are whole networks
KNOWN = known_failures(TARGETS)
SAMPLE = random.Random(0).sample(SMALL, 150)


@pytest.mark.parametrize("name", SAMPLE)
def test_case(name: str) -> None:
    # A case that is listed may pass here: `make test-world` finds those too.
    assert name in KNOWN or not problem(name, run_case(CASES[name], TARGETS), {})


def test_the_lists_name_cases() -> None:
    for targets in (TARGETS, ("vulkan", *TARGETS)):
        assert set(known_failures(targets)) <= set(CASES)
