# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Describes the interface and calling convention of a compiled model as JSON for a container.

`restoring.py` reads it, and `vocabulary.py` has the vocabulary. The container itself is written in C++.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sympy
import torch
from torch.utils import _pytree as pytree

from ...errors import UnsupportedError
from ..imported import CallConvention, Interface, ProgramInput, TensorType, in_order
from ..outputs import BufferOutput, InputOutput, Output, ResultOutput, SizeOutput, Tensors, ValueOutput, WeightsOutput
from ..sizes import Size
from .structures import dump_structure
from .vocabulary import OPERATORS, OUTPUT_KINDS, TORCH_KINDS, VERSION, is_plain

_NAMES = {operator: name for name, operator in OPERATORS.items()}
# The operators of the runtime's expressions, from number 2 on.
_PLAN_OPERATORS = ("Add", "Mul", "FloorDiv", "CeilDiv", "PythonMod", "Min", "Max")


class Description(NamedTuple):
    """The description of a model."""

    text: str  # JSON
    tensors: dict[str, torch.Tensor]  # the tensors that the text refers to, by key


def describe(
    interface: Interface, convention: CallConvention, state: Tensors, more: Mapping[str, Any] | None = None
) -> Description:
    """Describes a compiled model.

    state: its parameters and buffers. more: the parts of PASSED_ON, by key.
    Raises UnsupportedError if a part of the interface or convention can't be saved as JSON.
    """
    writer = _Writer(interface, state)
    names = convention.argument_names
    described = {
        "python": VERSION,
        "symbols": [{"name": symbol.name, "min": symbol.min, "max": symbol.max} for symbol in interface.symbols],
        "inputs": [writer.input(argument) for argument in interface.inputs],
        "outputs": [writer.output(number, output) for number, output in enumerate(interface.outputs)],
        "results": [writer.tensor(result) for result in interface.results],
        "carried": [writer.carried(name) for name in interface.carried],
        "writes": [
            [write.target, writer.output(number, write.value)]
            for number, write in enumerate(interface.writes, len(interface.outputs))
        ],
        **({"states": [writer.input(state) for state in interface.states]} if interface.states else {}),
        **({"checks": [list(check) for check in interface.checks]} if interface.checks else {}),
        "conditions": [writer.expr(interface.symbols.tie(condition)) for condition in interface.conditions],
        "in_spec": dump_structure(convention.in_spec, "arguments"),
        "out_spec": dump_structure(convention.out_spec, "results"),
        "argument_names": None if names is None else list(names),
        "defaults": {name: value for name, value in convention.defaults.items() if is_plain(value)},
        **(more or {}),
    }
    return Description(json.dumps(described, allow_nan=False), writer.tensors)


