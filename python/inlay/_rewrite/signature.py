# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records the high-level calls that layers came from: a function name, its arguments by name and its outputs.

The layers store which of their operands and results are tensors of the call. A call is therefore read from the current
graph, also after rewrites.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .._graph.builder import op
from .._graph.module import Layer, Module, Tensor
from .._graph.scope import changing, current_module
from .._graph.values import flatten, unflatten
from ..errors import ArgumentTypeError, ArgumentValueError, RewriteError, did_you_mean

if TYPE_CHECKING:
    from .._inlay import CallRecord, Graph

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def record_signature(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Decorates a function that makes layers, so that each call is recorded with its arguments and outputs.

    Recorded functions may call each other: a layer belongs to all calls during which it is made. A call needs a current
    module, from `with net_guard(module)` or a pattern, and raises RewriteError without one.

        @inlay.rewrite.record_signature
        def gelu(x, approximate=False): ...
    """
    parameters = inspect.signature(function)

    @functools.wraps(function)
    def recorded(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        from .._inlay import Recorder

        bound = parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name != "self"}
        graph = current_module()._graph
        with changing(graph):
            recorder = Recorder(graph, function.__name__)
            try:
                for name, value in given.items():
                    recorder.argument(name, flatten(value, _handle))
                outputs = function(*args, **kwargs)
                recorder.outputs(flatten(outputs, _handle))
            finally:
                recorder.close()
        return outputs

    return recorded


class FLayerInfo:
    """A recorded call with its current layers and tensors."""

    __slots__ = ("_graph", "key")

    key: str

    def __init__(self, graph: Graph, key: str) -> None:
        self._graph, self.key = graph, key

    @property
    def layer_kind(self) -> str:
        """The name of the function."""
        return self._read()["function"]

    @property
    def parent(self) -> FLayerInfo | None:
        """The recorded call that made this call, or None."""
        key = self._read()["parent"]
        return FLayerInfo(self._graph, key) if key else None

    @property
    def layers(self) -> list[Layer]:
        """The layers that the call made, except removed ones."""
        return [Layer(op) for op in self._read()["ops"]]

    @property
    def raw_inputs(self) -> dict[str, Any]:
        """The arguments by name. A tensor that no layer of the call uses any more is None."""
        arguments = self._read()["arguments"]
        return {name: unflatten(value, _wrap) for name, value in arguments.items()}

    @property
    def raw_outputs(self) -> Any:
        """The outputs of the call, in the structure that the function returned."""
        return unflatten(self._read()["outputs"], _wrap)

    @property
    def signature(self) -> tuple[str, dict[str, Any]]:
        """The name of the function, and the arguments by name with the class Tensor in place of each tensor."""

        def kind(value: Any) -> Any:
            return Tensor if isinstance(_wrap(value), Tensor) else value

        arguments = self._read()["arguments"]
        return self.layer_kind, {name: unflatten(value, kind) for name, value in arguments.items()}

    def get_input(self, name: str) -> Any:
        """Returns the argument of that name. Raises ArgumentValueError if there is none."""
        inputs = self.raw_inputs
        if name not in inputs:
            raise ArgumentValueError(f"'{self.layer_kind}' has no argument '{name}'{did_you_mean(str(name), inputs)}")
        return inputs[name]

    def clone_inputs(self) -> dict[str, Any]:
        """Returns a copy of the arguments by name, which may be changed and passed to the function again."""
        return self.raw_inputs

    def replace_input_with(self, src: Tensor, dst: Tensor) -> None:
        """Replaces `src` by `dst` in all layers of the call."""
        from .._inlay import replace_call_input

        _check_tensors(src, dst)
        with changing(self._graph):
            replace_call_input(self._graph, self.key, src._value, dst._value)

    def replace_outputs_uses_with(self, module: Module, new_outs: Any) -> None:
        """Replaces all uses of the outputs of the call, including outputs of the module.

        If the dtype of a new tensor differs, it is cast. If its dims differ, the types of the layers that use it are
        inferred again.

        module: the module of the call.
        new_outs: the new tensors, in the structure of `raw_outputs`.
        Raises ArgumentTypeError or ArgumentValueError for another module or structure, and RewriteError for an output
        that is no longer in the graph.
        """
        if not isinstance(module, Module) or module._graph is not self._graph:
            raise ArgumentValueError(f"expected the module that '{self.layer_kind}' is in, but got {module!r}")
        pairs: list[tuple[Tensor, Tensor]] = []
        _pair(self.layer_kind, "outputs", self.raw_outputs, new_outs, pairs)
        own = [layer._op for layer in self.layers]
        with changing(self._graph):
            for before, after in pairs:
                if before.dtype != after.dtype:
                    after = op.cast(after, before.dtype)
                self._graph.move_uses(before._value, after._value, own, True)

    replace_output_uses_with = replace_outputs_uses_with

    def _read(self) -> CallRecord:
        from .._inlay import read_call

        return read_call(self._graph, self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FLayerInfo) and (self._graph, self.key) == (other._graph, other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<FLayerInfo {self.key}>"


class FLayerInfoMemo:
    """The recorded calls of a module. Iteration yields each call."""

    __slots__ = ("_module",)

    def __init__(self, module: Module) -> None:
        self._module = module

    @classmethod
    def instance(cls) -> FLayerInfoMemo:
        """Returns the recorded calls of the current module. Raises RewriteError if there is none."""
        return cls(current_module())

    def get(self, layer: Layer | str) -> FLayerInfo | None:
        """Returns the innermost call that made a layer, or None if there is none.

        layer: a layer or the name of a layer.
        """
        from .._inlay import find_call

        if not isinstance(layer, (str, Layer)):
            raise ArgumentTypeError(f"expected a layer or its name, but got {layer!r}")
        found = self._module.get_layer_by_name(layer) if isinstance(layer, str) else layer
        key = find_call(found._op) if found is not None else None
        return None if key is None else FLayerInfo(self._module._graph, key)

    def __iter__(self) -> Iterator[FLayerInfo]:
        from .._inlay import list_calls

        return (FLayerInfo(self._module._graph, key) for key in list_calls(self._module._graph))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _handle(value: Any) -> Any:
    """Returns the handle of the extension for a tensor, and other values as they are."""
    return value._value if isinstance(value, Tensor) else value


def _wrap(value: Any) -> Any:
    """Returns the tensor for a handle of the extension, and other values as they are."""
    from .._inlay import Value

    return Tensor._of(value) if isinstance(value, Value) else value


def _check_tensors(*values: object) -> None:
    for value in values:
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"expected a tensor, but got {value!r}")


def _pair(call: str, place: str, old: Any, new: Any, pairs: list[tuple[Tensor, Tensor]]) -> None:
    """Appends the tensors at the same place of two structures to `pairs`.

    call, place: the name of the call and the place in it, for messages.
    Raises ArgumentTypeError or ArgumentValueError if the structures differ.
    """
    if isinstance(old, Tensor) or old is None:
        if old is None and new is not None:
            raise RewriteError(f"{place} of '{call}' is no longer in the graph")
        if old is not None and not isinstance(new, Tensor):
            raise ArgumentTypeError(f"expected a tensor for {place} of '{call}', but got {new!r}")
        pairs.extend([(old, new)] if old is not None else [])
        return
    if type(old) is not type(new):
        raise ArgumentTypeError(
            f"expected {place} of '{call}' to be a {type(old).__name__}, but got a {type(new).__name__}"
        )
    if isinstance(old, dict):
        if set(old) != set(new):
            raise ArgumentValueError(f"expected {place} of '{call}' named {sorted(old)}, but got {sorted(new)}")
        for key in old:
            _pair(call, f"{place}[{key!r}]", old[key], new[key], pairs)
    elif isinstance(old, (list, tuple)):
        if len(old) != len(new):
            raise ArgumentValueError(f"expected {len(old)} {place} of '{call}', but got {len(new)}")
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            _pair(call, f"{place}[{number}]", before, after, pairs)
