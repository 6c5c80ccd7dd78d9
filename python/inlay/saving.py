# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a saved model's calls look like, as JSON: the part of a container that is Python's own (docs/container.md).

Nothing of it is code: values are of a few plain kinds, sizes are trees of operators from a list, structures are
PyTorch's own text for them.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import sympy
import torch
from torch.utils import _pytree as pytree
from torch.utils._sympy import functions as F

from .arguments import Signature
from .errors import ArgumentValueError, UnsupportedError
from .importer import ImportedProgram, Input, Size, Symbols
from .importer.program import Output
from .importer.sizes import Symbol

VERSION = 1

_OPERATORS = {
    one.__name__: one
    for one in (
        *(sympy.Add, sympy.Mul, sympy.Pow, sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge),
        *(sympy.And, sympy.Or, sympy.Not, F.FloorDiv, F.CleanDiv, F.CeilDiv, F.Mod, F.PythonMod, F.ModularIndexing),
        *(F.Max, F.Min, F.PowByNatural, F.FloorToInt, F.TruncToInt, F.CeilToInt, F.IntTrueDiv, F.Identity),
    )
}
_NAMES = {one: name for name, one in _OPERATORS.items()}
_MOST_POWER = 16
_PLAN_OPERATORS = ("Add", "Mul", "FloorDiv", "CeilDiv", "PythonMod", "Min", "Max")  # of the runtime's expressions
_TORCH_KINDS = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}


# -- To JSON ----------------------------------------------------------------------------------------------------------


def describe(imported: ImportedProgram, signature: Signature, out_spec: Any, state: Any) -> tuple[str, dict]:
    """(JSON, key -> tensor that is stored with the program) for a compiled model; `state`: its `State`.

    Raises UnsupportedError for a model whose calls have parts that JSON can't say.
    """
    writer = _Writer(imported, state)
    described = {
        "python": VERSION,
        "symbols": [{"name": one.name, "min": one.min, "max": one.max} for one in imported.symbols],
        "inputs": [writer.input(one) for one in imported.inputs],
        "outputs": [writer.output(number, one) for number, one in enumerate(imported.outputs)],
        "results": [writer.tensor(shape, dtype) for shape, dtype in imported.results],
        "carried": [writer.carried(name) for name in imported.carried],
        "writes": [
            [target, writer.output(len(imported.outputs) + number, output)]
            for number, (target, output) in enumerate(imported.writes)
        ],
        "conditions": [writer.expr(imported.symbols.tie(one)) for one in imported.conditions],
        "in_spec": _spec(signature.in_spec, "arguments"),
        "out_spec": _spec(out_spec, "results"),
        "argument_names": signature.argument_names,
        "defaults": {name: value for name, value in signature.defaults.items() if _is_plain(value)},
    }
    return json.dumps(described, allow_nan=False), writer.tensors


class _Writer:
    def __init__(self, imported, state):
        self._state, self.tensors = state, {}
        self._numbers = imported.symbols.numbers

    def input(self, one):
        if one.is_kept:
            raise UnsupportedError(f"argument {one.name!r} goes beside the program, to PyTorch: that can't be saved")
        if one.layout != torch.strided:
            raise UnsupportedError(f"argument {one.name!r} is of layout {one.layout}, which can't be saved")
        described = {"name": one.name}
        if one.is_tensor:
            return described | self.tensor(one.shape, one.dtype)
        return described | {"value": self.value(one.value, f"argument {one.name!r}")}

    def output(self, number, one):
        described = {"kind": one.kind, "index": one.index, "copied": one.copied}
        if one.kind == "kept":
            raise UnsupportedError(f"result {number} goes beside the program, from PyTorch: that can't be saved")
        if one.kind == "weights":
            return described | {"value": self.store(f"output/{number}", one.value(self._state))}
        return described | {"value": self.value(one.value, f"result {number}")}

    def carried(self, name):
        return self.store(f"state/{name}", self._state[name]) | {"name": name}

    def store(self, key, tensor):
        if tensor.layout != torch.strided:
            raise UnsupportedError(f"{key!r} is of layout {tensor.layout}, which can't be saved")
        self.tensors[key] = tensor.detach().resolve_neg().contiguous()
        return {"key": key} | self.tensor(tensor.shape, tensor.dtype)

    def tensor(self, shape, dtype):
        return {"dtype": str(dtype).removeprefix("torch."), "dims": [self.size(dim) for dim in shape]}

    def size(self, dim):
        return self.expr(dim.expr) if isinstance(dim, Size) else int(dim)

    def value(self, value, what):
        if isinstance(value, Size):
            return {"size": self.expr(value.expr)}
        if _is_plain(value):
            return value
        if isinstance(value, float):
            return {"float": repr(value)}
        for name, kind in _TORCH_KINDS.items():
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


