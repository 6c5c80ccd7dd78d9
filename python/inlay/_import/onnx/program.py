# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports an ONNX model: the text of a module and its weights.

`_import/torch/program.py` imports the ATen calls that the nodes become.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx
import torch
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from ..._paths import StrPath
from ..._program.imported import CallConvention, ImportedModel, ImportedProgram, ProgramInput
from ..._program.sizes import Symbols
from ...errors import ArgumentTypeError, ArgumentValueError, UnsupportedError, did_you_mean
from ..examples import Input, ShapeProfile
from ..torch.guards import find_carriers, plain_kernels, read_symbols
from ..torch.program import import_calls, tensor_input
from ..torch.quiet import no_kernel_log
from ..types import DynamicShapes, Inputs, ModelProto
from . import checking, files, functions, structure
from .deferred import defer
from .domains import adjust_nodes
from .graph import Graph
from .handlers import all_handlers
from .shapes import OpenDim, open_dims
from .structures import Inputs as PassedInputs
from .structures import split_inputs
from .subgraphs import MAX_LOOP_ITERATIONS, Converter, Scope
from .tensors import mark_narrow, type_of
from .values import Value
from .versions import OLDEST, OpTable


class OnnxProgram:
    """An ONNX graph as ATen calls."""

    def __init__(
        self,
        graph: Graph,
        passed: PassedInputs,
        arguments: list[tuple[torch.fx.Node, ProgramInput]],
        outputs: list[Value],
        symbols: Symbols | None = None,
    ) -> None:
        """passed: the inputs as a caller passes them. arguments: their tensors with placeholders. outputs: the values
        of the model's outputs. symbols: the Symbols of the dims of arguments."""
        self._symbols, self._passed = symbols, passed
        self._graph, self._arguments = graph, arguments
        result = outputs[0] if len(outputs) == 1 else tuple(outputs)
        self._outputs, self._out_spec = pytree.tree_flatten(result)
        # The calls are copied here because an import changes the FX graph.
        self._steps = [
            (node, node.target, node.args, node.kwargs) for node in graph.fx.nodes if node.op == "call_function"
        ]

    @property
    def convention(self) -> CallConvention:
        """The way to call the model."""
        structures = pytree.tree_map(lambda part: 0, tuple(self._passed.structures))
        return CallConvention(pytree.tree_structure((structures, {})), self._out_spec, self._passed.names)

    def make_eager(self) -> Callable[..., Any]:
        """Returns a function of the inputs, by place or by name, that runs the calls in PyTorch."""

        def run(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *(kwargs[name] for name in self._passed.names[len(args) :])]
            leaves = [value for value in pytree.tree_leaves(given) if value is not None]
            values: dict[torch.fx.Node, Any] = {
                node: value for (node, _), value in zip(self._arguments, leaves, strict=True)
            }
            values.update(self._graph.values)
            values.update(self._graph.bodies)
            for node, target, operands, options in self._steps:
                given_args, given_kwargs = map_arg((operands, options), values.__getitem__)
                assert callable(target)
                values[node] = target(*given_args, **given_kwargs)
            results = [None if node is None else values[node] for node in self._outputs]
            return pytree.tree_unflatten(results, self._out_spec)

        return run

    def import_(
        self, attributes: dict[str, str] | None = None, portable: bool = False, only_calls: bool = False
    ) -> ImportedProgram:
        """Imports the graph. The arguments are those of `import_program`. Call it once: it changes the graph."""
        graph = self._graph
        weights = {node: (name, graph.values[node]) for node, name in graph.weights.items()}
        return import_calls(
            graph.fx,
            self._flat_arguments(),
            self._outputs,
            graph.folder,
            weights,
            attributes,
            portable,
            only_calls,
            self._symbols,
        )

    def _flat_arguments(self) -> list[tuple[torch.fx.Node, ProgramInput]]:
        """Returns the leaves of the inputs: tensors with their placeholders, and optionals without an element."""
        rest = iter(self._arguments)
        leaves: list[tuple[torch.fx.Node, ProgramInput]] = []
        for name, parts in zip(self._passed.names, self._passed.structures, strict=True):
            for leaf in pytree.tree_leaves([parts]):
                if leaf is not None:
                    leaves.append(next(rest))
                else:
                    node = self._graph.fx.create_node("placeholder", name, name=name)
                    leaves.append((node, ProgramInput(name)))
        return leaves


