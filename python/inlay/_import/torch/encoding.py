# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes calls of an FX graph as JSON. `inlay._dialect.calls` describes the form and makes such calls."""

from __future__ import annotations

import json
import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch.fx import GraphModule, Node

from ..._dialect.calls import FUNCTIONS, NAMED
from ...errors import UnsupportedError

# Returns what stands for a value in the JSON, e.g. {"operand": 0} for a value that is known only at a call; None if the
# value is written itself.
Refer: TypeAlias = Callable[[Any], Any]


def encode_call(
    op: Any, args: Sequence[Any], kwargs: Mapping[str, Any], refer: Refer, used: Sequence[int] | None = None
) -> str:
    """Returns one call as JSON.

    used: numbers of the used results, for a call with several results.
    """
    call = _call(op, args, kwargs, refer)
    if used is not None:
        call["results"] = used
    return json.dumps(call)


def encode_graph(nodes: Sequence[Node], results: Sequence[Node], refer: Refer, leaving: Mapping[str, Node]) -> str:
    """Returns the calls of FX nodes, in order, as JSON.

    leaving: name -> node of a value that is kept beside the program; refer: for nodes from outside.
    """
    return json.dumps(_graph(nodes, results, refer, leaving))


def _graph(nodes: Sequence[Node], results: Any, refer: Refer, leaving: Mapping[str, Node]) -> dict[str, Any]:
    """Returns the JSON object for the calls of `nodes`."""
    numbers = {node: number for number, node in enumerate(nodes)}

    def find(value: Any) -> Any:
        if isinstance(value, Node) and value in numbers:
            return {"value": numbers[value]}
        return refer(value)

    graph: dict[str, Any] = {"calls": [_call(node.target, node.args, node.kwargs, find) for node in nodes]}
    graph["results"] = _encode(results, find, "a graph", exact=True)
    if leaving:
        graph["leaving"] = {name: _encode(node, find, "a graph") for name, node in leaving.items()}
    return graph


def _call(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], refer: Refer) -> dict[str, Any]:
    """Returns the JSON object for one call. Only the schema of an operator makes tuples and lists the same."""
    exact = not isinstance(target, torch._ops.OpOverload)
    call: dict[str, Any] = {**_name(target), "args": [_encode(arg, refer, target, exact) for arg in args]}
    if kwargs:
        call["kwargs"] = {name: _encode(value, refer, target, exact) for name, value in kwargs.items()}
    return call


def _name(target: Any) -> dict[str, str]:
    """Returns the JSON fields that name a function. Raises UnsupportedError if PyTorch has no such name."""
    if isinstance(target, torch._ops.OpOverload):
        return {"op": target._schema.name, "overload": target._overloadname}
    if isinstance(target, torch._ops.HigherOrderOperator):
        name = target.name()
        if getattr(torch.ops.higher_order, name, None) is target:
            return {"higher_order": name}
    elif name := getattr(target, "__name__", None):
        for short, module in FUNCTIONS.items():
            if getattr(sys.modules.get(module), name, None) is target:
                return {"function": f"{short}.{name}"}
    raise UnsupportedError(f"a call of {target} can't be saved in a program: PyTorch has no function of that name")


def _encode(value: Any, refer: Refer, where: object, exact: bool = False) -> Any:
    """Returns the JSON for an argument. where: the function, for messages; exact: True to tell tuples from lists."""
    reference = refer(value)
    if reference is not None:
        return reference
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, complex):
        return {"complex": [str(value.real), str(value.imag)]}
    if isinstance(value, (list, tuple)):
        elements = [_encode(element, refer, where, exact) for element in value]
        return {"tuple": elements} if exact and isinstance(value, tuple) else elements
    if isinstance(value, dict):
        return {"dict": {name: _encode(element, refer, where, exact) for name, element in value.items()}}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, torch._ops.OpOverload):
        return {"operator": [value._schema.name, value._overloadname]}
    for kind, cls in NAMED.items():
        if isinstance(value, cls):
            return {kind: str(value).removeprefix("torch.")}
    raise UnsupportedError(
        f"{where} takes a {type(value).__name__} ({value}), which a call into PyTorch can't take from a program yet"
    )


def encode_function(module: GraphModule, refer: Callable[[Any, Node], Any]) -> dict[str, Any]:
    """Returns the JSON for a GraphModule that is an argument of a higher-order operator.

    refer(value, node): what stands for a value that the module holds and `node` reads.
    """
    operands: dict[Node, dict[str, int]] = {}
    nodes: list[Node] = []
    results: Any = ()
    for node in module.graph.nodes:
        if node.op == "placeholder":
            operands[node] = {"operand": len(operands)}
        elif node.op == "call_function":
            nodes.append(node)
        elif node.op == "output":
            results = node.args[0]
        elif node.op != "get_attr":
            raise UnsupportedError(
                f"node {node.name!r} of a nested graph is a {node.op}, but expected a call of a function"
            )

    def find(value: Any) -> Any:
        if not isinstance(value, Node):
            return None
        if value.op == "get_attr":
            return refer(operator.attrgetter(str(value.target))(module), value)
        return operands.get(value)

    return {"graph": _graph(nodes, results, find, {})}


__all__ = ["GraphModule", "encode_call", "encode_function", "encode_graph"]
