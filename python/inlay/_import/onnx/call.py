# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One node of an ONNX graph, with the functions that its handler needs to write it as ATen calls.

A call of ATen in the graph of a torch.export program is `_import/torch/call.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import onnx
import torch
from onnx import AttributeProto

from ...errors import ArgumentValueError, UnsupportedError
from . import library  # noqa: F401  # registers the custom ops
from .domains import DEFAULT, op_of
from .tensors import read_tensor
from .values import LateError, Value

if TYPE_CHECKING:
    from .graph import Graph
    from .shapes import NumberArray
    from .structure import Factor
    from .subgraphs import Converter, Scope

_VALUES: dict[int, Callable[[AttributeProto], Any]] = {
    AttributeProto.FLOAT: lambda attribute: attribute.f,
    AttributeProto.INT: lambda attribute: attribute.i,
    AttributeProto.STRING: lambda attribute: attribute.s.decode(errors="replace"),
    AttributeProto.FLOATS: lambda attribute: list(attribute.floats),
    AttributeProto.INTS: lambda attribute: list(attribute.ints),
    AttributeProto.STRINGS: lambda attribute: [text.decode(errors="replace") for text in attribute.strings],
}

# The values of a node's outputs; None for an output that is not used. A tensor stands for itself if it is the only one.
NodeResult: TypeAlias = torch.fx.Node | Sequence[Value]
Handler: TypeAlias = "Callable[[NodeCall], NodeResult]"

# Attributes that a handler may leave unread. They do not change the results, or only in modes whose handlers read them.
_IGNORED = {
    "extrapolation_value",
    "hidden_size",
    "kernel_shape",
    "seed",
    "stash_type",
}


class NodeCall:
    """A node, its inputs as FX nodes, and the graph to which calls are added.

    given: the inputs, None for one that is left out. inputs: the same without None at the end. version: the version of
    its domain's ops. place: the node's place in the model, for messages. scope, converter: the Scope and the Converter,
    for the bodies of control flow.
    """

    def __init__(
        self,
        proto: onnx.NodeProto,
        inputs: list[Value],
        graph: Graph,
        version: int,
        place: str,
        scope: Scope,
        converter: Converter,
    ) -> None:
        self.proto, self.given, self.inputs, self.version, self.place = proto, inputs, inputs, version, place
        self._graph = graph
        self.scope, self.converter = scope, converter
        self._attributes = {attribute.name: attribute for attribute in proto.attribute}
        self._read: set[str] = set()  # names of the attributes that the handler has read
        while self.inputs and self.inputs[-1] is None:
            self.inputs = self.inputs[:-1]

    def __getitem__(self, number: int) -> torch.fx.Node:
        """Returns an input. Raises ArgumentValueError if it is left out."""
        value = self.get(number)
        if value is None:
            raise ArgumentValueError(f"{self.place}: input {number} is missing")
        return value

    def get(self, number: int) -> torch.fx.Node | None:
        """Returns an input that is a tensor; None if it is left out. Raises ArgumentValueError if it is a sequence."""
        value = self.value(number)
        if isinstance(value, list):
            raise ArgumentValueError(f"{self.place}: expected input {number} to be a tensor, but got a sequence")
        return value

    def value(self, number: int) -> Value:
        """Returns an input; None if it is left out or if it is an optional without an element."""
        return self.inputs[number] if number < len(self.inputs) else None

    def sequence(self, number: int) -> list[Any]:
        """Returns an input that is a sequence. Raises ArgumentValueError for other inputs."""
        value = self.value(number)
        if not isinstance(value, list):
            raise ArgumentValueError(f"{self.place}: expected input {number} to be a sequence")
        return value

    @property
    def schema(self) -> onnx.defs.OpSchema:
        """The specification of the node's op."""
        op = op_of(self.proto)
        return onnx.defs.get_schema(op.name, self.version, op.domain)

    @property
    def runs_now(self) -> bool:
        """True if all values are known, because the node runs at a call."""
        return self._graph.runs_now

    def attribute(self, name: str, default: Any = None) -> Any:
        """Returns the value of an attribute that is a number, a text or a list; `default` if it is left out."""
        self._read.add(name)
        if name not in self._attributes:
            return default
        attribute = self._attributes[name]
        if attribute.type not in _VALUES:
            raise UnsupportedError(f"{self.place}: attribute {name!r} has a type that Inlay can't take")
        return _VALUES[attribute.type](attribute)

    def tensor_attribute(self, name: str) -> torch.Tensor | None:
        """Returns the value of an attribute that is a tensor; None if it is left out."""
        self._read.add(name)
        if name not in self._attributes:
            return None
        attribute = self._attributes[name]
        if attribute.type != AttributeProto.TENSOR:
            raise UnsupportedError(f"{self.place}: attribute {name!r} has a type that Inlay can't take")
        return read_tensor(attribute.t, self.converter.files, f"attribute {name!r} of {self.place}")

    def graph_attribute(self, name: str) -> onnx.GraphProto:
        """Returns the value of an attribute that is a graph."""
        self._read.add(name)
        if name not in self._attributes or self._attributes[name].type != AttributeProto.GRAPH:
            raise ArgumentValueError(f"{self.place}: the graph {name!r} is missing")
        graph: onnx.GraphProto = self._attributes[name].g
        return graph

    def take_attribute(self, name: str, default: Any = None) -> Any:
        """Returns the value of an attribute like `attribute` and removes it from the node."""
        value = self.attribute(name, default)
        self._attributes.pop(name, None)
        return value

    def set_attribute(self, name: str, value: Any) -> None:
        """Gives the node an attribute."""
        self._attributes[name] = onnx.helper.make_attribute(name, value)

    def set_input(self, number: int, node: torch.fx.Node | None) -> None:
        """Replaces an input, or adds it. None stands for an input that is left out."""
        missing = number + 1 - len(self.inputs)
        self.inputs = [*self.inputs, *[None] * missing]
        self.inputs[number] = node

    def ignore(self, name: str) -> None:
        """Marks an attribute as read that does not change the results."""
        self._read.add(name)

    @property
    def attributes(self) -> list[str]:
        """The names of the attributes that the node has."""
        return list(self._attributes)

    def take_attributes(self) -> list[AttributeProto]:
        """Returns all attributes that the node has, which count as read."""
        self._read.update(self._attributes)
        return list(self._attributes.values())

    def check_attributes(self) -> None:
        """Raises UnsupportedError for an attribute that the handler has not read and that may change the results."""
        op = op_of(self.proto)
        known = onnx.defs.get_schema(op.name, self.version, "").attributes if op.domain == DEFAULT else {}
        for name, attribute in self._attributes.items():
            is_default = name in known and known[name].default_value == attribute
            if name not in self._read and name not in _IGNORED and not is_default:
                raise self.unsupported(f"the attribute {name!r} is not supported")

    # -- Known values ---------------------------------------------------------------------------------------------

    def known(self, number: int, subject: str) -> torch.Tensor | None:
        """Returns the value of an input; None if it is left out. Raises LateError, naming `subject`, if it is not
        constant."""
        node = self.get(number)
        if node is None:
            return None
        if not self._graph.is_constant(node):
            raise LateError(f"the value of {subject} is known only at a call")
        return self.inspect(node)

    def ints(self, number: int, subject: str) -> list[int] | None:
        """Returns the integers of an input that is constant or follows from sizes; None if it is left out."""
        sizes = self._sizes_of(number)
        if sizes is not None:
            return sizes.reshape(-1).tolist()
        tensor = self.known(number, subject)
        return None if tensor is None else [int(value) for value in tensor.reshape(-1).tolist()]

    def required_ints(self, number: int, subject: str) -> list[int]:
        """Returns the integers of an input like `ints`. Raises ArgumentValueError if it is left out."""
        values = self.ints(number, subject)
        if values is None:
            raise ArgumentValueError(f"{self.place}: input {number}, {subject}, is missing")
        return values

    def _sizes_of(self, number: int) -> NumberArray | None:
        """Returns the numbers of an input that follows from sizes; None for other inputs."""
        node = self.get(number)
        return None if node is None else self._graph.sizes.get(node)

    def number(self, number: int, subject: str, default: Any = None) -> Any:
        """Returns the only element of an input that is constant or follows from sizes; `default` if it is left out."""
        sizes = self._sizes_of(number)
        if sizes is not None and sizes.size == 1:
            return sizes.reshape(-1)[0]
        tensor = self.known(number, subject)
        if tensor is None:
            return default
        if tensor.numel() != 1:
            raise ArgumentValueError(f"{self.place}: expected {subject} to be one number, but got {tensor.numel()}")
        return tensor.reshape(()).item()

    def is_known(self, number: int) -> bool:
        """Returns true if the input is constant."""
        node = self.get(number)
        return node is not None and self.is_constant(node)

    def has_ints(self, number: int) -> bool:
        """Returns true if the integers of an input are constant or follow from sizes."""
        return self.is_known(number) or self._sizes_of(number) is not None

    def is_constant(self, node: torch.fx.Node) -> bool:
        """Returns true if a node's value is known."""
        return self._graph.is_constant(node)

    def factor(self) -> Factor | None:
        """Returns how the result is used if it is only a factor; None for other uses."""
        return self.scope.factors.get(self.proto.output[0])

    def inspect(self, node: torch.fx.Node) -> torch.Tensor:
        """Returns the value of a constant node, for a decision that depends on its elements."""
        value: torch.Tensor = self._graph.inspect(node)
        return value

    # -- Calls ----------------------------------------------------------------------------------------------------

    def aten(self, name: str, *args: Any, **kwargs: Any) -> torch.fx.Node:
        """Adds a call of `torch.ops.aten.<name>` with one result. Returns the FX node of the result."""
        return self._graph.call_one(_operator(name), args, kwargs)

    def aten_results(self, name: str, *args: Any, **kwargs: Any) -> list[torch.fx.Node]:
        """Adds a call of `torch.ops.aten.<name>` with several results. Returns the FX nodes of the results."""
        results = self._graph.call(_operator(name), args, kwargs)
        assert isinstance(results, list)
        return results

    def dequantize(
        self,
        codes: torch.fx.Node,
        scales: torch.fx.Node,
        offsets: torch.fx.Node | None,
        code: str,
        block: Sequence[int],
        dtype: torch.dtype,
        size: int | None = None,
    ) -> torch.fx.Node:
        """Adds a call of `inlay::dequantize`, which the dialect has as an op. Returns the FX node of the floats."""
        arguments = (codes, scales, offsets, code, list(block), size, False, dtype)
        return self._graph.call_one(torch.ops.inlay.dequantize.default, arguments, {})

    def quantize(
        self,
        x: torch.fx.Node,
        scales: torch.fx.Node,
        offsets: torch.fx.Node | None,
        code: str,
        block: Sequence[int],
        limits: tuple[int, int],
    ) -> torch.fx.Node:
        """Adds a call of `inlay::quantize`, which the dialect has as an op. Returns the FX node of the codes: int8."""
        arguments = (x, scales, offsets, code, list(block), *limits, False)
        return self._graph.call_one(torch.ops.inlay.quantize.default, arguments, {})

    def library(self, name: str, *args: Any, **kwargs: Any) -> list[torch.fx.Node]:
        """Adds a call of the custom op `name` of `library`. Returns the FX nodes of its results."""
        results = self._graph.call(getattr(torch.ops.inlay_onnx, name).default, args, kwargs)
        return results if isinstance(results, list) else [results]

    def control(self, name: str, args: Sequence[Any], values: Sequence[Any]) -> list[torch.fx.Node]:
        """Adds a call of the higher-order operator `name`. Returns the FX nodes of its results.

        values: fake tensors like the results.
        """
        return self._graph.control(getattr(torch.ops.higher_order, name), args, values)

    def constant(self, tensor: torch.Tensor) -> torch.fx.Node:
        """Returns the FX node of a constant."""
        return self._graph.constant(tensor)

    def size_tensor(self, values: Sequence[int]) -> torch.fx.Node:
        """Returns the FX node of a vector of sizes."""
        return self._graph.size_tensor(values)

    def unsupported(self, reason: str) -> UnsupportedError:
        """Returns the exception for this node. reason: a sentence."""
        return UnsupportedError(f"{self.place}: {reason}")

    def axis(self, value: int, rank: int) -> int:
        """Returns a dim in [0, rank). Raises ArgumentValueError if `value` is outside of [-rank, rank)."""
        if not -rank <= value < rank:
            raise ArgumentValueError(f"{self.place}: expected an axis in [{-rank}, {rank}), but got {value}")
        return value % rank

    def axes(self, values: Iterable[int], rank: int) -> list[int]:
        """Returns sorted dims in [0, rank). Raises ArgumentValueError for a value out of range or a repeated dim."""
        found = sorted(self.axis(value, rank) for value in values)
        if len(set(found)) != len(found):
            raise ArgumentValueError(f"{self.place}: expected each axis once, but got {values}")
        return found

    def is_wanted(self, number: int) -> bool:
        """Returns true if an output may be used."""
        return number < len(self.proto.output) and bool(self.proto.output[number])

    def reshape(self, x: torch.fx.Node, shape: Iterable[int]) -> torch.fx.Node:
        """Returns `x` with other dims, or `x` itself if they are the same."""
        shape = list(shape)
        return x if list(shape_of(x)) == shape else self.aten("reshape", x, shape)

    def cast(self, x: torch.fx.Node, dtype: torch.dtype) -> torch.fx.Node:
        """Returns `x` with elements of `dtype`, or `x` itself if it has them."""
        return x if dtype_of(x) == dtype else self.aten("to.dtype", x, dtype)


def _operator(name: str) -> Callable[..., Any]:
    """Returns the operator `torch.ops.aten.<name>`, whose overload is "default" if the name has none."""
    packet, _, overload = name.partition(".")
    operator: Callable[..., Any] = getattr(getattr(torch.ops.aten, packet), overload or "default")
    return operator


def shape_of(node: torch.fx.Node) -> tuple[int, ...]:
    """Returns the dims of an FX node that is a tensor. They may be torch.SymInts."""
    return tuple(node.meta["val"].shape)


def dtype_of(node: torch.fx.Node) -> torch.dtype:
    """Returns the dtype of an FX node that is a tensor."""
    dtype: torch.dtype = node.meta["val"].dtype
    return dtype
