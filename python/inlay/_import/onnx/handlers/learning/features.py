# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports numeric ops of the domain ai.onnx.ml."""

from __future__ import annotations

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ...library.trees import AGGREGATES, MEMBER, TRANSFORMS


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {
        "ArrayFeatureExtractor": _handle_array_feature_extractor,
        "Binarizer": _handle_binarizer,
        "TreeEnsemble": _handle_tree_ensemble,
    }


def _handle_array_feature_extractor(call: NodeCall) -> NodeResult:
    x = call[0] if len(shape_of(call[0])) > 1 else call.reshape(call[0], (1, *shape_of(call[0])))
    places = call.cast(call.aten("reshape", call[1], [-1]), torch.int64)
    return call.aten("index.Tensor", x, [None] * (len(shape_of(x)) - 1) + [places])


def _handle_binarizer(call: NodeCall) -> NodeResult:
    x = call[0]
    return call.cast(call.aten("gt.Scalar", x, call.attribute("threshold", 0.0)), dtype_of(x))


def _handle_tree_ensemble(call: NodeCall) -> NodeResult:
    targets, weights = call.attribute("leaf_targetids", []), call.tensor_attribute("leaf_weights")
    modes, splits = call.tensor_attribute("nodes_modes"), call.tensor_attribute("nodes_splits")
    aggregate, transform = call.attribute("aggregate_function", 1), call.attribute("post_transform", 0)
    call.tensor_attribute("nodes_hitrates")  # only for profiling
    if modes is None or splits is None or weights is None:
        raise ArgumentValueError(f"{call.place}: expected the tensors nodes_modes, nodes_splits and leaf_weights")
    if modes.numel() and int(modes.max()) > MEMBER:
        raise ArgumentValueError(f"{call.place}: expected numbers in [0, {MEMBER}] in nodes_modes, but got others")
    if aggregate not in range(len(AGGREGATES)) or transform not in range(len(TRANSFORMS)):
        raise ArgumentValueError(f"{call.place}: aggregate_function or post_transform has an unknown number")
    if TRANSFORMS[transform] in ("SOFTMAX", "LOGISTIC"):
        raise call.unsupported(
            f"ONNX's specification and ONNX Runtime disagree about the transform of number {transform}: "
            "apply it to the scores with a node of its own"
        )
    count, leaves, outputs = modes.numel(), len(targets), call.attribute("n_targets", 0)
    lists = {"nodes_featureids": call.attribute("nodes_featureids", [])}
    for side in ("true", "false"):
        ids, are_leaves = (call.attribute(f"nodes_{side}{part}", []) for part in ("nodeids", "leafs"))
        if len(ids) != count or len(are_leaves) != count:
            raise ArgumentValueError(f"{call.place}: expected {count} numbers in nodes_{side}nodeids and _{side}leafs")
        # Leaves are numbered behind the other nodes.
        lists[f"nodes_{side}nodeids"] = [
            count + number if is_leaf else number for number, is_leaf in zip(ids, are_leaves, strict=True)
        ]
        if any(not 0 <= number < (leaves if leaf else count) for number, leaf in zip(ids, are_leaves, strict=True)):
            raise ArgumentValueError(f"{call.place}: nodes_{side}nodeids has a number of a node that does not exist")
    lists["nodes_missing_value_tracks_true"] = call.attribute("nodes_missing_value_tracks_true", [0] * count)
    lists["tree_roots"], lists["leaf_targetids"] = call.attribute("tree_roots", []), targets
    limits = {"nodes_featureids": shape_of(call[0])[-1], "tree_roots": count, "leaf_targetids": outputs}
    for name, limit in limits.items():
        if any(number < 0 or (isinstance(limit, int) and number >= limit) for number in lists[name]):
            raise ArgumentValueError(f"{call.place}: expected numbers in [0, {limit}) in {name}, but got others")
    per_node = (lists["nodes_featureids"], lists["nodes_missing_value_tracks_true"])
    if any(len(numbers) != count for numbers in per_node) or splits.numel() != count or weights.numel() != leaves:
        raise ArgumentValueError(f"{call.place}: expected {count} values for each node and {leaves} for each leaf")
    members = _members(call, modes, splits)
    return call.library(
        "tree_ensemble",
        call[0],
        *(call.constant(torch.tensor(lists[name], dtype=torch.int64)) for name in lists),
        *(call.constant(tensor) for tensor in (modes.to(torch.int64), members, weights)),
        outputs,
        AGGREGATES[aggregate],
        TRANSFORMS[transform],
    )


def _members(call: NodeCall, modes: torch.Tensor, splits: torch.Tensor) -> torch.Tensor:
    """Returns, for each node, the numbers that it compares with: its split, or the members of its set.

    Rows are filled with NaN. NaN separates the sets in the attribute.
    """
    sets: list[list[float]] = [[]]
    values = call.tensor_attribute("membership_values")
    for value in [] if values is None else values.tolist():
        if value == value:
            sets[-1].append(value)
        else:
            sets.append([])
    wanted = int((modes == MEMBER).sum())
    sets = [one for one in sets if one]
    if len(sets) < wanted:
        raise ArgumentValueError(f"{call.place}: expected {wanted} sets in membership_values")
    rest = iter(sets)
    rows = [
        next(rest) if mode == MEMBER else [split] for mode, split in zip(modes.tolist(), splits.tolist(), strict=True)
    ]
    width = max(map(len, rows), default=1)
    return torch.tensor([row + [torch.nan] * (width - len(row)) for row in rows], dtype=splits.dtype)
