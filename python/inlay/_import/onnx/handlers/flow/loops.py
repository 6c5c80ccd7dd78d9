# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports ONNX's Loop as PyTorch's scan, if the number of iterations is known, or as its while_loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .....errors import ArgumentValueError
from ...call import Handler, NodeCall, NodeResult, shape_of
from ...graph import Subgraph
from ...outcomes import are_same, merge, outcome_of, read_outcome
from ...subgraphs import Body
from ...values import LateError, Outcome, ResultType, Unknown, Value
from .control import captured, fake_of, given_tensors, outside_type, scanned, stack

_MAX_UNROLLED = 32  # iterations of a loop whose carried values change their dims
_MAX_ROUNDS = 8  # conversions of a body until the types of its values are stable


def handlers() -> dict[str, Handler]:
    """Returns the handlers of this topic by ONNX op."""
    return {"Loop": _handle_loop}


def _handle_loop(call: NodeCall) -> NodeResult:
    max_count = call.reshape(call.cast(call[0], torch.int64), ()) if call.get(0) is not None else None
    # Without a condition the first iteration runs. Runtimes use the condition that the body returns, although ONNX's
    # specification ignores it in that case.
    going = call.reshape(call[1], ()) if call.get(1) is not None else call.constant(torch.tensor(True))
    if call.runs_now:
        return _run(call, max_count, going)
    try:
        return _add(call, max_count, going)
    except LateError as error:
        count = int(call.inspect(max_count)) if max_count is not None and call.is_constant(max_count) else None
        if count is not None and count <= _MAX_UNROLLED and call.is_constant(going):
            unrolled = _unroll(call, count, bool(call.inspect(going)))
            if unrolled is not None:
                return unrolled
        raise LateError(str(error), error.outcomes or _declared(call)) from error


def _declared(call: NodeCall) -> list[Outcome]:
    """Returns the types of a loop's results as its body declares them, without sizes."""
    count = len(call.given) - 2
    outcomes: list[Outcome] = []
    for number, info in enumerate(call.graph_attribute("body").output[1:]):
        found = read_outcome(info.type)
        if isinstance(found, ResultType):
            rank = len(found.dims) + (number >= count)
            outcomes.append(ResultType(found.dtype, (None,) * rank))
        else:
            outcomes.append(found)
    return outcomes


# -- Loops whose values are known -------------------------------------------------------------------------------------


def _run(call: NodeCall, max_count: torch.fx.Node | None, going: torch.fx.Node) -> list[Value]:
    """Computes a loop. Returns its results."""
    limit = None if max_count is None else int(call.inspect(max_count))
    is_going, number = bool(call.inspect(going)), 0
    values = call.given[2:]
    rows: list[list[Any]] = [[] for _ in call.graph_attribute("body").output[1 + len(values) :]]
    most = call.converter.max_loop_iterations
    while is_going and (limit is None or number < limit):
        if number == most:
            raise ArgumentValueError(
                f"{call.place}: the loop ran {number} times without ending, which is its limit (max_loop_iterations)"
            )
        goes_on, values = _iterate(call, number, values, rows)
        if goes_on is None:
            raise ArgumentValueError(f"{call.place}: expected a condition as the first result of the body")
        is_going = bool(call.inspect(goes_on))
        number += 1
    return [*values, *(stack(call, "body", 1 + len(values) + place, row) for place, row in enumerate(rows))]


def _iterate(
    call: NodeCall, number: int, values: list[Value], rows: Sequence[list[Any]]
) -> tuple[torch.fx.Node | None, list[Value]]:
    """Adds an iteration. Returns its condition and the carried values, and adds its other outputs to `rows`."""
    start = [call.constant(torch.tensor(number)), call.constant(torch.tensor(True))]
    goes_on, *results = call.converter.inline(call, "body", [*start, *values])
    for row, part in zip(rows, results[len(values) :], strict=True):
        row.append(part)
    return goes_on if isinstance(goes_on, torch.fx.Node) else None, results[: len(values)]


def _unroll(call: NodeCall, count: int, is_going: bool) -> list[Value] | None:
    """Adds the iterations of a loop one after the other. Returns its results; None if a call decides their number."""
    values, number = call.given[2:], 0
    rows: list[list[Any]] = [[] for _ in call.graph_attribute("body").output[1 + len(values) :]]
    while is_going and number < count:
        goes_on, values = _iterate(call, number, values, rows)
        if goes_on is None or not call.is_constant(goes_on):
            return None
        is_going = bool(call.inspect(goes_on).all())
        number += 1
    if any(
        isinstance(value, list) or value is None or isinstance(fake_of(value), Unknown) for row in rows for value in row
    ):
        return None
    return [*values, *(stack(call, "body", 1 + len(values) + place, row) for place, row in enumerate(rows))]


