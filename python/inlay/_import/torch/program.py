# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports an ExportedProgram: the text of a module, its weights, and the model's arguments and results.

`export.py` makes the ExportedProgram from a module, and `walker.py` walks its graph.
"""

from __future__ import annotations

import contextlib
import dataclasses
import operator
import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy
import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, SymIntArgument, TensorArgument

from ..._program.imported import Check, ImportedProgram, Interface, ModelState, ProgramInput, TensorType
from ..._program.outputs import (
    BufferOutput,
    InputOutput,
    KeptOutput,
    Output,
    ResultOutput,
    SizeOutput,
    ValueOutput,
    WeightsOutput,
    Write,
)
from ..._program.sizes import Symbols
from ...errors import UnsupportedError
from ..examples import ShapeProfile
from .checks import check_dims, check_expressible, check_static
from .constants import ConstantFolder
from .decompose import Decompositions, decompositions, decompositions_for_tracing
from .decompose.quantization import decompositions_to_integers
from .effects import keeping_effects, restore_dropout
from .expansion import Expander, WritesError
from .functional import FunctionalGraph, functional_copy
from .graph import Value
from .guards import GuardError, NamedValues, find_carriers, is_open, no_new_guards, read_conditions, read_symbols
from .handlers import (
    attention,
    checks,
    filling,
    indexing,
    layout,
    neural,
    pointwise,
    quantization,
    reductions,
    resampling,
    softmax,
    sorting,
)
from .stand_ins.assertions import assert_about_tensors
from .stand_ins.complex_pairs import PairGraph
from .stand_ins.nodes import fake_of
from .stand_ins.packed import PackedGraph, declare_dtypes, limits_of, narrow_scale
from .stand_ins.unsigned import ByteGraph, as_bytes
from .walker import Handler, Walker

_TOPICS = (
    checks,
    filling,
    layout,
    neural,
    attention,
    indexing,
    sorting,
    resampling,
    pointwise,
    quantization,
    reductions,
    softmax,
)
_STATE_WRITES = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)


def import_program(
    exported: torch.export.ExportedProgram,
    attributes: Mapping[str, str] | None = None,
    portable: bool = False,
    only_calls: bool = False,
    shape_profiles: Mapping[tuple[int, int], ShapeProfile] | None = None,
    states: Mapping[int, str] | None = None,
) -> ImportedProgram:
    """Imports a `torch.export.ExportedProgram`.

    attributes: string attributes of the module, e.g. {"inlay.weights": "model.safetensors"}.
    portable: True to leave folders of this machine out of the text.
    only_calls: True to import every call as it was exported, as a call into PyTorch.
    shape_profiles: (number of an input, dim) -> what the user asked for about the dim beyond what the export keeps.
    states: names by the numbers of the inputs that the program keeps between calls. Calls do not pass them.
    Raises UnsupportedError for inputs with dims that the dialect can't express, and for weights that are not on the
    CPU.
    """
    states = states or {}
    with no_new_guards(_fakes(exported.graph)):
        table = {} if only_calls else decompositions(exported.graph)
        user_inputs = _user_inputs(exported)
        functional = functional_copy(exported.graph, {user_inputs[number][0] for number in states})
        symbols = read_symbols(user_inputs, exported.range_constraints, shape_profiles)
        conditions = read_conditions(user_inputs, symbols)
        imported = None
        if functional is not None:
            with contextlib.suppress(WritesError):
                imported = _import_exported(
                    exported, functional, table, attributes, portable, only_calls, symbols, conditions, states
                )
        if imported is None:
            exported = _decompose(exported, table)
            imported = _import_exported(
                exported,
                FunctionalGraph(exported.graph),
                table,
                attributes,
                portable,
                only_calls,
                symbols,
                conditions,
                states,
            )
    return imported


def _decompose(exported: torch.export.ExportedProgram, table: Decompositions) -> torch.export.ExportedProgram:
    """Returns the program, traced again without calls that write."""
    try:
        with warnings.catch_warnings(), keeping_effects(exported.graph_module):
            warnings.simplefilter("ignore", FutureWarning)  # PyTorch's own use of TreeSpec
            exported = exported.run_decompositions(table)
    except GuardError as error:
        raise UnsupportedError(f"torch.export can't remove writes from the model for all its sizes: {error}") from error
    except RuntimeError as error:
        first = (str(error).strip() or "no message").splitlines()[0]
        raise UnsupportedError(f"torch.export can't split the model's calls: {first}") from error
    restore_dropout(exported.graph)
    return exported


def _fakes(graph: torch.fx.Graph) -> list[Any]:
    """Returns the fake tensors and other values of a graph's inputs."""
    return [node.meta.get("val") for node in graph.nodes if node.op == "placeholder"]