def import_model(
    model: StrPath | ModelProto,
    inputs: Inputs | None = None,
    attributes: dict[str, str] | None = None,
    portable: bool = False,
    only_calls: bool = False,
    dynamic_shapes: DynamicShapes | None = None,
    max_loop_iterations: int = MAX_LOOP_ITERATIONS,
) -> ImportedModel:
    """Imports an ONNX model from a path or an onnx.ModelProto.

    inputs: example arguments that fix symbolic dims: a tuple or list by place, a dict by name, or one tensor. None if
    the model has no symbolic dims. max_loop_iterations: the iterations after which a loop that PyTorch runs as a whole
    fails as endless. The other arguments are those of `import_program`.
    Raises ArgumentValueError for an invalid model, UnsupportedError for a model with parts that Inlay can't import. The
    message names the node, its op and its place.
    """
    program = build(model, inputs, dynamic_shapes, max_loop_iterations)
    imported = program.import_(attributes, portable, only_calls)
    return ImportedModel(imported, program.convention, program.make_eager)


def build(
    model: StrPath | ModelProto,
    inputs: Inputs | None = None,
    dynamic_shapes: DynamicShapes | None = None,
    max_loop_iterations: int = MAX_LOOP_ITERATIONS,
) -> OnnxProgram:
    """Returns the OnnxProgram of a model. Arguments and errors are those of `import_model`."""
    proto, tensor_files, name = files.load(model)
    checking.check_text(proto, name)
    proto = checking.inline_functions(proto, name)
    adjust_nodes(proto)
    table = OpTable(all_handlers(), functions.expand, checking.default_version(proto) or OLDEST)
    checking.check_versions(proto, name)
    structure.repair(proto, table.version, name)
    checking.check_ops(proto, table)
    passed = split_inputs(proto, checking.graph_inputs(proto), _order_inputs(proto, inputs))
    given = passed.given
    all_open_dims = _find_open_dims(proto, given, dynamic_shapes)
    checking.fix_dims(proto, _examples(given, all_open_dims), name, all_open_dims)
    infos = checking.graph_inputs(proto)
    if proto.graph.sparse_initializer:
        raise UnsupportedError(f"{name} has a sparse initializer, which Inlay can't take")
    initializers = checking.take_initializers(proto)
    types = checking.infer_types(proto, name)
    graph = Graph()
    values = Scope(graph)
    nodes: list[torch.fx.Node] = []
    for info, by_dim in zip(infos, all_open_dims, strict=True):
        dtype, dims = type_of(info, f"input {info.name!r}")
        sizes: list[Any] = [by_dim.get(dim, size) for dim, size in enumerate(dims or ())]
        node = graph.argument(info.name, sizes, dtype)
        nodes.append(mark_narrow(node, info.type.tensor_type.elem_type))
        values[info.name] = nodes[-1]
    symbols = _symbols(infos, nodes, all_open_dims)
    arguments = [
        (node, tensor_input(info.name, node.meta["val"], symbols)) for info, node in zip(infos, nodes, strict=True)
    ]
    converter = Converter(table, tensor_files, defer, max_loop_iterations=max_loop_iterations)
    converter.read(initializers, values)
    with torch.no_grad(), graph.no_new_guards(), plain_kernels(), no_kernel_log():
        converter.convert(proto.graph.node, values, types, hints=checking.declared_types(proto.graph))
    outputs = [values[info.name] for info in proto.graph.output]
    checking.check_outputs(proto.graph, outputs, name)
    return OnnxProgram(graph, passed, arguments, outputs, symbols)


def _find_open_dims(
    proto: onnx.ModelProto, given: list[Any] | None, dynamic_shapes: DynamicShapes | None
) -> list[dict[int, OpenDim]]:
    """Returns, for each input, its open dims by number. given: the examples in order."""
    infos = checking.graph_inputs(proto)
    dims = [type_of(info, f"input {info.name!r}").dims for info in infos]
    return open_dims([info.name for info in infos], dims, given, dynamic_shapes)


