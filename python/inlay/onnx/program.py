# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an ONNX model to the text of a module and its weights."""

from types import SimpleNamespace

import onnx
import torch
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from ..errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError, did_you_mean
from ..importer import import_calls
from ..importer.guards import GuardError, plain_kernels, read_symbols
from ..importer.program import tensor_input
from ..shapes import Input as Range
from ..shapes import Profile
from ..text import tensor_text
from . import checking, files, indexing, layout, neural, pointwise, pooling, recurrent, reductions, resize
from .call import NodeCall
from .graph import Graph
from .naming import module_stack
from .shapes import open_dims
from .tensors import read_tensor, type_of

_TOPICS = (pointwise, reductions, layout, neural, pooling, resize, recurrent, indexing)


class OnnxProgram:
    """An ONNX graph as ATen calls: what stands for a torch.export.ExportedProgram where a compiled model is called."""

    def __init__(self, graph, arguments, outputs, symbols=None):
        """graph: a Graph; arguments: (placeholder, Input) of the model's inputs; outputs: nodes of its outputs;
        symbols: those of the inputs' dims."""
        self._symbols = symbols
        self._graph, self._arguments, self._outputs = graph, arguments, outputs
        # An import changes the FX graph.
        self._steps = [
            (node, node.target, node.args, node.kwargs) for node in graph.fx.nodes if node.op == "call_function"
        ]
        results = 0 if len(outputs) == 1 else (0,) * len(outputs)
        self.call_spec = SimpleNamespace(
            in_spec=pytree.tree_structure(((0,) * len(arguments), {})), out_spec=pytree.tree_structure(results)
        )
        names = [one.name for _, one in arguments]
        self.module_call_graph = [SimpleNamespace(signature=SimpleNamespace(forward_arg_names=names))]

    def module(self):
        """A function that makes the calls in PyTorch, for comparisons: of the inputs, by place or by name."""

        def run(*args, **kwargs):
            given = [*args, *(kwargs[one.name] for _, one in self._arguments[len(args) :])]
            values = {node: value for (node, _), value in zip(self._arguments, given, strict=True)}
            values.update(self._graph.values)
            for node, target, operands, options in self._steps:
                operands, options = map_arg((operands, options), values.__getitem__)
                values[node] = target(*operands, **options)
            results = tuple(values[node] for node in self._outputs)
            return results[0] if len(results) == 1 else results

        return run

    def import_(self, attributes=None, portable=False, only_calls=False):
        """The ImportedProgram; the arguments are those of `import_program`. To be called once: it changes the graph."""
        graph = self._graph
        weights = {node: (name, graph.values[node]) for node, name in graph.weights.items()}
        return import_calls(
            graph.fx,
            self._arguments,
            self._outputs,
            graph.folder,
            weights,
            attributes,
            portable,
            only_calls,
            self._symbols,
        )


def import_model(model, inputs=None, attributes=None, portable=False, only_calls=False, dynamic_shapes=None):
    """(OnnxProgram, ImportedProgram) of a path or an onnx.ModelProto.

    inputs: example arguments that fix symbolic dims: a tuple or list by place, a dict by name, or one tensor; None if
    the model has none such. The rest is as for `inlay.importer.import_program`.
    Raises ArgumentValueError for a model that is broken, UnsupportedError for one with parts that Inlay can't import;
    the message names the node, its op and its place.
    """
    program = build(model, inputs, dynamic_shapes)
    return program, program.import_(attributes, portable, only_calls)


def build(model, inputs=None, dynamic_shapes=None):
    """The OnnxProgram of a model; arguments and errors are those of `import_model`."""
    proto, folder, name = files.load(model)
    if proto is model:
        proto = onnx.ModelProto()
        proto.CopyFrom(model)
    checking.check_text(proto, name)
    proto = checking.inline_functions(proto, name)
    handlers = {op: handler for topic in _TOPICS for op, handler in topic.handlers().items()}
    checking.check_ops(proto, handlers, name)
    given = _order_inputs(proto, inputs)
    wishes = _open_dims(proto, given, dynamic_shapes)
    checking.fix_dims(proto, _examples(given, wishes), name, wishes)
    infos = checking.graph_inputs(proto)
    if proto.graph.sparse_initializer:
        raise UnsupportedError(f"{name} has a sparse initializer, which Inlay can't take")
    initializers = checking.take_initializers(proto)
    types = checking.check_and_infer(proto, name)
    graph, values, arguments = Graph(), {"": None}, []
    for info, wish in zip(infos, wishes, strict=True):
        dtype, dims = type_of(info, f"input {info.name!r}")
        dims = [wish.get(dim, size) for dim, size in enumerate(dims)]
        values[info.name] = graph.argument(info.name, dims, dtype)
    symbols = _symbols(infos, values, wishes)
    arguments = [(values[one.name], tensor_input(one.name, values[one.name].meta["val"], symbols)) for one in infos]
    for tensor in initializers:
        read = read_tensor(tensor, folder, f"initializer {tensor.name!r}")
        # Exporters keep numbers among the initializers; they are no weights.
        is_weight = read.is_floating_point() and read.numel() > 1
        values[tensor.name] = graph.constant(read, tensor.name, is_weight)
    version = checking.default_version(proto)
    with torch.no_grad(), graph.no_new_guards(), plain_kernels():
        for number, node in enumerate(proto.graph.node):
            place = checking.describe(node, number)
            call = NodeCall(node, [values[one] for one in node.input], graph, version, place)
            results = _convert(handlers[node.op_type], call)
            _check_results(call, results, types)
            graph.name(graph.labels.take(node.name or node.op_type), module_stack(node), results)
            values.update(zip(node.output, results, strict=False))
    outputs = [values[info.name] for info in proto.graph.output]
    return OnnxProgram(graph, arguments, outputs, symbols)


