# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a saved model's calls look like, as JSON: the part of a container that is Python's own (docs/container.md).

Nothing of it is code: values are of a few plain kinds, sizes are trees of operators from a list, structures are
PyTorch's own text for them, of containers from a list.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.utils import _pytree as pytree
from torch.utils._sympy import functions as F

from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from .imported import ImportedProgram, Input, Output
from .signature import Signature
from .sizes import UNBOUNDED, Size, Symbol, Symbols

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
_OUTPUTS = ("result", "input", "value", "size", "weights", "buffer")  # kinds of outputs that are saved
_SEQUENCES = ("builtins.tuple", "builtins.list", "torch.Size", "torch.fx.immutable_collections.immutable_list")
_MAPPINGS = ("builtins.dict", "collections.OrderedDict", "torch.fx.immutable_collections.immutable_dict")
_DEQUE, _NAMED_TUPLE = "collections.deque", "collections.namedtuple"


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
        text = pytree.treespec_dumps(spec)
        _check_structure(json.loads(text)[1])
        return text
    except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedError(f"the structure of the model's {what} can't be saved: {error}") from error


# -- Structures -------------------------------------------------------------------------------------------------------


def _load_structure(text):
    """The TreeSpec for PyTorch's text, which is checked before PyTorch reads it: that imports whatever it names."""
    _, tree = json.loads(text)
    _check_structure(tree)
    return pytree.treespec_loads(text)


def _check_structure(tree):
    """Raises ValueError for a structure that isn't made of known containers with plain contexts alone."""
    kind, context, children = tree["type"], tree["context"], tree["children_spec"]
    if kind is not None:
        _check_container(kind, context, len(children))
    elif context is not None or children:
        raise ValueError("expected a leaf without parts")
    for one in children:
        _check_structure(one)


def _check_container(kind, context, count):
    if kind in _SEQUENCES:
        if (context := json.loads(context)) is not None:
            raise ValueError(f"expected no context of a {kind}, but got {context!r}")
    elif kind in _MAPPINGS:
        _check_keys(kind, json.loads(context), count)
    elif kind == _DEQUE:
        most = json.loads(context)
        if most is not None and not (_is_int(most) and most >= count):
            raise ValueError(f"expected a {kind} of no more than its elements, but got {most!r}")
    elif kind == _NAMED_TUPLE:
        if not _is_registered_tuple(context, count):
            raise ValueError(f"expected a named tuple of {count} fields that is registered, but got {context!r}")
    elif _is_registered_dataclass(kind):
        _check_names(kind, json.loads(context))
    else:
        raise ValueError(
            "expected tuples, lists, dicts, deques, or named tuples and dataclasses that are registered, but got "
            f"{kind!r}"
        )


def _check_keys(kind, keys, count):
    if not isinstance(keys, list) or not all(map(_is_plain, keys)) or len(set(keys)) != len(keys):
        raise ValueError(f"expected strings and numbers as the keys of a {kind}, but got {keys!r}")
    if len(keys) != count:
        raise ValueError(f"expected {count} keys of a {kind}, but got {len(keys)}")


def _check_names(kind, context):
    if isinstance(context, list):
        for one in context:
            _check_names(kind, one)
    elif context is not None and not isinstance(context, str):
        raise ValueError(f"expected names as the context of a {kind}, but got {context!r}")


def _is_registered_tuple(name, count):
    found = _registered(name)
    return isinstance(found, type) and issubclass(found, tuple) and len(getattr(found, "_fields", ())) == count


def _is_registered_dataclass(kind):
    """Whether it is a dataclass whose context is JSON as it is: nothing of its own reads it."""
    found = _registered(kind)
    return dataclasses.is_dataclass(found) and pytree.SUPPORTED_SERIALIZED_TYPES[found].from_dumpable_context is None


def _registered(kind):
    return pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.get(kind) if isinstance(kind, str) else None


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
    except ArgumentValueError:
        raise
    except Exception as error:  # whatever it is, the text is to blame
        raise ArgumentValueError(f"malformed metadata: {_reason(error)}") from error


