# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walks an FX graph of framework calls and writes it as ops of the dialect."""

import functools
import operator
import pathlib

import torch

from ..._dialect import ops
from ..._dialect.calls import flatten_results
from ..._dialect.text import ELEMENT_TYPES
from ..._program.sizes import InexpressibleError, Size, Symbols, UndecidedError
from ...errors import UnsupportedError
from .call import Call
from .checks import check_expressible, check_static
from .control import Control, is_control_flow
from .effects import has_effect, is_checked_already
from .encoding import encode_call, encode_function, encode_graph
from .graph import GraphBuilder, Value
from .guards import GuardError
from .locations import print_location, source_line
from .parts import form_parts, is_number
from .strides import is_as_strided, memory_order, reads_memory_order, strided_call


class _Unavailable(Exception):
    """A handler asked for a value inside of a part that PyTorch runs."""


class Walker:
    """Gives every live node of a graph its value.

    Handlers use `tensor`, `op`, `scalar` and `cast`. A handler returns the node's Value, or a list of Values (with None
    where nothing is) for a call with several results, or None if the call has no exact form in the dialect.

    A value that the dialect can't hold goes beside the program, by a name: it is `kept` where it comes from outside or
    goes there; calls that pass one another such values are one part, which PyTorch runs.
    """

    def __init__(self, handlers, constants, portable=False, expander=None, symbols=None):
        """handlers: ATen name -> function(walker, call); constants: a ConstantFolder; portable: see print_location;
        expander: an Expander for calls that no handler takes, which changes the graph; symbols: the function's."""
        self.symbols = Symbols() if symbols is None else symbols
        self.builder = GraphBuilder(self.symbols)
        self.constants = constants
        self.unplaced = []  # labels of control flow that doesn't say which modules are called inside
        # Key of a weight -> function from (name -> tensor) of the parameters and buffers to its value.
        self.sources = {}
        self.reasons = []  # why calls are left to PyTorch alone, a sentence for each part
        self.kept = {}  # name -> value of what the calls take that no text and no weight can hold
        self.conditions = []  # on sizes, of torch's expressions
        self.kept_sources = {}  # name -> function as in `sources`
        self._handlers = handlers
        self._values, self._call = {}, None
        self._keys, self._live_nodes = {}, set()
        self._names, self._leaving = {}, {}  # node -> name of the kept value that it is; of one that goes outside
        self._portable = portable
        self._expander = expander
        self._control = Control(self) if handlers else None  # without handlers all calls are PyTorch's

    def argument(self, node, name, fake):
        """Makes `node` an argument of the function."""
        shape = self.symbols.dims(fake)
        self._values[node] = self.builder.argument(shape, fake.dtype, print_location(name, node, self._portable))

    def name_constant(self, node, key):
        """Says which key the bytes of a constant node go by."""
        self._keys[node] = key

    def keep(self, node, name, value=None):
        """Makes `node` a kept value: one that calls are given, or `value`."""
        self._names[node] = name
        if value is not None:
            self.kept[name] = value

    def walk(self, graph, outputs):
        """Imports all nodes that an output or an effect needs; `outputs` are nodes and plain values."""
        outputs = [value for value in outputs if isinstance(value, torch.fx.Node)]
        pending = outputs + [node for node in graph.nodes if has_effect(node) and not self._is_condition(node)]
        self._live_nodes = self._live(pending)
        self._leaving = {
            node: f"output {node.name}"
            for node in outputs
            if node.op == "call_function" and not self.is_constant(node) and not self.can_hold(node)
        }
        self._import_all(graph.nodes, outputs, self.constants.fold)

    def walk_region(self, nodes, outputs):
        """Imports nodes of a region that an output or an effect needs. A call of constants that fails does so only if
        it runs."""

        def fold(node):
            try:
                return self.constants.fold(node)
            except Exception:
                return False

        self._live_nodes |= self._live(outputs + [node for node in nodes if has_effect(node)])
        self._import_all(nodes, outputs, fold)

    def _import_all(self, nodes, outputs, fold):
        calls = [
            node
            for node in nodes
            if node in self._live_nodes and node.op == "call_function"
            if not self.is_size(node) and not fold(node)
        ]
        for part in form_parts(calls, self.can_hold, has_effect, self.region_operands):
            if part.is_foreign:
                self._import_part(part.nodes, set(outputs))
            elif part.nodes[0] not in self._values:
                self._import(part.nodes[0], set(outputs))

    def region_operands(self, node):
        """The nodes of tensors that a call takes which becomes ops with regions; None for another call."""
        return self._control.operands(node) if self._control and is_control_flow(node) else None

    # -- For handlers ---------------------------------------------------------------------------------------------

    def tensor(self, node):
        """The Value of a node that is a tensor."""
        if node not in self._values:
            if not self.is_constant(node):
                raise _Unavailable(node.name)
            value, key = self.constants[node], self._keys.get(node, node.meta.get("label", node.name))
            check_static(value, f"constant {key!r}")
            if self.constants.weights_of(node):
                self._values[node] = self.builder.weight(key, value)
                self.sources.setdefault(self.builder.key_of(value), self.constants.recipe(node))
            elif node in self._keys:
                self._values[node] = self.builder.weight(key, value)
            else:
                self._values[node] = self.builder.literal(key, value)
        return self._values[node]

    def leaving(self, node):
        """The name by which a value goes outside beside the program; None if it is no such value."""
        return self._names.get(node, self._leaving.get(node))

    def is_constant(self, node):
        """True if the node's value is known at import."""
        return node in self.constants

    def is_size(self, node):
        """True if the node is a number that follows from the sizes of inputs."""
        return self.symbols.can_express(node.meta.get("val"))

    def is_imported(self, node):
        """True if the node has a Value already."""
        return node in self._values

    def op(self, name, operands, attributes=None, *, shape, dtype, suffix=None):
        """Adds an op at the place of the call being imported; `suffix` sets helper ops apart from the call itself."""
        return self.builder.op(
            name, operands, attributes or {}, shape, dtype, self.location(suffix, ops.table()[name].aten)
        )

    def scalar(self, number, dtype):
        """A tensor without dims: a constant, or a Size."""
        if not isinstance(number, Size):
            return self.builder.splat(number, (), dtype)
        size = self.op("size", [], {"sizes": [number]}, shape=(), dtype=torch.int64, suffix="size")
        return self.cast(size, dtype, "size.cast")

    def splat(self, number, shape, dtype, suffix="splat"):
        """A tensor whose elements are all alike."""
        if not isinstance(number, Size) and all(isinstance(dim, int) for dim in shape):
            return self.builder.splat(number, shape, dtype)
        return self.expand(self.scalar(number, dtype), shape, suffix)

    def iota(self, count, suffix=None):
        """The int64 numbers from 0 up to `count`, a Size."""
        return self.op("iota", [], {"sizes": [count]}, shape=(count,), dtype=torch.int64, suffix=suffix)

    def constant(self, tensor, suffix):
        """A constant of the call being imported."""
        return self.builder.literal(f"{self._call.label}.{suffix}", tensor.contiguous())

    def cast(self, value, dtype, suffix="cast"):
        """`value` with elements of `dtype`."""
        if value.dtype == dtype:
            return value
        attributes = {"dtype": ELEMENT_TYPES[dtype]}
        return self.op("cast", [value], attributes, shape=value.shape, dtype=dtype, suffix=suffix)

    def reshape(self, value, shape, suffix=None, inferred=None):
        """`value` with other dims. inferred: the number of a dim that follows from the others, where it is a Size."""
        shape = tuple(shape)
        if value.shape == shape:
            return value
        sizes = [dim for dim, size in enumerate(shape) if isinstance(size, Size)]
        if inferred not in sizes:
            inferred = sizes[0] if len(sizes) == 1 else None
        asked = [-1 if dim == inferred and 0 not in shape else size for dim, size in enumerate(shape)]
        return self.op("reshape", [value], {"shape": asked}, shape=shape, dtype=value.dtype, suffix=suffix)

    def expand(self, value, shape, suffix=None):
        """`value` with dims of size 1 repeated and new ones in front."""
        shape = tuple(shape)
        if value.shape == shape:
            return value
        old = (None,) * (len(shape) - len(value.shape)) + value.shape
        asked = [-1 if isinstance(size, Size) and size == have else size for size, have in zip(shape, old, strict=True)]
        return self.op("expand", [value], {"shape": asked}, shape=shape, dtype=value.dtype, suffix=suffix)

    def broadcast(self, *shapes):
        """The dims that tensors of these have together, as PyTorch broadcasts them.

        Raises UndecidedError where two sizes need not be alike.
        """
        result = [1] * max(map(len, shapes), default=0)
        for shape in shapes:
            for back, size in enumerate(reversed(shape), 1):
                if result[-back] == 1:
                    result[-back] = size
                elif size not in (1, result[-back]):
                    raise UndecidedError(f"{result[-back]} and {size} as one dim")
        return tuple(result)

    # -- Nodes ----------------------------------------------------------------------------------------------------

    def _live(self, pending):
        live, pending = set(), list(pending)
        while pending:
            node = pending.pop()
            if node not in live and not self.is_size(node):
                live.add(node)
                operands = self.region_operands(node)
                pending += node.all_input_nodes if operands is None else operands
        return live

    def _is_condition(self, node):
        """Whether a call checks a condition on sizes of inputs, which is checked before the program runs."""
        if node.target is not torch.ops.aten._assert_scalar.default or not isinstance(node.args[0], torch.fx.Node):
            return False
        value = node.args[0].meta.get("val")
        if not isinstance(value, torch.SymBool) or not self.symbols.is_known(value.node.expr):
            return False
        self.conditions.append(value.node.expr)
        return True

    def can_hold(self, node):
        """Whether the dialect can hold the node's value: a tensor, or several."""
        if node in self._names:
            return False
        value = self.constants[node] if self.is_constant(node) else node.meta.get("val")
        if self.symbols.can_express(value):
            return True
        if isinstance(value, (list, tuple)):
            return all(self.symbols.can_express(element) for element in value if is_number(element))
        if not isinstance(value, torch.Tensor):
            return self.is_constant(node) or (value is None and node.op == "call_function")
        try:
            check_expressible(value, node.name, self.symbols)
        except UnsupportedError:
            return False
        return True

    def _import(self, node, outputs=()):
        if node.target is operator.getitem:
            self._values[node] = self._item(node)
            return
        if is_checked_already(node):
            return
        if is_control_flow(node):
            self._import_control(node, outputs)
            return
        call = Call(node, self.symbols)
        used = self._used_results(call.node)
        for value in flatten_results(call.val if used is None else [call.val[number] for number in used]):
            check_expressible(value, f"a result of node {node.name!r} ({call.space}::{call.name})", self.symbols)
        self._call = call
        handler = self._handlers.get(call.name if call.space == "aten" else f"{call.space}::{call.name}")
        try:
            value = handler(self, call) if handler else None
        except (_Unavailable, UndecidedError, GuardError):
            value = None
        if value is None:
            value = self._expand(call)
        if value is None:
            value = self._opaque(call, used)
        self._values[node] = value

    def _import_control(self, node, outputs):
        """Imports a call of other calls as ops with regions, or if one of these can't be imported as PyTorch's."""
        reasons, kept, sources = len(self.reasons), dict(self.kept), dict(self.sources)
        try:
            self._values[node] = self._control.import_(node, self._used_results(node))
        except (UnsupportedError, UndecidedError, GuardError, _Unavailable) as error:
            del self.reasons[reasons:]
            self.kept, self.sources = kept, sources
            self._control.refuse(node, str(error))
            items = [user for user in node.users if user in self._live_nodes and user.target is operator.getitem]
            self._import_part([*self._missing(node), node, *items], outputs)

    def _missing(self, node):
        """Calls that a part needs besides `node`, in order: of conditions on sizes, which no op stands for."""
        missing = []
        for source in node.all_input_nodes:
            is_there = source in self._values or source in self._names or self.is_size(source)
            if source.op == "call_function" and not is_there and not self.is_constant(source):
                missing += [one for one in (*self._missing(source), source) if one not in missing]
        return missing

    def set_value(self, node, value):
        """Says which Value a node is."""
        self._values[node] = value

    def begin(self, call):
        """Makes `call` the one that is being imported: what stands for a Call of it."""
        self._call = call

    def _expand(self, call):
        """Imports what the call is made of; None if it is not made of others."""
        if self._expander is None or has_effect(call.node):
            return None
        expansion = self._expander.expand(call.node, self.can_hold)
        if expansion is None:
            return None
        made, results = expansion
        for node, tensor in self._expander.take_constants():
            self.constants.add(node, tensor)
        self._live_nodes.update(made)
        for node in made:
            if not self.is_size(node) and not self.constants.fold(node):
                self._import(node)
        if isinstance(results, torch.fx.Node):
            return self.tensor(results)
        return [None if result is None else self.tensor(result) for result in results]

    def _item(self, node):
        source, number = node.args
        value = self._values[source][number]
        if value is None:
            raise UnsupportedError(
                f"node {node.name!r} uses result {number} of {source.name!r}, which Inlay doesn't make"
            )
        return value

    def _used_results(self, node):
        """Numbers of the results that live nodes take, of a call with several; None for a call with one."""
        if not isinstance(node.meta.get("val"), (list, tuple)):
            return None
        return sorted({user.args[1] for user in node.users if user in self._live_nodes})

    def _opaque(self, call, used):
        numbers = _References()
        made = call.val if used is None else [result if n in used else None for n, result in enumerate(call.val)]
        args, kwargs = call.node.args, call.node.kwargs
        if is_as_strided(call.node):
            args, kwargs = strided_call(call, self.symbols)
        text = encode_call(call.node.target, args, kwargs, self._referrer(numbers, [call.node]), used)
        operands = [self.tensor(node) for node in numbers]
        results = [(self.symbols.dims(value), value.dtype) for value in flatten_results(made)]
        effects = {"writes": [], "aliases": [], "in_order": has_effect(call.node)}
        for argument, value in zip(call.schema.arguments, call.args.values(), strict=True):
            if argument.alias_info is not None:
                effect = "writes" if argument.alias_info.is_write else "aliases"
                nodes = value if isinstance(value, (list, tuple)) else [value]
                effects[effect] += [numbers[node] for node in nodes if node in numbers]
        name = f"{call.space}::{call.name}"
        values = self.builder.opaque(name, operands, results, effects, text, self.location(), list(numbers.sizes))
        return _unflatten(made, iter(values))

    def _import_part(self, nodes, outputs):
        """Imports calls that PyTorch must make together as one opaque op."""
        nodes = [node for node in nodes if not is_checked_already(node)]
        if not nodes:
            return
        self.reasons.append(
            next(filter(None, map(self._explain_part, nodes)), f"{nodes[0].name!r} is between such calls")
        )
        inside, numbers = set(nodes), _References()
        results = [
            node
            for node in nodes
            if isinstance(node.meta.get("val"), torch.Tensor)
            and self.can_hold(node)
            and (node in outputs or any(user in self._live_nodes and user not in inside for user in node.users))
        ]
        leaving = {self._leaving[node]: node for node in nodes if node in self._leaving}
        text = encode_graph(nodes, results, self._referrer(numbers, nodes), leaving)
        operands = [self.tensor(node) for node in numbers]
        named = next((node for node in nodes if isinstance(node.target, torch._ops.OpOverload)), nodes[0])
        label = named.meta.get("label", named.name)
        location = self.builder.alias(label, print_location(label, named, self._portable))
        types = [(self.symbols.dims(node.meta["val"]), node.meta["val"].dtype) for node in results]
        effects = {"in_order": bool(leaving) or any(has_effect(node) for node in nodes)}
        sizes = list(numbers.sizes)
        values = self.builder.opaque("torch::calls", operands, types, effects, text, location, sizes)
        self._values.update(zip(results, values, strict=True))

    def _explain_part(self, node):
        """Why a call is PyTorch's alone; None if it is not for itself."""
        if is_control_flow(node) and self._control and (why := self._control.explain(node)):
            return f"node {node.name!r} is control flow ({node.target.name()}) that PyTorch runs: {why}"
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            return f"node {node.name!r} is a call of other calls ({node.target.name()})"
        for value in (node, *node.all_input_nodes):
            fake = value.meta.get("val")
            if is_number(fake) and not self.is_size(value):
                return f"node {value.name!r} is a number that is known only at a call, as of .item()"
            if isinstance(fake, torch.Tensor) and not self.can_hold(value):
                what = f"{'input' if value.op == 'placeholder' else 'the result of node'} {value.name!r}"
                line = source_line(value)
                try:
                    check_expressible(fake, what, self.symbols)
                except UnsupportedError as error:
                    return f"{error} ({pathlib.PurePath(line[0]).name}:{line[1]})" if line else str(error)
        return None

    def _referrer(self, numbers, nodes):
        """`_refer` for the arguments of calls: operands lie in memory as in the model, if the calls depend on that."""
        if not any(map(reads_memory_order, nodes)):
            return functools.partial(self._refer, numbers)

        def refer(value, node=None):
            found = self._refer(numbers, value, node)
            if isinstance(found, dict) and "operand" in found:
                order = self._memory_order(value, nodes)
                return found if order == sorted(order) else {"strided": [found["operand"], order]}
            return found

        return refer

    def _memory_order(self, node, users):
        """How a tensor's dims lie in memory; as if it were contiguous where sizes decide that and calls can bear it."""
        fake = node.meta["val"]
        try:
            return memory_order(fake, self.symbols)
        except (UndecidedError, InexpressibleError):
            strided = next(filter(is_as_strided, users), None)
            if strided is not None:
                raise UnsupportedError(
                    f"node {strided.name!r} reads the memory of {node.name!r}, whose strides are not known"
                ) from None
            return list(range(fake.dim()))  # other numbers are drawn than in PyTorch, but no worse ones

    def _refer(self, numbers, value, node=None):
        """What stands for a value in the text of a call. Tensors become operands: node -> number in `numbers`, sizes
        are numbered in `numbers.sizes`."""
        if isinstance(value, torch.fx.GraphModule):
            return encode_function(value, functools.partial(self._refer, numbers))
        if isinstance(value, Size):
            return self._refer_size(numbers, value)
        if not isinstance(value, torch.fx.Node):
            return None if node is None else self._refer_kept(node, value)
        if self.is_size(value):
            return self._refer_size(numbers, self.symbols.size(value.meta["val"]))
        if value.op == "get_attr" and not self.is_constant(value):
            holder = operator.attrgetter(value.target)(value.graph.owning_module)
            return self._refer(numbers, holder, value)
        if value in self._names:
            return {"kept": self._names[value]}
        if self.is_constant(value) and not (isinstance(self.constants[value], torch.Tensor) and self.can_hold(value)):
            return self._refer_constant(value)
        return {"operand": numbers.setdefault(value, len(numbers))}

    def _refer_size(self, numbers, size):
        return size if isinstance(size, int) else {"size": numbers.sizes.setdefault(size, len(numbers.sizes))}

    def _refer_constant(self, node):
        reference = self._refer_kept(node, self.constants[node])
        if self.constants.weights_of(node):
            self.kept_sources[self._names[node]] = self.constants.recipe(node)
        return reference

    def _refer_kept(self, node, value):
        if node not in self._names:
            self.keep(node, f"constant {len(self.kept)} {node.name}", value)
        return {"kept": self._names[node]}

    def location(self, suffix=None, made=None):
        """The place of the call being imported; made: names of what is made there, None for the call itself."""
        call = self._call
        name = call.label if suffix is None else f"{call.label}.{suffix}"
        own = [f"{call.space}::{call.name}"] if made is None else [f"aten::{aten}" for aten in made]
        part_of = None if call.origin in own or call.origin.partition(".")[0] in own else call.origin
        return self.builder.alias(name, print_location(name, call.node, self._portable, part_of))


class _References(dict):
    """node -> number of the operand that it is; `sizes`: Size -> number of the size that it is."""

    def __init__(self):
        super().__init__()
        self.sizes = {}


def _unflatten(results, values):
    if isinstance(results, (list, tuple)):
        return [_unflatten(result, values) for result in results]
    return next(values) if isinstance(results, torch.Tensor) else None


__all__ = ["Value", "Walker"]
