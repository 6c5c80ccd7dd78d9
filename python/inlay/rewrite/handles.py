# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handles to what is in a network: layers (ops) and tensors (values).

A handle is good for as long as what it stands for is in its network, whoever removes that; afterwards everything but
`is_removed` raises ErasedError. Handles are equal if they stand for the same thing.
"""

from .. import ops
from ..errors import ArgumentTypeError, UnknownNameError, did_you_mean
from .scope import changing, current_network
from .values import dtype_of, type_text


class Tensor:
    """A value of the graph: what a layer makes, or an input. `Tensor(name, dtype, shape)` adds an input."""

    __slots__ = ("_value",)

    def __init__(self, name, dtype, shape):
        if not isinstance(name, str):
            raise ArgumentTypeError(f"expected a name for the new input, but got {name!r}")
        graph = current_network()._graph
        with changing(graph):
            self._value = graph.add_input(name, type_text((dtype, tuple(shape))))

    @classmethod
    def _of(cls, value):
        tensor = object.__new__(cls)
        tensor._value = value
        return tensor

    @property
    def name(self):
        """The name of the layer that makes it (with a number if it makes several), or of the input."""
        return self._value.name

    @property
    def shape(self):
        """Sizes, -1 for one that isn't known; None for what is no ranked tensor."""
        return self._value.shape

    @property
    def dtype(self):
        """The torch dtype; the element type's text where PyTorch has none."""
        return dtype_of(self._value.element)

    @property
    def type(self):
        """The type's text, as `tensor<4x8xf32>`."""
        return self._value.type

    @property
    def network(self):
        return _network(self._value.graph)

    def get_parent(self):
        """The layer that makes it; None for an input."""
        parent = self._value.parent
        return None if parent is None else Layer(parent)

    def get_users(self):
        """The layers that use it, each once."""
        return [Layer(user) for user in self._value.users]

    def is_input(self):
        return self._value.is_input

    def is_output(self):
        return self._value.is_output

    def mark_output(self):
        """Makes it one more output of the network."""
        graph = self._value.graph
        with changing(graph):
            graph.mark_output(self._value)

    def replace_all_uses_with(self, new):
        """Lets all that uses this tensor, outputs of the network too, use `new`, which must be of the same type.

        What makes `new` may be made of this tensor: that use stays.
        """
        _check_tensor(new, "a tensor to use instead")
        graph = self._value.graph
        with changing(graph):
            graph.move_uses(self._value, new._value, [], False)

    def __eq__(self, other):
        return isinstance(other, Tensor) and self._value == other._value

    def __hash__(self):
        return hash(self._value)

    def __repr__(self):
        return f"<Tensor {self.name}: {self.type}>" if self._value.is_live else "<Tensor, removed>"

    def __bool__(self):
        return True


def _arithmetic(name, swapped):
    def make(self, other):
        if not isinstance(other, (Tensor, int, float)) or isinstance(other, bool):
            return NotImplemented
        from .builder import op

        return getattr(op, name)(other, self) if swapped else getattr(op, name)(self, other)

    return make


for _symbol, _name in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("pow", "pow"),
                       ("matmul", "matmul")):  # fmt: skip
    setattr(Tensor, f"__{_symbol}__", _arithmetic(_name, False))
    setattr(Tensor, f"__r{_symbol}__", _arithmetic(_name, True))
Tensor.__neg__ = lambda self: getattr(ops, "neg")(self)  # noqa: B009


class Plugin:
    """The kernel that a plugin layer names: `namespace::type`, or a type alone."""

    __slots__ = ("plugin_namespace", "plugin_type")

    def __init__(self, name):
        self.plugin_namespace, _, self.plugin_type = name.rpartition("::")


