# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports control flow: ONNX's If, Loop and Scan as PyTorch's cond, while_loop and scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ....errors import ArgumentValueError
from ..call import Handler, NodeCall, NodeResult, dtype_of, shape_of
from ..graph import Subgraph
from ..subgraphs import Body, describe_value


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"If": _handle_if, "Loop": _handle_loop, "Scan": _handle_scan}


def _fake(node: torch.fx.Node) -> Any:
    """Returns the fake tensor of a node."""
    return node.meta["val"]


def _check_alike(call: NodeCall, first: torch.fx.Node, second: torch.fx.Node, message: str) -> None:
    """Raises UnsupportedError unless two nodes have the same dims and dtype.

    message: a message with places for the types of both.
    """
    if (dtype_of(first), shape_of(first)) != (dtype_of(second), shape_of(second)):
        raise call.unsupported(message.format(describe_value(first), describe_value(second)))


def _captured(*graphs: Subgraph) -> list[torch.fx.Node]:
    """Returns the nodes that bodies take from outside, each once."""
    return list(dict.fromkeys(node for graph in graphs for node in graph.captured))


def _handle_if(call: NodeCall) -> NodeResult:
    condition, names = call[0], ("then_branch", "else_branch")
    for name in names:
        call.graph_attribute(name)
    if call.is_known(0):
        return call.converter.inline(call, names[0] if bool(call.known(0, "the condition")) else names[1])
    (then, given), (otherwise, other) = (call.converter.body(call, name, []) for name in names)
    for number, (first, second) in enumerate(zip(given, other, strict=False)):
        _check_alike(call, first, second, f"output {number} is {{}} in one branch and {{}} in the other")
    taken = _captured(then, otherwise)
    modules = [graph.module(results, taken) for graph, results in ((then, given), (otherwise, other))]
    return call.control("cond", (condition, *modules, tuple(taken)), [_fake(result) for result in given])


def _handle_loop(call: NodeCall) -> NodeResult:
    starts = _given(call, call.inputs[2:])
    max_count = call.reshape(call.cast(call[0], torch.int64), ()) if call.get(0) is not None else None
    # Without a condition the first iteration runs. Runtimes use the condition that the body returns, although ONNX's
    # specification ignores it in that case.
    going = call.reshape(call[1], ()) if call.get(1) is not None else call.constant(torch.tensor(True))
    counter = call.constant(torch.zeros((), dtype=torch.int64))
    # An iteration runs only if the condition is true.
    arguments = [_fake(counter), torch.tensor(True), *map(_fake, starts)]
    body, (goes_on, *results) = call.converter.body(call, "body", arguments)
    new, stacked = results[: len(starts)], results[len(starts) :]
    for number, (start, result) in enumerate(zip(starts, new, strict=True)):
        _check_alike(call, start, result, f"carried value {number} is {{}} before an iteration and {{}} after it")
    ends_early = not (_is_true(call, going) and _is_true(call, goes_on))
    if max_count is None and not ends_early:
        raise call.unsupported("a loop without a condition and without a number of iterations does not end")
    if max_count is not None and call.is_constant(max_count) and not ends_early:
        return _count(call, int(call.inspect(max_count)), body, starts, new, stacked)
    if stacked:
        raise call.unsupported("outputs of each iteration are only supported if the number of iterations is known")
    made = Body(body, [goes_on, *new])
    return _repeat(call, max_count, going if ends_early else None, counter, made, starts)


def _given(call: NodeCall, inputs: Sequence[torch.fx.Node | None]) -> list[torch.fx.Node]:
    """Returns the inputs of a loop. Raises ArgumentValueError if one is left out."""
    given = [node for node in inputs if node is not None]
    if len(given) != len(inputs):
        raise ArgumentValueError(f"{call.place}: expected a value for each input of the loop, but one is left out")
    return given


def _is_true(call: NodeCall, node: torch.fx.Node) -> bool:
    """Returns true if a condition is known to be true."""
    return call.is_constant(node) and bool(call.inspect(node).all())


