# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One node of an ONNX graph, with what its handler needs to say it as ATen calls."""

import onnx
import torch
from onnx import AttributeProto

from ...errors import ArgumentValueError, UnsupportedError
from .tensors import read_tensor

_PLAIN = {
    AttributeProto.FLOAT: lambda one: one.f,
    AttributeProto.INT: lambda one: one.i,
    AttributeProto.STRING: lambda one: one.s.decode(errors="replace"),
    AttributeProto.FLOATS: lambda one: list(one.floats),
    AttributeProto.INTS: lambda one: list(one.ints),
    AttributeProto.STRINGS: lambda one: [text.decode(errors="replace") for text in one.strings],
}

# Attributes that say nothing of the results that Inlay makes, or do in some modes alone, whose handlers ask for them.
_IDLE = {
    "cubic_coeff_a",
    "exclude_outside",
    "extrapolation_value",
    "hidden_size",
    "keep_aspect_ratio_policy",
    "kernel_shape",
    "momentum",
    "nearest_mode",
    "round_mode",
    "saturate",
    "seed",
    "softmax_precision",
    "stash_type",
    "storage_order",
}


class NodeCall:
    """A node, its inputs as FX nodes, and the graph to add calls to.

    inputs: FX nodes, None for one that is left out; version: the version of its domain's ops; place: how messages say
    where it is; wanted: how many of its outputs somebody reads, counted up to the last one.
    """

    def __init__(self, proto, inputs, graph, version, place):
        self.proto, self.inputs, self.version, self.place = proto, inputs, version, place
        self._graph = graph
        self.scope = self.converter = None  # a Scope and a Converter, for the bodies of control flow
        self._attributes = {one.name: one for one in proto.attribute}
        self._read = set()  # names of attributes that the handler asked for
        while self.inputs and self.inputs[-1] is None:
            self.inputs = self.inputs[:-1]

    def __getitem__(self, number):
        """The input; ArgumentValueError if it is left out."""
        value = self.get(number)
        if value is None:
            raise ArgumentValueError(f"{self.place}: input {number} is missing")
        return value

    def get(self, number):
        """The input, None if it is left out."""
        return self.inputs[number] if number < len(self.inputs) else None

    def attribute(self, name, default=None):
        """A number, text or list that is an attribute, or `default`."""
        self._read.add(name)
        if name not in self._attributes:
            return default
        one = self._attributes[name]
        if one.type not in _PLAIN:
            raise UnsupportedError(f"{self.place}: attribute {name!r} has a type that Inlay can't take")
        return _PLAIN[one.type](one)

    def tensor_attribute(self, name):
        """A tensor that is an attribute, None if it is left out."""
        self._read.add(name)
        if name not in self._attributes:
            return None
        one = self._attributes[name]
        if one.type != AttributeProto.TENSOR:
            raise UnsupportedError(f"{self.place}: attribute {name!r} has a type that Inlay can't take")
        return read_tensor(one.t, None, f"attribute {name!r} of {self.place}")

    def graph_attribute(self, name):
        """The GraphProto that is an attribute."""
        self._read.add(name)
        if name not in self._attributes or self._attributes[name].type != AttributeProto.GRAPH:
            raise ArgumentValueError(f"{self.place}: the graph {name} is missing")
        return self._attributes[name].g

    @property
    def attributes(self):
        """Names of the attributes that are given."""
        return list(self._attributes)

    def check_attributes(self):
        """Raises UnsupportedError for an attribute that the handler didn't ask for and that may say something."""
        known = onnx.defs.get_schema(self.proto.op_type, self.version, "").attributes
        for name, one in self._attributes.items():
            is_default = name in known and known[name].default_value == one
            if name not in self._read and name not in _IDLE and not is_default:
                raise self.unsupported(f"the attribute {name!r} is not supported")

    # -- Known values ---------------------------------------------------------------------------------------------

    def known(self, number, what):
        """The tensor that an input is, None if it is left out; UnsupportedError naming `what` if it isn't constant."""
        node = self.get(number)
        if node is None:
            return None
        if not self._graph.is_constant(node):
            raise self.unsupported(f"{what} is known only at a call")
        return self._graph.inspect(node)

    def ints(self, number, what):
        """The integers of an input that must be constant or told by sizes, as a list; None if it is left out."""
        if self.get(number) in self._graph.sizes:
            return self._graph.sizes[self.get(number)].reshape(-1).tolist()
        tensor = self.known(number, what)
        return None if tensor is None else [int(value) for value in tensor.reshape(-1).tolist()]

    def number(self, number, what, default=None):
        """The only element of an input that must be constant or told by sizes."""
        sizes = self._graph.sizes.get(self.get(number))
        if sizes is not None and sizes.size == 1:
            return sizes.reshape(-1)[0]
        tensor = self.known(number, what)
        if tensor is None:
            return default
        if tensor.numel() != 1:
            raise ArgumentValueError(f"{self.place}: expected {what} to be one number, but got {tensor.numel()}")
        return tensor.reshape(()).item()

    def is_known(self, number):
        """Whether the input is constant."""
        return self.get(number) is not None and self.is_constant(self.get(number))

    def is_constant(self, node):
        """Whether a node's value is known."""
        return self._graph.is_constant(node)

    def inspect(self, node):
        """The tensor that a constant node is, for a decision that depends on it."""
        return self._graph.inspect(node)

    # -- Calls ----------------------------------------------------------------------------------------------------

    def aten(self, name, *args, **kwargs):
        """The FX node (a list of them for several results) of a call of `torch.ops.aten.<name>`."""
        packet, _, overload = name.partition(".")
        return self._graph.call(getattr(getattr(torch.ops.aten, packet), overload or "default"), args, kwargs)

    def control(self, name, args, values):
        """The FX nodes of the results, like fake tensors `values`, of a call of the higher-order operator `name`."""
        return self._graph.control(getattr(torch.ops.higher_order, name), args, values)

    def constant(self, tensor):
        """The FX node of a tensor."""
        return self._graph.constant(tensor)

    def size_tensor(self, values):
        """The FX node of a vector of sizes."""
        return self._graph.size_tensor(values)

    def unsupported(self, why):
        """The UnsupportedError for this node."""
        return UnsupportedError(f"{self.place}: {why}")

    def axis(self, value, rank):
        """A dim in [0, rank); ArgumentValueError for one that is none."""
        if not -rank <= value < rank:
            raise ArgumentValueError(f"{self.place}: expected an axis in [{-rank}, {rank}), but got {value}")
        return value % rank

    def axes(self, values, rank):
        """Dims in [0, rank), sorted; ArgumentValueError for one that is none or is there twice."""
        found = sorted(self.axis(value, rank) for value in values)
        if len(set(found)) != len(found):
            raise ArgumentValueError(f"{self.place}: expected each axis once, but got {values}")
        return found

    def is_wanted(self, number):
        """Whether anybody may read that output."""
        return number < len(self.proto.output) and bool(self.proto.output[number])

    def reshape(self, x, shape):
        """`x` with other dims, itself if they are the same."""
        shape = list(shape)
        return x if list(shape_of(x)) == shape else self.aten("reshape", x, shape)

    def cast(self, x, dtype):
        """`x` with elements of `dtype`."""
        return x if dtype_of(x) == dtype else self.aten("to.dtype", x, dtype)


def shape_of(node):
    """Dims of an FX node that is a tensor."""
    return tuple(node.meta["val"].shape)


def dtype_of(node):
    """dtype of an FX node that is a tensor."""
    return node.meta["val"].dtype