class _Reader:
    def __init__(self, described, find):
        self._described, self._find = described, find
        named = self.part("symbols", lambda many: [_symbol(one) for one in many])
        self._own = [sympy.Symbol(f"s{number}", integer=True, nonnegative=True) for number in range(len(named))]
        self._symbols = Symbols(zip(self._own, named, strict=True))
        self._imported = ImportedProgram("", {}, [], [], [], symbols=self._symbols)

    def read(self):
        imported = self._imported
        imported.inputs = self.each("inputs", self.input)
        imported.results = self.each("results", self.tensor)
        imported.state = dict(self.each("carried", self.carried))
        imported.carried = list(imported.state)
        imported.outputs = self.each("outputs", self.output)
        imported.writes = self.each("writes", self.write)
        imported.conditions = self.each("conditions", self.condition)
        in_spec, out_spec = self.part("in_spec", self.in_spec), self.part("out_spec", self.out_spec)
        names, defaults = self.part("argument_names", _names), self.part("defaults", _defaults)
        signature = _Signature(imported.inputs, in_spec, names, defaults, imported.symbols, imported.conditions)
        return imported, signature, out_spec

    def part(self, key, read):
        """What `read` makes of the metadata's part of that name."""
        if key not in self._described:
            raise ArgumentValueError(f"malformed metadata: expected {key!r}, but it isn't there")
        try:
            return read(self._described[key])
        except Exception as error:
            raise ArgumentValueError(f"malformed metadata: {key!r}: {_reason(error)}") from error

    def each(self, key, read):
        return self.part(key, lambda many: [read(one) for one in _checked(list, many)])

    def in_spec(self, text):
        spec = _load_structure(text)
        kinds = [one.type for one in spec.children()]
        if spec.type is not tuple or kinds != [tuple, dict]:
            raise ValueError(f"expected a tuple of positional arguments and a dict of others, but got {spec}")
        _check_count(spec, self._imported.inputs, "inputs")
        return spec

    def out_spec(self, text):
        spec = _load_structure(text)
        _check_count(spec, self._imported.outputs, "outputs")
        return spec

    def input(self, one):
        name = _checked(str, one["name"])
        if "dtype" not in one:
            return Input(name, value=self.value(one["value"]))
        shape, dtype = self.tensor(one)
        return Input(name, shape, dtype)

    def output(self, one):
        kind, copied = one["kind"], _checked(bool, one["copied"])
        if kind not in _OUTPUTS:
            raise ValueError(f"expected a kind of output ({', '.join(_OUTPUTS)}), but got {kind!r}")
        if kind == "weights":
            tensor = self.stored(one["value"])
            return Output(kind, 0, lambda state: tensor, copied)
        output = Output(kind, one["index"], self.value(one["value"]), copied)
        getattr(self, f"_check_{kind}")(output)
        if kind == "size" and not isinstance(output.value, Size):
            return dataclasses.replace(output, kind="value")
        return output

    def _check_result(self, output):
        _check_index(output.index, self._imported.results, "results")

    def _check_input(self, output):
        _check_index(output.index, self._imported.inputs, "inputs")
        if output.copied and not self._imported.inputs[output.index].is_tensor:
            raise ValueError(f"expected the number of a tensor that is copied, but got {output.index}")

    def _check_value(self, output):
        if output.copied or isinstance(output.value, Size):
            raise ValueError(f"expected a value that is fixed and not copied, but got {output.value!r}")

    def _check_size(self, output):
        if output.copied or not (isinstance(output.value, Size) or _is_int(output.value)):
            raise ValueError(f"expected a size that is not copied, but got {output.value!r}")

    def _check_buffer(self, output):
        if output.value not in self._imported.carried:
            raise ValueError(f"expected the name of a buffer, but got {output.value!r}")

    def write(self, one):
        target, output = one
        if isinstance(target, str):
            if target not in self._imported.carried:
                raise ValueError(f"expected the name of a buffer to write, but got {target!r}")
        else:
            _check_index(target, self._imported.inputs, "inputs")
            if not self._imported.inputs[target].is_tensor:
                raise ValueError(f"expected the number of a tensor to write, but got {target}")
        return target, self.output(output)

    def carried(self, one):
        return _checked(str, one["name"]), self.stored(one)

    def stored(self, one):
        shape, dtype = self.tensor(one)
        if not all(map(_is_int, shape)):
            raise ValueError(f"expected a tensor {one['key']!r} of known dims, but got {shape}")
        found = self._find(_checked(str, one["key"]))
        if found is None:
            raise ValueError(f"the tensor {one['key']!r} isn't there")
        wanted = math.prod(shape) * dtype.itemsize
        if len(found) != wanted:
            raise ValueError(f"expected {wanted} bytes of the tensor {one['key']!r}, but got {len(found)}")
        if not found:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(bytearray(found), dtype=dtype).reshape(shape)

    def tensor(self, one):
        return tuple(self.dim(dim) for dim in _checked(list, one["dims"])), _torch_value("dtype", one["dtype"])

    def dim(self, tree):
        dim = self.size(tree)
        if _is_int(dim) and dim < 0:
            raise ValueError(f"expected a dim of 0 or more, but got {dim}")
        return dim

    def size(self, tree):
        expr = self.expr(tree)
        if not isinstance(expr, sympy.Expr):
            raise ValueError(f"expected a number as a size, but got {tree!r}")
        size = self._symbols.make(expr)
        if isinstance(size, Size):
            self._symbols.function(size.expr)  # raises if it can't be computed
        return size

    def condition(self, tree):
        expr = self.expr(tree)
        if not isinstance(expr, sympy.logic.boolalg.Boolean) or expr.is_Symbol:
            raise ValueError(f"expected a condition, but got {tree!r}")
        self._symbols.function(expr)
        return expr

    def value(self, value):
        if not isinstance(value, dict):
            if not _is_plain(value):
                raise ValueError(f"expected a plain value, but got {value!r}")
            return value
        ((kind, content),) = value.items()
        if kind == "size":
            return self.size(content)
        content = _checked(str, content)
        if kind == "float":
            return float(content)
        return torch.device(content) if kind == "device" else _torch_value(kind, content)

    def expr(self, tree):
        if isinstance(tree, bool):
            return sympy.true if tree else sympy.false
        if isinstance(tree, int):
            return sympy.Integer(tree)
        ((name, content),) = _checked(dict, tree).items()
        if name == "symbol":
            _check_index(content, self._own, "symbols")
            return self._own[content]
        args = [self.expr(one) for one in _checked(list, content)]
        if name in ("Pow", "PowByNatural") and (args[0].is_number or not 0 <= int(args[1]) <= _MOST_POWER):
            raise ValueError(f"expected a power of a size up to {_MOST_POWER}, but got {args}")
        return _OPERATORS[name](*args)


