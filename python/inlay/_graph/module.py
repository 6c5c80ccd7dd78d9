# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph in memory: modules, and handles to their layers (ops) and tensors (values).

A handle is valid as long as its op or value is in the module. Once that is removed, everything but `is_removed` raises
ErasedError. Handles are equal if they stand for the same op or value.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._dialect import ops
from ..errors import ArgumentTypeError, UnknownNameError, did_you_mean
from .arithmetic import Arithmetic
from .making import constant_value, create
from .scope import changing, current_module, working_on
from .values import check_flag, check_text, dtype_of, type_text
from .viewing import draw_dot, write_onnx

if TYPE_CHECKING:
    from .._inlay import Graph, Op
    from .._program.imported import ImportedModel

_EMPTY = "func.func @forward() {\n  return\n}\n"


class Tensor(Arithmetic):
    """A value of the graph: what a layer makes, or an input. `Tensor(name, dtype, shape)` adds an input."""

    __slots__ = ("_value",)

    def __init__(self, name: str, dtype: torch.dtype | str, shape: Sequence[int]) -> None:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"expected a name for the new input, but got {name!r}")
        graph = current_module()._graph
        with changing(graph):
            self._value = graph.add_input(name, type_text((dtype, shape)))

    @classmethod
    def _of(cls, value):
        tensor = object.__new__(cls)
        tensor._value = value
        return tensor

    @property
    def name(self) -> str:
        """The name of the layer that makes it (with a number if it makes several), or of the input."""
        return self._value.name

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Sizes, -1 for one that isn't known; None for what is no ranked tensor."""
        return self._value.shape

    @property
    def dtype(self) -> torch.dtype | str:
        """The torch dtype; the element type's text where PyTorch has none."""
        return dtype_of(self._value.element)

    @property
    def type(self) -> str:
        """The type's text, as `tensor<4x8xf32>`."""
        return self._value.type

    @property
    def network(self) -> Module:
        return Module._of(self._value.graph)

    def get_parent(self) -> Layer | None:
        """The layer that makes it; None for an input."""
        parent = self._value.parent
        return None if parent is None else Layer(parent)

    def get_users(self) -> list[Layer]:
        """The layers that use it, each once."""
        return [Layer(user) for user in self._value.users]

    def is_input(self) -> bool:
        return self._value.is_input

    def is_output(self) -> bool:
        return self._value.is_output

    def mark_output(self) -> None:
        """Makes it one more output of the module."""
        graph = self._value.graph
        with changing(graph):
            graph.mark_output(self._value)

    def replace_all_uses_with(self, new: Tensor) -> None:
        """Lets all that uses this tensor, outputs of the module too, use `new`, which must be of the same type.

        What makes `new` may be made of this tensor: that use stays.
        """
        _check_tensor(new, "a tensor to use instead")
        graph = self._value.graph
        with changing(graph):
            graph.move_uses(self._value, new._value, [], False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tensor) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"<Tensor {self.name}: {self.type}>" if self._value.is_live else "<Tensor, removed>"

    def __bool__(self) -> bool:
        return True

    def _combine(self, name: str, *operands: Any) -> Tensor:
        if any(not isinstance(one, (Tensor, int, float)) or isinstance(one, bool) for one in operands):
            return NotImplemented
        values = [one._value if isinstance(one, Tensor) else constant_value(one, self._value) for one in operands]
        return Tensor._of(create(f"inlay.{name}", values, {}, None).results[0])

    def __neg__(self) -> Tensor:
        return self._combine("neg", self)


class Plugin:
    """The kernel that a plugin layer names: `namespace::type`, or a type alone."""

    __slots__ = ("plugin_namespace", "plugin_type")

    plugin_namespace: str
    plugin_type: str

    def __init__(self, name: str) -> None:
        self.plugin_namespace, _, self.plugin_type = name.rpartition("::")


