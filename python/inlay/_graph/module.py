# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graph modules, and handles to their layers (ops) and tensors (values).

A handle is valid while its op or value is in the module. After that, every access except `is_removed` raises
ErasedError. Two handles are equal if they refer to the same op or value.
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
    from .._inlay import Graph, Op, Value
    from .._program.imported import ImportedModel

_EMPTY = "func.func @forward() {\n  return\n}\n"


class Tensor(Arithmetic):
    """A value of a graph: a result of a layer, or an input.

    The operators `+ - * / ** @` and unary `-` make layers. A number operand becomes a constant.
    """

    __slots__ = ("_value",)

    def __init__(self, name: str, dtype: torch.dtype | str, shape: Sequence[int]) -> None:
        """Adds an input to the current module.

        name: the name of the input.
        dtype: the element type, such as torch.float16 or "f16".
        shape: the dims, with -1 for an unknown dim.
        """
        if not isinstance(name, str):
            raise ArgumentTypeError(f"expected the name of the new input to be a string, but got {name!r}")
        graph = current_module()._graph
        with changing(graph):
            self._value = graph.add_input(name, type_text((dtype, shape)))

    @classmethod
    def _of(cls, value: Value) -> Tensor:
        tensor = object.__new__(cls)
        tensor._value = value
        return tensor

    @property
    def name(self) -> str:
        """The name of the input, or of the layer that makes the tensor, with a number if the layer makes several."""
        return self._value.name

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The dims, with -1 for an unknown dim. None if the value is not a ranked tensor."""
        return self._value.shape

    @property
    def dtype(self) -> torch.dtype | str:
        """The torch dtype, or the text of the element type if PyTorch has no such dtype."""
        return dtype_of(self._value.element)

    @property
    def type(self) -> str:
        """The type as text, such as `tensor<4x8xf32>`."""
        return self._value.type

    @property
    def network(self) -> Module:
        """The module that the tensor is in."""
        return Module._of(self._value.graph)

    def get_parent(self) -> Layer | None:
        """Returns the layer that makes the tensor, or None for an input."""
        parent = self._value.parent
        return None if parent is None else Layer(parent)

    def get_users(self) -> list[Layer]:
        """Returns the layers that use the tensor, without duplicates."""
        return [Layer(user) for user in self._value.users]

    def is_input(self) -> bool:
        """Returns true if the tensor is an input of a function."""
        return self._value.is_input

    def is_output(self) -> bool:
        """Returns true if a function returns the tensor."""
        return self._value.is_output

    def mark_output(self) -> None:
        """Adds the tensor to the outputs of the module."""
        graph = self._value.graph
        with changing(graph):
            graph.mark_output(self._value)

    def replace_all_uses_with(self, new: Tensor) -> None:
        """Replaces all uses of this tensor, including outputs of the module, by `new`.

        `new` must have the same type. A use by the layers that compute `new` from this tensor stays.
        Raises RewriteError for a different type.
        """
        _check_tensor(new, "a tensor as replacement")
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

    def _combine(self, name: str, *operands: Any) -> Any:
        if any(not isinstance(operand, (Tensor, int, float)) or isinstance(operand, bool) for operand in operands):
            return NotImplemented
        values = [
            operand._value if isinstance(operand, Tensor) else constant_value(operand, self._value)
            for operand in operands
        ]
        return Tensor._of(create(f"inlay.{name}", values, {}, None).results[0])

    def __neg__(self) -> Tensor:
        negated: Tensor = self._combine("neg", self)
        return negated


class Plugin:
    """The name of a plugin layer's kernel: `namespace::type`, or only `type` with an empty namespace."""

    __slots__ = ("plugin_namespace", "plugin_type")

    plugin_namespace: str
    plugin_type: str

    def __init__(self, name: str) -> None:
        self.plugin_namespace, _, self.plugin_type = name.rpartition("::")


