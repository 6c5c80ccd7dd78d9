# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports control flow: ONNX's If and Scan as PyTorch's cond and scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, shape_of
from ...graph import Subgraph
from ...library.failing import fail
from ...outcomes import are_same, merge, outcome_of
from ...subgraphs import Body, describe_value
from ...tensors import type_of
from ...values import LateError, Outcome, ResultType, Unknown, Value


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"If": _handle_if, "Scan": _handle_scan}


def fake_of(node: torch.fx.Node) -> Any:
    """Returns the fake tensor of a node."""
    return node.meta["val"]


def captured(*graphs: Subgraph) -> list[torch.fx.Node]:
    """Returns the nodes that bodies take from outside, each once."""
    return list(dict.fromkeys(node for graph in graphs for node in graph.captured))


def outside_type(call: NodeCall, outcome: Outcome) -> Outcome:
    """Returns the type of a body's value for the graph around the body, which lacks the sizes of the body's calls."""
    if isinstance(outcome, Unknown):
        return outcome
    graph = call.scope.graph
    return ResultType(outcome.dtype, tuple(dim if graph.has_size(dim) else None for dim in outcome.dims))


def scanned(new: Sequence[torch.fx.Node], stacked: Sequence[torch.fx.Node], count: int) -> list[Any]:
    """Returns fake tensors like the results of a scan."""
    return [*map(fake_of, new), *(fake_of(part).new_empty((count, *shape_of(part))) for part in stacked)]


def given_tensors(call: NodeCall, inputs: Sequence[Value]) -> list[torch.fx.Node]:
    """Returns the inputs of a loop, which must be tensors. Raises ArgumentValueError if one is left out."""
    if None in inputs:
        raise ArgumentValueError(f"{call.place}: expected a value for each input of the loop, but one is left out")
    if any(isinstance(value, list) for value in inputs):
        raise LateError("the loop carries a sequence")
    return [value for value in inputs if isinstance(value, torch.fx.Node)]


# -- If ---------------------------------------------------------------------------------------------------------------


def _handle_if(call: NodeCall) -> NodeResult:
    condition, names = call[0], ("then_branch", "else_branch")
    for name in names:
        made, wanted = len(call.graph_attribute(name).output), len(call.proto.output)
        if made != wanted:
            raise ArgumentValueError(f"{call.place}: expected {name} to have {wanted} outputs, but got {made}")
    if call.is_known(0):
        value = call.known(0, "the condition")
        if value is None or value.numel() != 1:
            raise ArgumentValueError(f"{call.place}: expected a condition of one element")
        return call.converter.inline(call, names[0] if bool(value) else names[1])
    (then, given), (otherwise, other) = _branches(call, names)
    for number, (first, second) in enumerate(zip(given, other, strict=True)):
        dtypes = [one.dtype for one in map(outcome_of, (first, second)) if isinstance(one, ResultType)]
        if len(set(dtypes)) > 1:
            raise ArgumentValueError(
                f"{call.place}: expected output {number} to have one dtype, but got {dtypes[0]} in one branch and "
                f"{dtypes[1]} in the other"
            )
    outcomes = [
        outside_type(call, merge(outcome_of(first), outcome_of(second)))
        for first, second in zip(given, other, strict=False)
    ]
    for number, (first, second) in enumerate(zip(given, other, strict=False)):
        if not are_same([outcome_of(first)], [outcome_of(second)]) or not are_same(
            [outcome_of(first)], [outcomes[number]]
        ):
            types = f"{describe_value(first)} in one branch and {describe_value(second)} in the other"
            raise LateError(f"output {number} is {types}", outcomes)
    taken = captured(then, otherwise)
    modules = [graph.module(results, taken) for graph, results in ((then, given), (otherwise, other))]
    return call.control("cond", (condition, *modules, tuple(taken)), [fake_of(result) for result in given])


def _branches(call: NodeCall, names: Sequence[str]) -> list[Body]:
    """Converts the branches of an If.

    A branch that is invalid for the dims of the values that it takes may never be chosen. It becomes a call that raises
    an error.
    """
    bodies: list[Body | None] = []
    errors: list[ArgumentValueError] = []
    for name in names:
        try:
            bodies.append(call.converter.body(call, name, []))
        except ArgumentValueError as error:
            bodies.append(None)
            errors.append(error)
    found = next((body for body in bodies if body is not None), None)
    if found is None:
        raise errors[0]
    return [_failing(call, found, str(errors[0])) if body is None else body for body in bodies]


def _failing(call: NodeCall, other: Body, message: str) -> Body:
    """Returns a branch that raises an error. other: the other branch, whose results have the same types."""
    graph = call.converter.empty(call)
    outcomes = [outside_type(call, outcome_of(result)) for result in other.results]
    results = graph.defer(fail, (message,), outcomes, f"raises an error, because the branch is invalid: {message}")
    graph.name("fail", {}, results)
    return Body(graph, results)