class _Signature(Signature):
    """Of a model whose positional arguments may share names, as those of other tools do: these go by place alone."""

    def __init__(self, inputs, in_spec, names, *others):
        super().__init__(inputs, in_spec, names, *others)
        places = collections.defaultdict(list)
        for place, name in enumerate([*self._positional, *self._keywords], 1):
            places[name].append(place)
        self._shared = {name: many for name, many in places.items() if len(many) > 1}
        if shared := [name for name in self._keywords if name in self._shared]:
            raise ArgumentValueError(f"malformed metadata: 'in_spec': expected one argument named {shared[0]!r}")
        self._positional = [
            f"{name} (place {place})" if name in self._shared else name
            for place, name in enumerate(self._positional, 1)
        ]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """As for `Signature`; ArgumentTypeError for a name that several arguments have."""
        for name, places in self._shared.items():
            if name in kwargs or len(args) < places[-1]:
                raise ArgumentTypeError(
                    f"argument {name!r} is ambiguous, since places {' and '.join(map(str, places))} have that name: "
                    "expected them by place"
                )
        return super().flatten(args, kwargs)


def _symbol(one):
    symbol = Symbol(_checked(str, one["name"]), one["min"], one["max"])
    if not (_is_int(symbol.min) and _is_int(symbol.max) and 0 <= symbol.min <= symbol.max <= UNBOUNDED):
        raise ValueError(f"expected a range of sizes for {symbol.name!r}, but got {symbol.min!r} to {symbol.max!r}")
    return symbol


def _names(names):
    return None if names is None else [_checked(str, one) for one in _checked(list, names)]


def _defaults(defaults):
    for name, value in _checked(dict, defaults).items():
        if not _is_plain(value):
            raise ValueError(f"expected a plain value for {name!r}, but got {value!r}")
    return defaults


def _checked(kind, value):
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__}, but got {value!r}")
    return value


def _check_index(index, many, what):
    if not _is_int(index) or not 0 <= index < len(many):
        raise ValueError(f"expected a number of the {len(many)} {what}, but got {index!r}")


def _check_count(spec, many, what):
    if spec.num_leaves != len(many):
        raise ValueError(f"expected {len(many)} leaves for the {what}, but got {spec.num_leaves}")


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _reason(error):
    return str(error) if isinstance(error, ArgumentValueError) else f"{type(error).__name__}: {error}"


def _torch_value(kind, name):
    value = vars(torch).get(name)  # getattr would import modules of PyTorch's
    if not isinstance(value, _TORCH_KINDS[kind]):
        raise ValueError(f"expected a {kind} of PyTorch's, but got {name!r}")
    return value
