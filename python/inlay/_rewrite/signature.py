# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calls that layers came from: function, arguments by name, outputs.

What is recorded about tensors is on the layers: which operands and results are which tensors of the call. So it is read
from the graph as it is now, whatever was rewritten since.
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
    from .._inlay import Graph

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def record_signature(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Decorates a function that builds layers, so that each call of it is recorded with its arguments and outputs.

    Recorded functions may call one another: a layer belongs to all calls that it is made in. Outside of
    `with net_guard(module)` and patterns the function is called as it is.
    """
    parameters = inspect.signature(function)

    @functools.wraps(function)
    def recorded(*args, **kwargs):
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
    """One recorded call, as it stands in the graph now."""

    __slots__ = ("_graph", "key")

    key: str

    def __init__(self, graph: Graph, key: str) -> None:
        self._graph, self.key = graph, key

    @property
    def layer_kind(self) -> str:
        """The function's name."""
        return self._read()["function"]

    @property
    def parent(self) -> FLayerInfo | None:
        """The call around it; None if there is none."""
        key = self._read()["parent"]
        return FLayerInfo(self._graph, key) if key else None

    @property
    def layers(self) -> list[Layer]:
        """The layers that the call made and that are still there."""
        return [Layer(one) for one in self._read()["ops"]]

    @property
    def raw_inputs(self) -> dict[str, Any]:
        """The arguments by name; None for a tensor that no layer of the call uses any more."""
        arguments = self._read()["arguments"]
        return {name: unflatten(value, _wrap) for name, value in arguments.items()}

    @property
    def raw_outputs(self) -> Any:
        """What the function returned, in the same structure."""
        return unflatten(self._read()["outputs"], _wrap)

    @property
    def signature(self) -> tuple[str, dict[str, Any]]:
        """The function's name, and the arguments with each tensor replaced by the class Tensor."""
        kind = lambda value: Tensor if isinstance(_wrap(value), Tensor) else value  # noqa: E731
        arguments = self._read()["arguments"]
        return self.layer_kind, {name: unflatten(value, kind) for name, value in arguments.items()}

    def get_input(self, name: str) -> Any:
        """The argument of that name."""
        inputs = self.raw_inputs
        if name not in inputs:
            raise ArgumentValueError(f"'{self.layer_kind}' has no argument '{name}'{did_you_mean(str(name), inputs)}")
        return inputs[name]

    def clone_inputs(self) -> dict[str, Any]:
        """The arguments by name, to be changed and given back to the function."""
        return self.raw_inputs

    def replace_input_with(self, src: Tensor, dst: Tensor) -> None:
        """Lets the call's layers use `dst` where they use `src`."""
        from .._inlay import replace_call_input

        _check_tensors(src, dst)
        with changing(self._graph):
            replace_call_input(self._graph, self.key, src._value, dst._value)

    def replace_outputs_uses_with(self, module: Module, new_outs: Any) -> None:
        """Lets all that uses the call's outputs, outputs of the module too, use `new_outs`, of the same structure.

        Where a dtype differs the new tensor is cast; where sizes differ, what follows from them is inferred anew.
        """
        if not isinstance(module, Module) or module._graph is not self._graph:
            raise ArgumentValueError(f"expected the module that '{self.layer_kind}' is in, but got {module!r}")
        old = self.raw_outputs
        pairs = []
        _pair(self.layer_kind, "outputs", old, new_outs, pairs)
        own = [layer._op for layer in self.layers]
        with changing(self._graph):
            for before, after in pairs:
                if before.dtype != after.dtype:
                    after = op.cast(after, before.dtype)
                self._graph.move_uses(before._value, after._value, own, True)

    replace_output_uses_with = replace_outputs_uses_with

    def _read(self):
        from .._inlay import read_call

        return read_call(self._graph, self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FLayerInfo) and (self._graph, self.key) == (other._graph, other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"<FLayerInfo {self.key}>"


class FLayerInfoMemo:
    """The recorded calls of a module."""

    __slots__ = ("_module",)

    def __init__(self, module: Module) -> None:
        self._module = module

    @classmethod
    def instance(cls) -> FLayerInfoMemo:
        """Of the module of the innermost `net_guard`, or of the one that patterns are run on."""
        return cls(current_module())

    def get(self, layer: Layer | str) -> FLayerInfo | None:
        """The innermost call that a layer (or the layer of that name) was made in; None if there is none."""
        from .._inlay import find_call

        if isinstance(layer, str):
            layer = self._module.get_layer_by_name(layer)
        elif not isinstance(layer, Layer):
            raise ArgumentTypeError(f"expected a layer or its name, but got {layer!r}")
        key = find_call(layer._op) if layer is not None else None
        return None if key is None else FLayerInfo(self._module._graph, key)

    def __iter__(self) -> Iterator[FLayerInfo]:
        from .._inlay import list_calls

        return (FLayerInfo(self._module._graph, key) for key in list_calls(self._module._graph))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _handle(value):
    return value._value if isinstance(value, Tensor) else value


def _wrap(value):
    from .._inlay import Value

    return Tensor._of(value) if isinstance(value, Value) else value


def _check_tensors(*values):
    for value in values:
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"expected a tensor, but got {value!r}")


def _pair(call, place, old, new, pairs):
    """The tensors of two structures that must be alike, side by side."""
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
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            _pair(call, f"{place}[{number}]", one, other, pairs)
