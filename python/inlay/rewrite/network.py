# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph in memory: read from text or from a model, looked at, changed, printed, compiled."""

from __future__ import annotations

import os
import pathlib
import weakref

from ..aliases import DynamicShapes, Inputs, Model
from ..errors import ArgumentTypeError
from .handles import Layer, Tensor
from .values import check_text

_EMPTY = "func.func @forward() {\n  return\n}\n"


class Module:
    """A module of MLIR. `str(module)` is its text; `inlay.compile(module)` compiles it.

    Inputs and outputs are those of the only function of the module, or of the only public one; of others by name.
    """

    def __init__(self) -> None:
        """An empty network, to be built inside of `with net_guard(module)`."""
        self._adopt(_graph_class().parse(_EMPTY), None)

    def _adopt(self, graph, imported):
        self._graph, self._imported = graph, imported
        graph.network = weakref.ref(self)
        return self

    @classmethod
    def _of(cls, graph, imported=None):
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
        lines = ["digraph network {", "  node [shape=box];"]
        numbers = {}
        for tensor in self.get_inputs():
            numbers[tensor] = f"n{len(numbers)}"
            lines.append(f"  {numbers[tensor]} [shape=ellipse, label={_quote(tensor.name, tensor.type)}];")
        for layer in self.get_layers():
            node = f"n{len(numbers)}"
            lines.append(f"  {node} [label={_quote(layer.name, layer.op)}];")
            for tensor in layer.get_inputs():
                if tensor in numbers:
                    lines.append(f"  {numbers[tensor]} -> {node} [label={_quote(tensor.type)}];")
            numbers[layer] = node
            numbers.update(dict.fromkeys(layer.get_outputs(), node))
        for number, tensor in enumerate(self.get_outputs()):
            lines.append(f"  out{number} [shape=ellipse, label={_quote(f'output {number}')}];")
            if tensor in numbers:
                lines.append(f"  {numbers[tensor]} -> out{number};")
        return "\n".join([*lines, "}", ""])

    def to_onnx(self, folder: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the graph as `network.onnx` into the folder, for viewers of ONNX.

        It has the ops, which nothing that runs ONNX knows, and their types, without the bytes of constants.

        Raises CompileError if it can't be written, UnsupportedError without the package `onnx`.
        """
        from .viewing import write_onnx

        if not isinstance(folder, (str, os.PathLike)):
            raise ArgumentTypeError(f"expected a folder, but got {folder!r:.80}")
        return write_onnx(self, pathlib.Path(folder))


def parse(text: str, name: str = "<input>") -> Module:
    """A Module from MLIR's textual form. Raises CompileError with the diagnostics for text that it can't be."""
    if not isinstance(text, str):
        raise ArgumentTypeError(f"expected the text of a module, but got {type(text).__name__}")
    return Module._of(_graph_class().parse(text, name))


def import_module(
    model: Model,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
) -> Module:
    """A Module from a model and example arguments, or from an ExportedProgram.

    Weights stay where they are: the text only names them. `inlay.compile(module)` then calls it as the model itself.
    """
    from ..compiler import import_model

    exported, imported = import_model(model, inputs, dynamic_shapes)
    module = Module._of(_graph_class().parse(imported.text))
    module._imported = (exported, imported)
    return module


def _graph_class():
    from .._inlay import Graph

    return Graph


def _quote(*lines):
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
