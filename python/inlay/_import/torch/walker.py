# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walks an FX graph of framework calls and writes it as ops of the dialect.

The modules in `handlers` handle single calls, and `graph.py` writes the text.
"""

from __future__ import annotations

import functools
import operator
import pathlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import sympy
import torch

from ..._dialect import ops
from ..._dialect.calls import flatten_results, unflatten_results
from ..._dialect.text import ELEMENT_TYPES
from ..._program.imported import CARRIER_DTYPE, Dims, ProgramInput, QuantizedWeight, TensorType
from ..._program.outputs import Tensors
from ..._program.sizes import InexpressibleError, Size, Symbols, UndecidedError
from ...errors import UnsupportedError
from .call import Call
from .checks import check_expressible, check_static
from .constants import ConstantFolder
from .control import Control, ControlCall, is_control_flow
from .effects import draws_random_numbers, has_effect, is_assertion, is_checked_already
from .encoding import encode_call, encode_function, encode_graph
from .expansion import Expander, needed_nodes
from .explanations import describe_calls, explain_call, folded_weight
from .graph import Effects, GraphBuilder, Operand, Value
from .guards import GuardError, state_sizes
from .locations import print_location, source_line
from .parts import form_parts, is_number
from .strides import is_as_strided, memory_order, reads_memory_order, strided_call


class _Unavailable(Exception):
    """A handler asked for a value inside a part that PyTorch runs."""


# The Value of a call, or a list for a call with several results, with None for a result that is not made. None if the
# call has no exact form in the dialect.
HandlerResult: TypeAlias = Value | Sequence[Value | None] | None
Handler: TypeAlias = "Callable[[Walker, Call], HandlerResult]"


class Walker:
    """Writes ops for the live nodes of a graph and keeps their Values.

    Handlers use `tensor`, `op`, `scalar` and `cast`.

    A value that the dialect can't hold is kept beside the program, under a name, if it comes from outside or goes
    there. Calls that pass such values to each other form one part, which PyTorch runs.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        constants: ConstantFolder,
        portable: bool = False,
        expander: Expander | None = None,
        symbols: Symbols | None = None,
    ) -> None:
        """handlers: ATen name -> handler. portable: see `print_location`. expander: decomposes calls that no handler
        takes; it changes the graph. symbols: the Symbols of the function."""
        self.symbols = Symbols() if symbols is None else symbols
        self.builder = GraphBuilder(self.symbols)
        self.constants = constants
        self.unplaced: list[str] = []  # labels of control flow whose graph does not name the modules of its calls
        # Key of a weight -> function that computes its value from the parameters and buffers by name.
        self.sources: dict[str, Callable[[Tensors], torch.Tensor]] = {}
        self.quantized: list[QuantizedWeight] = []
        self.reasons: list[str] = []  # for each part that PyTorch runs, a sentence that says why
        self.kept: dict[str, Any] = {}  # name -> constant that calls take and that no text and no weight can hold
        self.conditions: list[sympy.Basic] = []  # conditions on sizes that calls check
        self.checks: list[tuple[Value, str]] = []  # Values that must be true, and the message if one is not
        self.kept_sources: dict[str, Callable[[Tensors], Any]] = {}  # name -> function as in `sources`
        self._handlers = handlers
        self._values: dict[torch.fx.Node, Any] = {}  # node -> Value, or a list of Values and None for several results
        self._call: Call | ControlCall | None = None
        self._keys: dict[torch.fx.Node, str] = {}
        self._live_nodes: set[torch.fx.Node] = set()
        self._names: dict[torch.fx.Node, str] = {}  # node -> name of the kept value that it stands for
        self._leaving: dict[torch.fx.Node, str] = {}  # node -> name of a value that goes outside beside the program
        self._checks_late = False  # True if nothing shows whether an assertion comes before or after other effects
        self._portable = portable
        self._expander = expander
        self._control = Control(self) if handlers else None  # without handlers PyTorch runs all calls

    def argument(self, node: torch.fx.Node, name: str, fake: torch.Tensor) -> None:
        """Makes `node` an argument of the function."""
        shape = self.symbols.dims(fake)
        self._values[node] = self.builder.argument(shape, fake.dtype, print_location(name, node, self._portable))

    def carrier(self, node: torch.fx.Node, number: ProgramInput) -> None:
        """Adds the argument of the function in whose dims it takes an int."""
        location = print_location(number.name, node, self._portable)
        self.builder.argument((number.value, 0), CARRIER_DTYPE, location)

    def name_constant(self, node: torch.fx.Node, key: str) -> None:
        """Sets the key under which the value of a constant node is kept."""
        self._keys[node] = key

    def keep(self, node: torch.fx.Node, name: str, value: Any = None) -> None:
        """Makes `node` a kept value. value: the value if it is a constant; None if calls are given it."""
        self._names[node] = name
        if value is not None:
            self.kept[name] = value

    def walk(self, graph: torch.fx.Graph, outputs: Iterable[Any]) -> None:
        """Imports all nodes that an output or an effect needs. outputs: nodes and plain values."""
        returned = [value for value in outputs if isinstance(value, torch.fx.Node)]
        effects = [node for node in graph.nodes if has_effect(node)]
        self._checks_late = all(is_assertion(node) or draws_random_numbers(node) for node in effects)
        pending = returned + [node for node in effects if not self._is_condition(node)]
        self._live_nodes = self._live(pending)
        self._leaving = {
            node: f"output {node.name}"
            for node in returned
            if node.op == "call_function" and not self.is_constant(node) and not self.can_hold(node)
        }
        self._import_all(graph.nodes, returned, self.constants.fold)

    def walk_region(self, nodes: Sequence[torch.fx.Node], outputs: list[torch.fx.Node]) -> None:
        """Imports the nodes of a region that an output or an effect needs.

        A call of constants that raises an error is not folded, because it must fail only if it runs.
        """

        def fold(node: torch.fx.Node) -> bool:
            try:
                return self.constants.fold(node)
            except Exception:
                return False

        self._live_nodes |= self._live(outputs + [node for node in nodes if has_effect(node)])
        self._import_all(nodes, outputs, fold)

    def _import_all(
        self, nodes: Iterable[torch.fx.Node], outputs: Iterable[torch.fx.Node], fold: Callable[[torch.fx.Node], bool]
    ) -> None:
        """Imports the live calls among `nodes`. fold: computes a constant node, returns true if the node is
        constant."""
        calls = [
            node
            for node in nodes
            if node in self._live_nodes and node.op == "call_function"
            if node not in self._values and not self.is_size(node) and not fold(node)
        ]
        for part in form_parts(calls, self.can_hold, has_effect, self.region_operands):
            if part.is_foreign:
                self._import_part(part.nodes, set(outputs))
            elif part.nodes[0] not in self._values:
                self._import(part.nodes[0], set(outputs))

    def region_operands(self, node: torch.fx.Node) -> list[torch.fx.Node] | None:
        """Returns the nodes of the values that a call takes if the call becomes ops with regions; None for other
        calls."""
        return self._control.operands(node) if self._control and is_control_flow(node) else None

    # -- For handlers ---------------------------------------------------------------------------------------------

    def tensor(self, node: torch.fx.Node) -> Value:
        """Returns the Value of a node that is a tensor."""
        if node not in self._values:
            if not self.is_constant(node):
                raise _Unavailable(node.name)
            value, key = self.constants[node], self._keys.get(node, node.meta.get("label", node.name))
            check_static(value, f"constant {key!r}")
            is_weight = bool(self.constants.weights_of(node))
            make = self.builder.weight if is_weight or node in self._keys else self.builder.literal
            self._values[node] = make(key, value)
            if is_weight:
                self.quantized += folded_weight(node, self.constants)
                self.sources.setdefault(self.builder.key_of(value), self.constants.recipe(node))
        found: Value = self._values[node]
        return found

    def leaving(self, node: torch.fx.Node) -> str | None:
        """Returns the name under which a value goes outside beside the program; None if it does not."""
        return self._names.get(node, self._leaving.get(node))

    def is_constant(self, node: torch.fx.Node) -> bool:
        """Returns true if the node's value is known at import."""
        return node in self.constants

    def is_size(self, node: torch.fx.Node) -> bool:
        """Returns true if the node is a number that follows from the sizes of inputs."""
        return self.symbols.can_express(node.meta.get("val"))

    @property
    def can_check(self) -> bool:
        """True if `checks` may have a Value of the call that is being imported: it runs in every call of the program,
        and nothing shows that the Value is read late."""
        return self._checks_late and not self.builder.is_in_region

    def is_imported(self, node: torch.fx.Node) -> bool:
        """Returns true if the node has a Value already."""
        return node in self._values

    def op(
        self,
        name: str,
        operands: Sequence[Operand],
        attributes: Mapping[str, Any] | None = None,
        *,
        shape: Dims,
        dtype: torch.dtype,
        suffix: str | None = None,
    ) -> Value:
        """Writes an op for the call that is being imported. suffix: tells a helper op's label from the call's; None
        for the op that gives the call's result."""
        return self.builder.op(
            name, operands, attributes or {}, shape, dtype, self.location(suffix, ops.table()[name].aten)
        )

    def scalar(self, number: float | Size, dtype: torch.dtype) -> Value:
        """Returns a tensor without dims: a constant, or the value of a Size."""
        if not isinstance(number, Size):
            return self.builder.splat(number, (), dtype)
        size = self.op("size", [], {"sizes": [number]}, shape=(), dtype=torch.int64, suffix="size")
        return self.cast(size, dtype, "size.cast")

    def splat(self, number: float | Size, shape: Dims, dtype: torch.dtype, suffix: str | None = "splat") -> Value:
        """Returns a tensor whose elements are all `number`."""
        if not isinstance(number, Size) and all(isinstance(dim, int) for dim in shape):
            return self.builder.splat(number, shape, dtype)
        return self.expand(self.scalar(number, dtype), shape, suffix)

    def iota(self, count: int | Size, suffix: str | None = None) -> Value:
        """Returns a vector of the int64 numbers from 0 up to `count`."""
        return self.op("iota", [], {"sizes": [count]}, shape=(count,), dtype=torch.int64, suffix=suffix)

    def constant(self, tensor: torch.Tensor, suffix: str) -> Value:
        """Returns a constant that belongs to the call that is being imported."""
        assert self._call is not None
        return self.builder.literal(f"{self._call.label}.{suffix}", tensor.contiguous())

    def cast(self, value: Value, dtype: torch.dtype, suffix: str | None = "cast") -> Value:
        """Returns `value` with elements of `dtype`."""
        if value.dtype == dtype:
            return value
        attributes = {"dtype": ELEMENT_TYPES[dtype]}
        return self.op("cast", [value], attributes, shape=value.shape, dtype=dtype, suffix=suffix)

    def reshape(
        self, value: Value, shape: Iterable[int | Size], suffix: str | None = None, inferred: int | None = None
    ) -> Value:
        """Returns `value` with other dims. inferred: the dim whose size follows from the others, if that size is a
        Size."""
        shape = tuple(shape)
        if value.shape == shape:
            return value
        sizes = [dim for dim, size in enumerate(shape) if isinstance(size, Size)]
        if inferred not in sizes:
            inferred = sizes[0] if len(sizes) == 1 else None
        asked = [-1 if dim == inferred and 0 not in shape else size for dim, size in enumerate(shape)]
        return self.op("reshape", [value], {"shape": asked}, shape=shape, dtype=value.dtype, suffix=suffix)

    def expand(self, value: Value, shape: Iterable[int | Size], suffix: str | None = None) -> Value:
        """Returns `value` with repeated elements in dims of size 1, and with new leading dims."""
        shape = tuple(shape)
        if value.shape == shape:
            return value
        old: tuple[int | Size | None, ...] = (*[None] * (len(shape) - len(value.shape)), *value.shape)
        asked = [-1 if isinstance(size, Size) and size == have else size for size, have in zip(shape, old, strict=True)]
        return self.op("expand", [value], {"shape": asked}, shape=shape, dtype=value.dtype, suffix=suffix)

    def broadcast(self, *shapes: Dims) -> Dims:
        """Returns the dims to which tensors of these dims broadcast in PyTorch.

        Raises UndecidedError if two sizes may differ.
        """
        result: list[int | Size] = [1] * max(map(len, shapes), default=0)
        for shape in shapes:
            for back, size in enumerate(reversed(shape), 1):
                if result[-back] == 1:
                    result[-back] = size
                elif size not in (1, result[-back]):
                    raise UndecidedError(f"{result[-back]} and {size} as one dim")
        return tuple(result)

    # -- Nodes ----------------------------------------------------------------------------------------------------

    def _live(self, pending: Iterable[torch.fx.Node]) -> set[torch.fx.Node]:
        """Returns `pending` and the nodes that they depend on, without sizes."""
        live: set[torch.fx.Node] = set()
        pending = list(pending)
        while pending:
            node = pending.pop()
            if node not in live and not self.is_size(node):
                live.add(node)
                operands = self.region_operands(node)
                pending += node.all_input_nodes if operands is None else operands
        return live

    def _is_condition(self, node: torch.fx.Node) -> bool:
        """Returns true if a call checks a condition on sizes of inputs, which is then checked before the program
        runs."""
        if node.target is not torch.ops.aten._assert_scalar.default or not isinstance(node.args[0], torch.fx.Node):
            return False
        value = node.args[0].meta.get("val")
        if not isinstance(value, torch.SymBool) or not self.symbols.is_known(value.node.expr):
            return False
        self.conditions.append(value.node.expr)
        return True

    def can_hold(self, node: torch.fx.Node) -> bool:
        """Returns true if the dialect can hold the node's value: a tensor, or several."""
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

    def _import(self, node: torch.fx.Node, outputs: Container[torch.fx.Node] = ()) -> None:
        """Imports a call by its handler, by its decomposition, or as an opaque op."""
        if node.target is operator.getitem:
            self._values[node] = self._item(node)
            return
        if is_checked_already(node):
            return
        if is_control_flow(node):
            self._import_control(node, outputs)
            return
        call = Call(node, self.symbols, self.constants.resolve)
        used = self._used_results(call.node)
        for result in flatten_results(call.val if used is None else [call.val[number] for number in used]):
            check_expressible(result, f"a result of node {node.name!r} ({call.space}::{call.name})", self.symbols)
        self._call = call
        handler = self._handler(call)
        try:
            value: Any = handler(self, call) if handler else None
        except (_Unavailable, UndecidedError, InexpressibleError, GuardError):
            value = None
        value = state_sizes(self, call, value, [self._values.get(operand) for operand in node.all_input_nodes])
        if value is None:
            value = self._expand(call, used)
        self._values[node] = self._opaque(call, used) if value is None else value

    def _handler(self, call: Call) -> Handler | None:
        """Returns the handler of a call; None if there is none."""
        return self._handlers.get(call.name if call.space == "aten" else f"{call.space}::{call.name}")

    def _import_control(self, node: torch.fx.Node, outputs: Container[torch.fx.Node]) -> None:
        """Imports control flow as ops with regions, or as calls into PyTorch if a region can't be imported."""
        control = self._control
        assert control is not None
        reasons, kept, sources = len(self.reasons), dict(self.kept), dict(self.sources)
        try:
            self._values[node] = control.import_(node, self._used_results(node) or [])
        except (UnsupportedError, UndecidedError, GuardError, _Unavailable) as error:
            del self.reasons[reasons:]
            self.kept, self.sources = kept, sources
            control.refuse(node, str(error))
            items = [user for user in node.users if user in self._live_nodes and user.target is operator.getitem]
            self._import_part([*self._missing(node), node, *items], outputs)

    def _missing(self, node: torch.fx.Node) -> list[torch.fx.Node]:
        """Returns the calls that a part needs besides `node`, in order: calls for conditions on sizes, which have no
        ops."""
        missing: list[torch.fx.Node] = []
        for source in node.all_input_nodes:
            is_there = source in self._values or source in self._names or self.is_size(source)
            if source.op == "call_function" and not is_there and not self.is_constant(source):
                missing += [needed for needed in (*self._missing(source), source) if needed not in missing]
        return missing

    def set_value(self, node: torch.fx.Node, value: Value) -> None:
        """Sets the Value of a node."""
        self._values[node] = value

    def begin(self, call: Call | ControlCall) -> None:
        """Makes `call` the call that is being imported."""
        self._call = call

    def _expand(self, call: Call, used: Sequence[int] | None) -> Any:
        """Imports the decomposition of a call. Returns its Value or list of Values; None if it has no decomposition.

        used: see `_used_results`.
        """
        if self._expander is None or has_effect(call.node):
            return None
        expansion = self._expander.expand(call.node, self.can_hold, used)
        if expansion is None:
            return None
        made, results = expansion
        if not isinstance(results, torch.fx.Node) and used is not None:
            results = [result if number in used else None for number, result in enumerate(results)]
        made = needed_nodes(made, results)
        for node, tensor in self._expander.take_constants():
            self.constants.add(node, tensor)
        self._live_nodes.update(made)
        for node in made:
            if not self.is_size(node) and not self.constants.fold(node):
                self._import(node)
        if isinstance(results, torch.fx.Node):
            return self.tensor(results)
        return [None if result is None else self.tensor(result) for result in results]

    def _item(self, node: torch.fx.Node) -> Value:
        """Returns the Value of a node that takes one result of a call."""
        args: tuple[Any, ...] = node.args
        source, number = args
        value: Value | None = self._values[source][number]
        if value is None:
            raise UnsupportedError(
                f"node {node.name!r} uses result {number} of {source.name!r}, which Inlay doesn't make"
            )
        return value

    def _used_results(self, node: torch.fx.Node) -> list[int] | None:
        """Returns the numbers of the results that live nodes use, for a call with several results; None for other
        calls."""
        if not isinstance(node.meta.get("val"), (list, tuple)):
            return None
        numbers: set[Any] = {user.args[1] for user in node.users if user in self._live_nodes}
        return sorted(numbers)

    def _opaque(self, call: Call, used: Sequence[int] | None) -> Any:
        """Writes a call into PyTorch. Returns its Value or list of Values. used: see `_used_results`."""
        numbers = _References()
        made = call.val if used is None else [result if n in used else None for n, result in enumerate(call.val)]
        args: Sequence[Any] = call.node.args
        kwargs: Mapping[str, Any] = call.node.kwargs
        if is_as_strided(call.node):
            args, kwargs = strided_call(call, self.symbols)
        text = encode_call(call.node.target, args, kwargs, self._referrer(numbers, [call.node]), used)
        operands = [self.tensor(node) for node in numbers]
        results = [TensorType(self.symbols.dims(value), value.dtype) for value in flatten_results(made)]
        writes: list[int] = []
        aliases: list[int] = []
        for argument, value in zip(call.schema.arguments, call.args.values(), strict=True):
            if argument.alias_info is not None:
                shared = writes if argument.alias_info.is_write else aliases
                nodes = value if isinstance(value, (list, tuple)) else [value]
                shared += [numbers[node] for node in nodes if node in numbers]
        effects = Effects(writes, aliases, has_effect(call.node))
        name = f"{call.space}::{call.name}"
        sizes, reason = list(numbers.sizes), explain_call(call, self._handler(call) is not None)
        values = self.builder.opaque(name, operands, results, effects, text, self.location(), sizes, reason)
        return unflatten_results(made, iter(values))

    def _import_part(self, nodes: Sequence[torch.fx.Node], outputs: Container[torch.fx.Node]) -> None:
        """Imports calls that PyTorch must make together, as one opaque op."""
        nodes = [node for node in nodes if not is_checked_already(node)]
        if not nodes:
            return
        reason = next(filter(None, map(self._explain_part, nodes)), f"node {nodes[0].name!r} is between such calls")
        self.reasons.append(reason)
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
        types = [TensorType(self.symbols.dims(node.meta["val"]), node.meta["val"].dtype) for node in results]
        effects = Effects(in_order=bool(leaving) or any(has_effect(node) for node in nodes))
        sizes = list(numbers.sizes)
        reason = f"{describe_calls(nodes)}: {reason}"
        values = self.builder.opaque("torch::calls", operands, types, effects, text, location, sizes, reason)
        self._values.update(zip(results, values, strict=True))

    def _explain_part(self, node: torch.fx.Node) -> str | None:
        """Returns why PyTorch must run a call; None if the reason is not the call itself."""
        if reason := node.meta.get("reason"):
            return f"node {node.name!r} {reason}"
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            name = node.target.name()
            if is_control_flow(node) and self._control and (reason := self._control.explain(node)):
                return f"node {node.name!r} is control flow ({name}) that PyTorch runs: {reason}"
            return f"node {node.name!r} is a call of other calls ({name})"
        for value in (node, *node.all_input_nodes):
            fake = value.meta.get("val")
            if is_number(fake) and not self.is_size(value):
                return f"node {value.name!r} is a number that is known only at a call, such as the result of .item()"
            if isinstance(fake, torch.Tensor) and not self.can_hold(value):
                name = f"{'input' if value.op == 'placeholder' else 'the result of node'} {value.name!r}"
                line = source_line(value)
                try:
                    check_expressible(fake, name, self.symbols)
                except UnsupportedError as error:
                    return f"{error} ({pathlib.PurePath(line.file).name}:{line.line})" if line else str(error)
        return None

    def _referrer(self, numbers: _References, nodes: Sequence[torch.fx.Node]) -> Callable[..., Any]:
        """Returns `_refer` for the arguments of calls. If a call depends on strides, operands get the memory order
        of the model."""
        if not any(map(reads_memory_order, nodes)):
            return functools.partial(self._refer, numbers)

        def refer(value: Any, node: torch.fx.Node | None = None) -> Any:
            found = self._refer(numbers, value, node)
            if isinstance(found, dict) and "operand" in found:
                order = self._memory_order(value, nodes)
                return found if order == sorted(order) else {"strided": [found["operand"], order]}
            return found

        return refer

    def _memory_order(self, node: torch.fx.Node, users: Iterable[torch.fx.Node]) -> list[int]:
        """Returns the dims of a tensor in memory order.

        If sizes decide the order, returns that of a contiguous tensor, or raises UnsupportedError if a user is an
        as_strided.
        """
        fake = node.meta["val"]
        try:
            return memory_order(fake, self.symbols)
        except (UndecidedError, InexpressibleError):
            strided = next(filter(is_as_strided, users), None)
            if strided is not None:
                raise UnsupportedError(
                    f"node {strided.name!r} reads the memory of {node.name!r}, whose strides are not known"
                ) from None
            return list(range(fake.dim()))  # random numbers differ from PyTorch's, but have the same distribution

    def _refer(self, numbers: _References, value: Any, node: torch.fx.Node | None = None) -> Any:
        """Returns what stands for a value in the JSON of a call; None if the value is written itself.

        Adds tensors to `numbers`, and sizes to `numbers.sizes`. node: the node that reads `value` from a module.
        """
        if isinstance(value, torch.fx.GraphModule):
            return encode_function(value, functools.partial(self._refer, numbers))
        if isinstance(value, Size):
            return self._refer_size(numbers, value)
        if not isinstance(value, torch.fx.Node):
            return None if node is None else self._refer_kept(node, value)
        if self.is_size(value):
            return self._refer_size(numbers, self.symbols.size(value.meta["val"]))
        if value.op == "get_attr" and not self.is_constant(value):
            holder = operator.attrgetter(str(value.target))(value.graph.owning_module)
            return self._refer(numbers, holder, value)
        if value in self._names:
            return {"kept": self._names[value]}
        if self.is_constant(value) and not (isinstance(self.constants[value], torch.Tensor) and self.can_hold(value)):
            return self._refer_constant(value)
        return {"operand": numbers.setdefault(value, len(numbers))}

    def _refer_size(self, numbers: _References, size: int | Size) -> Any:
        """Returns what stands for a size."""
        return size if isinstance(size, int) else {"size": numbers.sizes.setdefault(size, len(numbers.sizes))}

    def _refer_constant(self, node: torch.fx.Node) -> dict[str, str]:
        """Returns what stands for a constant that the dialect can't hold."""
        reference = self._refer_kept(node, self.constants[node])
        if self.constants.weights_of(node):
            self.kept_sources[self._names[node]] = self.constants.recipe(node)
        return reference

    def _refer_kept(self, node: torch.fx.Node, value: Any) -> dict[str, str]:
        """Returns what stands for a kept value."""
        if node not in self._names:
            self.keep(node, f"constant {len(self.kept)} {node.name}", value)
        return {"kept": self._names[node]}

    def location(self, suffix: str | None = None, made: Sequence[str] | None = None) -> str:
        """Returns the location of the call that is being imported, or of a helper op with a suffix.

        made: ATen names for which the op stands; None for the name of the call.
        """
        call = self._call
        assert call is not None
        name = call.label if suffix is None else f"{call.label}.{suffix}"
        names = [f"{call.space}::{call.name}"] if made is None else [f"aten::{aten}" for aten in made]
        part_of = None if call.origin in names or call.origin.partition(".")[0] in names else call.origin
        return self.builder.alias(name, print_location(name, call.node, self._portable, part_of))


class _References(dict[torch.fx.Node, int]):
    """The values that a call refers to: node -> number of the operand, and in `sizes` Size -> number of the size."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[Size, int] = {}


__all__ = ["Value", "Walker"]
