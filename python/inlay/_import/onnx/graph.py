# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An FX graph of ATen calls for the nodes of an ONNX graph."""

import operator

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.fx.node import map_arg
from torch.utils._pytree import tree_map_only
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from ...errors import InternalError
from ..torch.call import operator_name
from ..torch.constants import ConstantFolder
from .naming import Labels
from .shapes import SizeFunction, as_array, compute


class Graph:
    """Collects calls, infers their results' dims with fake tensors, and computes those that are constant."""

    def __init__(self):
        self.fx = torch.fx.Graph()
        self.fx.owning_module = torch.nn.Module()  # which has the bodies of control flow
        self.bodies = {}  # node -> GraphModule
        self.sizes = {}  # node -> array of the numbers that it is, of a tensor that is told by sizes alone
        self._env = ShapeEnv()
        self._open, self._told = {}, {}  # name -> SymInt; expression of torch's -> node
        self.labels = Labels()
        self.values = {}  # constant node -> tensor
        self.weights = {}  # node -> name of the initializer that it is, of those that may be replaced
        self.folder = ConstantFolder({}, {})
        self._mode = FakeTensorMode(shape_env=self._env)
        self._made = []  # nodes since the last call of `name`

    def argument(self, name, shape, dtype):
        """The node of an input; its dims are ints and OpenDims."""
        node = self.fx.placeholder(self._identifier(name))
        sizes = [size if isinstance(size, int) else self._symbol(size) for size in shape]
        with self._mode:
            node.meta["val"] = torch.empty(sizes, dtype=dtype)
        node.meta["label"] = name
        return node

    def no_new_guards(self):
        """A context in which GuardError is raised where something is assumed about a size that may differ."""
        return self._env.error_on_new_guards()

    def _symbol(self, wish):
        """The SymInt of an OpenDim."""
        if wish.name not in self._open:
            source = ConstantSource(f"onnx_{len(self._open)}")
            symbol = self._env.create_symbol(wish.hint, source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None)
            self._env.var_to_range[symbol] = ValueRanges(max(2, wish.min), int_oo if wish.max is None else wish.max)
            self._open[wish.name] = self._env.create_symintnode(symbol, hint=wish.hint, source=source)
        return self._open[wish.name]

    def size(self, value):
        """The node of a torch.SymInt."""
        expr = value.node.expr
        if expr not in self._told:
            if expr.is_Symbol:
                target, args = torch.ops.aten.sym_size.int, self._find_dim(expr)
            else:
                target = SizeFunction(expr)
                args = tuple(self.size(self._symint(symbol)) for symbol in target.symbols)
            node = self._told[expr] = self.fx.call_function(target, args)
            node.meta["val"] = value
            self._made.append(node)
        return self._told[expr]

    def size_tensor(self, values):
        """The node of a vector (int64) of ints and torch.SymInts."""
        parts = [self.call(torch.ops.aten.scalar_tensor.default, [one], {"dtype": torch.int64}) for one in values]
        node = self.call(torch.ops.aten.stack.default, [parts], {})
        self.sizes[node] = as_array(values, (len(values),))
        return node

    def _symint(self, symbol):
        return next(one for one in self._open.values() if one.node.expr == symbol)

    def _find_dim(self, symbol):
        """(the placeholder, dim) that tells a symbol."""
        for node in self.fx.find_nodes(op="placeholder"):
            for dim, size in enumerate(node.meta["val"].shape):
                if isinstance(size, torch.SymInt) and size.node.expr == symbol:
                    return node, dim
        raise InternalError(f"no input tells the size {symbol}")

    def constant(self, tensor, name="constant", is_weight=False):
        """The node of a tensor; one that is a weight may be replaced by `load_state_dict`."""
        node = self.fx.create_node("get_attr", self._identifier(name), name=self._identifier(name))
        with self._mode:
            node.meta["val"] = torch.empty(tensor.shape, dtype=tensor.dtype)
        self.values[node] = tensor
        if is_weight:
            self.weights[node] = name
        self.folder.add(node, tensor, name if is_weight else None)
        return node

    def call(self, op, args, kwargs):
        """The node of a call, or a list of nodes for its results."""
        args, kwargs = tree_map_only(torch.SymInt, self.size, (tuple(args), dict(kwargs)))
        node = self.fx.call_function(op, args, kwargs)
        fake_args, fake_kwargs = map_arg((node.args, node.kwargs), lambda one: one.meta["val"])
        with torch.no_grad(), enable_python_dispatcher(), self._mode:
            node.meta["val"] = op(*fake_args, **fake_kwargs)
        self._made.append(node)
        self.folder.fold(node)
        value = node.meta["val"]
        if not isinstance(value, (list, tuple)):
            if self.sizes:
                self._follow(node)
            return node
        return [self._item(node, number, one) for number, one in enumerate(value)]

    def control(self, op, args, values):
        """The nodes of a higher-order operator's results, which are like the fake tensors `values`; GraphModules among
        its arguments are bodies."""
        node = self.fx.call_function(op, tree_map_only(torch.fx.GraphModule, self._body, tuple(args)))
        node.meta["val"] = tuple(values)
        self._made.append(node)
        return [self._item(node, number, one) for number, one in enumerate(values)]

    def _body(self, module):
        name = f"body_{len(self.bodies)}"
        self.fx.owning_module.add_module(name, module)
        node = self.fx.create_node("get_attr", name, name=name)
        self.bodies[node] = module
        return node

    def _follow(self, node):
        """Computes a tensor that is told by sizes alone."""
        sources = [one for one in node.all_input_nodes if isinstance(one.meta["val"], torch.Tensor)]
        if not any(one in self.sizes for one in sources) or not all(self._is_number(one) for one in sources):
            return
        args, kwargs = map_arg((node.args, node.kwargs), self._numbers)
        found = compute(operator_name(node.target), args, kwargs)
        if found is not None and found.shape == tuple(node.meta["val"].shape):
            self.sizes[node] = found

    def _is_number(self, node):
        known = self.is_constant(node) and not self.values.get(node, node.meta["val"]).is_floating_point()
        return node in self.sizes or known

    def _numbers(self, node):
        if node in self.sizes:
            return self.sizes[node]
        value = self.inspect(node) if self.is_constant(node) else node.meta["val"]
        return as_array(value.reshape(-1).tolist(), value.shape) if isinstance(value, torch.Tensor) else value

    def is_constant(self, node):
        """Whether a node's value is known."""
        return node in self.folder

    def inspect(self, node):
        """The value of a constant node, for a decision that depends on it."""
        return self.folder.inspect(node)

    def name(self, label, stack, results):
        """Gives the calls made since last time their names: `label` for the one whose result is the first of `results`,
        others have it in front. stack: see `naming.module_stack`."""
        made, self._made = self._made, []
        main = next((node for node in results if node in made), None)
        if main is not None and main.target is operator.getitem:
            main = main.args[0]
        for node in made:
            kind = getattr(node.target, "_opname", None) or getattr(node.target, "__name__", "") or node.target.name()
            node.meta["label"] = label if node is main else self.labels.take(f"{label}.{kind}")
            if stack:
                node.meta["nn_module_stack"] = stack

    def _item(self, source, number, value):
        node = self.fx.call_function(operator.getitem, (source, number))
        node.meta["val"] = value
        self._made.append(node)
        self.folder.fold(node)
        return node

    @staticmethod
    def _identifier(name):
        """FX makes a name that Python allows of it."""
        return name or "value"