def _count(
    call: NodeCall,
    count: int,
    body: Subgraph,
    starts: Sequence[torch.fx.Node],
    new: Sequence[torch.fx.Node],
    stacked: Sequence[torch.fx.Node],
) -> list[torch.fx.Node]:
    """Adds a loop of a known number of iterations.

    starts, new: the carried values before the loop and after an iteration. stacked: outputs of each iteration.
    """
    positions = call.constant(torch.arange(max(count, 0)))
    # The body's first argument, the number of the iteration, becomes its last one.
    body.reorder_arguments([*range(1, len(starts) + 1), 0])
    taken = _captured(body)
    args = (body.module([*new, *stacked], taken), list(starts), [positions], tuple(taken))
    return call.control("scan", args, _scanned(new, stacked, max(count, 0)))


def _scanned(new: Sequence[torch.fx.Node], stacked: Sequence[torch.fx.Node], count: int) -> list[Any]:
    """Returns fake tensors like the results of a scan."""
    return [*map(_fake, new), *(_fake(part).new_empty((count, *shape_of(part))) for part in stacked)]


def _repeat(
    call: NodeCall,
    max_count: torch.fx.Node | None,
    going: torch.fx.Node | None,
    counter: torch.fx.Node,
    made: Body,
    starts: Sequence[torch.fx.Node],
) -> list[torch.fx.Node]:
    """Adds a loop that ends by its condition `going`, or after `max_count` iterations, a number that is known only
    at a call."""
    body, (goes_on, *new) = made
    carried = [counter, *([] if going is None else [going]), *starts]
    condition = call.converter.empty(call)
    arguments = [condition.add_argument(f"carried{number}", _fake(value)) for number, value in enumerate(carried)]
    tests = [] if going is None else [arguments[1]]
    if max_count is not None:
        tests.append(condition.call_one(torch.ops.aten.lt.Tensor, [arguments[0], condition.capture(max_count)], {}))
    test = tests[0] if len(tests) == 1 else condition.call_one(torch.ops.aten.logical_and.default, tests, {})
    condition.name("condition", {}, [test])
    following = body.call_one(torch.ops.aten.add.Tensor, [body.arguments[0], 1], {})
    body.name(body.labels.take("counter"), {}, [following])
    if going is not None:
        body.insert_argument(1, "going", _fake(going))
        goes_on = body.call_one(torch.ops.aten.reshape.default, [goes_on, []], {})
        body.name(body.labels.take("going"), {}, [goes_on])
    results = [following, *([] if going is None else [goes_on]), *new]
    taken = _captured(condition, body)
    args = (condition.module(test, taken), body.module(results, taken), tuple(carried), tuple(taken))
    return call.control("while_loop", args, [_fake(value) for value in carried])[len(carried) - len(starts) :]


def _handle_scan(call: NodeCall) -> NodeResult:
    count = call.attribute("num_scan_inputs")
    inputs = _given(call, call.inputs)
    starts, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes = call.attribute("scan_input_axes", [0] * count)
    backwards = call.attribute("scan_input_directions", [0] * count)
    scanned = [
        _move_to_front(call, source, axis, direction)
        for source, axis, direction in zip(scanned, axes, backwards, strict=True)
    ]
    slices = [_fake(source).new_empty(shape_of(source)[1:]) for source in scanned]  # there may be none
    body, results = call.converter.body(call, "body", [*map(_fake, starts), *slices])
    new, stacked = results[: len(starts)], results[len(starts) :]
    for number, (source, result) in enumerate(zip(starts, new, strict=True)):
        _check_alike(call, source, result, f"carried value {number} is {{}} before an iteration and {{}} after it")
    taken = _captured(body)
    args = (body.module(results, taken), list(starts), scanned, tuple(taken))
    found = call.control("scan", args, _scanned(new, stacked, shape_of(scanned[0])[0]))
    axes = call.attribute("scan_output_axes", [0] * len(stacked))
    backwards = call.attribute("scan_output_directions", [0] * len(stacked))
    made = [
        _put_back(call, source, axis, direction)
        for source, axis, direction in zip(found[len(starts) :], axes, backwards, strict=True)
    ]
    return [*found[: len(starts)], *made]


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
