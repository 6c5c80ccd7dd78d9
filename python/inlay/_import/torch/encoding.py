# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of an FX graph as text: see `inlay.calls` for the form."""

import json
import math
import operator

import torch
from torch.fx import GraphModule, Node

from ..._dialect.calls import FUNCTIONS, NAMED
from ...errors import UnsupportedError


def encode_call(op, args, kwargs, refer, used=None):
    """One call as JSON.

    refer(value): what stands for a value known at a call alone, e.g. {"operand": 0}; None if `value` stands for itself.
    used: numbers of the results that are wanted, of a call that gives several.
    """
    call = _call(op, args, kwargs, refer)
    if used is not None:
        call["results"] = used
    return json.dumps(call)


def encode_graph(nodes, results, refer, leaving):
    """Calls of FX nodes, in order, as JSON.

    results: nodes; leaving: name -> node; refer(node): what stands for a node from outside.
    """
    return json.dumps(_graph(nodes, results, refer, leaving))


def _graph(nodes, results, refer, leaving):
    numbers = {node: number for number, node in enumerate(nodes)}

    def find(value):
        if isinstance(value, Node) and value in numbers:
            return {"value": numbers[value]}
        return refer(value)

    graph = {"calls": [_call(node.target, node.args, node.kwargs, find) for node in nodes]}
    graph["results"] = _encode(results, find, "a graph", exact=True)
    if leaving:
        graph["leaving"] = {name: _encode(node, find, "a graph") for name, node in leaving.items()}
    return graph


def _call(target, args, kwargs, refer):
    exact = not isinstance(target, torch._ops.OpOverload)
    call = {**_name(target), "args": [_encode(arg, refer, target, exact) for arg in args]}
    if kwargs:
        call["kwargs"] = {name: _encode(value, refer, target, exact) for name, value in kwargs.items()}
    return call


def _name(target):
    if isinstance(target, torch._ops.OpOverload):
        return {"op": target._schema.name, "overload": target._overloadname}
    if isinstance(target, torch._ops.HigherOrderOperator):
        if getattr(torch.ops.higher_order, target.name(), None) is target:
            return {"higher_order": target.name()}
    elif getattr(target, "__name__", None):
        for module, holder in FUNCTIONS.items():
            if getattr(holder, target.__name__, None) is target:
                return {"function": f"{module}.{target.__name__}"}
    raise UnsupportedError(f"a call of {target}, which PyTorch does not find by its name, can't be written down")


def _encode(value, refer, where, exact=False):
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
    raise UnsupportedError(f"{where} takes a {type(value).__name__} ({value}), which no call into PyTorch can pass yet")


def encode_function(module, refer):
    """A GraphModule, an argument of a higher-order operator, as {"graph": ...}; `refer` is for what it keeps."""
    operands, nodes, results = {}, [], ()
    for node in module.graph.nodes:
        if node.op == "placeholder":
            operands[node] = {"operand": len(operands)}
        elif node.op == "call_function":
            nodes.append(node)
        elif node.op == "output":
            results = node.args[0]
        elif node.op != "get_attr":
            raise UnsupportedError(f"node {node.name!r} of a nested graph is a {node.op}, which can't be written down")

    def find(value):
        if not isinstance(value, Node):
            return None
        if value.op == "get_attr":
            return refer(operator.attrgetter(value.target)(module), value)
        return operands.get(value)

    return {"graph": _graph(nodes, results, find, {})}


__all__ = ["GraphModule", "encode_call", "encode_function", "encode_graph"]
