# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an ExportedProgram to the text of a module, its weights, and what its arguments and results are."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument

from ..errors import UnsupportedError
from . import attention, indexing, layout, neural, pointwise, resampling, softmax, sorting
from .constants import ConstantFolder
from .decompose import decompositions
from .walker import Walker, check_static

_TOPICS = (layout, neural, attention, indexing, sorting, resampling, pointwise, softmax)


@dataclass(frozen=True)
class Input:
    """An argument of the model, in flat order: a tensor of these dims and dtype, or a value fixed at export."""

    name: str
    shape: tuple = ()
    dtype: Any = None
    value: Any = None  # of an argument that is no tensor

    @property
    def is_tensor(self):
        return self.dtype is not None


@dataclass(frozen=True)
class Output:
    """A result of the model, in flat order.

    kind: "result" (number `index` of the function's), "input" (argument `index`, the very tensor), "value" (`value`).
    copied: whether PyTorch gives a tensor of its own rather than the argument or constant itself.
    """

    kind: str
    index: int = 0
    value: Any = None
    copied: bool = False


@dataclass
class ImportedProgram:
    """An imported model: MLIR text with one public function @forward, and what the text leaves out."""

    text: str
    weights: dict  # key -> contiguous CPU tensor
    inputs: list  # of Input; the function's arguments are those that are tensors, in order
    outputs: list  # of Output
    results: list  # (shape, dtype) of the function's results
    modules: set = field(default_factory=set)  # (path, qualified class name)


def import_program(exported, attributes=None, portable=False):
    """Imports a `torch.export.ExportedProgram`.

    attributes: string attributes of the module, e.g. {"inlay.weights": "model.safetensors"}.
    portable: no folders of this machine in the text.
    Raises UnsupportedError for what the dialect can't say: symbolic or empty dims, mutated buffers, control flow.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PyTorch's own, about how it copies a TreeSpec
        exported = exported.run_decompositions(decompositions())
    _check_outputs(exported.graph_signature)
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    parameters, keys, inputs, arguments = {}, {}, [], []
    for spec in exported.graph_signature.input_specs:
        node = nodes[spec.arg.name]
        if spec.kind == InputKind.USER_INPUT:
            inputs.append(_user_input(spec.arg, node))
            arguments.append(node)
        elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            parameters[node] = _parameter(exported, spec)
            if spec.kind != InputKind.CONSTANT_TENSOR:
                keys[node] = spec.target
        else:
            raise UnsupportedError(f"input {spec.arg.name!r} is a {spec.kind.name.lower()}, which Inlay can't take")
    output = next(node for node in exported.graph.nodes if node.op == "output")
    return import_graph(
        exported.graph,
        list(zip(arguments, inputs, strict=True)),
        list(output.args[0]),
        parameters,
        keys,
        attributes,
        portable,
    )


def import_graph(graph, arguments, outputs, parameters=None, keys=None, attributes=None, portable=False):
    """Imports an FX graph of ATen calls.

    arguments: (placeholder, Input) pairs; outputs: nodes or plain values; parameters: node -> tensor; keys: node -> the
    name that its bytes go by.
    """
    constants = ConstantFolder({node: _on_cpu(tensor, node) for node, tensor in (parameters or {}).items()})
    handlers = {name: handler for topic in _TOPICS for name, handler in topic.handlers().items()}
    walker = Walker(handlers, constants, portable)
    for node, key in (keys or {}).items():
        walker.name_constant(node, key)
    for node, argument in arguments:
        if argument.is_tensor:
            walker.argument(node, argument.name, node.meta["val"])
    walker.walk(graph)
    results, made = [], []
    numbers = {node: number for number, (node, _) in enumerate(arguments)}
    for value in outputs:
        made.append(_output(walker, value, numbers, results))
    return ImportedProgram(
        text=walker.builder.module(results, attributes),
        weights=walker.builder.weights,
        inputs=[argument for _, argument in arguments],
        outputs=made,
        results=[(value.shape, value.dtype) for value in results],
        modules=walker.modules,
    )


def _output(walker, value, numbers, results):
    """The Output for a node or plain value; adds to the function's `results` what must be computed."""
    if not isinstance(value, torch.fx.Node):
        return Output("value", value=value)
    if walker.is_constant(value):
        return Output("value", value=walker.constants[value], copied=value.op != "placeholder")
    result = walker.tensor(value)
    for node, number in numbers.items():
        if walker.is_imported(node) and walker.tensor(node) == result:
            return Output("input", number, copied=value is not node)
    if result not in results:
        results.append(result)
        return Output("result", len(results) - 1)
    return Output("result", results.index(result), copied=True)


def _check_outputs(signature):
    for spec in signature.output_specs:
        if spec.kind == OutputKind.BUFFER_MUTATION:
            raise UnsupportedError(
                f"the model writes its buffer {spec.target!r} as it runs, which Inlay can't do yet; a "
                "model in training mode does so: call model.eval() before it is exported"
            )
        if spec.kind == OutputKind.USER_INPUT_MUTATION:
            raise UnsupportedError(f"the model writes its argument {spec.target!r}, which Inlay can't do yet")
        if spec.kind != OutputKind.USER_OUTPUT:
            what = f" {spec.target!r}" if spec.target else ""
            raise UnsupportedError(
                f"the model has an output of kind {spec.kind.name.lower()}{what}, which Inlay can't make yet"
            )


def _user_input(argument, node):
    if isinstance(argument, ConstantArgument):
        return Input(argument.name, value=argument.value)
    if not isinstance(argument, TensorArgument):
        raise UnsupportedError(
            f"input {argument.name!r} is a {type(argument).__name__}, but expected a tensor or a plain value"
        )
    fake = node.meta["val"]
    check_static(fake, f"input {argument.name!r}")
    return Input(argument.name, tuple(fake.shape), fake.dtype)


def _parameter(exported, spec):
    if spec.target in exported.state_dict:
        return exported.state_dict[spec.target]
    return exported.constants[spec.target]


def _on_cpu(tensor, node):
    if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise UnsupportedError(
            f"{node.name!r} is {type(tensor).__name__} on {getattr(tensor, 'device', 'no device')}, but "
            "expected a dense tensor on the CPU"
        )
    return tensor.detach()