# -- Scan -------------------------------------------------------------------------------------------------------------


def _handle_scan(call: NodeCall) -> NodeResult:
    count = call.attribute("num_scan_inputs")
    inputs = given_tensors(call, call.inputs)
    if count is None or not 1 <= count <= len(inputs):
        raise ArgumentValueError(
            f"{call.place}: expected num_scan_inputs to be from 1 to the {len(inputs)} inputs, but got {count}"
        )
    starts, sources = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes = call.attribute("scan_input_axes", [0] * count)
    backwards = call.attribute("scan_input_directions", [0] * count)
    sources = [
        _move_to_front(call, source, axis, direction)
        for source, axis, direction in zip(sources, axes, backwards, strict=True)
    ]
    total = len(call.graph_attribute("body").output) - len(starts)
    out_axes = call.attribute("scan_output_axes", [0] * total)
    out_backwards = call.attribute("scan_output_directions", [0] * total)
    found = _run_scan(call, starts, sources) if call.runs_now else _add_scan(call, starts, sources)
    made = [
        _put_back(call, source, axis, direction)
        for source, axis, direction in zip(found[len(starts) :], out_axes, out_backwards, strict=True)
    ]
    return [*found[: len(starts)], *made]


def _add_scan(call: NodeCall, starts: list[torch.fx.Node], sources: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """Adds a scan over the first dims of `sources`. Returns its results."""
    slices = [fake_of(source).new_empty(shape_of(source)[1:]) for source in sources]  # there may be none
    body, results = call.converter.body(call, "body", [*map(fake_of, starts), *slices])
    new, stacked = results[: len(starts)], results[len(starts) :]
    for number, (source, result) in enumerate(zip(starts, new, strict=True)):
        if not are_same([outcome_of(source)], [outcome_of(result)]):
            types = f"{describe_value(source)} before an iteration and {describe_value(result)} after it"
            raise LateError(f"carried value {number} is {types}")
    if not are_same([outcome_of(part) for part in stacked], [outside_type(call, outcome_of(part)) for part in stacked]):
        raise LateError("the dims of an output of each iteration are known only at a call")
    taken = captured(body)
    args = (body.module(results, taken), list(starts), sources, tuple(taken))
    return call.control("scan", args, scanned(new, stacked, shape_of(sources[0])[0]))


def _run_scan(call: NodeCall, starts: list[torch.fx.Node], sources: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """Computes a scan over the first dims of `sources`. Returns its results."""
    values: list[Any] = list(starts)
    rows: list[list[torch.fx.Node]] = [[] for _ in call.graph_attribute("body").output[len(starts) :]]
    for number in range(shape_of(sources[0])[0]):
        slices = [call.aten("select.int", source, 0, number) for source in sources]
        results = call.converter.inline(call, "body", [*values, *slices])
        values = results[: len(starts)]
        for row, part in zip(rows, results[len(starts) :], strict=True):
            assert isinstance(part, torch.fx.Node)
            row.append(part)
    return [*values, *(stack(call, "body", len(starts) + number, row) for number, row in enumerate(rows))]


def stack(call: NodeCall, name: str, number: int, parts: Sequence[torch.fx.Node]) -> torch.fx.Node:
    """Returns the outputs of iterations as one tensor. name, number: the body and the number of its output."""
    if parts:
        return call.aten("stack", list(parts), 0)
    info = call.graph_attribute(name).output[number]
    declared = type_of(info, f"output {info.name!r} of {name} of {call.place}")
    dims = [dim if isinstance(dim, int) else 0 for dim in declared.dims or ()]
    return call.constant(torch.empty((0, *dims), dtype=declared.dtype))


def _move_to_front(call: NodeCall, node: torch.fx.Node, axis: int, is_backwards: int) -> torch.fx.Node:
    """Returns a scanned tensor with the scanned dim in front, reversed if the scan runs backwards."""
    axis = call.axis(axis, len(shape_of(node)))
    if axis:
        node = call.aten("permute", node, [axis, *(dim for dim in range(len(shape_of(node))) if dim != axis)])
    return call.aten("flip", node, [0]) if is_backwards else node


def _put_back(call: NodeCall, node: torch.fx.Node, axis: int, is_backwards: int) -> torch.fx.Node:
    """Reverses `_move_to_front`."""
    axis = call.axis(axis, len(shape_of(node)))
    node = call.aten("flip", node, [0]) if is_backwards else node
    if axis:
        order = list(range(1, len(shape_of(node))))
        node = call.aten("permute", node, [*order[:axis], 0, *order[axis:]])
    return node
