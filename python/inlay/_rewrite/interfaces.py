# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interfaces and traits of ops that may stand for ops in the `root_layer` of a pattern."""

import enum


class Interface(enum.Enum):
    """An interface or trait that several kinds of ops have."""

    POINTWISE = "pointwise"
    ATEN_NAMED = "aten_named"
    INFER_TYPE = "infer_type"
    MEMORY_EFFECTS = "memory_effects"
    REGION_BRANCH = "region_branch"
    LOOP_LIKE = "loop_like"
    CONSTANT_LIKE = "constant_like"
    COMMUTATIVE = "commutative"
