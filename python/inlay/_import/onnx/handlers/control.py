# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow: ONNX's If, Loop and Scan as PyTorch's cond, while_loop and scan."""

import torch

from ..call import dtype_of, shape_of
from ..subgraphs import describe_value


def handlers():
    """ONNX op -> handler."""
    return {"If": _handle_if, "Loop": _handle_loop, "Scan": _handle_scan}


def _fake(node):
    return node.meta["val"]


def _check_alike(call, one, other, what):
    """Raises unless two nodes have the same dims and dtype; what: a message about them with places for both."""
    if (dtype_of(one), shape_of(one)) != (dtype_of(other), shape_of(other)):
        raise call.unsupported(what.format(describe_value(one), describe_value(other)))


def _captured(*graphs):
    return list(dict.fromkeys(node for graph in graphs for node in graph.captured))


def _handle_if(call):
    condition, names = call[0], ("then_branch", "else_branch")
    for name in names:
        call.graph_attribute(name)
    if call.is_known(0):
        return call.converter.inline(call, names[0] if bool(call.known(0, "the condition")) else names[1])
    (then, given), (otherwise, other) = (call.converter.body(call, name, []) for name in names)
    for number, (one, two) in enumerate(zip(given, other, strict=False)):
        _check_alike(call, one, two, f"output {number} is {{}} in one branch and {{}} in the other")
    taken = _captured(then, otherwise)
    modules = [graph.module(results, taken) for graph, results in ((then, given), (otherwise, other))]
    return call.control("cond", (condition, *modules, tuple(taken)), [_fake(one) for one in given])


def _handle_loop(call):
    starts = call.inputs[2:]
    most = call.reshape(call.cast(call[0], torch.int64), ()) if call.get(0) is not None else None
    # Without a condition the first round runs. Runtimes end by what the body says, which ONNX's text has ignored then.
    going = call.reshape(call[1], ()) if call.get(1) is not None else call.constant(torch.tensor(True))
    counter = call.constant(torch.zeros((), dtype=torch.int64))
    # A round runs only while the condition holds.
    arguments = [_fake(counter), torch.tensor(True), *map(_fake, starts)]
    body, (goes_on, *results) = call.converter.body(call, "body", arguments)
    new, stacked = results[: len(starts)], results[len(starts) :]
    for number, (one, two) in enumerate(zip(starts, new, strict=True)):
        _check_alike(call, one, two, f"carried value {number} is {{}} before a round and {{}} after it")
    ends_early = not (_is_true(call, going) and _is_true(call, goes_on))
    if most is None and not ends_early:
        raise call.unsupported("a loop without a condition and without a number of rounds has no end")
    if most is not None and call.is_constant(most) and not ends_early:
        return _count(call, int(call.inspect(most)), body, starts, new, stacked)
    if stacked:
        raise call.unsupported("outputs of every round are only supported where the number of rounds is known")
    return _repeat(call, most, going if ends_early else None, counter, (body, goes_on, new), starts)


def _is_true(call, node):
    return call.is_constant(node) and bool(call.inspect(node).all())


def _count(call, rounds, body, starts, new, stacked):
    """A loop of so many rounds."""
    positions = call.constant(torch.arange(max(rounds, 0)))
    # The body's first argument is the round's number.
    body.order_own([*range(1, len(starts) + 1), 0])
    taken = _captured(body)
    args = (body.module([*new, *stacked], taken), list(starts), [positions], tuple(taken))
    return call.control("scan", args, _scanned(new, stacked, max(rounds, 0)))


def _scanned(new, stacked, rounds):
    """Fake tensors of a scan's results."""
    return [*map(_fake, new), *(_fake(one).new_empty((rounds, *shape_of(one))) for one in stacked)]


def _repeat(call, most, going, counter, made, starts):
    """A loop that ends by its condition, or after a number of rounds that is known only at a call."""
    body, goes_on, new = made
    carried = [counter, *([] if going is None else [going]), *starts]
    condition = call.converter.empty(call)
    arguments = [condition.own_argument(f"carried{number}", _fake(one)) for number, one in enumerate(carried)]
    tests = [] if going is None else [arguments[1]]
    if most is not None:
        tests.append(condition.call(torch.ops.aten.lt.Tensor, [arguments[0], condition.capture(most)], {}))
    test = tests[0] if len(tests) == 1 else condition.call(torch.ops.aten.logical_and.default, tests, {})
    condition.name("condition", {}, [test])
    following = body.call(torch.ops.aten.add.Tensor, [body.own[0], 1], {})
    body.name(body.labels.take("counter"), {}, [following])
    if going is not None:
        body.insert_own(1, "going", _fake(going))
        goes_on = body.call(torch.ops.aten.reshape.default, [goes_on, []], {})
        body.name(body.labels.take("going"), {}, [goes_on])
    results = [following, *([] if going is None else [goes_on]), *new]
    taken = _captured(condition, body)
    args = (condition.module(test, taken), body.module(results, taken), tuple(carried), tuple(taken))
    return call.control("while_loop", args, [_fake(one) for one in carried])[len(carried) - len(starts) :]


def _handle_scan(call):
    count = call.attribute("num_scan_inputs")
    starts, scanned = call.inputs[: len(call.inputs) - count], call.inputs[len(call.inputs) - count :]
    axes = call.attribute("scan_input_axes", [0] * count)
    backwards = call.attribute("scan_input_directions", [0] * count)
    scanned = [_lay(call, one, axis, direction) for one, axis, direction in zip(scanned, axes, backwards, strict=True)]
    slices = [_fake(one).new_empty(shape_of(one)[1:]) for one in scanned]  # there may be none
    body, results = call.converter.body(call, "body", [*map(_fake, starts), *slices])
    new, stacked = results[: len(starts)], results[len(starts) :]
    for number, (one, two) in enumerate(zip(starts, new, strict=True)):
        _check_alike(call, one, two, f"carried value {number} is {{}} before a round and {{}} after it")
    taken = _captured(body)
    args = (body.module(results, taken), list(starts), scanned, tuple(taken))
    found = call.control("scan", args, _scanned(new, stacked, shape_of(scanned[0])[0]))
    axes = call.attribute("scan_output_axes", [0] * len(stacked))
    backwards = call.attribute("scan_output_directions", [0] * len(stacked))
    made = [
        _put_back(call, one, axis, direction)
        for one, axis, direction in zip(found[len(starts) :], axes, backwards, strict=True)
    ]
    return [*found[: len(starts)], *made]


def _lay(call, node, axis, is_backwards):
    """A scanned tensor with the rounds in front, in their order."""
    axis = call.axis(axis, len(shape_of(node)))
    if axis:
        node = call.aten("permute", node, [axis, *(dim for dim in range(len(shape_of(node))) if dim != axis)])
    return call.aten("flip", node, [0]) if is_backwards else node


def _put_back(call, node, axis, is_backwards):
    """What `_lay` undoes."""
    axis = call.axis(axis, len(shape_of(node)))
    node = call.aten("flip", node, [0]) if is_backwards else node
    if axis:
        order = list(range(1, len(shape_of(node))))
        node = call.aten("permute", node, [*order[:axis], 0, *order[axis:]])
    return node