class Layer:
    """An op of a graph.

    The operands and attributes are Python attributes of the layer, by their names in the definition of the op:
    `layer.input`, `layer.dims`.
    """

    __slots__ = ("_op",)

    def __init__(self, handle: Op) -> None:
        self._op = handle

    @property
    def op(self) -> str:
        """The full name of the op, such as `inlay.add`. It equals the function that makes such ops, `inlay.ops.add`."""
        return self._op.kind

    type = op

    @property
    def name(self) -> str:
        """The name of the layer. It is unique in the module and changes only if it is set."""
        return self._op.name

    @name.setter
    def name(self, name: str) -> None:
        check_text(f"the name of a layer '{self.op}'", name, may_be_empty=True)
        with changing(self._op.graph):
            self._op.rename(name)

    @property
    def location(self) -> str:
        """The source of the layer as `file:line:column`. Empty if it is unknown."""
        return self._op.location

    @property
    def network(self) -> Module:
        """The module that the layer is in."""
        return Module._of(self._op.graph)

    @property
    def attributes(self) -> dict[str, Any]:
        """A copy of the attributes by name, as Python values."""
        return self._op.attributes

    @property
    def plugin(self) -> Plugin:
        """The kernel of a plugin layer. Raises UnknownNameError for other layers."""
        if self.op != "inlay.plugin":
            raise UnknownNameError(f"expected a plugin layer, but got '{self.op}'")
        return Plugin(self._op.attribute("name"))

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets an attribute, or removes it if `value` is None.

        Raises ArgumentTypeError for a value that can't be an attribute, and RewriteError if it makes the op invalid.
        """
        check_text(f"the name of an attribute of '{self.op}'", name)
        with changing(self._op.graph):
            self._op.set_attribute(name, value)

    def get_inputs(self, *numbers: int) -> list[Tensor]:
        """Returns the operands with these numbers, counted from 0, or all operands."""
        values = [self._op.operand(_number(number)) for number in numbers] if numbers else self._op.operands
        return [Tensor._of(value) for value in values]

    def get_outputs(self, *numbers: int) -> list[Tensor]:
        """Returns the results with these numbers, counted from 0, or all results."""
        values = [self._op.result(_number(number)) for number in numbers] if numbers else self._op.results
        return [Tensor._of(value) for value in values]

    def as_layer(self) -> Layer:
        """Returns the layer itself. Exists for compatibility with TensorRT-LLM."""
        _ = self._op.kind  # raises if the layer was removed
        return self

    def replace_with(self, *tensors: Tensor) -> None:
        """Replaces all uses of the results by `tensors`, one for each result, and removes the layer.

        Raises ArgumentTypeError for another number of tensors, and RewriteError for a different type.
        """
        outputs = self.get_outputs()
        if len(tensors) != len(outputs):
            raise ArgumentTypeError(f"expected {len(outputs)} tensors for '{self.op}', but got {len(tensors)}")
        with changing(self._op.graph):
            for output, tensor in zip(outputs, tensors, strict=True):
                output.replace_all_uses_with(tensor)
            self.mark_as_removed()

    def mark_as_removed(self, with_regions: bool = False) -> None:
        """Removes the layer at the end of the rewrite or of the outermost `net_guard`.

        Its results must be unused by then. with_regions: must be true for a layer that has regions.
        """
        check_flag("with_regions", with_regions)
        graph = self._op.graph
        with changing(graph):
            self._op.mark_removed(with_regions)

    def is_removed(self) -> bool:
        """Returns true if the layer was removed or is marked for removal."""
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
        known = [*attributes]
        if definition is not None:
            flags = [attribute.name for attribute in definition.attributes if attribute.kind is ops.Kind.UNIT]
            if name in flags:
                return False
            known += [*flags, *(operand.name for operand in definition.operands)]
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


def _find_operand(definition: ops.Op, name: str, handle: Op) -> object:
    """Returns the operand of that name, or _NOTHING if the definition has none.

    An operand is a tensor, None if it is absent, or a list if it is variadic.
    """
    for operand, value in zip(definition.operands, definition.group(handle.operands), strict=True):
        if operand.name != name:
            continue
        if isinstance(value, list):
            return [Tensor._of(element) for element in value]
        return None if value is None else Tensor._of(value)
    return _NOTHING


def _number(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ArgumentTypeError(f"expected the number of an input or output (0 or more), but got {number!r}")
    return number


def _check_tensor(value: object, expected: str) -> None:
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"expected {expected}, but got {value!r}")


class Module:
    """A graph module: an MLIR module with the tensors of its functions.

    `str(module)` is its text, and `inlay.compile(module)` compiles it. The default function of `get_inputs` and
    `get_outputs` is the only function of the module, or the only public one. Example:

        module = inlay.parse(text)
        with inlay.rewrite.net_guard(module):
            relu = inlay.ops.relu(module.get_outputs()[0])
    """

    def __init__(self) -> None:
        """Makes a module with an empty function `forward`. Layers can be added in `with net_guard(module)`."""
        self._adopt(_graph_class().parse(_EMPTY), None)

    def _adopt(self, graph: Graph, imported: ImportedModel | None) -> Module:
        self._graph, self._imported = graph, imported
        graph.network = weakref.ref(self)
        return self

    @classmethod
    def _of(cls, graph: Graph, imported: ImportedModel | None = None) -> Module:
        """Returns the module of that graph. There is at most one object for a graph at a time."""
        known = getattr(graph, "network", None)
        found: Module | None = known() if known is not None else None
        return found if found is not None else object.__new__(cls)._adopt(graph, imported)

    def text(self, locations: bool = False) -> str:
        """Returns the module as text. locations: also write the locations of the ops (default: False)."""
        return self._graph.text(locations)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Module of {len(self.get_layers())} layers>"

    def clone(self) -> Module:
        """Returns a copy of the module."""
        return Module._of(_graph_class().parse(self.text(locations=True)), self._imported)

    def verify(self) -> None:
        """Raises CompileError if the module is invalid."""
        self._graph.verify()

    @property
    def functions(self) -> list[str]:
        """The names of the functions."""
        return self._graph.functions()

    def get_layers(self) -> list[Layer]:
        """Returns all layers in their order. A layer with regions precedes the layers in its regions."""
        return [Layer(op) for op in self._graph.ops()]

    def get_inputs(self, function: str = "") -> list[Tensor]:
        """Returns the inputs of a function. function: its name; empty for the default function."""
        return [Tensor._of(value) for value in self._graph.inputs(function)]

    def get_outputs(self, function: str = "") -> list[Tensor]:
        """Returns the outputs of a function. function: its name; empty for the default function."""
        return [Tensor._of(value) for value in self._graph.outputs(function)]

    def get_layer_by_name(self, name: str) -> Layer | None:
        """Returns the layer of that name, or None if there is none."""
        found = self._graph.find(check_text("the name of a layer", name, may_be_empty=True))
        return None if found is None else Layer(found)

    def is_input(self, tensor: Tensor) -> bool:
        """Returns true if the tensor is an input of the default function."""
        return tensor in self.get_inputs()

    def is_output(self, tensor: Tensor) -> bool:
        """Returns true if the tensor is an output of the default function."""
        return tensor in self.get_outputs()

    def to_dot(self) -> str:
        """Returns the graph in the language of Graphviz."""
        return draw_dot(self)

    def to_onnx(self, folder: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the graph as `network.onnx` for viewers of ONNX files and returns the path of the file.

        The file has the ops of the dialect and their types, without the data of constants. ONNX runtimes can't run it.

        folder: is created if it is missing.
        Raises CompileError if the file can't be written, and UnsupportedError without the package `onnx`.
        """
        if not isinstance(folder, (str, os.PathLike)):
            raise ArgumentTypeError(f"expected a folder, but got {folder!r:.80}")
        return write_onnx(self, pathlib.Path(folder))


def parse(text: str, name: str = "<input>") -> Module:
    """Returns the module for MLIR's textual form.

    text: the module, with ops of the inlay, func and other registered dialects.
    name: the name of the text in messages (default: "<input>").
    Raises CompileError with the diagnostics if the text is invalid.
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"expected the text of a module, but got {type(text).__name__}")
    return Module._of(_graph_class().parse(text, name))


@contextlib.contextmanager
def net_guard(network: Module) -> Iterator[Module]:
    """Returns a context in which new tensors and layers are added to the module.

    Outside patterns the outermost context is a transaction: if an exception leaves it, all changes are undone.

    network: the module. The name of the parameter is that of TensorRT-LLM.
    """
    if not isinstance(network, Module):
        raise ArgumentTypeError(f"expected a module for net_guard, but got {type(network).__name__}")
    with working_on(network), changing(network._graph):
        yield network


def _graph_class() -> type[Graph]:
    from .._inlay import Graph

    return Graph