# -- Loops in the program ---------------------------------------------------------------------------------------------


def _add(call: NodeCall, max_count: torch.fx.Node | None, going: torch.fx.Node) -> list[torch.fx.Node]:
    """Adds a loop. Returns its results."""
    starts = given_tensors(call, call.given[2:])
    counter = call.constant(torch.zeros((), dtype=torch.int64))
    body, (goes_on, *results) = _convert_body(call, counter, starts)
    new, stacked = results[: len(starts)], results[len(starts) :]
    ends_early = not (_is_true(call, going) and _is_true(call, goes_on))
    if max_count is None and not ends_early:
        raise call.unsupported("a loop without a condition and without a number of iterations does not end")
    if max_count is not None and call.is_constant(max_count) and not ends_early:
        return _count(call, int(call.inspect(max_count)), body, starts, new, stacked)
    if stacked:
        outcomes = [*map(outcome_of, starts), *_stacked_types(stacked)]
        raise LateError("the number of outputs of its iterations is known only at a call", outcomes)
    made = Body(body, [goes_on, *new])
    return _repeat(call, max_count, going if ends_early else None, counter, made, starts)


def _stacked_types(stacked: Sequence[torch.fx.Node]) -> list[Outcome]:
    """Returns the types of outputs of each iteration. A loop without iterations does not know their dims."""
    return [ResultType(fake_of(part).dtype, (None,) * (len(shape_of(part)) + 1)) for part in stacked]


def _convert_body(call: NodeCall, counter: torch.fx.Node, starts: Sequence[torch.fx.Node]) -> Body:
    """Converts the body of a loop.

    Raises LateError with the types of the loop's results if the dims of a carried value change.
    """
    types = [outcome_of(start) for start in starts]
    # An iteration runs only if the condition is true.
    first = [fake_of(counter), torch.tensor(True)]
    made = call.converter.body(call, "body", [*first, *map(fake_of, starts)])
    following = _merged(call, types, made.results[1:])
    if are_same(types, following):
        for part in made.results[1 + len(starts) :]:
            if not are_same([outcome_of(part)], [outside_type(call, outcome_of(part))]):
                raise LateError(
                    "the dims of an output of each iteration are known only at a call",
                    [*types, *_stacked_types(made.results[1 + len(starts) :])],
                )
        return made
    for _ in range(_MAX_ROUNDS):
        types = following
        if any(isinstance(outcome, Unknown) for outcome in types):
            break
        made = call.converter.body(call, "body", [*first, *map(call.scope.graph.fake, types)])
        following = _merged(call, types, made.results[1:])
        if are_same(types, following):
            raise LateError(
                "the dims of a carried value change", [*types, *_stacked_types(made.results[1 + len(starts) :])]
            )
    raise LateError("the dims of a carried value change")


def _merged(call: NodeCall, types: Sequence[Outcome], results: Sequence[torch.fx.Node]) -> list[Outcome]:
    """Returns the types of carried values that are `types` before an iteration and the types of `results` after it."""
    return [merge(before, outside_type(call, outcome_of(after))) for before, after in zip(types, results, strict=False)]


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
    taken = captured(body)
    args = (body.module([*new, *stacked], taken), list(starts), [positions], tuple(taken))
    return call.control("scan", args, scanned(new, stacked, max(count, 0)))


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
    arguments = [condition.add_argument(f"carried{number}", fake_of(value)) for number, value in enumerate(carried)]
    tests = [] if going is None else [arguments[1]]
    if max_count is not None:
        tests.append(condition.call_one(torch.ops.aten.lt.Tensor, [arguments[0], condition.capture(max_count)], {}))
    test = tests[0] if len(tests) == 1 else condition.call_one(torch.ops.aten.logical_and.default, tests, {})
    condition.name("condition", {}, [test])
    following = body.call_one(torch.ops.aten.add.Tensor, [body.arguments[0], 1], {})
    body.name(body.labels.take("counter"), {}, [following])
    if going is not None:
        body.insert_argument(1, "going", fake_of(going))
        goes_on = body.call_one(torch.ops.aten.reshape.default, [goes_on, []], {})
        body.name(body.labels.take("going"), {}, [goes_on])
    results = [following, *([] if going is None else [goes_on]), *new]
    taken = captured(condition, body)
    args = (condition.module(test, taken), body.module(results, taken), tuple(carried), tuple(taken))
    return call.control("while_loop", args, [fake_of(value) for value in carried])[len(carried) - len(starts) :]
