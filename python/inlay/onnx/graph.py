# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An FX graph of ATen calls for the nodes of an ONNX graph."""

import operator

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.node import map_arg

from ..importer.constants import ConstantFolder
from .naming import Labels


class Graph:
    """Collects calls, infers their results' dims with fake tensors, and computes those that are constant."""

    def __init__(self):
        self.fx = torch.fx.Graph()
        self.labels = Labels()
        self.values = {}  # constant node -> tensor
        self.weights = {}  # node -> name of the initializer that it is, of those that may be replaced
        self.folder = ConstantFolder({}, {})
        self._mode = FakeTensorMode()
        self._made = []  # nodes since the last call of `name`

    def argument(self, name, shape, dtype):
        """The node of an input."""
        node = self.fx.placeholder(self._identifier(name))
        with self._mode:
            node.meta["val"] = torch.empty(shape, dtype=dtype)
        node.meta["label"] = name
        return node

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
        node = self.fx.call_function(op, tuple(args), dict(kwargs))
        fake_args, fake_kwargs = map_arg((node.args, node.kwargs), lambda one: one.meta["val"])
        with torch.no_grad(), self._mode:
            node.meta["val"] = op(*fake_args, **fake_kwargs)
        self._made.append(node)
        self.folder.fold(node)
        value = node.meta["val"]
        if not isinstance(value, (list, tuple)):
            return node
        return [self._item(node, number, one) for number, one in enumerate(value)]

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
            kind = getattr(node.target, "_opname", None) or node.target.__name__
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