class Layer:
    """An op of the graph. Operands by the names of its definition, and attributes, are attributes of the layer."""

    __slots__ = ("_op",)

    def __init__(self, handle: Op) -> None:
        self._op = handle

    @property
    def op(self) -> str:
        """The op's full name, as `inlay.add`; equal to the function that makes such ops, `inlay.ops.add`."""
        return self._op.kind

    type = op

    @property
    def name(self) -> str:
        """The layer's name: of its own in the module, and the same for as long as it is there."""
        return self._op.name

    @name.setter
    def name(self, name: str) -> None:
        check_text(f"the name of a layer '{self.op}'", name, may_be_empty=True)
        with changing(self._op.graph):
            self._op.rename(name)

    @property
    def location(self) -> str:
        """`file:line:column` where the layer comes from a place in a file; else empty."""
        return self._op.location

    @property
    def network(self) -> Module:
        """The module that the layer is in."""
        return Module._of(self._op.graph)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes by name, as Python values: a copy."""
        return self._op.attributes

    @property
    def plugin(self) -> Plugin:
        """The kernel of a plugin."""
        if self.op != "inlay.plugin":
            raise UnknownNameError(f"expected a plugin, but got '{self.op}'")
        return Plugin(self._op.attribute("name"))

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets an attribute, or takes it away if `value` is None; what the op's definition refuses is an error."""
        check_text(f"the name of an attribute of '{self.op}'", name)
        with changing(self._op.graph):
            self._op.set_attribute(name, value)

    def get_inputs(self, *numbers: int) -> list[Tensor]:
        """The tensors it uses: those of these numbers, or all."""
        values = [self._op.operand(_number(one)) for one in numbers] if numbers else self._op.operands
        return [Tensor._of(value) for value in values]

    def get_outputs(self, *numbers: int) -> list[Tensor]:
        """The tensors it makes: those of these numbers, or all."""
        values = [self._op.result(_number(one)) for one in numbers] if numbers else self._op.results
        return [Tensor._of(value) for value in values]

    def as_layer(self) -> Layer:
        """The layer itself, which gives operands and attributes by name as it is."""
        _ = self._op.kind  # raises if the layer is gone
        return self

    def replace_with(self, *tensors: Tensor) -> None:
        """Lets all that uses its outputs use `tensors`, and removes it."""
        outputs = self.get_outputs()
        if len(tensors) != len(outputs):
            raise ArgumentTypeError(f"expected {len(outputs)} tensors for '{self.op}', but got {len(tensors)}")
        with changing(self._op.graph):
            for output, tensor in zip(outputs, tensors, strict=True):
                output.replace_all_uses_with(tensor)
            self.mark_as_removed()

    def mark_as_removed(self, with_regions: bool = False) -> None:
        """Removes the layer when the rewrite or the outermost `net_guard` ends; by then nothing may use it."""
        check_flag("with_regions", with_regions)
        graph = self._op.graph
        with changing(graph):
            self._op.mark_removed(with_regions)

    def is_removed(self) -> bool:
        """Whether the layer is gone, or marked to go."""
        return self._op.is_removed

    def __getattr__(self, name: str) -> Any:
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
        flags = [one.name for one in definition.attributes if one.kind is ops.Kind.UNIT] if definition else []
        if name in flags:
            return False
        known = [*attributes, *flags, *(one.name for one in definition.operands)] if definition else [*attributes]
        raise UnknownNameError(f"'{self.op}' has no operand or attribute '{name}'{did_you_mean(name, known)}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layer) and self._op == other._op

    def __hash__(self) -> int:
        return hash(self._op)

    def __repr__(self) -> str:
        return f"<Layer {self.name}: {self.op}>" if self._op.is_live else "<Layer, removed>"

    def __str__(self) -> str:
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


class Module:
    """A module of MLIR. `str(module)` is its text; `inlay.compile(module)` compiles it.

    Inputs and outputs are those of the only function of the module, or of the only public one; of others by name.
    """

    def __init__(self) -> None:
        """Makes a module without layers. New layers are added inside of `with net_guard(module)`."""
        self._adopt(_graph_class().parse(_EMPTY), None)

    def _adopt(self, graph: Graph, imported: ImportedModel | None) -> Module:
        self._graph, self._imported = graph, imported
        graph.network = weakref.ref(self)
        return self

    @classmethod
    def _of(cls, graph: Graph, imported: ImportedModel | None = None) -> Module:
        """The module of that graph: the one that there is already, if it lives."""
        known = getattr(graph, "network", None)
        found = known() if known is not None else None
        return found if found is not None else object.__new__(cls)._adopt(graph, imported)

    def text(self, locations: bool = False) -> str:
        """The module's text; with `locations` nothing of it is lost."""
        return self._graph.text(locations)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Module of {len(self.get_layers())} layers>"

    def clone(self) -> Module:
        """A module of its own that says the same."""
        return Module._of(_graph_class().parse(self.text(locations=True)), self._imported)

    def verify(self) -> None:
        """Raises CompileError if the module breaks a rule of its ops."""
        self._graph.verify()

    @property
    def functions(self) -> list[str]:
        """Names of the functions."""
        return self._graph.functions()

    def get_layers(self) -> list[Layer]:
        """All layers in their order, those in regions after what holds them."""
        return [Layer(one) for one in self._graph.ops()]

    def get_inputs(self, function: str = "") -> list[Tensor]:
        return [Tensor._of(value) for value in self._graph.inputs(function)]

    def get_outputs(self, function: str = "") -> list[Tensor]:
        return [Tensor._of(value) for value in self._graph.outputs(function)]

    def get_layer_by_name(self, name: str) -> Layer | None:
        """The layer of that name; None if there is none."""
        found = self._graph.find(check_text("the name of a layer", name, may_be_empty=True))
        return None if found is None else Layer(found)

    def is_input(self, tensor: Tensor) -> bool:
        return tensor in self.get_inputs()

    def is_output(self, tensor: Tensor) -> bool:
        return tensor in self.get_outputs()

    def to_dot(self) -> str:
        """The graph as a picture in Graphviz's language."""
        return draw_dot(self)

    def to_onnx(self, folder: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the graph as `network.onnx` into the folder, for viewers of ONNX.

        It has the ops, which nothing that runs ONNX knows, and their types, without the bytes of constants.

        Raises CompileError if it can't be written, UnsupportedError without the package `onnx`.
        """
        if not isinstance(folder, (str, os.PathLike)):
            raise ArgumentTypeError(f"expected a folder, but got {folder!r:.80}")
        return write_onnx(self, pathlib.Path(folder))


def parse(text: str, name: str = "<input>") -> Module:
    """A Module from MLIR's textual form. Raises CompileError with the diagnostics for text that it can't be."""
    if not isinstance(text, str):
        raise ArgumentTypeError(f"expected the text of a module, but got {type(text).__name__}")
    return Module._of(_graph_class().parse(text, name))


@contextlib.contextmanager
def net_guard(module: Module) -> Iterator[Module]:
    """Makes `module` the one that new tensors and layers go to.

    Outside of patterns the outermost guard is a transaction: if an exception leaves it, the module is as it was.
    """
    if not isinstance(module, Module):
        raise ArgumentTypeError(f"expected a module for net_guard, but got {type(module).__name__}")
    with working_on(module), changing(module._graph):
        yield module


def _graph_class():
    from .._inlay import Graph

    return Graph
