# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interfaces and traits of ops that may stand for ops in the `root_layer` of a pattern."""

import enum


class Interface(enum.Enum):
    """An interface or trait that several kinds of ops have."""

    POINTWISE = "pointwise"  # inlay.PointwiseOpInterface
    ATEN_NAMED = "aten_named"  # inlay.AtenNamedOpInterface: ops with names of ATen
    # Interfaces and traits of MLIR.
    INFER_TYPE = "infer_type"  # InferTypeOpInterface
    MEMORY_EFFECTS = "memory_effects"  # MemoryEffectOpInterface
    REGION_BRANCH = "region_branch"  # RegionBranchOpInterface
    LOOP_LIKE = "loop_like"  # LoopLikeOpInterface
    CONSTANT_LIKE = "constant_like"  # the trait ConstantLike
    COMMUTATIVE = "commutative"  # the trait IsCommutative