class Subgraph(Graph):
    """The body of a call: what it takes from outside is an argument. Constants belong to the outermost graph."""

    def __init__(self, outside):
        super().__init__()
        self._outside, self.own = outside, []  # own: arguments that the call gives
        self._env, self._open, self._mode = outside._env, outside._open, outside._mode
        self.sizes, self.values, self.weights, self.folder = (
            outside.sizes,
            outside.values,
            outside.weights,
            outside.folder,
        )
        self.captured = {}  # node of the graph around -> argument

    def own_argument(self, name, fake):
        """The node of an argument that the call gives."""
        node = self._placeholder(name, fake)
        self.own.append(node)
        return node

    def insert_own(self, place, name, fake):
        """Adds an argument before those from `place` on."""
        self.own_argument(name, fake)
        self.own.insert(place, self.own.pop())

    def order_own(self, order):
        """Puts the arguments that the call gives in another order: numbers of those that are there."""
        self.own = [self.own[number] for number in order]

    def capture(self, node):
        """The argument that stands for a node of the graph around this one."""
        if node not in self.captured:
            made = self.captured[node] = self._placeholder(f"outer_{node.name}", node.meta["val"])
            self.folder.stand_in(made, node)
            if node in self.sizes:
                self.sizes[made] = self.sizes[node]
        return self.captured[node]

    def constant(self, tensor, name="constant", is_weight=False):
        """See Graph.constant."""
        return self.capture(self._outside.constant(tensor, name, is_weight))

    def size(self, value):
        """See Graph.size."""
        return self.capture(self._outside.size(value))

    def module(self, results, taken):
        """The body as a GraphModule: of its own arguments and then of the nodes `taken` from outside."""
        arguments = [*self.own, *(self.capture(node) for node in taken)]
        self.fx.output(tuple(results) if isinstance(results, (list, tuple)) else results)
        for node in reversed(arguments):
            first = next(iter(self.fx.nodes))
            if node is not first:
                first.prepend(node)
        return torch.fx.GraphModule(self.fx.owning_module, self.fx)

    def _placeholder(self, name, fake):
        node = self.fx.placeholder(self._identifier(name))
        node.meta["val"] = fake
        node.meta["label"] = name
        return node