class Layer:
    """An op of the graph. Operands by the names of its definition, and attributes, are attributes of the layer."""

    __slots__ = ("_op",)

    def __init__(self, handle):
        self._op = handle

    @property
    def op(self):
        """The op's full name, as `inlay.add`; equal to the function that makes such ops, `inlay.ops.add`."""
        return self._op.kind

    type = op

    @property
    def name(self):
        """The layer's name: of its own in the network, and the same for as long as it is there."""
        return self._op.name

    @name.setter
    def name(self, name):
        with changing(self._op.graph):
            self._op.rename(name)

    @property
    def location(self):
        """`file:line:column` where the layer comes from a place in a file; else empty."""
        return self._op.location

    @property
    def network(self):
        """The module that the layer is in."""
        return _network(self._op.graph)

    @property
    def attributes(self):
        """The attributes by name, as Python values: a copy."""
        return self._op.attributes

    @property
    def plugin(self):
        """The kernel of a plugin."""
        if self.op != "inlay.plugin":
            raise UnknownNameError(f"expected a plugin, but got '{self.op}'")
        return Plugin(self._op.attribute("name"))

    def set_attribute(self, name, value):
        """Sets an attribute, or takes it away if `value` is None; what the op's definition refuses is an error."""
        with changing(self._op.graph):
            self._op.set_attribute(name, value)

    def get_inputs(self, *numbers):
        """The tensors it uses: those of these numbers, or all."""
        values = [self._op.operand(_number(one)) for one in numbers] if numbers else self._op.operands
        return [Tensor._of(value) for value in values]

    def get_outputs(self, *numbers):
        """The tensors it makes: those of these numbers, or all."""
        values = [self._op.result(_number(one)) for one in numbers] if numbers else self._op.results
        return [Tensor._of(value) for value in values]

    def as_layer(self):
        """The layer itself, which gives operands and attributes by name as it is."""
        _ = self._op.kind  # raises if the layer is gone
        return self

    def replace_with(self, *tensors):
        """Lets all that uses its outputs use `tensors`, and removes it."""
        outputs = self.get_outputs()
        if len(tensors) != len(outputs):
            raise ArgumentTypeError(f"expected {len(outputs)} tensors for '{self.op}', but got {len(tensors)}")
        with changing(self._op.graph):
            for output, tensor in zip(outputs, tensors, strict=True):
                output.replace_all_uses_with(tensor)
            self.mark_as_removed()

    def mark_as_removed(self, with_regions=False):
        """Removes the layer when the rewrite or the outermost `net_guard` ends; by then nothing may use it."""
        graph = self._op.graph
        with changing(graph):
            self._op.mark_removed(with_regions)

    def is_removed(self):
        """Whether the layer is gone, or marked to go."""
        return self._op.is_removed

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        definition = ops.table().get(self.op.removeprefix("inlay.")) if self.op.startswith("inlay.") else None
        if definition is not None:
            found = _find_operand(definition, name, self._op)
            if found is not _NOTHING:
                return found
        attributes = self._op.attributes
        if name in attributes:
            return attributes[name]
        flags = [one.name for one in definition.attributes if one.kind == "unit"] if definition else []
        if name in flags:
            return False
        known = [*attributes, *flags, *(one.name for one in definition.operands)] if definition else [*attributes]
        raise UnknownNameError(f"'{self.op}' has no operand or attribute '{name}'{did_you_mean(name, known)}")

    def __eq__(self, other):
        return isinstance(other, Layer) and self._op == other._op

    def __hash__(self):
        return hash(self._op)

    def __repr__(self):
        return f"<Layer {self.name}: {self.op}>" if self._op.is_live else "<Layer, removed>"

    def __str__(self):
        return str(self._op)


_NOTHING = object()


def _find_operand(definition, name, handle):
    """The operand of that name: a tensor, None for an absent one, a list for one that is a list."""
    for operand, value in zip(definition.operands, definition.group(handle.operands), strict=True):
        if operand.name != name:
            continue
        if isinstance(value, list):
            return [Tensor._of(one) for one in value]
        return None if value is None else Tensor._of(value)
    return _NOTHING


def _number(number):
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ArgumentTypeError(f"expected the number of an input or output, from 0, but got {number!r}")
    return number


def _check_tensor(value, what):
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"expected {what}, but got {value!r}")


def _network(graph):
    from .network import Module

    return Module._of(graph)
