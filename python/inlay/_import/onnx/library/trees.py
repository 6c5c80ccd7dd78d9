# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers TreeEnsemble, which adds up the leaves of decision trees."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ....errors import ArgumentValueError

# The numbers of the attributes aggregate_function and post_transform, and that of the mode of membership in a set.
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
MEMBER = 6

_REDUCTIONS = {"AVERAGE": "sum", "SUM": "sum", "MIN": "amin", "MAX": "amax"}


def _holds(x: Tensor, modes: Tensor, members: Tensor) -> Tensor:
    """Returns, for each pair of a row and a tree, true if the condition of a node is true.

    x: the feature of the node. modes: the condition: <=, <, >=, >, ==, !=, in. members: the numbers to compare with.
    """
    split = members[..., 0]
    found = torch.stack([x <= split, x < split, x >= split, x > split, x == split, x != split])
    is_member = (x[..., None] == members).any(-1)
    return torch.cat([found, is_member[None]]).gather(0, modes[None])[0]


def _transform(x: Tensor, name: str) -> Tensor:
    """Returns the scores of rows after a transform."""
    if name == "SOFTMAX_ZERO":
        return torch.where(x == 0, 0, x.masked_fill(x == 0, -math.inf).softmax(-1)).nan_to_num(0)
    if name == "PROBIT":
        return math.sqrt(2) * torch.erfinv(2 * x - 1)
    return x


@torch.library.custom_op("inlay_onnx::tree_ensemble", mutates_args=())
def tree_ensemble(
    x: Tensor,
    features: Tensor,
    if_true: Tensor,
    if_false: Tensor,
    missing: Tensor,
    roots: Tensor,
    targets: Tensor,
    modes: Tensor,
    members: Tensor,
    weights: Tensor,
    count: int,
    aggregate: str,
    transform: str,
) -> Tensor:
    """Returns the scores of rows: rows x `count`.

    x: rows x features. features, modes, members: the conditions of nodes, see `_holds`. if_true, if_false: the next
    node; numbers from the number of nodes on are leaves. missing: nonzero for nodes whose condition is true for NaN.
    roots: of the trees. targets, weights: the column that a leaf adds to, and what it adds.
    Raises ArgumentValueError if a tree has a cycle.
    """
    nodes, rows = features.numel(), x.shape[0]
    place = roots.expand(rows, -1)
    for _ in range(nodes):
        inner = place < nodes
        if not inner.any():
            break
        at = place.clamp(max=nodes - 1)
        feature = x.gather(1, features[at])
        holds = _holds(feature, modes[at], members[at]) | (feature.isnan() & (missing[at] != 0))
        place = torch.where(inner, torch.where(holds, if_true[at], if_false[at]), place)
    if (place < nodes).any():
        raise ArgumentValueError("expected trees, but the nodes of a TreeEnsemble have a cycle")
    leaves = place - nodes
    scores = x.new_zeros(rows, count)
    scores.scatter_reduce_(1, targets[leaves], weights[leaves].to(x.dtype), _REDUCTIONS[aggregate], include_self=False)
    if aggregate == "AVERAGE":
        scores = scores / max(1, roots.numel())
    return _transform(scores, transform)


@tree_ensemble.register_fake
def _(
    x: Tensor, features: Tensor, if_true: Tensor, if_false: Tensor, missing: Tensor, roots: Tensor, targets: Tensor,
    modes: Tensor, members: Tensor, weights: Tensor, count: int, aggregate: str, transform: str,
) -> Tensor:  # fmt: skip
    return x.new_empty(x.shape[0], count)
