# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interfaces and traits of ops that a pattern's `root_layer` may name beside ops."""

import enum


class Interface(enum.Enum):
    """What ops have in common, by their definitions."""

    POINTWISE = "pointwise"
    ATEN_NAMED = "aten_named"
    INFER_TYPE = "infer_type"
    MEMORY_EFFECTS = "memory_effects"
    REGION_BRANCH = "region_branch"
    LOOP_LIKE = "loop_like"
    CONSTANT_LIKE = "constant_like"
    COMMUTATIVE = "commutative"