class _Writer:
    """Writes the parts of an interface as values of JSON. `tensors` has the stored tensors by key."""

    def __init__(self, interface: Interface, state: Tensors) -> None:
        self._state = state
        self.tensors: dict[str, torch.Tensor] = {}
        self._numbers = interface.symbols.numbers

    def input(self, argument: ProgramInput) -> dict[str, Any]:
        name = f"argument {argument.name!r}"
        if argument.is_kept:
            raise UnsupportedError(f"{name} is passed beside the program to PyTorch, which can't be saved")
        if argument.layout != torch.strided:
            raise UnsupportedError(f"{name} has layout {argument.layout}, which can't be saved")
        described: dict[str, Any] = {"name": argument.name}
        if argument.dtype is not None:
            return described | self.tensor(TensorType(argument.shape, argument.dtype))
        carried = {"carrier": True} if argument.is_carrier else {}
        return described | carried | {"value": self.value(argument.value, name)}

    def output(self, number: int, output: Output) -> dict[str, Any]:
        index, value = 0, None
        match output:
            case ResultOutput() | InputOutput():
                index = output.index
            case ValueOutput():
                value = self.value(output.value, f"result {number}")
            case SizeOutput():
                value = self.value(output.size, f"result {number}")
            case WeightsOutput():
                value = self.store(f"output/{number}", output.compute(self._state))
            case BufferOutput():
                value = output.name
            case _:
                raise UnsupportedError(f"result {number} comes from PyTorch beside the program, which can't be saved")
        return {"kind": OUTPUT_KINDS[type(output)], "index": index, "copied": output.copied, "value": value}

    def carried(self, name: str) -> dict[str, Any]:
        return self.store(f"state/{name}", self._state[name]) | {"name": name}

    def store(self, key: str, tensor: torch.Tensor) -> dict[str, Any]:
        if tensor.layout != torch.strided:
            raise UnsupportedError(f"{key!r} has layout {tensor.layout}, which can't be saved")
        self.tensors[key] = in_order(tensor)
        return {"key": key} | self.tensor(TensorType(tuple(tensor.shape), tensor.dtype))

    def tensor(self, type: TensorType) -> dict[str, Any]:
        return {"dtype": str(type.dtype).removeprefix("torch."), "dims": [self.size(dim) for dim in type.shape]}

    def size(self, dim: int | Size) -> Any:
        return self.expr(dim.expr) if isinstance(dim, Size) else int(dim)

    def value(self, value: Any, label: str) -> Any:
        """Returns a value that was fixed at export. label: its name, for messages."""
        if isinstance(value, Size):
            return {"size": self.expr(value.expr)}
        if is_plain(value):
            return value
        if isinstance(value, float):
            return {"float": repr(value)}
        for name, kind in TORCH_KINDS.items():
            if isinstance(value, kind):
                return {name: str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        raise UnsupportedError(f"{label} is fixed at {value!r}, a {type(value).__name__}, which can't be saved")

    def expr(self, expr: sympy.Basic) -> Any:
        """Returns an expression as a tree of operators."""
        if expr in (sympy.true, sympy.false):
            return bool(expr)
        if expr.is_Integer:
            return int(expr)
        if expr.is_Symbol:
            return {"symbol": self._numbers[expr]}
        if type(expr) not in _NAMES:
            raise UnsupportedError(f"a size of the model is {expr}, which can't be saved")
        return {_NAMES[type(expr)]: [self.expr(arg) for arg in expr.args]}


# -- Programs of other tools ------------------------------------------------------------------------------------------


def describe_plain(symbols: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], states: Sequence[Any]) -> str:
    """Returns the JSON for a program that another tool saved.

    symbols, inputs, outputs: those of `plain_signature`. states: those of the program.

    The inputs of the program are positional arguments. Its output, or a tuple of its outputs, is the result.
    """
    dims = {  # by (input, dim)
        (given, dim): {"Add": [{"Mul": [scale, {"symbol": number}]}, offset]}
        for number, (_, _, _, given, dim, scale, offset) in enumerate(symbols)
    }

    def tree(code: Iterable[tuple[int, int, int]]) -> Any:
        stack: list[Any] = []
        for operation, a, b in code:
            if operation == 0:
                stack.append(a)
            elif operation == 1:
                stack.append(dims[a, b])
            else:
                right, left = stack.pop(), stack.pop()
                stack.append({_PLAN_OPERATORS[operation - 2]: [left, right]})
        return stack.pop()

    def tensor(dtype: str, codes: Iterable[Any]) -> dict[str, Any]:
        return {"dtype": dtype, "dims": [tree(code) for code in codes]}

    results = range(len(outputs))
    state_names = [name for name, *_ in states]
    if not all(state_names) or len(set(state_names)) < len(state_names):
        state_names = [f"state{number}" for number in range(len(states))]
    described = {
        "python": VERSION,
        "symbols": [{"name": name, "min": minimum, "max": maximum} for name, minimum, maximum, *_ in symbols],
        "inputs": [{"name": name} | tensor(dtype, codes) for name, dtype, codes in inputs],
        "outputs": [{"kind": "result", "index": number, "copied": False, "value": None} for number in results],
        "results": [tensor(dtype, codes) for _, dtype, codes in outputs],
        "carried": [],
        "writes": [],
        "states": [
            {"name": name} | tensor(dtype, codes) for name, (_, dtype, codes) in zip(state_names, states, strict=True)
        ],
        "conditions": [],
        "in_spec": dump_structure(pytree.tree_flatten((tuple(range(len(inputs))), {}))[1], "arguments"),
        "out_spec": dump_structure(pytree.tree_flatten(0 if len(outputs) == 1 else tuple(results))[1], "results"),
        "argument_names": [name or f"argument{number}" for number, (name, *_) in enumerate(inputs)],
        "defaults": {},
    }
    return json.dumps(described)