def _open_dims(proto, given, dynamic_shapes):
    infos = checking.graph_inputs(proto)
    dims = [type_of(info, f"input {info.name!r}")[1] for info in infos]
    return open_dims([info.name for info in infos], dims, given, dynamic_shapes)


def _examples(given, wishes):
    """Example inputs, with a tensor in place of each range."""
    if given is None:
        return None
    made = []
    for one, wish in zip(given, wishes, strict=True):
        if isinstance(one, Range):
            one = torch.zeros(
                [wish[dim].hint if dim in wish else one.range_of(dim)[0] for dim in range(one.rank)], dtype=one.dtype
            )
        made.append(one)
    return made


def _symbols(infos, values, wishes):
    """The Symbols of a graph's inputs."""
    profiles = {
        (number, dim): Profile(one.min, one.typical, one.name)
        for number, wish in enumerate(wishes)
        for dim, one in wish.items()
    }
    return read_symbols([(info.name, values[info.name].meta["val"]) for info in infos], profiles=profiles)


def _convert(handler, call):
    """The FX nodes of a call's outputs, None where nobody reads one."""
    try:
        result = handler(call)
        call.check_attributes()
    except Error:
        raise
    except GuardError as error:
        raise call.unsupported(
            f"it can't be said for every size ({error}): give example inputs, which fix sizes"
        ) from error
    except Exception as error:  # PyTorch's, about operands that don't go together
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ArgumentValueError(f"{call.place}: {first}") from error
    return result if isinstance(result, list) else [result]


def _check_results(call, results, types):
    """Raises unless the results are what shape inference, or the file, says of them."""
    for number, output in enumerate(call.proto.output):
        if not output:
            continue
        if number >= len(results) or results[number] is None:
            raise call.unsupported(f"output {number}, {output!r}, is not supported yet")
        value = results[number].meta["val"]
        dtype, dims = types.get(output, (value.dtype, None))
        if dims is None:
            dims = value.shape
        fits = all(
            isinstance(want, str) or not isinstance(have, int) or want == have
            for want, have in zip(dims, value.shape, strict=False)
        )
        if value.dtype != dtype or len(dims) != value.dim() or not fits:
            raise ArgumentValueError(
                f"{call.place}: expected {output!r} to be {tensor_text(dtype, dims)}, but its inputs give "
                f"{tensor_text(value.dtype, value.shape)}"
            )


def _order_inputs(proto, inputs):
    """Example inputs in the graph's order; None if there are none."""
    if inputs is None:
        return None
    names = [info.name for info in checking.graph_inputs(proto)]
    if isinstance(inputs, (torch.Tensor, Range)):
        inputs = (inputs,)
    if isinstance(inputs, dict):
        for name in inputs:
            if name not in names:
                raise ArgumentTypeError(f"unknown input {name!r}{did_you_mean(str(name), names)}")
        for number, name in enumerate(names):
            if name not in inputs:
                raise ArgumentTypeError(f"missing example input {name!r} (place {number + 1})")
        return [inputs[name] for name in names]
    if not isinstance(inputs, (tuple, list)):
        raise ArgumentTypeError(
            f"expected inputs to be a tuple, a list, a dict or a tensor, but got {type(inputs).__name__}"
        )
    if len(inputs) != len(names):
        raise ArgumentTypeError(f"expected {len(names)} example inputs ({', '.join(names)}), but got {len(inputs)}")
    return list(inputs)


def example_inputs(model, shapes):
    """Inputs of zeros that fix a model's dims: a dict of tensors by name.

    shapes: name -> dims of the inputs that have symbolic ones; others may be left out.
    """
    proto, _, name = files.load(model)
    infos = {info.name: info for info in checking.graph_inputs(proto)}
    for one in shapes:
        if one not in infos:
            raise ArgumentTypeError(f"unknown input {one!r}{did_you_mean(one, infos)}")
    found = {}
    for key, info in infos.items():
        dtype, dims = type_of(info, f"input {key!r}")
        if key not in shapes:
            checking.check_known(key, dims, name)
        found[key] = torch.zeros(shapes.get(key, dims), dtype=dtype)
    return found