def _user_inputs(exported: torch.export.ExportedProgram) -> NamedValues:
    """Returns the model's inputs: their names, and fake tensors or other values."""
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    named = [spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
    return [(name, nodes[name].meta.get("val")) for name in named]


def _import_exported(
    exported: torch.export.ExportedProgram,
    functional: FunctionalGraph,
    table: Decompositions,
    attributes: Mapping[str, str] | None,
    portable: bool,
    only_calls: bool,
    symbols: Symbols,
    conditions: Sequence[sympy.Basic],
    states: Mapping[int, str],
) -> ImportedProgram:
    """Imports a graph without writes: that of an ExportedProgram or an equivalent one."""
    graph = functional.graph
    signature = exported.graph_signature
    written = {spec.target for spec in signature.output_specs if spec.kind in _STATE_WRITES}
    nodes = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    parts = _GraphParts(symbols=symbols, conditions=conditions)
    user_inputs = _user_inputs(exported)
    passed = [value for number, value in enumerate(user_inputs) if number not in states]
    carriers = find_carriers(passed, symbols)
    for spec in signature.input_specs:
        node = nodes[spec.arg.name]
        if spec.kind == InputKind.USER_INPUT:
            parts.arguments.append((node, _user_input(spec.arg, node, symbols, carriers)))
        elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            tensor = parts.state[spec.target] = _find(exported, spec.target)
            if spec.target in written:
                parts.carried.append(_Carried(node, spec.target, tensor))
            else:
                parts.parameters[node], parts.names[node] = tensor, spec.target
        elif spec.kind in (InputKind.CONSTANT_TENSOR, InputKind.CUSTOM_OBJ):
            parts.parameters[node] = _find(exported, spec.target)
        else:
            raise UnsupportedError(f"input {spec.arg.name!r} is a {spec.kind.name.lower()}, which Inlay can't take")
    for name, tensor in exported.state_dict.items():
        parts.state.setdefault(name, tensor)
        parts.persistent.append(name)
    returned: Any = next(node for node in graph.nodes if node.op == "output").args[0]
    inputs = {node.name: number for number, (node, _) in enumerate(parts.arguments)}
    for spec, value in zip(signature.output_specs, list(returned), strict=True):
        if spec.kind == OutputKind.USER_OUTPUT:
            parts.outputs.append(value)
        elif spec.kind in _STATE_WRITES:
            parts.writes.append((spec.target, value))
        elif spec.kind == OutputKind.USER_INPUT_MUTATION:
            parts.writes.append((inputs[spec.target], value))
        else:
            target = f" {spec.target!r}" if spec.target else ""
            raise UnsupportedError(
                f"the model has an output of kind {spec.kind.name.lower()}{target}, which Inlay can't make yet"
            )
    parts.writes += [(inputs[name], value) for name, value in functional.writes.items()]
    parts.split_states(states)
    if only_calls:
        return _import(graph, parts, attributes, portable, {})
    return _import(graph, parts, attributes, portable, _handlers(), Expander(table))


def import_graph(
    graph: torch.fx.Graph,
    arguments: list[tuple[torch.fx.Node, ProgramInput]],
    outputs: list[Any],
    parameters: Mapping[torch.fx.Node, Any] | None = None,
    only_calls: bool = False,
    symbols: Symbols | None = None,
) -> ImportedProgram:
    """Imports an FX graph of ATen calls.

    arguments: placeholders with their inputs. outputs: nodes and plain values. parameters: node -> value. only_calls:
    see `import_program`. symbols: the Symbols of the arguments.
    """
    parts = _GraphParts(
        arguments=arguments, outputs=outputs, parameters=dict(parameters or {}), symbols=symbols or Symbols()
    )
    with no_new_guards(_fakes(graph)):
        if only_calls:
            return _import(graph, parts, None, False, {})
        return _import(graph, parts, None, False, _handlers(), Expander(decompositions_for_tracing()))


class _State(NamedTuple):
    """An input that the program keeps between calls: its placeholder, and the node of its next value."""

    node: torch.fx.Node
    input: ProgramInput
    next: torch.fx.Node


class _Carried(NamedTuple):
    """A buffer that the model writes, and its placeholder."""

    node: torch.fx.Node
    name: str
    tensor: torch.Tensor


@dataclass
class _GraphParts:
    """The arguments and results of a graph, and the state that it reads and writes."""

    arguments: list[tuple[torch.fx.Node, ProgramInput]] = field(default_factory=list)  # placeholders
    outputs: list[Any] = field(default_factory=list)  # nodes and plain values
    parameters: dict[torch.fx.Node, Any] = field(default_factory=dict)  # values of parameters, buffers and constants
    names: dict[torch.fx.Node, str] = field(default_factory=dict)  # names of parameters and buffers
    carried: list[_Carried] = field(default_factory=list)
    states: list[_State] = field(default_factory=list)
    writes: list[tuple[str | int, torch.fx.Node]] = field(default_factory=list)  # targets, as in Write, and values
    state: dict[str, torch.Tensor] = field(default_factory=dict)
    persistent: list[str] = field(default_factory=list)
    symbols: Symbols = field(default_factory=Symbols)
    conditions: Sequence[sympy.Basic] = ()  # on the symbols, besides their ranges

    def substitute(self, nodes: Mapping[torch.fx.Node, torch.fx.Node]) -> None:
        """Replaces results and new values by other nodes."""
        self.outputs = [
            nodes.get(value, value) if isinstance(value, torch.fx.Node) else value for value in self.outputs
        ]
        self.writes = [(target, nodes.get(value, value)) for target, value in self.writes]
        self.states = [state._replace(next=nodes.get(state.next, state.next)) for state in self.states]

    def split_states(self, names: Mapping[int, str]) -> None:
        """Makes the arguments with these numbers states of these names. The other arguments get new numbers."""
        next_values = {target: value for target, value in self.writes if target in names}
        passed: dict[int, int] = {}  # new number by old number
        arguments, self.arguments = self.arguments, []
        for number, (node, argument) in enumerate(arguments):
            if number not in names:
                passed[number] = len(self.arguments)
                self.arguments.append((node, argument))
                continue
            if not argument.is_tensor or argument.is_kept or argument.dtype == torch.uint8:
                raise UnsupportedError(
                    f"expected state {names[number]!r} to be a tensor of bool, int8 to int64 or a float type, but got "
                    f"{argument.dtype or type(argument.value).__name__}"
                )
            named = dataclasses.replace(argument, name=names[number])
            self.states.append(_State(node, named, next_values.get(number, node)))
        self.writes = [
            (passed[target] if isinstance(target, int) else target, value)
            for target, value in self.writes
            if target not in next_values
        ]


def import_calls(
    graph: torch.fx.Graph,
    arguments: list[tuple[torch.fx.Node, ProgramInput]],
    outputs: list[Any],
    constants: ConstantFolder,
    weights: Mapping[torch.fx.Node, tuple[str, torch.Tensor]],
    attributes: Mapping[str, str] | None = None,
    portable: bool = False,
    only_calls: bool = False,
    symbols: Symbols | None = None,
) -> ImportedProgram:
    """Imports an FX graph of ATen calls that torch.export did not make. No call may write its operands.

    constants: the graph's constants. weights: node -> (name, tensor) of the constants that may be replaced. attributes,
    portable, only_calls: see `import_program`. The other arguments: see `import_graph`.
    """
    parts = _GraphParts(arguments=arguments, outputs=outputs, names={node: name for node, (name, _) in weights.items()})
    parts.state = dict(weights.values())
    parts.persistent = list(parts.state)
    parts.symbols = symbols or Symbols()
    with no_new_guards(_fakes(graph)):
        if only_calls:
            return _import(graph, parts, attributes, portable, {}, constants=constants)
        expander = Expander(decompositions(graph))
        return _import(graph, parts, attributes, portable, _handlers(), expander, constants)


def _handlers() -> dict[str, Handler]:
    """Returns all handlers by ATen name."""
    return {name: handler for topic in _TOPICS for name, handler in topic.handlers().items()}


def _import(
    graph: torch.fx.Graph,
    parts: _GraphParts,
    attributes: Mapping[str, str] | None,
    portable: bool,
    handlers: Mapping[str, Handler],
    expander: Expander | None = None,
    constants: ConstantFolder | None = None,
) -> ImportedProgram:
    """Imports a graph with the given handlers; without handlers, every call is a call into PyTorch."""
    dense = {node: _on_cpu(value, node) for node, value in parts.parameters.items() if _is_dense(value)}
    named = {node: name for node, name in parts.names.items() if node in dense}
    if handlers:
        assert_about_tensors(graph)
    folder = constants or ConstantFolder(dense, named)
    if expander:
        _keep_packed(graph, parts, expander, folder)
    replaced = _replace_bytes(graph, parts) if handlers else {}
    if handlers:
        parts.substitute(PairGraph(graph, constants or parts.parameters).substitutes)
    walker = Walker(handlers, folder, portable, expander, parts.symbols)
    for node, key in parts.names.items():
        walker.name_constant(node, key)
    for node, value in parts.parameters.items():
        if node not in dense:
            walker.keep(node, f"constant {node.name}", value)
    for node, argument in parts.arguments:
        if argument.is_kept:
            walker.keep(node, argument.name)
        elif argument.is_tensor:
            taken = replaced.get(node, node)
            walker.argument(taken, argument.name, taken.meta["val"])
        elif argument.is_carrier:
            walker.carrier(node, argument)
    for node, name, tensor in parts.carried:
        check_static(tensor, f"buffer {name!r}")
        walker.argument(node, name, tensor)
    for state in parts.states:
        walker.argument(state.node, state.input.name, state.node.meta["val"])
    given = [*parts.outputs, *(value for _, value in parts.writes), *(state.next for state in parts.states)]
    walker.walk(graph, [replaced.get(value, value) if isinstance(value, torch.fx.Node) else value for value in given])
    return _assemble(walker, parts, attributes, replaced)


def _keep_packed(graph: torch.fx.Graph, parts: _GraphParts, expander: Expander, constants: ConstantFolder) -> None:
    """Replaces calls that quantize or dequantize by their decompositions, and other uses of quantized weights.

    This is done before tensors of uint8 are replaced: codes of uint8 become views of int8.
    """
    targets = decompositions_to_integers()
    packed = PackedGraph(graph, constants)
    for node in list(graph.nodes):
        if node.target is torch.ops.export.access_subclass_inner_tensor.default:
            node.meta["label"] = f"{parts.names.get(node.args[0], node.args[0].name)}.{node.args[1]}"
        elif node.target in targets:
            limits = limits_of(node)
            declare_dtypes(node)
            narrow_scale(node)
            expansion = expander.expand(node, lambda _: True, None)
            if expansion is not None:
                for taken, tensor in expander.take_constants():
                    constants.add(taken, tensor)
                parts.substitute(_replace_results(graph, node, expansion.results))
                if limits is not None:
                    packed.narrow(expansion.nodes, limits)
        else:
            packed.visit(node)
    parts.substitute(packed.substitutes)


def _replace_results(graph: torch.fx.Graph, node: torch.fx.Node, results: Any) -> dict[torch.fx.Node, torch.fx.Node]:
    """Erases a call whose decomposition is in the graph. Returns the nodes that replace its results, by these."""
    if isinstance(results, torch.fx.Node):
        graph.erase_node(node)
        return {node: results}
    replaced = {}
    for item in list(node.users):
        assert item.target is operator.getitem
        replaced[item] = results[item.args[1]]
        item.replace_all_uses_with(replaced[item])
        graph.erase_node(item)
    graph.erase_node(node)
    return replaced


def _replace_bytes(graph: torch.fx.Graph, parts: _GraphParts) -> dict[torch.fx.Node, torch.fx.Node]:
    """Replaces tensors of uint8 in the graph, and makes such inputs arguments of the program.

    Returns the int8 nodes by the nodes of uint8 that are inputs or outputs.
    """
    inputs = [node for node, argument in parts.arguments if argument.dtype == torch.uint8 and fake_of(node) is not None]
    found = ByteGraph(graph, inputs)
    parts.substitute(found.substitutes)
    for number, (node, argument) in enumerate(parts.arguments):
        if node in found.inputs:
            parts.arguments[number] = (node, dataclasses.replace(argument, is_kept=False))
    returned = [value for value in (*parts.outputs, *(value for _, value in parts.writes)) if found.is_computed(value)]
    return found.inputs | {value: found.stand_ins[value] for value in returned}


def _assemble(
    walker: Walker,
    parts: _GraphParts,
    attributes: Mapping[str, str] | None,
    replaced: Mapping[torch.fx.Node, torch.fx.Node],
) -> ImportedProgram:
    """Returns the program of a graph that the walker has imported. replaced: see `_replace_bytes`."""
    arguments = {node for node, _ in parts.arguments}
    numbers = {replaced.get(node, node): number for number, (node, _) in enumerate(parts.arguments)}
    buffers = {buffer.node: buffer.name for buffer in parts.carried}
    results: list[_Result] = []

    def output(value: Any) -> Output:
        if not isinstance(value, torch.fx.Node) or value not in replaced:
            return _output(walker, value, parts, numbers, buffers, results)
        if value in arguments:
            return InputOutput(numbers[replaced[value]])
        return as_bytes(_output(walker, replaced[value], parts, numbers, buffers, results, torch.uint8))

    # If a result is the new value of a written argument, it is the argument itself.
    written = {value: target for target, value in parts.writes if isinstance(target, int)}
    outputs = [
        InputOutput(written[value]) if isinstance(value, torch.fx.Node) and value in written else output(value)
        for value in parts.outputs
    ]
    writes = [Write(target, output(value)) for target, value in parts.writes]
    checks = []
    for value, message in walker.checks:
        checks.append(Check(len(results), message))
        results.append(_Result(value, value.dtype))
    next_values = [walker.tensor(state.next) for state in parts.states]
    asserted = (condition for condition in walker.conditions if is_open(condition, parts.symbols))
    conditions = list(dict.fromkeys([*parts.conditions, *asserted]))
    interface = Interface(
        inputs=[argument for _, argument in parts.arguments],
        states=[state.input for state in parts.states],
        outputs=outputs,
        results=[TensorType(result.value.shape, result.dtype) for result in results],
        carried=[buffer.name for buffer in parts.carried],
        writes=writes,
        checks=checks,
        symbols=parts.symbols,
        conditions=conditions,
    )
    state = ModelState(
        tensors=parts.state,
        persistent=parts.persistent,
        sources=walker.sources,
        decisive=walker.constants.read,
        kept=walker.kept,
        kept_sources=walker.kept_sources,
    )
    returned = [*(result.value for result in results), *next_values]
    text = walker.builder.module(returned, attributes, len(next_values), conditions)
    return ImportedProgram(
        text, walker.builder.weights, interface, state, walker.reasons, walker.unplaced, walker.quantized
    )


class _Result(NamedTuple):
    """A Value that the function returns, and its dtype in the model, which is uint8 for some of int8."""

    value: Value
    dtype: torch.dtype


def _output(
    walker: Walker,
    value: Any,
    parts: _GraphParts,
    numbers: Mapping[torch.fx.Node, int],
    buffers: Mapping[torch.fx.Node, str],
    results: list[_Result],
    dtype: torch.dtype | None = None,
) -> Output:
    """Returns the Output for a node or a plain value. Adds Values that the function must return to `results`.

    numbers: the number of each input; buffers: the names of the placeholders of written buffers. dtype: of the result
    in the model; None if it is that of the Value.
    """
    if not isinstance(value, torch.fx.Node):
        return ValueOutput(value)
    if walker.is_size(value):
        size = walker.symbols.size(value.meta["val"])
        return ValueOutput(size) if isinstance(size, int) else SizeOutput(size)
    if value in numbers and not walker.is_imported(value):
        return InputOutput(numbers[value])
    if walker.is_constant(value):
        copied = value.op != "placeholder"
        if walker.constants.weights_of(value):
            return WeightsOutput(walker.constants.recipe(value), copied=copied)
        return ValueOutput(walker.constants[value], copied=copied)
    if name := walker.leaving(value):
        return KeptOutput(name)
    result = _Result(walker.tensor(value), dtype or walker.tensor(value).dtype)
    for node, number in numbers.items():
        if walker.is_imported(node) and result == (walker.tensor(node), parts.arguments[number][1].dtype):
            return InputOutput(number, copied=value is not node)
    for node, name in buffers.items():
        if result == (walker.tensor(node), walker.tensor(node).dtype):
            return BufferOutput(name, copied=True)
    if result not in results:
        results.append(result)
        return ResultOutput(len(results) - 1)
    return ResultOutput(results.index(result), copied=True)


def _user_input(argument: object, node: torch.fx.Node, symbols: Symbols, carriers: Container[str]) -> ProgramInput:
    """Returns the ProgramInput for an argument of an ExportedProgram. carriers: see `find_carriers`."""
    if isinstance(argument, SymIntArgument):
        return size_input(argument.name, node.meta["val"], symbols, carriers)
    if isinstance(argument, ConstantArgument):
        return ProgramInput(argument.name, value=argument.value)
    if not isinstance(argument, TensorArgument):
        raise UnsupportedError(
            f"input {node.name!r} is a {type(argument).__name__}, but expected a tensor or a plain value"
        )
    return tensor_input(argument.name, node.meta["val"], symbols)


def size_input(name: str, value: int | torch.SymInt, symbols: Symbols, carriers: Container[str]) -> ProgramInput:
    """Returns the ProgramInput for an int. carriers: see `find_carriers`."""
    return ProgramInput(name, value=symbols.size(value), is_carrier=name in carriers)


def tensor_input(name: str, fake: torch.Tensor, symbols: Symbols | None = None) -> ProgramInput:
    """Returns the ProgramInput for a tensor like `fake`. symbols: the Symbols of its dims."""
    symbols = Symbols() if symbols is None else symbols
    check_dims(fake, f"input {name!r}", symbols)
    if fake.device.type != "cpu":
        raise UnsupportedError(f"input {name!r} is on {fake.device}, but expected a tensor on the CPU")
    try:
        check_expressible(fake, f"input {name!r}", symbols)
    except UnsupportedError:
        return ProgramInput(name, symbols.dims(fake), fake.dtype, layout=fake.layout, is_kept=True)
    return ProgramInput(name, symbols.dims(fake), fake.dtype)


def _find(exported: torch.export.ExportedProgram, name: str) -> Any:
    """Returns a parameter, buffer or constant. Raises UnsupportedError if the program has none of that name."""
    for holder in (exported.state_dict, exported.constants):
        if name in holder:
            return holder[name]
    raise UnsupportedError(f"the exported program has no value for {name!r}")


def _is_dense(value: object) -> bool:
    """Returns true if a value is a strided tensor."""
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def _on_cpu(tensor: torch.Tensor, node: torch.fx.Node) -> torch.Tensor:
    """Returns a tensor, detached. Raises UnsupportedError if it is not on the CPU."""
    if tensor.device.type != "cpu":
        raise UnsupportedError(f"{node.name!r} is on {tensor.device}, but expected a tensor on the CPU")
    return tensor.detach()
