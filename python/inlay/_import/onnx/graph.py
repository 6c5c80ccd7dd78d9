# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds an FX graph of ATen calls for the nodes of an ONNX graph.

`subgraphs.py` walks the nodes. `_import/torch/graph.py` writes the text of the module.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import sympy
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental import _config
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.fx.node import map_arg
from torch.utils._pytree import tree_map_only
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from ...errors import InternalError
from ..torch.call import operator_name, overload_of
from ..torch.constants import ConstantFolder
from ..torch.guards import GuardError
from .naming import Labels, ModuleStack
from .shapes import NumberArray, OpenDim, SizeFunction, as_array, compute, size_function
from .tensors import keep_narrow
from .values import Outcome, Unknown, Value


def _call_fake(op: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Returns the fake result of a call.

    PyTorch asks whether sizes are 1, for strides and for broadcasting. If a size may be 1 or more, it then takes the
    general case, as it does for sizes that depend on data. Broadcasting still has to show that other sizes are equal.
    """
    try:
        return op(*args, **kwargs)
    except GuardError:
        if isinstance(op, torch._ops.OpOverload) and "squeeze" in op.name():  # its result depends on the answer
            raise
        with _config.patch(backed_size_oblivious=True):  # type: ignore[attr-defined]  # a module of settings
            return op(*args, **kwargs)


class Graph:
    """Collects calls, infers the dims of their results with fake tensors, and folds constants.

    runs_now: True if all values are known and calls are computed immediately.
    """

    runs_now = False

    def __init__(self) -> None:
        self.fx = torch.fx.Graph()
        # The module holds the bodies of control flow.
        self.fx.owning_module = torch.nn.Module()  # type: ignore[assignment]  # declared as a GraphModule
        self.bodies: dict[torch.fx.Node, torch.fx.GraphModule] = {}
        self.sizes: dict[torch.fx.Node, NumberArray] = {}  # node -> numbers of a tensor that follows from sizes alone
        self._env = ShapeEnv()
        self._open: dict[str, torch.SymInt] = {}  # name of an open dim -> its size
        self._size_nodes: dict[sympy.Expr, torch.fx.Node] = {}  # expression of torch's -> node of that size
        # Symbol of a size that is known only at a call -> the size, and the node and the dim that have it.
        self._late: dict[sympy.Symbol, tuple[torch.SymInt, torch.fx.Node, int]] = {}
        self.labels = Labels()
        self.values: dict[torch.fx.Node, torch.Tensor] = {}  # constant node -> tensor
        self.weights: dict[torch.fx.Node, str] = {}  # node of a weight that may be replaced -> name of its initializer
        self.folder = ConstantFolder({}, {})
        self._mode = FakeTensorMode(shape_env=self._env)
        self._made: list[torch.fx.Node] = []  # nodes since the last call of `name`

    def argument(self, name: str, shape: Iterable[int | OpenDim], dtype: torch.dtype) -> torch.fx.Node:
        """Adds an input and returns its node."""
        node = self.fx.placeholder(self._identifier(name))
        sizes: list[Any] = [size if isinstance(size, int) else self._symbol(size) for size in shape]
        with self._mode:
            node.meta["val"] = torch.empty(sizes, dtype=dtype)
        node.meta["label"] = name
        return node

    def no_new_guards(self) -> AbstractContextManager[None]:
        """Returns a context in which an assumption about an open size raises GuardError."""
        context: AbstractContextManager[None] = self._env.error_on_new_guards()
        return context

    def _symbol(self, dim: OpenDim) -> torch.SymInt:
        """Returns the size of an open dim."""
        if dim.name not in self._open:
            source = ConstantSource(f"onnx_{len(self._open)}")
            symbol = self._env.create_symbol(dim.hint, source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None)
            self._env.var_to_range[symbol] = ValueRanges(max(2, dim.min), int_oo if dim.max is None else dim.max)
            size = self._env.create_symintnode(symbol, hint=dim.hint, source=source)
            assert isinstance(size, torch.SymInt)
            self._open[dim.name] = size
        return self._open[dim.name]

    def size(self, value: torch.SymInt) -> torch.fx.Node:
        """Returns the node of a symbolic size."""
        expr = value.node.expr
        if expr not in self._size_nodes and any(symbol in self._late for symbol in expr.free_symbols):
            self._size_nodes[expr] = self._compute_size(expr)
        if expr not in self._size_nodes:
            target: Callable[..., Any]
            args: tuple[Any, ...]
            if expr.is_Symbol:
                target, args = torch.ops.aten.sym_size.int, self._find_dim(expr)
            else:
                target = function = SizeFunction(expr)
                args = tuple(self.size(self._symint(symbol)) for symbol in function.symbols)
            node = self._size_nodes[expr] = self.fx.call_function(target, args)
            node.meta["val"] = value
            self._made.append(node)
        return self._size_nodes[expr]

    def _compute_size(self, expr: Any) -> Any:
        """Returns the node of a size that is known only at a call, or an int."""
        if expr.is_Integer:
            return int(expr)
        if expr in self._late:
            _, source, dim = self._late[expr]
            return self._number(torch.ops.aten.sym_size.int, (source, dim))
        if expr.is_Symbol:
            return self.size(self._symint(expr))
        operands = [self._compute_size(operand) for operand in expr.args]
        function = size_function(expr)
        result, *rest = operands
        for operand in rest:
            result = self._number(function, (result, operand))
        return result

    def _number(self, function: Callable[..., Any], args: tuple[Any, ...]) -> torch.fx.Node:
        """Adds a call whose result is a number and returns its node."""
        node = self.fx.call_function(function, args)
        node.meta["val"] = function(*map_arg(args, lambda source: source.meta["val"]))
        self._made.append(node)
        return node

    def size_tensor(self, values: Sequence[int]) -> torch.fx.Node:
        """Returns the node of an int64 vector of sizes. The sizes may be torch.SymInts."""
        parts = [
            self.call_one(torch.ops.aten.scalar_tensor.default, [value], {"dtype": torch.int64}) for value in values
        ]
        node = self.call_one(torch.ops.aten.stack.default, [parts], {})
        self.sizes[node] = as_array(values, (len(values),))
        return node

    def _symint(self, symbol: sympy.Symbol) -> torch.SymInt:
        """Returns the size that a symbol stands for."""
        if symbol in self._late:
            return self._late[symbol][0]
        return next(size for size in self._open.values() if size.node.expr == symbol)

    def _find_dim(self, symbol: sympy.Symbol) -> tuple[torch.fx.Node, int]:
        """Returns the input, and the number of its dim, that a symbol stands for."""
        for node in self.fx.find_nodes(op="placeholder"):
            for dim, size in enumerate(node.meta["val"].shape):
                if isinstance(size, torch.SymInt) and size.node.expr == symbol:
                    return node, dim
        raise InternalError(f"no input determines the size {symbol}")

    def constant(self, tensor: torch.Tensor, name: str = "constant", is_weight: bool = False) -> torch.fx.Node:
        """Returns the node of a constant. is_weight: True if `load_state_dict` may replace the tensor."""
        node = self.fx.create_node("get_attr", self._identifier(name), name=self._identifier(name))
        with self._mode:
            node.meta["val"] = torch.empty(tensor.shape, dtype=tensor.dtype)
        self.values[node] = tensor
        if is_weight:
            self.weights[node] = name
        self.folder.add(node, tensor, name if is_weight else None)
        return node

    def call(
        self, op: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> torch.fx.Node | list[torch.fx.Node]:
        """Adds a call. Returns its node, or the nodes of its results if there are several."""
        node = self.fx.call_function(op, *tree_map_only(torch.SymInt, self.size, (tuple(args), dict(kwargs))))
        fake_args, fake_kwargs = map_arg((node.args, node.kwargs), lambda source: source.meta["val"])
        with torch.no_grad(), enable_python_dispatcher(), self._mode:
            node.meta["val"] = _call_fake(op, fake_args, fake_kwargs)
        self._made.append(node)
        self.folder.fold(node)
        value = node.meta["val"]
        self._note_sizes(node)
        if not isinstance(value, (list, tuple)):
            if self.sizes:
                self._follow(node)
            return node
        return [self._item(node, number, result) for number, result in enumerate(value)]

    def call_one(self, op: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> torch.fx.Node:
        """Adds a call with one result and returns its node."""
        node = self.call(op, args, kwargs)
        assert isinstance(node, torch.fx.Node)
        return node

    def control(self, op: Callable[..., Any], args: Sequence[Any], values: Sequence[Any]) -> list[torch.fx.Node]:
        """Adds a call of a higher-order operator. Returns the nodes of its results.

        args: its arguments, with GraphModules as bodies. values: fake tensors like the results.
        """
        node = self.fx.call_function(op, tree_map_only(torch.fx.GraphModule, self._body, tuple(args)))
        node.meta["val"] = tuple(values)
        self._made.append(node)
        return [self._item(node, number, value) for number, value in enumerate(values)]

    def defer(
        self, function: Callable[..., Any], args: Sequence[Any], outcomes: Sequence[Outcome], reason: str
    ) -> list[torch.fx.Node]:
        """Adds a call of a function that PyTorch runs, with a list of results. Returns the nodes of the results.

        outcomes: the types of the results. reason: why the call isn't written as ATen calls.
        """
        node = self.fx.call_function(function, tuple(args))
        node.meta["reason"] = reason
        node.meta["val"] = [self.fake(outcome) for outcome in outcomes]
        self._made.append(node)
        return [self._item(node, number, value) for number, value in enumerate(node.meta["val"])]

    def fake(self, outcome: Outcome) -> Any:
        """Returns a fake tensor of a type, with new sizes for dims that are known only at a call."""
        if isinstance(outcome, Unknown):
            return outcome
        with self._mode, self._env.ignore_fresh_unbacked_symbols():
            sizes = [self._new_size() if size is None else size for size in outcome.dims]
            return torch.empty(sizes, dtype=outcome.dtype)

    def has_size(self, size: int | torch.SymInt | None) -> bool:
        """Returns true if this graph can compute a size."""
        if not isinstance(size, torch.SymInt):
            return size is not None
        return all(self._has_symbol(symbol) for symbol in size.node.expr.free_symbols)

    def _has_symbol(self, symbol: sympy.Symbol) -> bool:
        """Returns true if this graph has the size that a symbol stands for."""
        return symbol in self._late or any(size.node.expr == symbol for size in self._open.values())

    def _new_size(self) -> torch.SymInt:
        """Returns a size that is known only at a call."""
        size = self._env.create_unbacked_symint()
        torch.ops.aten.sym_constrain_range_for_size.default(size, min=0)
        return size

    def _note_sizes(self, node: torch.fx.Node) -> None:
        """Notes the sizes that are known only at a call and that the result of `node` is the first to have."""
        value = node.meta["val"]
        for dim, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            symbol = size.node.expr if isinstance(size, torch.SymInt) else None
            if symbol is not None and symbol.is_Symbol and not size.node.has_hint():
                self._late.setdefault(symbol, (size, node, dim))

    def _body(self, module: torch.fx.GraphModule) -> torch.fx.Node:
        """Returns a node for a body of control flow."""
        name = f"body_{len(self.bodies)}"
        assert self.fx.owning_module is not None
        self.fx.owning_module.add_module(name, module)
        node = self.fx.create_node("get_attr", name, name=name)
        self.bodies[node] = module
        return node

    def _follow(self, node: torch.fx.Node) -> None:
        """Computes the numbers of a tensor if they follow from sizes alone."""
        sources = [source for source in node.all_input_nodes if isinstance(source.meta["val"], torch.Tensor)]
        if not any(source in self.sizes for source in sources) or not all(
            self._is_number(source) for source in sources
        ):
            return
        args, kwargs = map_arg((node.args, node.kwargs), self._numbers)
        found = compute(operator_name(overload_of(node)), args, kwargs)
        if found is not None and found.shape == tuple(node.meta["val"].shape):
            self.sizes[node] = found

    def _is_number(self, node: torch.fx.Node) -> bool:
        """Returns true if the elements of a tensor are known integers or follow from sizes."""
        known = self.is_constant(node) and not self.values.get(node, node.meta["val"]).is_floating_point()
        return node in self.sizes or known

    def _numbers(self, node: torch.fx.Node) -> Any:
        """Returns the numbers of a tensor as an array. The value of other nodes is returned itself."""
        if node in self.sizes:
            return self.sizes[node]
        value = self.inspect(node) if self.is_constant(node) else node.meta["val"]
        return as_array(value.reshape(-1).tolist(), value.shape) if isinstance(value, torch.Tensor) else value

    def is_constant(self, node: torch.fx.Node) -> bool:
        """Returns true if a node's value is known."""
        return node in self.folder

    def inspect(self, node: torch.fx.Node) -> Any:
        """Returns the value of a constant node, for a decision that depends on its elements."""
        return self.folder.inspect(node)

    def name(self, label: str, stack: ModuleStack, results: Sequence[Value]) -> None:
        """Gives the nodes since the last call of this function their labels and modules.

        The node that computes the first of `results` gets `label`. The labels of the others start with it.
        """
        made, self._made = self._made, []
        main = next((node for node in results if isinstance(node, torch.fx.Node) and node in made), None)
        if main is not None and main.target is operator.getitem:
            main = main.all_input_nodes[0]
        for node in made:
            target: Any = node.target
            kind = getattr(target, "_opname", None) or getattr(target, "__name__", "") or target.name()
            node.meta["label"] = label if node is main else self.labels.take(f"{label}.{kind}")
            if stack:
                node.meta["nn_module_stack"] = stack

    def _item(self, source: torch.fx.Node, number: int, value: Any) -> torch.fx.Node:
        """Returns the node of one result of a call."""
        node = self.fx.call_function(operator.getitem, (source, number))
        node.meta["val"] = value
        self._made.append(node)
        self.folder.fold(node)
        self._note_sizes(node)
        return node

    @staticmethod
    def _identifier(name: str) -> str:
        """Returns a name from which FX makes one that is valid in Python."""
        return name or "value"


class Subgraph(Graph):
    """The body of a call. Values that it takes from outside are arguments, and constants belong to the outermost
    graph."""

    def __init__(self, outside: Graph) -> None:
        super().__init__()
        self._outside = outside
        self.arguments: list[torch.fx.Node] = []  # arguments that the call passes, without captured values
        self._env, self._open, self._mode = outside._env, outside._open, outside._mode
        self.sizes, self.values, self.weights, self.folder = (
            outside.sizes,
            outside.values,
            outside.weights,
            outside.folder,
        )
        self.captured: dict[torch.fx.Node, torch.fx.Node] = {}  # node of the outer graph -> argument

    def add_argument(self, name: str, fake: Any) -> torch.fx.Node:
        """Adds an argument that the call passes, and returns its node."""
        node = self._placeholder(name, fake)
        self._note_sizes(node)
        self.arguments.append(node)
        return node

    def insert_argument(self, place: int, name: str, fake: Any) -> None:
        """Inserts an argument that the call passes at position `place`."""
        self.add_argument(name, fake)
        self.arguments.insert(place, self.arguments.pop())

    def reorder_arguments(self, order: Iterable[int]) -> None:
        """Reorders the arguments that the call passes. order: the old number of each argument."""
        self.arguments = [self.arguments[number] for number in order]

    def capture(self, node: torch.fx.Node) -> torch.fx.Node:
        """Returns the argument that stands for a node of the outer graph."""
        if node not in self.captured:
            made = self.captured[node] = self._placeholder(f"outer_{node.name}", node.meta["val"])
            self.folder.stand_in(made, node)
            keep_narrow([node], [made])
            if node in self.sizes:
                self.sizes[made] = self.sizes[node]
        return self.captured[node]

    def constant(self, tensor: torch.Tensor, name: str = "constant", is_weight: bool = False) -> torch.fx.Node:
        """Returns the argument that stands for a constant: see Graph.constant."""
        return self.capture(self._outside.constant(tensor, name, is_weight))

    def _has_symbol(self, symbol: sympy.Symbol) -> bool:
        return super()._has_symbol(symbol) or self._outside._has_symbol(symbol)

    def size(self, value: torch.SymInt) -> torch.fx.Node:
        """Returns the node that stands for a size: see Graph.size."""
        if any(symbol in self._late for symbol in value.node.expr.free_symbols):
            return super().size(value)
        return self.capture(self._outside.size(value))

    def module(
        self, results: torch.fx.Node | Sequence[torch.fx.Node], taken: Iterable[torch.fx.Node]
    ) -> torch.fx.GraphModule:
        """Returns the body as a GraphModule. Its arguments are its own ones and then the nodes `taken` from outside."""
        arguments = [*self.arguments, *(self.capture(node) for node in taken)]
        self.fx.output(tuple(results) if isinstance(results, (list, tuple)) else results)
        for node in reversed(arguments):
            first = next(iter(self.fx.nodes))
            if node is not first:
                first.prepend(node)
        assert self.fx.owning_module is not None
        return torch.fx.GraphModule(self.fx.owning_module, self.fx)

    def _placeholder(self, name: str, fake: Any) -> torch.fx.Node:
        """Adds an argument."""
        node = self.fx.placeholder(self._identifier(name))
        node.meta["val"] = fake
        node.meta["label"] = name
        return node
