# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Describes a compiled model's calls as JSON, for a file."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import sympy
import torch
from torch.utils import _pytree as pytree

from ..errors import UnsupportedError
from .imported import CallConvention, Interface, TensorType
from .metadata import OPERATORS, OUTPUT_KINDS, TORCH_KINDS, VERSION, is_plain
from .outputs import BufferOutput, InputOutput, ResultOutput, SizeOutput, Tensors, ValueOutput, WeightsOutput
from .sizes import Size
from .structures import dump_structure

_NAMES = {one: name for name, one in OPERATORS.items()}
_PLAN_OPERATORS = ("Add", "Mul", "FloorDiv", "CeilDiv", "PythonMod", "Min", "Max")  # of the runtime's expressions


class Description(NamedTuple):
    """What is saved of a model's calls: `text`, which is JSON, and the tensors that it refers to, by key."""

    text: str
    tensors: dict[str, torch.Tensor]


def describe(interface: Interface, convention: CallConvention, state: Tensors) -> Description:
    """Describes the calls of a compiled model. state: its parameters and buffers.

    Raises UnsupportedError for a model whose calls have parts that JSON can't say.
    """
    writer = _Writer(interface, state)
    names = convention.argument_names
    described = {
        "python": VERSION,
        "symbols": [{"name": one.name, "min": one.min, "max": one.max} for one in interface.symbols],
        "inputs": [writer.input(one) for one in interface.inputs],
        "outputs": [writer.output(number, one) for number, one in enumerate(interface.outputs)],
        "results": [writer.tensor(one) for one in interface.results],
        "carried": [writer.carried(name) for name in interface.carried],
        "writes": [
            [write.target, writer.output(number, write.value)]
            for number, write in enumerate(interface.writes, len(interface.outputs))
        ],
        "conditions": [writer.expr(interface.symbols.tie(one)) for one in interface.conditions],
        "in_spec": dump_structure(convention.in_spec, "arguments"),
        "out_spec": dump_structure(convention.out_spec, "results"),
        "argument_names": None if names is None else list(names),
        "defaults": {name: value for name, value in convention.defaults.items() if is_plain(value)},
    }
    return Description(json.dumps(described, allow_nan=False), writer.tensors)


class _Writer:
    def __init__(self, interface, state):
        self._state, self.tensors = state, {}
        self._numbers = interface.symbols.numbers

    def input(self, one):
        if one.is_kept:
            raise UnsupportedError(f"argument {one.name!r} goes beside the program, to PyTorch: that can't be saved")
        if one.layout != torch.strided:
            raise UnsupportedError(f"argument {one.name!r} is of layout {one.layout}, which can't be saved")
        described = {"name": one.name}
        if one.is_tensor:
            return described | self.tensor(TensorType(one.shape, one.dtype))
        return described | {"value": self.value(one.value, f"argument {one.name!r}")}

    def output(self, number, one):
        index, value = 0, None
        match one:
            case ResultOutput() | InputOutput():
                index = one.index
            case ValueOutput():
                value = self.value(one.value, f"result {number}")
            case SizeOutput():
                value = self.value(one.size, f"result {number}")
            case WeightsOutput():
                value = self.store(f"output/{number}", one.compute(self._state))
            case BufferOutput():
                value = one.name
            case _:
                raise UnsupportedError(f"result {number} goes beside the program, from PyTorch: that can't be saved")
        return {"kind": OUTPUT_KINDS[type(one)], "index": index, "copied": one.copied, "value": value}

    def carried(self, name):
        return self.store(f"state/{name}", self._state[name]) | {"name": name}

    def store(self, key, tensor):
        if tensor.layout != torch.strided:
            raise UnsupportedError(f"{key!r} is of layout {tensor.layout}, which can't be saved")
        self.tensors[key] = tensor.detach().resolve_neg().contiguous()
        return {"key": key} | self.tensor(TensorType(tensor.shape, tensor.dtype))

    def tensor(self, one):
        return {"dtype": str(one.dtype).removeprefix("torch."), "dims": [self.size(dim) for dim in one.shape]}

    def size(self, dim):
        return self.expr(dim.expr) if isinstance(dim, Size) else int(dim)

    def value(self, value, what):
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
        raise UnsupportedError(f"{what} is fixed at {value!r}, a {type(value).__name__}, which can't be saved")

    def expr(self, expr):
        if expr in (sympy.true, sympy.false):
            return bool(expr)
        if expr.is_Integer:
            return int(expr)
        if expr.is_Symbol:
            return {"symbol": self._numbers[expr]}
        if type(expr) not in _NAMES:
            raise UnsupportedError(f"a size of the model is {expr}, which can't be saved")
        return {_NAMES[type(expr)]: [self.expr(one) for one in expr.args]}


# -- Programs of other tools ------------------------------------------------------------------------------------------


def describe_plain(symbols: Any, inputs: Any, outputs: Any) -> str:
    """The JSON for a program that another tool saved, from its `plain_signature`.

    The program's inputs are the arguments, by their places; its only output, or a tuple of them, is the result.
    """
    told = {
        (given, dim): {"Add": [{"Mul": [scale, {"symbol": number}]}, offset]}
        for number, (_, _, _, given, dim, scale, offset) in enumerate(symbols)
    }

    def tree(code):
        stack = []
        for operation, a, b in code:
            if operation == 0:
                stack.append(a)
            elif operation == 1:
                stack.append(told[a, b])
            else:
                right, left = stack.pop(), stack.pop()
                stack.append({_PLAN_OPERATORS[operation - 2]: [left, right]})
        return stack.pop()

    def tensor(dtype, dims):
        return {"dtype": dtype, "dims": [tree(code) for code in dims]}

    results = range(len(outputs))
    described = {
        "python": VERSION,
        "symbols": [{"name": name, "min": least, "max": most} for name, least, most, *_ in symbols],
        "inputs": [{"name": name} | tensor(dtype, dims) for name, dtype, dims in inputs],
        "outputs": [{"kind": "result", "index": number, "copied": False, "value": None} for number in results],
        "results": [tensor(dtype, dims) for _, dtype, dims in outputs],
        "carried": [],
        "writes": [],
        "conditions": [],
        "in_spec": dump_structure(pytree.tree_flatten((tuple(range(len(inputs))), {}))[1], "arguments"),
        "out_spec": dump_structure(pytree.tree_flatten(0 if len(outputs) == 1 else tuple(results))[1], "results"),
        "argument_names": [name or f"argument{number}" for number, (name, *_) in enumerate(inputs)],
        "defaults": {},
    }
    return json.dumps(described)