def _examples(given: list[Any] | None, all_open_dims: Sequence[Mapping[int, OpenDim]]) -> list[Any] | None:
    """Returns the example inputs with a tensor in place of each `Input`."""
    if given is None:
        return None
    made = []
    for example, by_dim in zip(given, all_open_dims, strict=True):
        if isinstance(example, Input):
            example = torch.zeros(
                [by_dim[dim].hint if dim in by_dim else example.range_of(dim)[0] for dim in range(example.rank)],
                dtype=example.dtype,
            )
        made.append(example)
    return made


def _symbols(
    infos: Sequence[onnx.ValueInfoProto],
    nodes: Sequence[torch.fx.Node],
    all_open_dims: Sequence[Mapping[int, OpenDim]],
) -> Symbols:
    """Returns the Symbols of a graph's inputs. nodes: the placeholders of the inputs."""
    shape_profiles = {
        (number, dim): ShapeProfile(open_dim.min, open_dim.typical, open_dim.name)
        for number, by_dim in enumerate(all_open_dims)
        for dim, open_dim in by_dim.items()
    }
    named = [(info.name, node.meta["val"]) for info, node in zip(infos, nodes, strict=True)]
    symbols = read_symbols(named, shape_profiles=shape_profiles)
    find_carriers(named, symbols)  # checks that the inputs determine all symbols
    return symbols


def _order_inputs(proto: onnx.ModelProto, inputs: Inputs | None) -> list[Any] | None:
    """Returns the example inputs in the graph's order; None if there are none."""
    if inputs is None:
        return None
    infos = checking.graph_inputs(proto)
    names = [info.name for info in infos]
    if isinstance(inputs, (torch.Tensor, Input)):
        inputs = (inputs,)
    if isinstance(inputs, dict):
        for name in inputs:
            if name not in names:
                raise ArgumentTypeError(f"unknown input {name!r}{did_you_mean(str(name), names)}")
        return [_example(inputs.get(info.name), info, number) for number, info in enumerate(infos)]
    if not isinstance(inputs, (tuple, list)):
        raise ArgumentTypeError(
            f"expected inputs to be a tuple, a list, a dict or a tensor, but got {type(inputs).__name__}"
        )
    if len(inputs) != len(names):
        raise ArgumentTypeError(f"expected {len(names)} example inputs ({', '.join(names)}), but got {len(inputs)}")
    return [_example(value, info, number) for number, (value, info) in enumerate(zip(inputs, infos, strict=True))]


def _example(value: Any, info: onnx.ValueInfoProto, number: int) -> Any:
    """Returns an example input. value: the input, its shape as integers, or None for the shape in the model.

    number: its place in the graph.
    """
    if not info.type.HasField("tensor_type"):
        return value
    if value is None:
        dtype, dims = type_of(info, f"input {info.name!r}")
        if dims is None or not all(isinstance(size, int) for size in dims):
            raise ArgumentTypeError(f"missing example input {info.name!r} (place {number + 1})")
        value = dims
    if isinstance(value, (tuple, list)) and all(type(size) is int for size in value):
        dtype, _ = type_of(info, f"input {info.name!r}")
        if any(size < 0 for size in value):
            raise ArgumentValueError(f"example input {info.name!r}: expected sizes of 0 or more, but got {value}")
        return torch.zeros(value, dtype=dtype)
    return value


def example_inputs(model: StrPath | ModelProto, shapes: Mapping[str, Sequence[int]]) -> dict[str, torch.Tensor]:
    """Returns tensors of zeros, by the names of inputs, that fix a model's dims.

    shapes: name -> dims of the inputs with symbolic dims. Other inputs may be left out.
    """
    proto, _, name = files.load(model)
    infos = {info.name: info for info in checking.graph_inputs(proto)}
    for key in shapes:
        if key not in infos:
            raise ArgumentTypeError(f"unknown input {key!r}{did_you_mean(key, infos)}")
    found = {}
    for key, info in infos.items():
        dtype, dims = type_of(info, f"input {key!r}")
        if key not in shapes:
            checking.check_known(key, dims, name)
        sizes: Any = shapes.get(key, dims)
        found[key] = torch.zeros(sizes, dtype=dtype)
    return found