def _is_plain(value):
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def _spec(spec, what):
    if spec is None:
        return None
    try:
        return pytree.treespec_dumps(spec)
    except (NotImplementedError, TypeError) as error:
        raise UnsupportedError(f"the structure of the model's {what} can't be saved: {error}") from error


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
        "in_spec": _spec(pytree.tree_flatten((tuple(range(len(inputs))), {}))[1], "arguments"),
        "out_spec": _spec(pytree.tree_flatten(0 if len(outputs) == 1 else tuple(results))[1], "results"),
        "argument_names": [name or f"argument{number}" for number, (name, *_) in enumerate(inputs)],
        "defaults": {},
    }
    return json.dumps(described)


# -- From JSON --------------------------------------------------------------------------------------------------------


def restore(text: str, find: Any) -> tuple[ImportedProgram, Signature, Any]:
    """(ImportedProgram without a graph, Signature, TreeSpec of the results) from JSON.

    find: key -> bytes of a tensor that is stored with the program, or None.
    Raises ArgumentValueError if the text isn't what `describe` writes.
    """
    try:
        described = json.loads(text)
        if described["python"] != VERSION:
            raise ArgumentValueError(
                f"expected metadata of version {VERSION}, but got {described['python']!r}: another version of Inlay "
                "saved the model"
            )
        return _Reader(described, find).read()
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, NotImplementedError) as error:
        if isinstance(error, ArgumentValueError):
            raise
        raise ArgumentValueError(f"malformed metadata: {type(error).__name__}: {error}") from error


class _Reader:
    def __init__(self, described, find):
        self._described, self._find = described, find
        named = [Symbol(one["name"], one["min"], one["max"]) for one in described["symbols"]]
        self._own = [sympy.Symbol(f"s{number}", integer=True, nonnegative=True) for number in range(len(named))]
        self._symbols = Symbols(zip(self._own, named, strict=True))

    def read(self):
        described, imported = self._described, ImportedProgram("", {}, [], [], [], symbols=self._symbols)
        imported.inputs = [self.input(one) for one in described["inputs"]]
        imported.outputs = [self.output(one) for one in described["outputs"]]
        imported.results = [self.tensor(one) for one in described["results"]]
        imported.carried = [one["name"] for one in described["carried"]]
        imported.state = {one["name"]: self.stored(one) for one in described["carried"]}
        imported.writes = [(target, self.output(output)) for target, output in described["writes"]]
        imported.conditions = [self.expr(one) for one in described["conditions"]]
        in_spec, out_spec = (
            None if described[name] is None else pytree.treespec_loads(described[name])
            for name in ("in_spec", "out_spec")
        )
        signature = Signature(
            imported.inputs,
            in_spec,
            described["argument_names"],
            described["defaults"],
            imported.symbols,
            imported.conditions,
        )
        return imported, signature, out_spec

    def input(self, one):
        if "dtype" not in one:
            return Input(one["name"], value=self.value(one["value"]))
        shape, dtype = self.tensor(one)
        return Input(one["name"], shape, dtype)

    def output(self, one):
        output = Output(one["kind"], one["index"], None, one["copied"])
        if output.kind == "weights":
            tensor = self.stored(one["value"])
            return replace(output, value=lambda state: tensor)
        return replace(output, value=self.value(one["value"]))

    def stored(self, one):
        shape, dtype = self.tensor(one)
        found = self._find(one["key"])
        if found is None:
            raise ValueError(f"the tensor {one['key']!r} isn't there")
        tensor = torch.empty(shape, dtype=dtype)
        if len(found) != tensor.nbytes:
            raise ValueError(f"expected {tensor.nbytes} bytes of the tensor {one['key']!r}, but got {len(found)}")
        if found:
            tensor = torch.frombuffer(bytearray(found), dtype=dtype).reshape(shape)
        return tensor

    def tensor(self, one):
        return tuple(self.size(dim) for dim in one["dims"]), _torch_value("dtype", one["dtype"])

    def size(self, dim):
        if isinstance(dim, int):
            return dim
        return self._symbols.make(self.expr(dim))

    def value(self, value):
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "size":
            return self.size(content)
        if kind == "float":
            return float(content)
        return torch.device(content) if kind == "device" else _torch_value(kind, content)

    def expr(self, tree):
        if isinstance(tree, bool):
            return sympy.true if tree else sympy.false
        if isinstance(tree, int):
            return sympy.Integer(tree)
        ((name, content),) = tree.items()
        if name == "symbol":
            return self._own[content]
        args = [self.expr(one) for one in content]
        if name in ("Pow", "PowByNatural") and (args[0].is_number or not 0 <= int(args[1]) <= _MOST_POWER):
            raise ValueError(f"expected a power of a size up to {_MOST_POWER}, but got {args}")
        return _OPERATORS[name](*args)


def _torch_value(kind, name):
    value = getattr(torch, name, None)
    if not isinstance(value, _TORCH_KINDS[kind]):
        raise ValueError(f"expected a {kind} of PyTorch's, but got {name!r}")
    return value
