# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walks an FX graph of framework calls and writes it as ops of the dialect."""

import operator

import torch

from ..calls import encode_call, flatten_results
from ..errors import UnsupportedError
from ..text import ELEMENT_TYPES, element_type
from .call import Call
from .graph import GraphBuilder, Value
from .locations import module_stack, print_location

# Checks of what export knows already.
_DROPPED = {
    "_assert_tensor_metadata",
    "_assert_scalar",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
}


class Walker:
    """Gives every live node of a graph its value.

    Handlers use `tensor`, `op`, `scalar` and `cast`. A handler returns the node's Value, or a list of Values (with None
    where nothing is) for a call with several results, or None if the call has no exact form in the dialect.
    """

    def __init__(self, handlers, constants, portable=False):
        """handlers: ATen name -> function(walker, call); constants: a ConstantFolder; portable: see print_location."""
        self.builder = GraphBuilder()
        self.constants = constants
        self.modules = set()  # (path, qualified class name) of all modules seen
        self._handlers = handlers
        self._values, self._call = {}, None
        self._keys, self._live_nodes = {}, set()
        self._portable = portable

    def argument(self, node, name, fake):
        """Makes `node` an argument of the function."""
        self._values[node] = self.builder.argument(fake.shape, fake.dtype, print_location(name, node, self._portable))

    def name_constant(self, node, key):
        """Says which key the bytes of a constant node go by."""
        self._keys[node] = key

    def walk(self, graph):
        """Imports all nodes that an output or an effect needs."""
        self._live_nodes = self._live(graph)
        for node in graph.nodes:
            if node in self._live_nodes and node.op == "call_function" and not self.constants.fold(node):
                self._import(node)

    # -- For handlers ---------------------------------------------------------------------------------------------

    def tensor(self, node):
        """The Value of a node that is a tensor."""
        if node not in self._values:
            value = self.constants[node]
            check_static(value, f"constant {self._keys.get(node, node.name)!r}")
            if node in self._keys:
                self._values[node] = self.builder.weight(self._keys[node], value)
            else:
                self._values[node] = self.builder.literal(node.name, value)
        return self._values[node]

    def is_constant(self, node):
        """True if the node's value is known at import."""
        return node in self.constants

    def is_imported(self, node):
        """True if the node has a Value already."""
        return node in self._values

    def op(self, name, operands, attributes=None, *, shape, dtype, suffix=None):
        """Adds an op at the place of the call being imported; `suffix` sets helper ops apart from the call itself."""
        return self.builder.op(name, operands, attributes or {}, shape, dtype, self._location(suffix))

    def scalar(self, number, dtype):
        """A rank-0 constant."""
        return self.builder.splat(number, (), dtype)

    def splat(self, number, shape, dtype):
        """A constant whose elements are all alike."""
        return self.builder.splat(number, shape, dtype)

    def constant(self, tensor, suffix):
        """A constant of the call being imported."""
        return self.builder.literal(f"{self._call.label}.{suffix}", tensor.contiguous())

    def cast(self, value, dtype, suffix="cast"):
        """`value` with elements of `dtype`."""
        if value is None:
            raise UnsupportedError(
                f"node {self._call.node.name!r} reads a number out of a tensor (as .item() does), "
                "which is not supported yet"
            )
        if value.dtype == dtype:
            return value
        attributes = {"dtype": ELEMENT_TYPES[dtype]}
        return self.op("cast", [value], attributes, shape=value.shape, dtype=dtype, suffix=suffix)

    def reshape(self, value, shape, suffix=None):
        """`value` with other dims."""
        shape = tuple(shape)
        if value.shape == shape:
            return value
        return self.op("reshape", [value], {"shape": shape}, shape=shape, dtype=value.dtype, suffix=suffix)

    # -- Nodes ----------------------------------------------------------------------------------------------------

    def _live(self, graph):
        live, pending = set(), [node for node in graph.nodes if node.op == "output" or self._has_effect(node)]
        while pending:
            node = pending.pop()
            if node not in live:
                live.add(node)
                pending += node.all_input_nodes
        return live

    @staticmethod
    def _has_effect(node):
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            return False
        return node.target._schema.is_mutable or node.target._schema.name.partition("::")[2].startswith("_assert_async")

    def _import(self, node):
        if node.target is operator.getitem:
            self._values[node] = self._item(node)
            return
        if not isinstance(node.target, torch._ops.OpOverload):
            raise UnsupportedError(f"node {node.name!r} calls {node.target}: {_explain(node.target)}")
        call = Call(node)
        if call.base in _DROPPED:
            return
        used = self._used_results(call)
        for value in flatten_results(call.val if used is None else [call.val[number] for number in used]):
            check_static(value, f"a result of node {node.name!r} ({call.space}::{call.name})")
        self.modules.update(module_stack(node))
        self._call = call
        handler = self._handlers.get(call.name if call.space == "aten" else f"{call.space}::{call.name}")
        value = handler(self, call) if handler else None
        self._values[node] = value if value is not None else self._opaque(call, used)

    def _item(self, node):
        source, number = node.args
        value = self._values[source][number]
        if value is None:
            raise UnsupportedError(
                f"node {node.name!r} uses result {number} of {source.name!r}, which Inlay doesn't make"
            )
        return value

    def _used_results(self, call):
        """Numbers of the results that live nodes take, of a call with several; None for a call with one."""
        if not isinstance(call.val, (list, tuple)):
            return None
        return sorted({user.args[1] for user in call.node.users if user in self._live_nodes})

    def _opaque(self, call, used):
        operands, numbers = [], {}

        def operand(value):
            if not isinstance(value, torch.fx.Node):
                return None
            if isinstance(value.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)):
                raise UnsupportedError(
                    f"node {call.label!r} depends on a size known only at a call ({value.name!r}): "
                    "dynamic shapes are not supported yet"
                )
            if value not in numbers:
                numbers[value] = len(operands)
                operands.append(self.tensor(value))
            return numbers[value]

        made = call.val if used is None else [result if n in used else None for n, result in enumerate(call.val)]
        text = encode_call(call.node.target, call.node.args, call.node.kwargs, operand, used)
        results = [(value.shape, value.dtype) for value in flatten_results(made)]
        effects = {"writes": [], "aliases": []}
        for argument, value in zip(call.schema.arguments, call.args.values(), strict=True):
            if argument.alias_info is not None:
                effect = "writes" if argument.alias_info.is_write else "aliases"
                nodes = value if isinstance(value, (list, tuple)) else [value]
                effects[effect] += [numbers[node] for node in nodes if node in numbers]
        name = f"{call.space}::{call.name}"
        values = self.builder.opaque(name, operands, results, effects, text, self._location())
        return _unflatten(made, iter(values))

    def _location(self, suffix=None):
        name = self._call.label if suffix is None else f"{self._call.label}.{suffix}"
        return self.builder.alias(name, print_location(name, self._call.node, self._portable))


def check_static(fake, what):
    """Raises unless the tensor has static, non-empty dims and a dtype that the dialect can hold."""
    for dim, size in enumerate(fake.shape):
        if not isinstance(size, int):
            raise UnsupportedError(f"dim {dim} of {what} is symbolic ({size}): dynamic shapes are not supported yet")
        if size == 0:
            raise UnsupportedError(f"dim {dim} of {what} is 0: empty tensors are not supported")
    if fake.layout != torch.strided:
        raise UnsupportedError(f"{what} has layout {fake.layout}, but expected torch.strided")
    element_type(fake.dtype, what)


def _unflatten(results, values):
    if isinstance(results, (list, tuple)):
        return [_unflatten(result, values) for result in results]
    return next(values) if isinstance(results, torch.Tensor) else None


def _explain(target):
    if isinstance(target, torch._ops.HigherOrderOperator):
        return "higher-order operators (control flow, functionalized mutation) are not supported yet"
    return "it works on sizes known only at a call, and dynamic shapes are not supported yet"


__all__ = ["Value", "Walker", "check_static"]
